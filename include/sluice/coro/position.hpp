// SPDX-License-Identifier: Apache-2.0
// Positions: where a tree of streams stands, as bytes.
//
// A position is written by whoever is about to pull, while the tree below is at rest. It is a sequence of records, one for
// each stage of a chain, the consumer's end first:
//   [site, 4 bytes] [length] { [ordinal] [elements to pass over, version] [the stage's saved values] }
// A stage finds its record by its site (plan/node.hpp), so the chain may have other stages around it when it is resumed:
// knobs add and take away channels, rewrites stages that do nothing. Whoever keeps no state and gives one element for each
// of its input (a map, a channel) has no record: where it stands is where its input stands. Chains within a stage (the
// inner streams of an interleave, the inputs of a combine) are positions of their own inside of its saved values.
//
// Numbers are LEB128. Two things are written late, when the position is turned into bytes: a `blob` (a position within
// another, prefixed by its length) and a `decision_log`'s tail, which goes on growing after the position was taken: a mark
// is a position of a moment ago plus the choices made since.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/base/status.hpp"

namespace sluice::lib {

/// The choices a nondeterministic stage has made, in order. Forward-linked chunks: whoever remembers a place in the log
/// holds its chunk, and chunks that no place refers to die. One writer; readers (positions) may follow from any thread.
class decision_log {
  static constexpr std::uint32_t kPerChunk = 64;
  struct chunk {
    std::atomic<std::uint32_t> count{0};
    std::uint64_t values[kPerChunk];
    std::shared_ptr<chunk> next;  // published before count reaches kPerChunk + 1

    /// One after the other: left to themselves, a long log's chunks would be destroyed inside of each other.
    ~chunk() {
      auto rest = std::move(next);
      while (rest && rest.use_count() == 1) {
        std::atomic_thread_fence(
            std::memory_order_acquire);  // whoever dropped the last other reference is done with it
        rest = std::move(rest->next);
      }
    }
  };

 public:
  /// A place in the log: everything from here on.
  class place {
   public:
    place() = default;
    std::vector<std::uint64_t> read() const;

   private:
    friend class decision_log;
    std::shared_ptr<chunk> chunk_;
    std::uint32_t offset_ = 0;
  };
  decision_log() : tail_(std::make_shared<chunk>()) {}
  place here() const;
  void add(std::uint64_t value);

 private:
  std::shared_ptr<chunk> tail_;
};

struct mark;

class position_writer {
 public:
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
  void raw(const void* data, std::size_t size_bytes) { bytes_.append(static_cast<const char*>(data), size_bytes); }
  /// Another position, length first.
  void blob(std::shared_ptr<const position_writer> inner) { late_.push_back({bytes_.size(), std::move(inner), {}}); }
  /// The log from `from` to wherever it has got to when `bytes()` is called: count, then values.
  void log(decision_log::place from) { late_.push_back({bytes_.size(), nullptr, std::move(from)}); }
  /// The record of `m`'s stage after `ordinal` (≥ m.ordinal) of its elements, and those of the stages below it.
  void record(const mark& m, std::uint64_t ordinal);
  std::size_t size_bytes() const { return bytes_.size(); }  ///< without what is written late
  std::string bytes() const;

 private:
  void append(const position_writer& other);
  void append_first(const position_writer& other, std::size_t size_bytes);
  void append_after(const position_writer& other, std::size_t size_bytes);

  struct late {
    std::size_t at;
    std::shared_ptr<const position_writer> inner;
    decision_log::place from;
  };
  std::string bytes_;
  std::vector<late> late_;
};

/// Reads what a writer wrote. Damage does not throw: `ok()` turns false and every later read gives zeros.
class position_reader {
 public:
  explicit position_reader(std::string_view bytes, std::uint32_t version = 0) : rest_(bytes), version_(version) {}
  std::uint64_t number();
  std::string_view text();
  void raw(void* data, std::size_t size_bytes);
  /// Which version of the stage's saved values these are (op_info::state_version).
  std::uint32_t version() const { return version_; }
  /// A count of things that take at least one byte each; damaged counts cannot make anyone allocate more than is there.
  std::size_t count();
  bool ok() const { return ok_; }
  bool done() const { return rest_.empty(); }
  std::string_view remaining() const { return rest_; }
  void fail() {
    ok_ = false;
    rest_ = {};
  }
  /// The bytes are sound, and cannot be used: `why` is what the user is told instead of damage.
  void refuse(status why) {
    if (why_.ok()) why_ = std::move(why);
    fail();
  }
  /// What refuse() was given; ok after any other failure.
  const status& why() const { return why_; }

 private:
  std::string_view rest_;
  std::uint32_t version_;
  bool ok_ = true;
  status why_;
};

/// The error of a position that does not fit the plan it is restored into.
status damaged_position();

/// A position of a moment ago: the state of a stage, and of those below it, after `ordinal - residual` elements.
struct mark {
  std::uint64_t ordinal = 0;
  std::uint64_t residual = 0;  ///< elements the restored state makes again before it reaches `ordinal`
  std::uint32_t site = 0;      ///< of the stage whose elements are counted
  std::uint32_t version = 0;   ///< of its saved values (op_info::state_version)
  std::size_t own_bytes = 0;   ///< of `state`: its saved values; the records of the stages below it follow
  position_writer state;

  /// The same state, seen from a later element.
  void advance_to(std::uint64_t later) {
    residual += later - ordinal;
    ordinal = later;
  }
};

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::position_reader;
using lib::position_writer;

}  // namespace sluice
