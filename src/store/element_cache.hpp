// SPDX-License-Identifier: Apache-2.0
// element_cache: elements of one plan, by their ordinals, in memory or in a file. The stages of a cache, in any number of
// runs, add the elements that they have made, and read those that another one has made.
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
// Charged: elements, what they own, and the pieces, to a line of the ledger that the runs share; chunks of 2 MiB that complete
//         pieces in memory share, once they are made. All caches of a runtime
//         together hold at most half of the memory budget, because channels and buffers need the rest.
// Files:  pieces are written when they are complete, while the stage continues, and read again when an element is
//         requested: in memory are those in the making, those that wait to be written, at most kUnwrittenMax bytes or one
//         piece, and the last kLoadedMax that were read or written. One process at a time writes (store/block_store.hpp);
//         in the others, elements that are not in the file are not added.
// Spilling: a cache in memory may continue in a temporary file that has no name, so the system frees it when the process
//         ends, however it ends. The pieces that fit stay in memory, and later ones are those of a cache in a file.
// Thread: any. open_file(), load(), write(), finish(), flush() and spill() block.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/memory/buffer_arena.hpp"
#include "sluice/base/mutex.hpp"
#include "sluice/coro/environment.hpp"
#include "sluice/coro/position.hpp"
#include "sluice/element/column.hpp"
#include "sluice/element/slab.hpp"
#include "sluice/runtime/ledger.hpp"
#include "store/block_store.hpp"

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
  /// Charges the memory of a cache in a file, which is some MiB, even beyond the budget.
  void take_anyway(std::size_t more, ledger_line& line) noexcept;
  void give_back(std::size_t bytes, ledger_line& line) noexcept;

 private:
  const std::shared_ptr<memory_ledger> ledger_;
  std::atomic<std::size_t> bytes_{0};  ///< relaxed: a sum, which publishes no other data
};

/// What the elements of a cache in a file depend on.
class cache_head {
 public:
  /// Returns the bytes for a new file. `pass`: element_cache::pass().
  virtual std::string bytes(std::uint64_t pass) const = 0;
  /// Compares those of an existing file, and sets `pass` to its pass. Returns ok, or the difference.
  virtual status compare(std::string_view there, std::uint64_t& pass) const = 0;

 protected:
  ~cache_head() = default;
};

/// Elements that a stage adds: those of a block, or rows of columns.
class made_elements {
 public:
  made_elements(const block& b) : objects_(b.data()), size_(b.size()) {}  // NOLINT: a block is such elements
  /// The rows [first, first + n).
  made_elements(const column& rows, std::size_t first, std::size_t n) : rows_(&rows), first_(first), size_(n) {}
  std::size_t size() const { return size_; }
  const void* objects() const { return objects_; }
  const column* rows() const { return rows_; }  ///< null: they are objects
  std::size_t first() const { return first_; }

 private:
  const void* objects_ = nullptr;
  const column* rows_ = nullptr;
  std::size_t first_ = 0, size_ = 0;
};

class element_cache {
 public:
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
  static constexpr std::size_t kPieceElements = 1024;
  static constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
  static constexpr duration kPieceTime = std::chrono::milliseconds(100);  ///< in a file
  static constexpr std::size_t kUnwrittenMax = kPieceBytes;  ///< of complete pieces, unless it is one larger piece
  static constexpr std::size_t kLoadedMax = 8;               ///< complete pieces of a file in memory
  static constexpr std::size_t kSpilledLoadedMax = 2;        ///< of a temporary file, besides the share in memory

  /// `label`: the name of the stage, for the ledger's report. REQUIRES: elements can be copied.
  /// `path`: the file; empty: in memory.
  element_cache(const element_type& type, std::shared_ptr<cache_memory> memory, std::string_view label,
                bool has_fixed_order, std::string path = {});
  element_cache(const element_cache&) = delete;
  ~element_cache();

