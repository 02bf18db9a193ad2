// SPDX-License-Identifier: Apache-2.0
// Positions: the state of a tree of streams, as bytes. Checkpoints are made from them.
//
//   position_writer w;
//   stream.position(w);                                      // at rest: no request on the stream is outstanding
//   std::string bytes = w.bytes();
//
// Format. A position is a sequence of position records, one for each stage of a chain, from the consumer's end
// upstream:
//   [site, 4 bytes] [length] [ordinal] [2 · elements to skip + has version] [version] [the stage's saved values]
// `length` counts the bytes after it. Numbers are LEB128. A stage finds its record by its site (plan/node.hpp), not by
// its place, so the chain may have other stages around it when it is resumed: knobs add and remove channels, rewrites
// add and remove stages that do nothing. A stage without state that makes one element for each element of its input (a
// map, a channel) has no record: its position is that of its input. Chains within a stage (the inner streams of an
// interleave, the inputs of a combine) have their own positions, inside the stage's saved values.
//
// Example. A position of `range(10) | shuffle(3, seed=1) | batch(2)`, between two batches, has three records:
//   [site of batch]     its ordinal
//   [site of shuffle]   its ordinal; saved: the number of draws made, and the length of the input once it is known
//   [site of range]     a mark at or before the oldest element in the shuffle's buffer; saved: the numbers made by then
// The resumed shuffle computes from its draws which elements were in its buffer, and requests these again.
//
// Late parts. Three parts get their bytes at the call of bytes(), after the position was recorded: a `blob` (a position
// inside another one, after its length), the end of a `decision_log`, and the end of an `opening_log`. A mark is a
// position recorded earlier. Therefore it contains the choices that the stage has logged since then, including those of
// streams that were opened since then.
//
// State:  part of the checkpoint format; a change needs a new version of the seal (src/pipeline/seal.hpp).
// Thread: a writer or reader is used by one thread; the logs are written by one thread and read by others.
// Cost:   some hundred nanoseconds and some tens of bytes for a chain; kilobytes for a stage that logs its choices.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/base/assert.hpp"
#include "sluice/base/shared_ref.hpp"
#include "sluice/base/status.hpp"

namespace sluice::lib {

/// The choices that a nondeterministic stage has made, in order, so that a resumed run can repeat them.
///
/// A singly linked list of chunks. A `place` shares the ownership of the chunk that it points into, and each chunk
/// shares the ownership of the next one. So chunks before the oldest place are freed, and the log needs neither a bound
/// nor cleaning.
/// Thread: one writer (the stage); places may be read on any thread at the same time.
class decision_log {
  struct chunk;

 public:
  /// A place in the log. It represents all choices from there on, including choices added later.
  class place {
   public:
    place() = default;
    /// The choices from the place to the current end. Thread: any, while the writer adds more.
    std::vector<std::uint64_t> read() const;
    /// Returns true if no choice has been added after the place. Thread: any.
    bool empty() const;

   private:
    friend class decision_log;
    shared_ref<chunk> chunk_;
    std::uint32_t offset_ = 0;
  };
  decision_log();
  /// The current end. Thread: the writer's.
  place here() const;
  /// Appends a choice. Thread: the writer's. Errors: std::bad_alloc.
  void add(std::uint64_t value);

 private:
  shared_ref<chunk> tail_;
};

struct mark;
class position_writer;

/// The streams that a stage has opened in this run (the inner plans of a flat_map, the epochs of a repeat), in order:
/// the number of each, and its position when it was opened. This position contains all choices of the stream, since a
/// decision log is a late part. So a mark of the stage contains the choices of streams that were opened after it.
///
/// A singly linked list, whose entries are freed like those of a decision_log.
/// Thread: one writer (the stage); places may be read on any thread at the same time.
class opening_log {
  struct entry;

 public:
  /// A place in the log. It represents all streams opened from there on, including streams added later.
  class place {
   private:
    friend class opening_log;
    friend class position_writer;
    shared_ref<entry> before_;
  };
  opening_log();
  /// The current end. Thread: the writer's.
  place here() const;
  /// Adds a stream. `resumed`: its position contains choices that the mark no longer has, so it is written even if no
  /// choice is added. Thread: the writer's. Errors: std::bad_alloc.
  void add(std::uint64_t number, std::shared_ptr<const position_writer> opened_at, bool resumed);

 private:
  friend class position_writer;
  shared_ref<entry> tail_;
};

/// Collects the bytes of a position. A class with save(position_writer&) writes its state with number(), text() and
/// raw(), and reads it with the functions of position_reader of the same names, in the same order.
class position_writer {
 public:
  position_writer();
  position_writer(const position_writer& other);
  position_writer(position_writer&& other) noexcept;
  position_writer& operator=(const position_writer& other);
  position_writer& operator=(position_writer&& other) noexcept;
  ~position_writer();

