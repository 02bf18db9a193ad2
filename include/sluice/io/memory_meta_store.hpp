// SPDX-License-Identifier: Apache-2.0
// A metadata store in the memory of the process: for services that need not survive it, and for tests.
//
//   std::shared_ptr<meta_store> store = make_memory_meta_store();
//
// Errors: none. Thread: any. Cost: a lock and a map; a commit copies its values.
#pragma once

#include <memory>

#include "sluice/io/meta_store.hpp"

namespace sluice::lib {

std::unique_ptr<meta_store> make_memory_meta_store();

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::make_memory_meta_store;

}  // namespace sluice
