// SPDX-License-Identifier: Apache-2.0
#include "arrow/ipc_writer.hpp"

#include <bit>
#include <cstring>
#include <vector>

#include "arrow/ipc_formats.hpp"
#include "arrow/ipc_tables.hpp"

static_assert(std::endian::native == std::endian::little, "IPC streams are written in the byte order of memory");

namespace sluice::lib::arrow {

namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
struct any_table {};  // an offset whose context determines the table

constexpr std::size_t kIpcAlignment = 64;

std::size_t aligned_up(std::size_t n) { return (n + kIpcAlignment - 1) / kIpcAlignment * kIpcAlignment; }

/// A message without its body: prefix and metadata, padded so that a body begins at a multiple of 64.
void append_metadata(std::string& out, FlatBufferBuilder& b, ipc::header_kind kind, Offset<any_table> header,
                     std::int64_t body_bytes) {
  auto start = b.StartTable();
  b.AddElement<std::int64_t>(ipc::message::kBodyBytes, body_bytes, 0);
  b.AddOffset(ipc::message::kHeader, header);
  b.AddElement<std::int16_t>(ipc::message::kVersion, ipc::kVersion5, 0);
  b.AddElement<std::uint8_t>(ipc::message::kHeaderKind, static_cast<std::uint8_t>(kind), 0);
  b.Finish(Offset<any_table>(b.EndTable(start)));
  std::size_t bytes = aligned_up(ipc::kPrefixBytes + b.GetSize());
  const std::uint32_t prefix[2] = {ipc::kContinuation, static_cast<std::uint32_t>(bytes - ipc::kPrefixBytes)};
  std::size_t end = out.size() + bytes;
  out.append(reinterpret_cast<const char*>(prefix), sizeof prefix);
  out.append(reinterpret_cast<const char*>(b.GetBufferPointer()), b.GetSize());
  out.resize(end);
}

// --- Schemas ---

struct type_table {
  ipc::type_kind kind = ipc::type_kind::none;
  Offset<any_table> table{};
};

Offset<any_table> empty_table(FlatBufferBuilder& b) { return b.EndTable(b.StartTable()); }

Offset<any_table> integer_table(FlatBufferBuilder& b, std::int32_t bits, bool is_signed) {
  auto start = b.StartTable();
  b.AddElement<std::int32_t>(ipc::type::kFirst, bits, 0);
  b.AddElement<std::uint8_t>(ipc::type::kSecond, is_signed ? 1 : 0, 0);
  return b.EndTable(start);
}

template <class T> Offset<any_table> table_of_one(FlatBufferBuilder& b, T value) {
  auto start = b.StartTable();
  b.AddElement<T>(ipc::type::kFirst, value, 0);
  return b.EndTable(start);
}

/// A table with a unit, and a number or a text behind it.
template <class F> Offset<any_table> unit_table(FlatBufferBuilder& b, std::size_t unit, F add_more) {
  auto start = b.StartTable();
  b.AddElement<std::int16_t>(ipc::type::kFirst, static_cast<std::int16_t>(unit), -1);  // always written
  add_more();
  return b.EndTable(start);
}

/// Dates, times, timestamps and durations.
type_table temporal_table(FlatBufferBuilder& b, std::string_view format) {
  using enum ipc::type_kind;
  if (format.size() < 3) return {};
  const std::size_t unit = std::string_view("smun").find(format[2]);
  if (format == "tdD" || format == "tdm") return {date, unit_table(b, format == "tdm" ? 1 : 0, [] {})};
  if (unit == std::string_view::npos) return {};
  if (format.starts_with("tD")) return {duration, unit_table(b, unit, [] {})};
  if (format.starts_with("tt")) {
    const std::int32_t bits = unit < 2 ? 32 : 64;
    return {time, unit_table(b, unit, [&] { b.AddElement<std::int32_t>(ipc::type::kSecond, bits, 0); })};
  }
  if (!format.starts_with("ts") || format.size() < 4) return {};
  const std::string_view zone = format.substr(4);
  Offset<flatbuffers::String> text;
  if (!zone.empty()) text = b.CreateString(zone.data(), zone.size());
  return {timestamp, unit_table(b, unit, [&] { b.AddOffset(ipc::type::kSecond, text); })};
}

type_table make_type(FlatBufferBuilder& b, std::string_view format) {
  using enum ipc::type_kind;
  const ipc_form form = ipc_form_of(format);
  if (form.layout == ipc_layout::fixed_lists)
    return {fixed_size_list, table_of_one(b, static_cast<std::int32_t>(form.width))};
  if (format == "+s") return {structure, empty_table(b)};
  if (format == "+l") return {list, empty_table(b)};
  if (format == "+L") return {large_list, empty_table(b)};
  if (format.starts_with("t")) return temporal_table(b, format);
  if (format.starts_with("w:")) return {fixed_size_binary, table_of_one(b, static_cast<std::int32_t>(form.width))};
  if (format.size() != 1) return {};
  const auto width_bits = static_cast<std::int32_t>(form.width * 8);
  switch (format[0]) {
    case 'n': return {null, empty_table(b)};
    case 'b': return {boolean, empty_table(b)};
    case 'c':
    case 's':
    case 'i':
    case 'l': return {integer, integer_table(b, width_bits, true)};
    case 'C':
    case 'S':
    case 'I':
    case 'L': return {integer, integer_table(b, width_bits, false)};
    case 'e': return {floating_point, table_of_one<std::int16_t>(b, 0)};
    case 'f': return {floating_point, table_of_one<std::int16_t>(b, 1)};
    case 'g': return {floating_point, table_of_one<std::int16_t>(b, 2)};
    case 'z': return {binary, empty_table(b)};
    case 'u': return {utf8, empty_table(b)};
    case 'Z': return {large_binary, empty_table(b)};
    case 'U': return {large_utf8, empty_table(b)};
    default: return {};
  }
}

Offset<any_table> make_pair(FlatBufferBuilder& b, const std::string& key, const std::string& value) {
  auto first = b.CreateString(key);
  auto second = b.CreateString(value);
  auto start = b.StartTable();
  b.AddOffset(ipc::key_value::kKey, first);
  b.AddOffset(ipc::key_value::kValue, second);
  return b.EndTable(start);
}

status make_field(FlatBufferBuilder& b, const ArrowSchema& s, Offset<any_table>& made);

status make_fields(FlatBufferBuilder& b, const ArrowSchema& s, Offset<flatbuffers::Vector<Offset<any_table>>>& made) {
  std::vector<Offset<any_table>> fields(static_cast<std::size_t>(s.n_children));
  for (std::size_t k = 0; k != fields.size(); ++k) {
    status why = make_field(b, *s.children[k], fields[k]);
    if (!why.ok()) return why;
  }
  made = b.CreateVector(fields);
  return {};
}

status make_field(FlatBufferBuilder& b, const ArrowSchema& s, Offset<any_table>& made) {
  Offset<flatbuffers::Vector<Offset<any_table>>> children;
  status why = make_fields(b, s, children);
  if (!why.ok()) return why;
  auto name = b.CreateString(ipc_name_of(s).data(), ipc_name_of(s).size());
  type_table type = s.dictionary ? type_table{} : make_type(b, ipc_format_of(s));
  if (type.kind == ipc::type_kind::none)
    return invalid_argument_error("column \"" + std::string(ipc_name_of(s)) + "\": the format \"" +
                                  std::string(ipc_format_of(s)) + "\"" + (s.dictionary ? " with a dictionary" : "") +
                                  " is not written to Arrow streams: cast it first");
  Offset<flatbuffers::Vector<Offset<any_table>>> metadata;
  std::vector<Offset<any_table>> pairs;
  for (const auto& [key, value] : ipc_pairs_of(s.metadata)) pairs.push_back(make_pair(b, key, value));
  if (!pairs.empty()) metadata = b.CreateVector(pairs);
  auto start = b.StartTable();
  b.AddOffset(ipc::column_field::kName, name);
  b.AddOffset(ipc::column_field::kMetadata, metadata);
  b.AddOffset(ipc::column_field::kType, type.table);
  b.AddOffset(ipc::column_field::kChildren, children);
  b.AddElement<std::uint8_t>(ipc::column_field::kTypeKind, static_cast<std::uint8_t>(type.kind), 0);
  b.AddElement<std::uint8_t>(ipc::column_field::kNullable, (s.flags & ARROW_FLAG_NULLABLE) != 0 ? 1 : 0, 0);
  made = b.EndTable(start);
  return {};
}

// --- Record batches ---

/// A buffer of the body and the source of its bytes. The bytes are copied once, to their final place.
struct body_part {
  enum class form : std::uint8_t { bytes, bits, offsets32, offsets64 };
  form as = form::bytes;
  const void* from = nullptr;
  std::int64_t first = 0;  ///< byte, bit or offset
  std::int64_t count = 0;  ///< bytes, bits or offsets

