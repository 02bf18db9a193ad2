// SPDX-License-Identifier: Apache-2.0
#include "support/trials/printed_run.hpp"

#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "sluice/pipeline/iterate.hpp"

namespace sluice::lib::test {

namespace {

task<void> print_run(runtime& rt, node_ptr plan, error_policy policy, printed_run& to) {
  any_stream s = open_run(rt, plan, {.on_error = policy});
  for (;;) {
    auto got = co_await s.try_next_block(demand{.elements = 3});
    for (std::uint32_t i = 0; i != got.view.size(); ++i) print(s.type(), got.view.at(i), to.elements.emplace_back());
    if (got.view) continue;
    if (!got.why.ok()) to.end = got.why.to_string();
    break;
  }
  to.report = report_of(s);
  auto end = cleanup(std::move(s));
  co_await end;
}

}  // namespace

temporary_file::temporary_file(const std::string& name, const std::string& bytes)
    : path_((std::filesystem::temp_directory_path() / ("sluice_" + std::to_string(getpid()) + "_" + name)).string()) {
  std::ofstream(path_, std::ios::binary) << bytes;
}
temporary_file::~temporary_file() { std::filesystem::remove(path_); }

printed_run run_of(const node_ptr& plan, error_policy policy) {
  runtime rt({.workers = 1});
  printed_run r;
  sync_wait(rt, print_run(rt, plan, policy, r));
  return r;
}

}  // namespace sluice::lib::test
