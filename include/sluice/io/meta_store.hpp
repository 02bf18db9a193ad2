// SPDX-License-Identifier: Apache-2.0
// Small facts that must survive: keys, values, and writes that happen only if nothing changed meanwhile. A seam.
//
//   auto e = co_await store.get("/leader");
//   auto v = co_await store.commit({meta_guard("/leader", e ? e->version : 0)}, {meta_write::put("/leader", me)});
//   if (!v) …                                             // somebody else was first: look again
//
// Order:  commits are strictly serialisable: all of one's writes or none, after its guards held, in one order for all.
// Errors: unavailable when the store cannot be reached. A commit that fails so MAY HAVE HAPPENED: read before retrying.
//         Correctness rests on guards alone; waiting for a change is a hint that one should look.
// Deadlines: moments of the environment's own clock. A call that has no answer by then fails with deadline_exceeded, whatever the
//         store does; a commit MAY HAVE HAPPENED, or may still happen. A call whose deadline has passed fails at once.
// Thread: any.  Cancel: a stop fails it with `cancelled`; a commit may have happened all the same.
// Real: io/sqlite_meta_store.hpp. Simulated: io/simulated_meta_store.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sluice/coro/task.hpp"
#include "sluice/io/deadline.hpp"

namespace sluice::lib {

struct meta_entry {
  meta_entry() = default;
  meta_entry(std::string k, std::string v, std::uint64_t n) : key(std::move(k)), value(std::move(v)), version(n) {}
  std::string key;
  std::string value;
  std::uint64_t version = 0;  ///< the revision of the store that last wrote it; never 0
};

/// The commit happens only if the key has this version; 0: only if it does not exist.
struct meta_guard {
  meta_guard(std::string k, std::uint64_t v) : key(std::move(k)), version(v) {}
  std::string key;
  std::uint64_t version;
};

struct meta_write {
  static meta_write put(std::string key, std::string value) { return {std::move(key), std::move(value)}; }
  static meta_write remove(std::string key) { return {std::move(key), std::nullopt}; }
  meta_write(std::string k, std::optional<std::string> v) : key(std::move(k)), value(std::move(v)) {}
  std::string key;
  std::optional<std::string> value;  ///< none: the key is removed
};

class meta_store {
 public:
  virtual ~meta_store() = default;
  virtual task<std::optional<meta_entry>> get(std::string key, time_point deadline = kNever) = 0;
  /// All keys that begin so, in order of their bytes, as of one moment.
  virtual task<std::vector<meta_entry>> list(std::string prefix, time_point deadline = kNever) = 0;
  /// The store's new revision, or none when a guard did not hold. One key is written at most once.
  virtual task<std::optional<std::uint64_t>> commit(std::vector<meta_guard> guards, std::vector<meta_write> writes,
                                                    time_point deadline = kNever) = 0;
  /// Grows by one with every commit that wrote something.
  virtual task<std::uint64_t> revision(time_point deadline = kNever) = 0;

  /// Waits until the revision is beyond `after`, and tells it. Looks every `period`, so every back end can do it.
  task<std::uint64_t> changed(std::uint64_t after, duration period = std::chrono::milliseconds(50),
                              time_point deadline = kNever);
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::meta_store;

}  // namespace sluice
