// SPDX-License-Identifier: Apache-2.0
// split_reading: the elements of one split, from whichever worker serves it. core/split_reader_core.hpp decides; this class
// waits, and keeps the elements that have arrived.
//
//   split_reading in(me, split, type);
//   auto filling = in.fill(ordinal);                     // ordinal: of the next element that is wanted
//   status why = co_await filling;
//   in.elements()                                        // live elements from in.first() on
//   in.local()                                           // or a block of them; neither: the end
//
// Local:  a worker of this process hands over blocks of its own stream: in.local() is then the next one.
// Errors: the status of the element that the worker could not make; those of the dispatcher; unavailable: no worker for as
//         long as `patience`; data_loss: the elements of a worker are damaged. in_place() adds the worker and the split. With
//         visitation::at_most_once a split that breaks ends, with a warning of the run.
// Thread: the stage's.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "service/client/consumer.hpp"
#include "service/core/split_reader_core.hpp"
#include "service/host/local_read.hpp"
#include "service/wire/dropped_frames.hpp"
#include "service/wire/element_frames.hpp"
#include "sluice/element/slab.hpp"
#include "sluice/runtime/ledger.hpp"

namespace sluice::lib {

/// Bytes that may arrive, or have arrived, from a worker elsewhere, charged to the ledger until they are used. The first
/// kMin bytes of each split are charged even beyond the budget, because the consumer may wait for them.
class arriving_bytes {
 public:
  static constexpr std::size_t kMin = std::size_t{256} << 10;

  explicit arriving_bytes(const run_context& run);
  arriving_bytes(const arriving_bytes&) = delete;
  ~arriving_bytes() { release(); }

  /// Charges the credit of a read: `wanted` bytes, or as many as fit into the budget, and at least kMin. Returns it.
  std::size_t charge_credit(std::size_t wanted);
  /// The size of the frame whose elements are used now. It is beside the credit, which its worker has back.
  void charge_frame(std::size_t bytes);
  void release() noexcept;

 private:
  memory_ledger& ledger_;
  ledger_line& line_;
  std::size_t credit_ = 0, frame_ = 0;
};

class split_reading {
 public:
  /// `dropped`: the number of bad elements of the split that the consumer has counted before.
  split_reading(std::shared_ptr<consumer> as, assigned_split split, const element_type& type, std::uint64_t dropped);
  split_reading(const split_reading&) = delete;
  ~split_reading();

  /// Makes the element `wanted`, and perhaps some after it, the first of elements(). REQUIRES: elements() is empty, and
  /// `wanted` is not less than before.
  task<status> fill(std::uint64_t wanted);
  /// Bad elements that were dropped before the elements that fill() or got() has made available.
  bool has_dropped() const { return !arrived_.empty() || (stream_ && has_dropped_here()); }
  /// Moves them out. `number`: of the next one in the split, to be saved with the place of the next element.
  std::vector<dropped_element> take_dropped(std::uint64_t& number);
  slab& elements() { return ready_; }
  /// The elements from a worker of this process, valid until the next fill(). Empty: they are in elements().
  const block& local() const { return local_; }
  // A stage that reads many blocks of a worker of this process awaits its stream itself, and reports some of them only:
  /// Returns the stream from which `wanted` may be requested; null: call fill(). REQUIRES: as fill().
  erased_stream* unreported(std::uint64_t wanted);
  demand next_demand() const { return {wanted_ - std::min(wanted_, stream_at_), block_elements_, block_bytes_}; }
  /// Returns false if fill() must handle what the stream has returned: the end, or an error.
  bool got(const erased_stream::attempt& some);

