// SPDX-License-Identifier: Apache-2.0
// The arguments of dispatcher, worker, status and register: the service of docs/service.md.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "cli/inputs/reading.hpp"

namespace sluice::lib::cli {

struct dispatcher_arguments {
  std::string listen = "127.0.0.1:0", store, address_file;
  std::vector<std::string> workers;
  reading_arguments reading = {};
};
/// Prints its address, and serves until SIGTERM or SIGINT.
int dispatcher_verb(const dispatcher_arguments& arguments);

struct worker_arguments {
  std::string dispatcher, listen = "127.0.0.1:0", address, address_file;
  std::vector<std::string> tags;
  std::uint32_t slots = 0;
  std::int64_t patience_ns = 10'000'000'000;
  reading_arguments reading = {};
};
/// Prints its address, and serves until SIGTERM or SIGINT; then finishes the splits that it runs.
int worker_verb(const worker_arguments& arguments);

struct status_arguments {
  std::string address;
  bool as_json = false, watches = false;
};
/// Prints workers, jobs and splits in flight of a dispatcher.
int status_verb(const status_arguments& arguments);

struct register_arguments {
  std::string dispatcher, plan, plan_file, dataset_id;
  reading_arguments reading = {};
};
/// Registers a plan with a dispatcher, and prints its id.
int register_verb(const register_arguments& arguments);

/// Sets `verb` if one of the four was typed.
void add_service(CLI::App& app, reading_arguments& reading, std::function<int()>& verb);

}  // namespace sluice::lib::cli
