// SPDX-License-Identifier: Apache-2.0
// Reads messages of Arrow's IPC stream from bytes that are not trusted.
//
//   ipc_message m = read_ipc_message(bytes, left_bytes);     // how long it is, or how many bytes to come back with
//   ipc_schema schema; status why = read_ipc_schema(m.metadata, schema);
//   ipc_dictionaries known; status why = known.read(m.metadata, m.body, schema, {});      // arrow/ipc_dictionaries.hpp
//   ipc_batch batch;   status why = read_ipc_batch(m.metadata, m.body, schema, batch, {.dictionaries = &known});
//   batch.array()                                            // with schema.get(): C data interface
//
// An Arrow IPC file is such a stream between a magic word and a directory, and is read in the same way.
// Errors: data_loss: the data breaks the format: the metadata is not a valid flatbuffer, lengths exceed the file,
//         buffers exceed the body or are too short for their values, or offsets decrease; a compressed buffer does not
//         have the declared length. unimplemented: the data is well formed, but not supported: big-endian, codecs that
//         this build lacks. resource_exhausted: decompressed buffers exceed `bytes_max`. Nothing is allocated for a
//         claimed length before that number of bytes exists, or, for a compressed buffer, could be packed in its bytes.
// Thread: none.
// Owns:   the values of a batch are in the bytes that it was read from, or in a copy if they are not aligned or were
//         compressed: these bytes must outlive the batch, and so must the dictionaries.
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
#include "sluice/element/type.hpp"

namespace sluice::lib::arrow {

struct ipc_message {
  enum class kind : std::uint8_t { incomplete, end, schema, dictionary, batch, broken };
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

status read_ipc_schema(std::string_view metadata, class ipc_schema& to);

/// The dictionary of one or several columns.
struct ipc_dictionary_field {
  std::int64_t id = 0;
  const ArrowSchema* values = nullptr;  ///< as the stream has them
  std::vector<ArrowSchema*> users{};    ///< the columns, which have indices
  const element_type* type = nullptr;   ///< of a column of the values, an optional; null: there is no such column
  ArrowSchema decoded{};                ///< of that column
};

/// A schema that was read. It does not move, because its parts point to each other. The `dictionary` of a column is the
/// schema of the decoded values, unless they have no column.
class ipc_schema {
 public:
  ipc_schema() = default;
  ~ipc_schema();
  ipc_schema(const ipc_schema&) = delete;
  ipc_schema& operator=(const ipc_schema&) = delete;

  bool empty() const noexcept { return nodes_.empty(); }
  /// A struct with a child for each column. The caller must not release it.
  const ArrowSchema& get() const noexcept { return nodes_.front(); }
  bool has_dictionaries() const noexcept { return !dictionaries_.empty(); }
  /// Returns null if the schema has no such dictionary.
  const ipc_dictionary_field* dictionary(std::int64_t id) const noexcept;
  /// Returns the dictionary of a column of this schema. REQUIRES: `s` has indices.
  static const ipc_dictionary_field& dictionary_of(const ArrowSchema& s) {
    return *static_cast<const ipc_dictionary_field*>(s.private_data);
  }

 private:
  friend struct ipc_schema_reader;
  friend status read_ipc_schema(std::string_view metadata, ipc_schema& to);
  /// Makes `s` a column of indices. Returns false if a column with another type of values has the same id.
  bool add_dictionary(std::int64_t id, ArrowSchema& s, ArrowSchema& values);
  /// Decides how dictionaries are decoded. They were added before the columns whose values they are part of.
  status decode_dictionaries();

  std::deque<ArrowSchema> nodes_;
  std::deque<ipc_dictionary_field> dictionaries_;
  std::deque<std::string> texts_;
  std::deque<std::vector<ArrowSchema*>> lists_;
};

/// How a compressed buffer is decompressed: `out` has exactly the declared length, and `in` must have all of it.
enum class ipc_codec : std::uint8_t { none, lz4, zstd };
using ipc_inflate = status (*)(ipc_codec codec, std::string_view in, char* out, std::size_t bytes);

class ipc_dictionaries;

struct ipc_reading {
  const ipc_dictionaries* dictionaries = nullptr;  ///< null: none is known
  ipc_inflate inflate = nullptr;                   ///< null: compressed buffers are refused
  std::size_t bytes_max = ~std::size_t{0};         ///< of all decompressed buffers of a batch
  const std::vector<bool>* wanted = nullptr;       ///< the columns to read; the others are skipped. null: all
};

/// A record batch that was read. It does not move.
class ipc_batch {
 public:
  ipc_batch() = default;
  ipc_batch(const ipc_batch&) = delete;
  ipc_batch& operator=(const ipc_batch&) = delete;

  /// A struct with a child for each column. The caller must not release it.
  const ArrowArray& array() const noexcept { return nodes_.front(); }
  /// The bytes of its decompressed buffers.
  std::size_t inflated_bytes() const noexcept { return inflated_bytes_; }

 private:
  friend struct ipc_batch_reader;
  std::deque<ArrowArray> nodes_;
  std::deque<std::vector<const void*>> buffers_;
  std::deque<std::vector<ArrowArray*>> lists_;
  std::unique_ptr<std::uint64_t[]> copied_;
  std::vector<std::unique_ptr<std::uint64_t[]>> inflated_;
  std::deque<std::vector<std::int64_t>> lengths_;  ///< of the buffers of views
  std::size_t inflated_bytes_ = 0;
};

status read_ipc_batch(std::string_view metadata, std::string_view body, const ipc_schema& schema, ipc_batch& to,
                      const ipc_reading& how = {});

namespace ipc {
/// Reads the values of a dictionary, a batch with the one column `values`. Sets `id` as soon as it is known.
status read_dictionary_batch(std::string_view metadata, std::string_view body, const ipc_schema& schema, ipc_batch& to,
                             const ipc_reading& how, std::int64_t& id, bool& is_delta);
}  // namespace ipc

}  // namespace sluice::lib::arrow