  bool has_fixed_order() const { return has_fixed_order_; }
  const cache_memory& memory() const { return *memory_; }
  /// The number of bytes that this cache is charged with.
  std::size_t bytes() const;
  /// The number of elements of the input; kUnknown until a stage has reached its end.
  std::uint64_t length() const;
  void set_length(std::uint64_t elements);

  // For a cache in a file.

  /// True from the beginning, or once a cache in memory has spilled.
  bool has_file() const { return has_file_.load(std::memory_order_acquire); }
  /// Opens the file at the first call. `rebuilds`: a file of another plan, or one that is damaged, is replaced.
  status open_file(const cache_head& head, bool rebuilds, runtime& rt);
  /// Returns true if this process may write to the file.
  bool can_write();
  /// Returns true if load() may bring the element `ordinal` into memory.
  bool must_load(std::uint64_t ordinal) const;
  /// `rebuilds`: a damaged piece is forgotten, so that its elements are made again.
  status load(std::uint64_t ordinal, bool rebuilds);
  bool must_write() const;
  /// Writes complete pieces.
  status write();
  /// Writes them on a thread of `rt` after the call has returned. Returns false if the caller must call write() instead:
  /// too many of them wait, the last attempt has failed, the file is in a store, or the runtime is simulated.
  bool write_behind(runtime& rt);
  /// Writes all pieces, and the number of elements. Does not wait until the disk has stored them, which it has at the latest
  /// when the cache is destroyed or the runtime ends; see take_sync_error().
  status finish(std::uint64_t elements, runtime& rt);
  /// Returns, once, the error of the disk after an earlier finish(); ok: it has stored the file, or has not yet.
  status take_sync_error();
  /// Returns true if a stage must call begin_adding() before it requests elements that are missing.
  bool is_left() const { return file_ && file_->is_left(); }
  /// A stage begins to add elements, and stops: all pieces are written then, as far as that is possible.
  void begin_adding();
  void end_adding() noexcept;
  /// Returns true if elements wait in memory for a temporary file, which spill() makes.
  bool must_spill() const;
  /// Errors: those of the file system.
  status spill();

  struct copied {
    std::uint32_t count = 0, bytes_each = 0;
  };
  /// Copies the elements from `ordinal` on that are here, at most `most`, of about `bytes` bytes, to `out`, which has
  /// them as its live elements.
  copied copy(std::uint64_t ordinal, std::uint32_t most, std::size_t bytes, slab& out) const;
  /// Appends them to `rows`. REQUIRES: yields_rows().
  copied copy(std::uint64_t ordinal, std::uint32_t most, std::size_t bytes, column& rows) const;
  /// Returns true if elements of this type can be copied to columns, and are added as rows of columns.
  static bool yields_rows(const element_type& type);

  using input_position = std::shared_ptr<const position_writer>;
  /// Returns true if another process writes the file, so that no elements can be added.
  bool is_written_elsewhere();
  /// Returns true if append(ordinal, …) would begin a piece, for which it needs the input's position.
  bool begins_piece(std::uint64_t ordinal);
  enum class added : std::uint8_t {
    all,      ///< the elements are here now
    none,     ///< another stage has added elements meanwhile; these, or some of them, are not added
    no_room,  ///< the memory is used up
  };
  /// Copies the elements of `made`, the first of which has this ordinal. `from`: the input's position there, if it was
  /// asked for. `may_spill`: elements for which the memory has no room are added nevertheless, and must_spill() is true
  /// then. Errors: exceptions of a copy; nothing is added then.
  added append(std::uint64_t ordinal, const made_elements& made, input_position from, time_point now = {},
               bool may_spill = false);
  /// No more elements are added. Those that are here stay, except for pieces that are not written yet.
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
  std::uint64_t pass() const { return pass_.load(std::memory_order_relaxed); }  // set before the stage reads it
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
  struct writer_behind;
  using pieces = std::map<std::uint64_t, std::shared_ptr<piece>>;