  std::size_t bytes() const {
    const auto n = static_cast<std::size_t>(count);
    if (as == form::bytes) return n;
    return as == form::bits ? (n + 7) / 8 : n * (as == form::offsets32 ? 4 : 8);
  }
};

template <class T> void append_rebased(std::string& out, const body_part& p) {
  const T* from = static_cast<const T*>(p.from) + p.first;
  const std::size_t start = out.size();
  out.resize(start + p.bytes());
  char* to = out.data() + start;
  for (std::int64_t i = 0; i != p.count; ++i) {
    const T moved = from[i] - from[0];
    std::memcpy(to + static_cast<std::size_t>(i) * sizeof(T), &moved, sizeof(T));
  }
}

/// The bits after the last one are 0.
void append_bits(std::string& out, const body_part& p) {
  auto* from = static_cast<const unsigned char*>(p.from) + p.first / 8;
  const auto shift = static_cast<unsigned>(p.first % 8);
  const std::size_t n = p.bytes(), start = out.size();
  const auto there = (shift + static_cast<std::size_t>(p.count) + 7) / 8;  // bytes that contain some of the bits
  out.resize(start + n);
  auto* to = reinterpret_cast<unsigned char*>(out.data() + start);
  for (std::size_t i = 0; i != n; ++i) {
    unsigned both = from[i] | (i + 1 < there ? static_cast<unsigned>(from[i + 1]) << 8 : 0u);
    to[i] = static_cast<unsigned char>(both >> shift);
  }
  if (p.count % 8 != 0) to[n - 1] = static_cast<unsigned char>(to[n - 1] & ((1u << (p.count % 8)) - 1));
}

void append_part(std::string& out, const body_part& p) {
  if (p.count == 0) return;
  switch (p.as) {
    case body_part::form::bytes: out.append(static_cast<const char*>(p.from) + p.first, p.bytes()); break;
    case body_part::form::bits: append_bits(out, p); break;
    case body_part::form::offsets32: append_rebased<std::int32_t>(out, p); break;
    case body_part::form::offsets64: append_rebased<std::int64_t>(out, p); break;
  }
}

std::int64_t zero_bits(const void* bits, std::int64_t first, std::int64_t n) {
  auto* at = static_cast<const unsigned char*>(bits);
  std::int64_t zeros = 0;
  for (std::int64_t i = first; i != first + n; ++i) zeros += (at[i / 8] >> (i % 8) & 1) == 0 ? 1 : 0;
  return zeros;
}

/// Nodes and buffers of a batch, in the order of the columns, depth first.
struct body_plan {
  std::vector<ipc::node> nodes;
  std::vector<body_part> parts;

