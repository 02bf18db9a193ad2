// SPDX-License-Identifier: Apache-2.0
// A metadata store in one SQLite file: it needs no setup, and is as durable as the disk.
//
//   auto store = open_sqlite_meta_store("/var/lib/sluice/meta.db", rt.blocking_calls());
//
// Errors: unavailable with SQLite's message (cannot be opened, disk full, locked for more than 5 s), data_loss
//         (damaged).
// Thread: any, and any number of processes. Every call runs on a thread for blocking calls.
// Deadlines: a call whose deadline passes returns to its caller and continues in the background: a commit may still
//            happen.
// Durability: write-ahead log, synchronous=FULL: an answered commit survives a crash of the machine.
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
