// SPDX-License-Identifier: Apache-2.0
// SQLite for the operator `sql`, and for metadata stores "sqlite:PATH", in the library sluice-sqlite.
//
//   register_sqlite();                                          // once, before plans are made
//   auto rows = sql<passenger>("a.db", "SELECT name, age FROM passengers ORDER BY id");
//
// Thread: any.
#pragma once

namespace sluice::lib {

/// Makes SQLite run the queries of this program, and keep its metadata stores.
void register_sqlite();

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::register_sqlite;

}  // namespace sluice