  /// Adds the values [first, first + n) of an array, counted from its offset.
  status add(const ArrowSchema& s, const ArrowArray& a, std::int64_t first, std::int64_t n) {
    first += a.offset;
    const ipc_form form = ipc_form_of(ipc_format_of(s));
    std::int64_t nulls = 0;
    if (form.layout == ipc_layout::none) {
      nodes.push_back({n, n});
      return {};
    }
    if (form.layout == ipc_layout::not_supported)
      return invalid_argument_error("column \"" + std::string(ipc_name_of(s)) + "\": the format \"" +
                                    std::string(ipc_format_of(s)) + "\" is not written to Arrow streams");
    const void* validity = a.null_count != 0 ? a.buffers[0] : nullptr;
    if (validity) nulls = zero_bits(validity, first, n);
    nodes.push_back({n, nulls});
    parts.push_back(nulls ? body_part{body_part::form::bits, validity, first, n} : body_part{});
    switch (form.layout) {
      case ipc_layout::bits: parts.push_back({body_part::form::bits, a.buffers[1], first, n}); break;
      case ipc_layout::fixed:
        parts.push_back({body_part::form::bytes, a.buffers[1], first * form.width, n * form.width});
        break;
      case ipc_layout::texts: {
        auto [from, count] = add_offsets(form, a, first, n);
        parts.push_back({body_part::form::bytes, a.buffers[2], from, count});
        break;
      }
      case ipc_layout::lists: {
        auto [from, count] = add_offsets(form, a, first, n);
        return add(*s.children[0], *a.children[0], from, count);
      }
      case ipc_layout::fixed_lists: return add(*s.children[0], *a.children[0], first * form.width, n * form.width);
      default: return add_members(s, a, first, n);
    }
    return {};
  }
  status add_members(const ArrowSchema& s, const ArrowArray& a, std::int64_t first, std::int64_t n) {
    for (std::int64_t k = 0; k != s.n_children; ++k) {
      status why = add(*s.children[k], *a.children[k], first, n);
      if (!why.ok()) return why;
    }
    return {};
  }

 private:
  struct used {
    std::int64_t first, count;
  };
  /// Adds the offsets, and returns which of the values that they refer to are used. For no rows the offsets may be
  /// missing.
  used add_offsets(ipc_form form, const ArrowArray& a, std::int64_t first, std::int64_t n) {
    if (n == 0) {
      parts.emplace_back();
      return {0, 0};
    }
    const bool is_wide = form.width == 8;
    parts.push_back({is_wide ? body_part::form::offsets64 : body_part::form::offsets32, a.buffers[1], first, n + 1});
    if (is_wide) {
      auto* at = static_cast<const std::int64_t*>(a.buffers[1]) + first;
      return {at[0], at[n] - at[0]};
    }
    auto* at = static_cast<const std::int32_t*>(a.buffers[1]) + first;
    return {at[0], std::int64_t{at[n]} - at[0]};
  }
};

}  // namespace

