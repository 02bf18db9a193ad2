// SPDX-License-Identifier: Apache-2.0
// Encodes elements as the bytes of one file; each format has an encoder.
//
//   auto e = make_encoder(output_format::csv, type);
//   encoded out;
// a new file: the bytes before the first element
// for each group of elements
// the bytes it has buffered, for a checkpoint or the end
// the bytes after the last element
//
// A resumed file begins with load(). The bytes that end() wrote come after the checkpoint and are overwritten.
// Thread: one caller.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/result.hpp"
#include "sluice/element/tensor.hpp"
#include "sluice/element/type.hpp"
#include "sluice/output/output_format.hpp"

namespace sluice::lib {

/// Encoded bytes that are not written yet.
struct encoded {
  std::string bytes;
  std::vector<std::size_t> ends;  ///< the offsets in `bytes` at which elements (for Arrow: messages) end
};

class element_encoder {
 public:
  element_encoder() = default;
  element_encoder(const element_encoder&) = delete;
  element_encoder& operator=(const element_encoder&) = delete;
  virtual ~element_encoder() = default;

  virtual status begin(encoded&) { return {}; }
  /// Appends n consecutive elements. After an error, `to` contains the elements before the faulty one, and no part of
  /// that one.
  virtual status append(const char* elements, std::size_t n, encoded& to) = 0;
  virtual status flush(encoded&) { return {}; }
  virtual status end(encoded&) { return {}; }
  /// False after end(): more bytes follow, and end() must be called again. So a long table is written in pieces.
  virtual bool has_ended() const { return true; }
  /// Returns the size of what end() will append for the elements so far.
  virtual std::uint64_t gathered_bytes() const { return 0; }
  /// Returns the bytes that the encoder keeps until end(), besides a constant number.
  virtual std::size_t kept_bytes() const { return 0; }
  /// Returns the digest of the file, after its end, if the format's index states one.
  virtual std::string digest() { return {}; }
  /// Sets the tensor shape to write when the output has no rows to take it from.
  virtual void expect_rows(const tensor_spec&) {}
  /// Returns the number of elements to request at once.
  virtual std::uint32_t wanted() const { return 256; }
  /// Returns true if every element is in `bytes` when append() returns.
  virtual bool is_immediate() const { return true; }

  /// Returns the first bytes of the file, which depend on the number of elements that follow. They are rewritten at
  /// each checkpoint and at the end.
  virtual std::string head() const { return {}; }
  /// Returns the encoder's state that the file itself does not show, for checkpoints.
  virtual std::string save() const { return {}; }
  /// Errors: data_loss.
  virtual status load(std::string_view) { return {}; }
};

/// The size of the values in a row group of Parquet, if the user sets none.
inline constexpr std::uint64_t kParquetGroupBytes = std::uint64_t{64} << 20;

/// `buffers`: lz4 or zstd for the buffers of Arrow's record batches; the codec of Parquet's pages; automatic: none in
/// Arrow, zstd in Parquet. `group_bytes`: of the values in a row group of Parquet. Errors: those of check_output;
/// invalid_argument if `f` is automatic.
result<std::unique_ptr<element_encoder>> make_encoder(output_format f, const element_type& type,
                                                      compression buffers = compression::automatic,
                                                      std::uint64_t group_bytes = kParquetGroupBytes);

// Each encoder has its own source. REQUIRES: the format can represent elements of this type.
std::unique_ptr<element_encoder> make_jsonl_encoder(const element_type& type);
std::unique_ptr<element_encoder> make_raw_encoder(const element_type& type);
std::unique_ptr<element_encoder> make_lines_encoder(const element_type& type);
std::unique_ptr<element_encoder> make_tfrecord_encoder(const element_type& type);
result<std::unique_ptr<element_encoder>> make_csv_encoder(const element_type& type);
result<std::unique_ptr<element_encoder>> make_example_encoder(const element_type& type);
result<std::unique_ptr<element_encoder>> make_arrow_encoder(const element_type& type, bool texts_as_binary,
                                                            compression buffers);
result<std::unique_ptr<element_encoder>> make_parquet_encoder(const element_type& type, compression codec,
                                                              std::uint64_t group_bytes);
/// `codec`: zstd: each record is a frame; others: records are stored.
std::unique_ptr<element_encoder> make_bagz_encoder(const element_type& type, compression codec);
/// `codec`: none: chunks are stored; others: zstd.
std::unique_ptr<element_encoder> make_array_record_encoder(const element_type& type, compression codec);
/// Errors: those of mds_encoder.hpp.
result<std::unique_ptr<element_encoder>> make_mds_encoder(const element_type& type);
result<std::unique_ptr<element_encoder>> make_npy_encoder(const element_type& type);

}  // namespace sluice::lib
