// SPDX-License-Identifier: Apache-2.0
// Reads messages of Arrow's IPC stream from bytes that are not trusted.
//
//   ipc_message m = read_ipc_message(bytes, left_bytes);     // how long it is, or how many bytes to come back with
//   ipc_schema schema; status why = read_ipc_schema(m.metadata, schema);
//   ipc_batch batch;   status why = read_ipc_batch(m.metadata, m.body, schema, batch);
//   batch.array()                                            // with schema.get(): C data interface
//
// An Arrow IPC file is such a stream between a magic word and a directory, and is read in the same way.
// Errors: data_loss: the data breaks the format: the metadata is not a valid flatbuffer, lengths exceed the file,
//         buffers exceed the body or are too short for their values, or offsets decrease. unimplemented: the data is
//         well formed, but not supported: dictionaries, compressed buffers, views, unions, runs, big-endian. Nothing is
//         allocated for a claimed length before that number of bytes exists.
// Thread: none.
// Owns:   the values of a batch are in the bytes that it was read from, or in a copy if they are not aligned: these
//         bytes must outlive the batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/arrow/c_data.hpp"
#include "sluice/base/status.hpp"

namespace sluice::lib::arrow {

struct ipc_message {
  enum class kind : std::uint8_t { incomplete, end, schema, batch, broken };
  kind is = kind::incomplete;
  std::size_t needed_bytes = 0;  ///< incomplete: call again with this many bytes; they exist if `left_bytes` was known
  std::uint64_t size_bytes = 0;  ///< prefix, metadata and body. Also set for a broken message with a plausible length
  std::string_view metadata{};
  std::string_view body{};
  status why{};  ///< broken
};

/// Reads the message at the start of `bytes`. `left_bytes`: the number of bytes to the end of the file; kIpcUnknown:
/// not known. `with_body`: false if the caller will skip the message.
inline constexpr std::uint64_t kIpcUnknown = ~std::uint64_t{0};
ipc_message read_ipc_message(std::string_view bytes, std::uint64_t left_bytes, bool with_body = true);

/// Returns the number of bytes before the first message: those of a file's magic word. `bytes`: 8 bytes, or the whole
/// file.
std::size_t ipc_magic_bytes(std::string_view bytes);

/// A schema that was read. It does not move, because its parts point to each other.
class ipc_schema {
 public:
  ipc_schema() = default;
  ipc_schema(const ipc_schema&) = delete;
  ipc_schema& operator=(const ipc_schema&) = delete;

  bool empty() const noexcept { return nodes_.empty(); }
  /// A struct with a child for each column. The caller must not release it.
  const ArrowSchema& get() const noexcept { return nodes_.front(); }

 private:
  friend struct ipc_schema_reader;
  std::deque<ArrowSchema> nodes_;
  std::deque<std::string> texts_;
  std::deque<std::vector<ArrowSchema*>> lists_;
};

status read_ipc_schema(std::string_view metadata, ipc_schema& to);

/// A record batch that was read. It does not move.
class ipc_batch {
 public:
  ipc_batch() = default;
  ipc_batch(const ipc_batch&) = delete;
  ipc_batch& operator=(const ipc_batch&) = delete;

  /// A struct with a child for each column. The caller must not release it.
  const ArrowArray& array() const noexcept { return nodes_.front(); }

 private:
  friend struct ipc_batch_reader;
  std::deque<ArrowArray> nodes_;
  std::deque<std::vector<const void*>> buffers_;
  std::deque<std::vector<ArrowArray*>> lists_;
  std::unique_ptr<std::uint64_t[]> copied_;
};

status read_ipc_batch(std::string_view metadata, std::string_view body, const ipc_schema& schema, ipc_batch& to);

}  // namespace sluice::lib::arrow
