// SPDX-License-Identifier: Apache-2.0
#include "cli/inputs/plugins.hpp"

#include <absl/strings/str_cat.h>
#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "cli/verbs.hpp"
#include "expr/checking/checker.hpp"
#include "sluice/engine/detail/image_functions.hpp"
#include "sluice/io/arrow_parquet.hpp"
#include "sluice/io/asio_network.hpp"
#include "sluice/io/sqlite_rows.hpp"
#include "sluice/plan/function.hpp"
#include "sluice/version.hpp"

namespace sluice::lib::cli {
namespace {

std::size_t registered_forms() {
  std::size_t n = 0;
  for (auto& name : function_names()) n += find_functions(name).size();
  return n;
}

[[noreturn]] void refuse(const std::string& path, std::string_view why) {
  throw misuse(absl::StrCat("--plugin ", path, ": ", std::string(why)));
}

/// Returns true for names that expressions already have: `map(lower(it))` would call another function than
/// `map(lower)`.
bool is_of_expressions(const std::string& name) {
  static const std::set<std::string> names = [] {
    std::vector<std::string> all = expressions::built_in_names();
    all.insert(all.end(), {"it", "true", "false", "state"});
    return std::set<std::string>(all.begin(), all.end());
  }();
  return names.contains(name);
}

void load_plugin(const std::string& path) {
  std::error_code ignored;
  std::filesystem::path file = std::filesystem::absolute(path, ignored);
  if (path.empty() || !std::filesystem::exists(file, ignored)) refuse(path, "there is no such file");
  if (std::filesystem::is_directory(file, ignored)) refuse(path, "is a folder");
  const std::size_t before = registered_forms();
  const std::vector<std::string> names_before = function_names();
  std::vector<std::string> mistakes;
  detail::note_registration_errors(&mistakes);
  // Resolves all symbols at once, so that a symbol that this program lacks is reported here. Plugins stay loaded until
  // the end, because plans point to them.
  void* loaded = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  detail::note_registration_errors(nullptr);
  if (!loaded) {
    std::string why = ::dlerror();
    bool lacks_symbol = why.find("undefined symbol") != why.npos;
    refuse(path, lacks_symbol ? absl::StrCat("was compiled for another version than this one, ", SLUICE_VERSION_STRING,
                                             ", or needs a library that it is not linked with (", why, ")")
                              : "cannot be loaded: " + why);
  }
  if (!mistakes.empty()) refuse(path, mistakes[0]);
  for (auto& name : function_names())
    if (is_of_expressions(name) && std::find(names_before.begin(), names_before.end(), name) == names_before.end())
      refuse(path, absl::StrCat("registers ", name, ", which expressions already define: give it another name"));
  if (registered_forms() == before)
    refuse(path, "registers no new function: use SLUICE_FUNCTION (sluice/plan/function.hpp)");
}

}  // namespace

void register_libraries() {
#if SLUICE_HAVE_IMAGES
  register_image_functions();
#endif
#if SLUICE_HAVE_SQLITE
  register_sqlite();
#endif
#if SLUICE_HAVE_PARQUET
  register_parquet();
#endif
#if SLUICE_HAVE_ASIO
  register_asio_transport();
#endif
}

void load_plugins(const std::vector<std::string>& paths) {
  for (auto& path : paths) load_plugin(path);
}

}  // namespace sluice::lib::cli
