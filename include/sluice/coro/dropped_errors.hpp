// SPDX-License-Identifier: Apache-2.0
// Errors of elements that are dropped (error_policy::skip), on their way to the root of the run, where they are
// counted.
//
// Invariant: an error has a place in its stream, after the elements made before it and before the elements made after
//   it. It is counted when the consumer of the run reaches that place.
//
// Example: a stage reads the elements a, b!, c, d!, of which b and d are bad. The report of a consumer counts 0 errors
//   after a, 1 after c, and 2 at the end, even if a prefetch has read all four at once.
//
// Counting an error when it happens would make the count depend on timing, because a pump works ahead of the reader of
// its channel, and a parallel map works on several elements at once. So an error travels downstream as elements do:
//   1. It moves from the stage that dropped the element to the stages that wait for that one
//      (stage_base::drop_elements).
//   2. If one of these stages has made output that is not delivered yet, the error stays there until that output has
//      been consumed.
//   3. At a channel, the pump puts the error into the slot of the next block. The channel's reader sends it on.
//   4. At the root of the run an error_sink counts the error. If the limit is exceeded, the stream ends there with that
//      error.
// Thread: not safe for concurrent use; errors belong to the stage, slot or sink that they are in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/base/assert.hpp"
#include "sluice/base/status.hpp"

namespace sluice::lib {

struct error_account;   // runtime/sites/error_account.hpp
class quarantine_sink;  // runtime/quarantine_sink.hpp

/// Returns the error with the worker and the split in its message.
status on_worker(const status& why, std::string_view worker, std::string_view split);

/// One error, or several errors without an element between them that are reported with one status.
struct dropped_error {
  status why;
  std::uint64_t times = 1;           ///< number of errors that this entry counts for
  error_account* account = nullptr;  ///< of the stage that dropped the elements, if it has one; owned by the run
  quarantine_sink* into = nullptr;   ///< the sink that stores the bad element, or null; owned by the run
  std::shared_ptr<const std::string> bytes = {};  ///< of the bad element, if it has any and a sink stores it
  /// The worker and the split, separated by a line end; null: this process has dropped the element.
  std::shared_ptr<const std::string> on = {};

  /// Returns the error as reports have it, with the worker and the split.
  status placed() const;
  // REQUIRES: on.
  std::string_view worker() const;  ///< "worker 10.0.0.2:7701", "worker 1 in this process"
  std::string_view split() const;   ///< "split 1 (elements 3 to 5)"; elements have their numbers in it
};

/// The errors between two consecutive elements of a stream, oldest first. Cost: memory is bounded, however many errors
/// are added. The first `kept_apart` errors have an entry each. Each later one is counted by the last entry of its
/// account, whose status represents it.
class dropped_errors {
 public:
  static constexpr std::size_t kKeptApart = 1000;

  dropped_errors() noexcept = default;
  dropped_errors(dropped_errors&& other) noexcept : list_(other.list_) { other.list_ = nullptr; }
  dropped_errors& operator=(dropped_errors&& other) noexcept {
    clear();
    list_ = other.list_;
    other.list_ = nullptr;
    return *this;
  }
  ~dropped_errors() { clear(); }

  /// Appends `e`. Errors: std::bad_alloc.
  void add(dropped_error e, std::size_t kept_apart = kKeptApart);
  bool empty() const noexcept { return !list_; }
  std::size_t size() const noexcept;
  /// REQUIRES: !empty().
  std::vector<dropped_error>& list() noexcept {
    SLUICE_REQUIRES(list_, "there is no list without errors");
    return *list_;
  }
  void clear() noexcept {
    if (list_) destroy();
  }

 private:
  void destroy() noexcept;

  std::vector<dropped_error>* list_ = nullptr;  ///< null if empty, as nearly always
};

/// Receives the errors that have arrived at the end of a tree: a run counts them; a pump puts them into its channel.
class error_sink {
 public:
  /// Called while the stage that reports the error is running, on its thread. Returns ok, or, if `e` exceeds a limit,
  /// the error that the stream must end with.
  virtual status met(dropped_error e) = 0;

 protected:
  ~error_sink() = default;
};

}  // namespace sluice::lib
