// SPDX-License-Identifier: Apache-2.0
// The tables of Arrow's IPC metadata, which are flatbuffers: the numbers of the fields, and the numbers of the unions.
// The published schema specifies no more for the wire, so no code is generated from it
// (docs/internals/decisions/arrow.md).
// See:    https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cstdint>

namespace sluice::lib::arrow::ipc {

/// The flatbuffers offset of field `number`: the position of its entry in the table's directory.
constexpr flatbuffers::voffset_t field(int number) { return static_cast<flatbuffers::voffset_t>(4 + 2 * number); }

namespace message {
inline constexpr auto kVersion = field(0), kHeaderKind = field(1), kHeader = field(2), kBodyBytes = field(3);
}
namespace schema {
inline constexpr auto kEndianness = field(0), kFields = field(1);
}
namespace column_field {
inline constexpr auto kName = field(0), kNullable = field(1), kTypeKind = field(2), kType = field(3),
                      kDictionary = field(4), kChildren = field(5), kMetadata = field(6);
}
namespace key_value {
inline constexpr auto kKey = field(0), kValue = field(1);
}
namespace dictionary_field {
inline constexpr auto kId = field(0), kIndexType = field(1);
}
namespace dictionary_batch {
inline constexpr auto kId = field(0), kData = field(1), kIsDelta = field(2);
}
namespace body_compression {
inline constexpr auto kCodec = field(0), kMethod = field(1);
}
namespace record_batch {
inline constexpr auto kLength = field(0), kNodes = field(1), kBuffers = field(2), kCompression = field(3),
                      kVariadicCounts = field(4);
}
/// Int: bits and sign; FloatingPoint, Date, Time, Timestamp, Duration and Interval: precision or unit; FixedSizeBinary
/// and FixedSizeList: size; Decimal: precision, scale and bits.
namespace type {
inline constexpr auto kFirst = field(0), kSecond = field(1), kThird = field(2);
}

enum class header_kind : std::uint8_t { none, schema, dictionary_batch, record_batch, tensor, sparse_tensor };

enum class type_kind : std::uint8_t {
  none,
  null,
  integer,
  floating_point,
  binary,
  utf8,
  boolean,
  decimal,
  date,
  time,
  timestamp,
  interval,
  list,
  structure,
  union_of,
  fixed_size_binary,
  fixed_size_list,
  map,
  duration,
  large_binary,
  large_utf8,
  large_list,
  run_end_encoded,
  binary_view,
  utf8_view,
  list_view,
  large_list_view,
};

/// The version of the metadata: 5 since Arrow 1.0; 4 differs only in unions.
inline constexpr std::int16_t kVersion4 = 3, kVersion5 = 4;
inline constexpr std::int16_t kLittleEndian = 0;

/// One for each column, depth first.
struct node {
  std::int64_t length;
  std::int64_t null_count;
};
/// A range of the body.
struct range {
  std::int64_t offset;
  std::int64_t length;
};

/// Precedes each message; the length of its metadata follows, in 4 bytes. A length of 0 ends the stream.
inline constexpr std::uint32_t kContinuation = 0xFFFFFFFF;
inline constexpr std::size_t kPrefixBytes = 8;
/// The first bytes of an Arrow IPC file, which is such a stream followed by a directory.
inline constexpr char kFileMagic[] = {'A', 'R', 'R', 'O', 'W', '1', 0, 0};

}  // namespace sluice::lib::arrow::ipc
