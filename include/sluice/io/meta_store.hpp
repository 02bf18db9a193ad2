// SPDX-License-Identifier: Apache-2.0
// A store for small data that must survive: keys, values, and writes that happen only if nothing else changed. A seam.
//
//   auto e = co_await store.get("/leader");
//   auto v = co_await store.commit({meta_guard("/leader", e ? e->version : 0)}, {meta_write::put("/leader", me)});
//   if (!v) …                                             // another process was first: read again
//
// Order:  commits are strictly serializable: all writes of a commit happen or none, after its guards held, in one order
//         for all observers.
// Errors: unavailable if the store cannot be reached. Such a commit MAY HAVE HAPPENED: read before retrying.
//         Correctness depends on guards alone; changed() is only a hint to read again.
// Deadlines: moments on the environment's own clock. A call without an answer by then fails with deadline_exceeded,
//            whatever the store does. A commit MAY HAVE HAPPENED, or may still happen. A call whose deadline has passed
//            fails at once.
// Thread: any.
// Cancel: a stop fails the call with `cancelled`; a commit may still have happened.
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

/// Requires that the key has this version when the commit happens; 0: that it does not exist.
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
  std::optional<std::string> value;  ///< nullopt: the key is removed
};

class meta_store {
 public:
  virtual ~meta_store() = default;
  virtual task<std::optional<meta_entry>> get(std::string key, time_point deadline = kNever) = 0;
  /// Returns all keys that begin with `prefix`, in the order of their bytes, as of one moment.
  virtual task<std::vector<meta_entry>> list(std::string prefix, time_point deadline = kNever) = 0;
  /// Returns the store's new revision; nullopt if a guard did not hold. REQUIRES: each key is written at most once.
  virtual task<std::optional<std::uint64_t>> commit(std::vector<meta_guard> guards, std::vector<meta_write> writes,
                                                    time_point deadline = kNever) = 0;
  /// Returns the revision, which grows by one with every commit that wrote something.
  virtual task<std::uint64_t> revision(time_point deadline = kNever) = 0;

  /// Waits until the revision is greater than `after`, and returns it. Reads it every `period`, so that every back end
  /// supports it.
  task<std::uint64_t> changed(std::uint64_t after, duration period = std::chrono::milliseconds(50),
                              time_point deadline = kNever);
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::meta_store;

}  // namespace sluice
