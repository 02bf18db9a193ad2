// SPDX-License-Identifier: Apache-2.0
// Positions: where a tree of streams stands, as bytes.
//
// A position is written by whoever is about to pull, while the tree below is at rest:
//   [ordinal] [elements to pass over] [the stage's saved values] [its inputs' positions, recursively]
// Numbers are LEB128, so a position of a five-stage chain is some ten bytes. Two things are written late, when the
// position is turned into bytes: a `blob` (a child position, prefixed by its length) and a `decision_log`'s tail, which
// goes on growing after the position was taken: a mark is a position of a moment ago plus the choices made since.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/status.hpp"

namespace sluice {

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
  void append(const position_writer& other);
  std::string bytes() const;

 private:
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
  explicit position_reader(std::string_view bytes) : rest_(bytes) {}
  std::uint64_t number();
  std::string_view text();
  void raw(void* data, std::size_t size_bytes);
  /// A count of things that take at least one byte each; damaged counts cannot make anyone allocate more than is there.
  std::size_t count();
  bool ok() const { return ok_; }
  bool done() const { return rest_.empty(); }
  std::string_view remaining() const { return rest_; }
  void fail() {
    ok_ = false;
    rest_ = {};
  }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

/// The error of a position that does not fit the plan it is restored into.
status damaged_position();

/// A position of a moment ago: the state below after `ordinal - residual` elements.
struct mark {
  std::uint64_t ordinal = 0;
  std::uint64_t residual = 0;  ///< elements the restored state makes again before it reaches `ordinal`
  position_writer state;
};

}  // namespace sluice
