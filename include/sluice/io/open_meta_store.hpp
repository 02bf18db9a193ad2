// SPDX-License-Identifier: Apache-2.0
// Metadata stores by their texts: "" is one in memory, "sqlite:PATH" a file.
//
//   std::shared_ptr<meta_store> store = open_meta_store("sqlite:/var/lib/sluice/meta.db", rt);
//
// Thread: any.
#pragma once

#include <memory>
#include <string>

#include "sluice/base/result.hpp"
#include "sluice/io/meta_store.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib {

/// Errors: throws invalid_argument for another kind of store; failed_precondition: the program has not called
/// register_sqlite() (io/sqlite_rows.hpp); those of the store.
std::unique_ptr<meta_store> open_meta_store(const std::string& text, runtime& rt);

using open_meta_store_function = result<std::unique_ptr<meta_store>> (*)(const std::string& path,
                                                                         blocking_service& threads);
/// Opens the files of "sqlite:PATH" from now on.
void use_sqlite_meta_store(open_meta_store_function open);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::open_meta_store;

}  // namespace sluice
