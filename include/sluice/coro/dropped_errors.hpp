// SPDX-License-Identifier: Apache-2.0
// Errors of elements that are passed over, on their way to where they are counted.
//
// An error has a place among the elements of its stream: behind those that were made before it, in front of those that
// are made after it. It must be counted there, and not when it happens: a channel's pump works ahead of its reader, a
// parallel map on several places at once, and how far ahead depends on timing. So an error travels as elements do. It
// walks from the stage that met it up to the stages that wait for that one (stage_base::drop_elements). Where one of them
// has made output that is not handed over yet, the error stays there until that output is taken. Where a channel begins,
// it is put into the channel in front of the next element, and walks on from the reading end. At the root of the run it
// is counted; if it is one too many, the stream ends there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sluice/base/status.hpp"

namespace sluice::lib {

struct error_account;  // runtime/error_account.hpp

/// `times` errors in a row, all told by the words of the first.
struct dropped_error {
  status why;
  std::uint64_t times = 1;
  error_account* account = nullptr;  ///< of the stage that met them, where that has one; lives as long as the run
};

/// Errors in a row, oldest first. However many there are, it takes bounded memory: of those behind the first kKeptApart
/// only the number is kept for each account, and they are told by the words of the last one kept.
class dropped_errors {
 public:
  static constexpr std::size_t kKeptApart = 1000;

  void add(dropped_error e, std::size_t kept_apart = kKeptApart) {
    if (list_.size() >= kept_apart) {
      // Behind the first ones there is at most one entry for each account, and a plan has few accounts.
      for (std::size_t i = list_.size(); i != 0 && i >= kept_apart; --i) {
        dropped_error& last = list_[i - 1];
        if (last.account != e.account) continue;
        last.times += e.times;
        return;
      }
    }
    list_.push_back(std::move(e));
  }
  bool empty() const { return list_.empty(); }
  std::vector<dropped_error>& list() { return list_; }
  void clear() { list_.clear(); }

 private:
  std::vector<dropped_error> list_;
};

/// Where errors that have walked up to a stage go: into the report of the run, or into a channel.
class error_sink {
 public:
  /// Takes e. Returns ok; or what the stream has to end with, if there are too many.
  virtual status met(dropped_error e) = 0;

 protected:
  ~error_sink() = default;
};

}  // namespace sluice::lib
