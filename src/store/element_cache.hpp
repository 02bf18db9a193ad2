// SPDX-License-Identifier: Apache-2.0
// element_cache: elements of one plan, by their ordinals, in memory. The stages of a cache, in any number of runs, add
// the elements that they have made, and read those that another one has made.
//
//   std::uint32_t n = cache.copy(ordinal, most, bytes, out);         // 0: these elements are not here
//   …
//   if (cache.begins_piece(ordinal)) place = …;                      // the position of the input, before the request
//   cache.append(ordinal, made, std::move(place));                   // copies; what is here already is not added again
//
// Elements lie in pieces of about 1,024 elements or 1 MiB. A piece begins with the position of its input, so that a later
// run continues there: it makes at most the elements of one piece again.
// Kinds:  an input of a *fixed order* yields the same elements in each run. Any stage may add elements at any ordinal, and
//         stages that need the same elements at the same time make them twice. An input without a fixed order (sloppy, or
//         live) may yield other elements at an ordinal in another pass, so all elements come from one pass: one stage at a
//         time fills (try_fill), without gaps, and the next one continues at the position where it stopped.
// Charged: elements, what they own, and the pieces, to a line of the ledger that the runs share. All caches of a runtime
//         together hold at most half of the memory budget, because channels and buffers need the rest.
// Thread: any.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "sluice/base/mutex.hpp"
#include "sluice/coro/position.hpp"
#include "sluice/element/slab.hpp"
#include "sluice/runtime/ledger.hpp"

namespace sluice::lib {

/// The memory that all caches of one runtime share.
class cache_memory {
 public:
  explicit cache_memory(std::shared_ptr<memory_ledger> ledger) : ledger_(std::move(ledger)) {}
  memory_ledger& ledger() const { return *ledger_; }
  std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  std::size_t bytes_max() const { return ledger_->budget_bytes() / 2; }
  /// Charges `more` bytes to `line`. Returns false, and charges nothing, if that exceeds bytes_max() or the budget of
  /// held memory.
  bool take(std::size_t more, ledger_line& line);
  void give_back(std::size_t bytes, ledger_line& line) noexcept;

 private:
  const std::shared_ptr<memory_ledger> ledger_;
  std::atomic<std::size_t> bytes_{0};  ///< relaxed: a sum, which publishes no other data
};

class element_cache {
 public:
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
  static constexpr std::size_t kPieceElements = 1024;
  static constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

  /// `label`: the name of the stage, for the ledger's report. REQUIRES: elements can be copied.
  element_cache(const element_type& type, std::shared_ptr<cache_memory> memory, std::string_view label,
                bool has_fixed_order);
  element_cache(const element_cache&) = delete;
  ~element_cache();

  bool has_fixed_order() const { return has_fixed_order_; }
  const cache_memory& memory() const { return *memory_; }
  /// The number of bytes that this cache is charged with.
  std::size_t bytes() const;
  /// The number of elements of the input; kUnknown until a stage has reached its end.
  std::uint64_t length() const;
  void set_length(std::uint64_t elements);

  /// Copies the elements from `ordinal` on that are here, at most `most`, of about `bytes` bytes, to `out`, which has
  /// them as its live elements. Returns their number.
  std::uint32_t copy(std::uint64_t ordinal, std::uint32_t most, std::size_t bytes, slab& out) const;

  using input_position = std::shared_ptr<const position_writer>;
  /// Returns true if append(ordinal, …) would begin a piece, for which it needs the input's position.
  bool begins_piece(std::uint64_t ordinal) const;
  enum class added : std::uint8_t {
    all,      ///< the elements are here now
    none,     ///< another stage has added elements meanwhile; these, or some of them, are not added
    no_room,  ///< the memory is used up
  };
  /// Copies the elements of `made`, the first of which has this ordinal. `from`: the input's position there, if it was
  /// asked for. Errors: exceptions of a copy; nothing is added then.
  added append(std::uint64_t ordinal, const block& made, input_position from);
  /// No more elements are added. They stay as they are.
  void close();
  bool is_closed() const;

  struct place {
    std::uint64_t ordinal = 0;
    input_position position = {};  ///< null: the start
  };
  /// The last beginning of a piece at or before this ordinal.
  place place_before(std::uint64_t ordinal) const;

  // For an input without a fixed order.

  /// The number of elements that are here, which are the first ones.
  std::uint64_t prefix() const;
  /// Identifies the pass that the elements come from. Never 0.
  std::uint64_t pass() const { return pass_; }
  /// The right to fill the cache, which one stage has at a time.
  class filling {
   public:
    filling() = default;
    explicit filling(std::shared_ptr<element_cache> of) : of_(std::move(of)) {}
    filling(filling&& other) noexcept = default;
    filling& operator=(filling&& other) noexcept {
      filling ended(std::move(*this));
      of_ = std::move(other.of_);
      return *this;
    }
    ~filling();
    explicit operator bool() const { return of_ != nullptr; }

   private:
    std::shared_ptr<element_cache> of_;
  };
  /// Returns an empty right if another stage has it.
  static filling try_fill(const std::shared_ptr<element_cache>& of);

 private:
  struct piece;
  using pieces = std::map<std::uint64_t, std::shared_ptr<piece>>;

  /// The piece that has this element, or that ends before it; null: none.
  const std::shared_ptr<piece>* piece_at(std::uint64_t ordinal) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  /// The piece that elements from `ordinal` on would be added to; null: they begin one.
  piece* open_piece(std::uint64_t ordinal) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool charge(std::size_t more) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const element_type& type_;
  const std::shared_ptr<cache_memory> memory_;
  ledger_line& line_;  ///< of the ledger, which `memory_` shares
  const bool has_fixed_order_;
  const std::uint64_t pass_;
  mutable mutex mutex_;
  pieces pieces_ ABSL_GUARDED_BY(mutex_);  ///< by the ordinals of their first elements
  std::uint64_t length_ ABSL_GUARDED_BY(mutex_) = kUnknown;
  std::size_t used_ ABSL_GUARDED_BY(mutex_) = 0;
  std::size_t charged_ ABSL_GUARDED_BY(mutex_) = 0;  ///< not less than used_
  bool is_closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_filled_ ABSL_GUARDED_BY(mutex_) = false;  ///< a stage has the right to fill
};

}  // namespace sluice::lib