  /// The piece that has this element, or that ends before it; null: none.
  const std::shared_ptr<piece>* piece_at(std::uint64_t ordinal) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  template <class Room> copied copy_to(std::uint64_t ordinal, std::uint32_t most, std::size_t bytes, Room& to) const;
  bool has_piece(std::uint64_t ordinal) const;
  /// The piece with this ordinal is damaged in the file.
  void forget(std::uint64_t ordinal);
  /// The piece that elements from `ordinal` on would be added to; null: they begin one.
  piece* open_piece(std::uint64_t ordinal) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool charge(std::size_t more) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void charge_anyway(std::size_t more) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void release(std::size_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  /// Moves the elements of a complete piece to memory of their size, if that is worth it.
  void settle(piece& complete) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  /// Has the lock of the file, and knows all its blocks.
  bool become_writer() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void add_blocks(std::vector<stored_block> blocks) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  status add_stored() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static bool may_write_behind(const block_store& file, const runtime& rt);
  /// Submits the call that writes behind, unless it is under way.
  void call_behind(runtime& rt);
  /// Writes until no complete piece is left, and synchronizes the file if that is due.
  void write_until_done() noexcept;
  void flush() noexcept;
  void leave() noexcept;
  void close_open_pieces() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  /// The piece with this ordinal is complete, in memory and in the file. The oldest such piece leaves the memory.
  void note_loaded(std::uint64_t ordinal) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const element_type& type_;
  const std::shared_ptr<cache_memory> memory_;
  ledger_line& line_;  ///< of the ledger, which `memory_` shares
  const bool has_fixed_order_;
  const std::string path_;
  std::atomic<bool> has_file_;
  std::atomic<std::uint64_t> pass_;
  mutex opening_;  ///< held while the file is opened
  mutex writing_;  ///< held while a piece is written, so that the file's order is that of the pieces
  const std::shared_ptr<writer_behind> behind_;
  std::shared_ptr<block_store> file_;  ///< null until it is open; then it does not change
  mutable mutex mutex_;
  buffer_arena arena_ ABSL_GUARDED_BY(mutex_);  ///< of complete pieces in memory; its chunks are charged
  pieces pieces_ ABSL_GUARDED_BY(mutex_);       ///< by the ordinals of their first elements
  std::uint64_t length_ ABSL_GUARDED_BY(mutex_) = kUnknown;
  std::size_t used_ ABSL_GUARDED_BY(mutex_) = 0;
  std::size_t charged_ ABSL_GUARDED_BY(mutex_) = 0;  ///< not less than used_
  bool is_closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::size_t adding_ ABSL_GUARDED_BY(mutex_) = 0;               ///< stages
  bool wants_file_ ABSL_GUARDED_BY(mutex_) = false;              ///< memory was exceeded
  bool is_written_behind_ ABSL_GUARDED_BY(mutex_) = false;       ///< a call of write_behind() is under way
  bool has_failed_behind_ ABSL_GUARDED_BY(mutex_) = false;       ///< and write() returns the error
  bool is_sync_due_ ABSL_GUARDED_BY(mutex_) = false;             ///< the file is complete, and may not be durable
  status sync_error_ ABSL_GUARDED_BY(mutex_);                    ///< the error of such a synchronization
  bool is_filled_ ABSL_GUARDED_BY(mutex_) = false;               ///< a stage has the right to fill
  bool is_writer_ ABSL_GUARDED_BY(mutex_) = false;               ///< and all blocks of the file are known
  std::deque<std::uint64_t> unwritten_ ABSL_GUARDED_BY(mutex_);  ///< complete pieces that are not in the file
  std::size_t of_written_ ABSL_GUARDED_BY(mutex_) = 0;           ///< the elements of the last one that was added
  std::deque<std::uint64_t> loaded_ ABSL_GUARDED_BY(mutex_);     ///< complete pieces that are in memory, too
};

}  // namespace sluice::lib
