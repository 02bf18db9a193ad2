// SPDX-License-Identifier: Apache-2.0
#include "sluice/io/open_meta_store.hpp"

#include <absl/strings/str_cat.h>

#include <atomic>
#include <string_view>
#include <utility>

#include "sluice/io/memory_meta_store.hpp"

namespace sluice::lib {
namespace {

std::atomic<open_meta_store_function> used_sqlite_store = nullptr;  // relaxed: no other memory depends on it
constexpr std::string_view kSqliteScheme = "sqlite:";

}  // namespace

void use_sqlite_meta_store(open_meta_store_function open) { used_sqlite_store.store(open, std::memory_order_relaxed); }

std::unique_ptr<meta_store> open_meta_store(const std::string& text, runtime& rt) {
  if (text.empty()) return make_memory_meta_store();
  if (!text.starts_with(kSqliteScheme) || text.size() == kSqliteScheme.size())
    throw error(invalid_argument_error(
        absl::StrCat("there is no metadata store \"", text, "\"; write sqlite:PATH, or nothing for one in memory")));
  const open_meta_store_function open = used_sqlite_store.load(std::memory_order_relaxed);
  if (!open)
    throw error(failed_precondition_error(absl::StrCat("cannot open ", text,
                                                       ": this program has no database: link sluice-sqlite, and call "
                                                       "register_sqlite() (sluice/io/sqlite_rows.hpp) first")));
  auto opened = open(text.substr(kSqliteScheme.size()), rt.blocking_calls());
  if (!opened.ok()) throw error(opened.why());
  return *std::move(opened);
}

}  // namespace sluice::lib
