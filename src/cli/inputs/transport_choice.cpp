// SPDX-License-Identifier: Apache-2.0
#include "cli/inputs/transport_choice.hpp"

#include <absl/strings/str_cat.h>
#include <dlfcn.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "cli/options/option_checks.hpp"
#include "cli/verbs.hpp"

namespace sluice::lib::cli {
namespace {

constexpr const char* kGrpcModule = "libsluice-grpc-transport.so";

bool is_grpc_chosen = false;

/// The files that may be the module: beside the program in a build folder, or below its prefix.
std::vector<std::filesystem::path> places_of_module() {
  namespace fs = std::filesystem;
  std::error_code unknown;
  const fs::path folder = fs::read_symlink("/proc/self/exe", unknown).parent_path(), prefix = folder.parent_path();
  std::vector<fs::path> places{folder / kGrpcModule};
  for (const char* lib : {"lib", "lib64"}) places.push_back(prefix / lib / "sluice" / kGrpcModule);
  for (const fs::directory_entry& each : fs::directory_iterator(prefix / "lib", unknown))
    if (each.path().filename().string().ends_with("-linux-gnu")) places.push_back(each.path() / "sluice" / kGrpcModule);
  return places;
}

CLI::Validator transport_name() {
  auto check = [](const std::string& name) -> std::string {
    if (name == "tcp" || name == "grpc") return {};
    return absl::StrCat("expects tcp or grpc, and is \"", name,
                        "\"; all dispatchers, workers and consumers of a service need the same; tcp is the default");
  };
  return CLI::Validator(check, "{tcp,grpc}");
}

}  // namespace

std::string grpc_module() {
  std::error_code unknown;
  for (const std::filesystem::path& file : places_of_module())
    if (std::filesystem::exists(file, unknown)) return file.string();
  return {};
}

void add_transport_option(CLI::App& verb) {
  verb.add_option_function<std::string>(
          "--transport", [](const std::string& name) { is_grpc_chosen = name == "grpc"; },
          "how messages reach dispatchers and workers; the same for all of a service")
      ->check(transport_name());
}

void use_chosen_transport() {
  if (!is_grpc_chosen) return;
  const std::string file = grpc_module();
  if (file.empty())
    throw misuse(absl::StrCat("--transport grpc: ", kGrpcModule,
                              " is missing: build sluice with gRPC, or copy the file beside the program or to ",
                              places_of_module()[1].string()));
  void* loaded = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);  // until the end of the process
  const auto use = loaded ? reinterpret_cast<void (*)()>(::dlsym(loaded, "sluice_use_grpc_transport")) : nullptr;
  if (!use) throw misuse(absl::StrCat("--transport grpc: ", file, " cannot be loaded: ", ::dlerror()));
  use();
}

}  // namespace sluice::lib::cli
