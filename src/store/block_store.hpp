// SPDX-License-Identifier: Apache-2.0
// block_store: blocks of elements by their ordinals, which one process adds to while any number of them read. A local file
// (cache_file) or objects of a store (object_cache).
//
//   result<std::shared_ptr<block_store>> blocks = open_blocks("s3://bucket/train.cache", false, rt);
//   if ((*blocks)->head().empty() && (*blocks)->can_write()) why = (*blocks)->begin(head);
//   why = (*blocks)->look(true);                              // asks the store; nothing for a local file
//   std::vector<stored_block> found;
//   why = (*blocks)->scan(found);                             // those added since the last call, by any process
//   why = (*blocks)->append({.ordinal = 0, .count = 100, .position = …}, bytes);
//   result<std::string> bytes = (*blocks)->read(found[0]);    // checked
//
// Errors: data_loss: a checksum is wrong; failed_precondition: the file is something else; aborted: another process has
//         become the writer; those of the file system.
// Thread: any. can_write(), is_written_elsewhere(), has_grown(), scan() and the observers do not wait for a network; all
//         other calls block, and must not run on a worker.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_parts.hpp"
#include "sluice/base/result.hpp"

namespace sluice::lib {

class runtime;

struct stored_block {
  std::uint64_t ordinal = 0;
  std::uint32_t count = 0;
  std::string position = {};
  // Where it is, known after it was added or found.
  std::uint64_t offset = 0;  ///< of its elements
  std::uint32_t bytes = 0;   ///< of its elements
  std::uint32_t crc = 0;     ///< of its position and its elements
};

class block_store {
 public:
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};

  virtual ~block_store() = default;

  virtual const std::string& path() const = 0;
  virtual bool is_temporary() const { return false; }
  /// The head is damaged; only with `rebuilds`.
  virtual bool is_damaged() const = 0;
  /// The head; empty if nothing was written yet.
  virtual std::string head() const = 0;
  /// The number of elements; kUnknown until a writer has stated it.
  virtual std::uint64_t length() const = 0;
  virtual std::uint64_t size_bytes() const = 0;

  /// Returns true if this object is the writer, or has become it now. A store without a head has no writer yet, and
  /// whoever calls begin() first gives it one.
  virtual bool can_write() = 0;
  /// Returns true if another process is the writer. REQUIRES: !can_write().
  virtual bool is_written_elsewhere() const = 0;
  /// Reads which blocks other processes have added; the next scan() returns them. `takes`: this object becomes the writer
  /// if no process is.
  virtual status look(bool takes) = 0;
  /// Returns true if look() or scan() may find more blocks.
  virtual bool has_grown() const = 0;
  /// Appends the blocks that were added since the last call. Errors: those above; the blocks before the damage are found.
  virtual status scan(std::vector<stored_block>& found) = 0;
  /// Returns the elements of a block, whose checksum is right.
  virtual result<std::string> read(const stored_block& b) = 0;

  // REQUIRES for these: can_write().

  /// Writes the head. If another process was faster, head() is that process's afterwards.
  virtual status begin(std::string_view head) = 0;
  /// Replaces everything by this head without blocks.
  virtual status replace(std::string_view head) = 0;
  /// Adds a block, and completes `b`. After an error the blocks are as before.
  virtual status append(stored_block& b, const byte_parts& elements) = 0;
  /// States the number of elements.
  virtual status finish(std::uint64_t length) = 0;
  /// Returns after everything is durable that was written before.
  virtual status sync() { return {}; }

  /// Removes everything. Errors: unavailable: another process writes.
  virtual status drop() = 0;

  using unwritten = std::vector<std::pair<stored_block, std::string>>;
  /// Returns true if leave() is how the last stage that adds elements ends: it may run on a worker and does not block.
  virtual bool is_left() const { return false; }
  /// Adds these blocks after the call has returned, and lets another process write then.
  virtual void leave(unwritten) noexcept {}
};

/// Opens the file or the objects under `path`. `rebuilds`: a damaged head is no error; is_damaged() is true then, and it
/// can be replaced. `rt`: for a path with a scheme.
result<std::shared_ptr<block_store>> open_blocks(std::string path, bool rebuilds, runtime& rt);
/// The same for what exists, which the caller does not write.
result<std::shared_ptr<block_store>> open_blocks_to_read(std::string path, runtime& rt);

}  // namespace sluice::lib