status append_ipc_schema(std::string& out, const ArrowSchema& s) {
  if (ipc_format_of(s) != "+s") return invalid_argument_error("the schema of an Arrow stream is a struct of columns");
  FlatBufferBuilder b;
  Offset<flatbuffers::Vector<Offset<any_table>>> fields;
  status why = make_fields(b, s, fields);
  if (!why.ok()) return why;
  auto start = b.StartTable();
  b.AddOffset(ipc::schema::kFields, fields);
  b.AddElement<std::int16_t>(ipc::schema::kEndianness, ipc::kLittleEndian, 0);
  append_metadata(out, b, ipc::header_kind::schema, b.EndTable(start), 0);
  return {};
}

namespace {

/// Compresses a buffer: the length before, and the bytes. A buffer that does not become smaller has the length -1.
status append_packed(std::string& out, std::string_view bytes, const ipc_packing& packing) {
  if (bytes.empty()) return {};
  const std::size_t start = out.size();
  auto length = static_cast<std::int64_t>(bytes.size());
  out.append(reinterpret_cast<const char*>(&length), sizeof length);
  status why = packing.deflate(packing.codec, bytes, out);
  if (!why.ok() || out.size() - start - sizeof length < bytes.size()) return why;
  out.resize(start);
  length = -1;
  out.append(reinterpret_cast<const char*>(&length), sizeof length);
  out.append(bytes);
  return {};
}

/// Makes a compressed body, and the range of each buffer.
status pack_body(const body_plan& plan, const ipc_packing& packing, std::string& body,
                 std::vector<ipc::range>& ranges) {
  std::string plain;
  for (const body_part& p : plan.parts) {
    const std::size_t start = body.size();
    plain.clear();
    append_part(plain, p);
    if (status why = append_packed(body, plain, packing); !why.ok()) return why;
    ranges.push_back({static_cast<std::int64_t>(start), static_cast<std::int64_t>(body.size() - start)});
    body.resize(aligned_up(body.size()));
  }
  return {};
}

Offset<any_table> compression_table(FlatBufferBuilder& b, ipc_codec codec) {
  if (codec == ipc_codec::none) return {};
  auto start = b.StartTable();
  b.AddElement<std::int8_t>(ipc::body_compression::kCodec, codec == ipc_codec::zstd ? 1 : 0, -1);  // always written
  return b.EndTable(start);
}

}  // namespace

status append_ipc_batch(std::string& out, const ArrowSchema& s, const ArrowArray& a, const ipc_packing& packing) {
  body_plan plan;
  status why = plan.add_members(s, a, a.offset, a.length);
  if (!why.ok()) return why;
  std::vector<ipc::range> ranges;
  std::string packed;
  std::size_t body_bytes = 0;
  const bool is_packed = packing.codec != ipc_codec::none;
  if (is_packed) {
    why = pack_body(plan, packing, packed, ranges);
    if (!why.ok()) return why;
    body_bytes = packed.size();
  } else {
    for (const body_part& p : plan.parts) {
      ranges.push_back({static_cast<std::int64_t>(body_bytes), static_cast<std::int64_t>(p.bytes())});
      body_bytes += aligned_up(p.bytes());
    }
  }
  FlatBufferBuilder b;
  auto nodes = b.CreateVectorOfStructs(plan.nodes);
  auto buffers = b.CreateVectorOfStructs(ranges);
  auto compression = compression_table(b, packing.codec);
  auto start = b.StartTable();
  b.AddElement<std::int64_t>(ipc::record_batch::kLength, a.length, 0);
  b.AddOffset(ipc::record_batch::kNodes, nodes);
  b.AddOffset(ipc::record_batch::kBuffers, buffers);
  b.AddOffset(ipc::record_batch::kCompression, compression);
  append_metadata(out, b, ipc::header_kind::record_batch, b.EndTable(start), static_cast<std::int64_t>(body_bytes));
  const std::size_t body = out.size();
  out.reserve(body + body_bytes);
  out.append(packed);
  for (std::size_t i = 0; !is_packed && i != plan.parts.size(); ++i) {
    append_part(out, plan.parts[i]);
    out.resize(body + static_cast<std::size_t>(ranges[i].offset) + aligned_up(plan.parts[i].bytes()));
  }
  return {};
}

void append_ipc_end(std::string& out) {
  const std::uint32_t end[2] = {ipc::kContinuation, 0};
  out.append(reinterpret_cast<const char*>(end), sizeof end);
}

}  // namespace sluice::lib::arrow
