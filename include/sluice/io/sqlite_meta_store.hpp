// SPDX-License-Identifier: Apache-2.0
// The metadata store in one SQLite file: nothing to set up, and as durable as the disk.
//
//   auto store = open_sqlite_meta_store("/var/lib/sluice/meta.db", rt.blocking_calls());
//
// Errors: unavailable with SQLite's words (cannot be opened, disk full, locked for more than 5 s), data_loss (damaged).
// Thread: any, and any number of processes. Every call runs on a thread for blocking calls.
// Deadlines: part the caller from its call, which goes on: a commit is then carried out, or not, by itself.
// Durability: write-ahead log, synchronous=FULL: a commit that was answered survives the machine.
#pragma once

#include <memory>
#include <string>

#include "sluice/base/result.hpp"
#include "sluice/io/meta_store.hpp"
#include "sluice/runtime/blocking.hpp"

namespace sluice::lib {

result<std::unique_ptr<meta_store>> open_sqlite_meta_store(const std::string& path, blocking_service& threads);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::open_sqlite_meta_store;

}  // namespace sluice
