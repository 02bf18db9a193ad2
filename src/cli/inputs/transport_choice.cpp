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

}  // namespace

void add_transport_option(CLI::App& verb) {
  verb.add_option_function<std::string>(
          "--transport", [](const std::string& name) { is_grpc_chosen = name == "grpc"; },
          "how messages reach dispatchers and workers; the same for all of a service")
      ->check(one_of({"tcp", "grpc"}));
}

void use_chosen_transport() {
  if (!is_grpc_chosen) return;
  const std::vector<std::filesystem::path> places = places_of_module();
  for (const std::filesystem::path& file : places) {
    std::error_code unknown;
    if (!std::filesystem::exists(file, unknown)) continue;
    void* loaded = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);  // until the end of the process
    const auto use = loaded ? reinterpret_cast<void (*)()>(::dlsym(loaded, "sluice_use_grpc_transport")) : nullptr;
    if (!use) throw misuse(absl::StrCat("--transport grpc: ", file.string(), " cannot be loaded: ", ::dlerror()));
    return use();
  }
  throw misuse(absl::StrCat("--transport grpc: ", kGrpcModule,
                            " is missing: build sluice with gRPC, or copy the file beside the program or to ",
                            places[1].string()));
}

}  // namespace sluice::lib::cli