  /// Writes 1 byte for values below 128, and at most 10.
  void number(std::uint64_t value) {
    while (value >= 128) {
      bytes_.push_back(static_cast<char>(value | 128));
      value >>= 7;
    }
    bytes_.push_back(static_cast<char>(value));
  }
  void text(std::string_view s) {
    number(s.size());
    bytes_.append(s);
  }
  /// Writes bytes without their length: the reader must know it.
  void raw(const void* data, std::size_t size_bytes) { bytes_.append(static_cast<const char*>(data), size_bytes); }
  /// Writes another position, after its length; read with text(). Late: its bytes are those at the time of bytes().
  void blob(std::shared_ptr<const position_writer> inner);
  /// Writes the choices from `from` to the end of the log at the time of bytes(): their number, then each choice.
  void log(decision_log::place from);
  /// Writes the streams that were opened from `from` to the end of the log at the time of bytes(), if they have made
  /// choices: their number, then for each stream its number and its position. The position is read with text().
  void openings(opening_log::place from);
  /// Returns true if the position contains the end of a log.
  bool has_logs() const;
  /// Writes the position of the stage that `m` is a mark of, at its element `ordinal`, with the positions of the stages
  /// upstream of it. The record contains the state of the mark; the elements between the mark and `ordinal` are
  /// recorded as elements to skip. REQUIRES: ordinal >= m.ordinal.
  void record(const mark& m, std::uint64_t ordinal);
  std::size_t size_bytes() const { return bytes_.size(); }  ///< without the late parts
  /// The position as it is now, late parts included. May be called several times.
  std::string bytes() const;

 private:
  friend class opening_log;
  void append(const position_writer& other);
  void append_first(const position_writer& other, std::size_t size_bytes);
  void append_after(const position_writer& other, std::size_t size_bytes);

  /// Returns true if its logs contain choices.
  bool has_choices() const;
  void write_openings(const opening_log::place& from);

  struct late;
  std::string bytes_;
  std::vector<late> late_;
};

/// Reads the bytes that a position_writer has written. The bytes come from files and may be damaged or forged. A read
/// beyond the end does not throw. It makes ok() false permanently; this and every later read return zeros or empty
/// texts. So a load() may read everything and leave the check to its caller. It must only not trust a number (see
/// count()).
/// Owns: nothing; the bytes must outlive the reader and the texts it returned.
class position_reader {
 public:
  explicit position_reader(std::string_view bytes, std::uint32_t version = 0) : rest_(bytes), version_(version) {}
  std::uint64_t number();
  std::string_view text();
  void raw(void* data, std::size_t size_bytes);
  /// The version of the saved values that are being read (op_info::state_version).
  std::uint32_t version() const { return version_; }
  /// Reads a number of items, each of which takes at least one byte. A number larger than the number of bytes left is
  /// damage, so that a forged count cannot cause a large allocation.
  std::size_t count();
  bool ok() const { return ok_; }
  /// Returns true if all bytes have been read. A loader of a whole record checks `ok() && done()`.
  bool done() const { return rest_.empty(); }
  std::string_view remaining() const { return rest_; }
  /// Reports damage: called for values that no writer writes.
  void fail() {
    ok_ = false;
    rest_ = {};
  }
  /// Reports that the bytes are undamaged but cannot be used. The resumed run fails with the status `why`.
  void refuse(status why) {
    if (why_.ok()) why_ = std::move(why);
    fail();
  }
  /// The first status given to refuse(). Ok if refuse() was not called, also after damage.
  const status& why() const { return why_; }

 private:
  std::string_view rest_;
  std::uint32_t version_;
  bool ok_ = true;
  status why_;
};

/// The status for a position that is damaged or does not fit the plan: data_loss.
status damaged_position();

/// A position that was recorded earlier. A stage keeps it to start again from there. It consists of the state of a
/// stage, and of the stages upstream of it, when the stage had made its first `ordinal - residual` elements. Skipping
/// `residual` elements from there leads to the element `ordinal`.
struct mark {
  std::uint64_t ordinal = 0;
  std::uint64_t residual = 0;  ///< elements to make again and skip before the element `ordinal`
  std::uint32_t site = 0;      ///< identifies the stage whose elements are counted
  std::uint32_t version = 0;   ///< the version of its saved values (op_info::state_version)
  /// The record is that of a stage downstream that leaves out this number of elements at the start, so its ordinals are
  /// lower by that number (coro/positions/absent_stage.hpp).
  std::uint64_t left_out = 0;
  std::size_t own_bytes = 0;  ///< the part of `state` with its saved values; the upstream stages' records follow
  position_writer state;

  /// Makes this a mark for a later element: the same state, with more elements to skip. REQUIRES: later >= ordinal.
  void advance_to(std::uint64_t later) {
    SLUICE_REQUIRES(later >= ordinal, "a mark does not move back");
    residual += later - ordinal;
    ordinal = later;
  }
  /// n of the elements to pass over do not exist, so the mark is one for a lower ordinal. REQUIRES: n <= residual.
  void pass_over_less(std::uint64_t n) {
    SLUICE_REQUIRES(n <= residual, "a mark is not for an element before its state");
    residual -= n;
    ordinal -= n;
  }
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::position_reader;
using lib::position_writer;

}  // namespace sluice