  /// Returns false if the next element needs no message, and the plan of the split waits for nothing.
  bool may_wait() const { return !stream_ || stream_->may_wait(); }
  /// The size of the blocks that local() should have.
  void demand_blocks(std::uint32_t elements, std::uint32_t bytes) {
    block_elements_ = elements;
    block_bytes_ = bytes;
  }
  /// The ordinal of the first of elements().
  std::uint64_t first() const { return first_; }
  /// Removes the elements before `ordinal`.
  void drop_before(std::uint64_t ordinal);
  /// The first n elements were moved out.
  void count_taken(std::uint32_t n) { first_ += n; }
  /// After a fill() without elements: what the worker's stages have dropped in the split. Empty if the consumer stores them.
  const std::vector<dropped_elements>& dropped() const { return dropped_; }
  /// Adds the place of an error to its message: the worker, and the split. A file that is missing or damaged on a worker may
  /// be right here, and an element has its number in the split.
  status in_place(const status& why) const;
  /// The worker of the last read, and the split.
  struct worker_place {
    std::string worker, split;
  };
  worker_place place_now() const;
  /// Returns the bytes that have arrived from workers elsewhere since the last call.
  std::uint64_t take_wire_bytes() { return std::exchange(wire_bytes_, 0); }
  /// After a fill() without elements: the number of elements of the split.
  std::uint64_t length() const { return length_; }

 private:
  void step(reader_event event);
  void perform(reader_action& a);
  /// The elements that have arrived are used.
  void report_taken();
  // Each does one thing that the core has asked for, and passes the result to it.
  task<> wait();
  task<> place();
  task<> open();
  task<> open_local(std::shared_ptr<worker_host> here, read_request request);
  task<> receive();
  task<> receive_local();
  task<> rest();
  status use(std::uint64_t read, const slice& frame);
  /// Adds the bad elements of a frame to those that take_dropped() returns.
  status use_dropped(const element_frame& f);
  bool has_dropped_here() const;
  /// Decompresses a frame, whose bytes are charged before.
  task<result<slice>> unpacked(slice frame);
  /// Reports to the worker what was measured, if enough time has passed.
  void report_measured();

  const std::shared_ptr<consumer> me_;
  const assigned_split split_;
  std::optional<split_reader_core> core_;  ///< from the first fill() on
  time_point now_{}, begun_{};
  std::optional<reader_action::place> to_place_;
  std::optional<reader_action::open> to_open_;
  std::optional<reader_action::deliver> delivered_;
  time_point due_ = time_point::max();
  std::uint64_t read_ = 0;          ///< the number of the open read
  bool is_measured_ = false;        ///< the worker of reader_ may compress
  measured_request measured_ = {};  ///< since the last report
  time_point measured_at_{};
  std::uint64_t wire_bytes_ = 0;                     ///< of all frames; take_wire_bytes() resets it
  std::shared_ptr<message_channel> channel_;         ///< outlives the reader
  arriving_bytes arriving_;                          ///< of reader_
  std::unique_ptr<frame_reader> reader_;             ///< null: no read of a worker elsewhere is open
  std::unique_ptr<worker_host::local_read> stream_;  ///< null: no read of a worker here is open
  std::uint64_t stream_at_ = 0;                      ///< the ordinal of the next element of stream_
  std::uint64_t wanted_ = 0;                         ///< of the fill()
  block local_;
  std::uint32_t block_elements_ = 1;
  std::uint32_t block_bytes_ = demand::kBytes;
  time_point reported_{};
  std::uint32_t unreported_ = 0, unreported_max_ = 0;  ///< blocks since the core knows the offset
  std::optional<erased_stream::attempt> last_;         ///< that fill() must handle

  slab ready_;
  std::uint64_t first_ = 0;  ///< of ready_
  std::uint64_t next_ = 0;   ///< of the next element that arrives
  std::uint64_t taken_ = 0;  ///< next_ at the last report_taken()
  std::uint64_t length_ = 0;
  std::vector<dropped_elements> dropped_;
  std::uint64_t dropped_next_;  ///< the number of the next bad element of the split that arrives
  std::vector<dropped_element> arrived_;
  bool has_delivered_ = false, has_ended_ = false, has_end_frame_ = false;
  bool is_refused_ = false;  ///< failure_ is the dispatcher's
  status failure_;
};

}  // namespace sluice::lib
