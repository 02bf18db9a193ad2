// SPDX-License-Identifier: Apache-2.0
// Record batches: nodes and buffers in the order of the columns, depth first.
#include <algorithm>
#include <climits>
#include <cstring>
#include <utility>

#include "arrow/formats.hpp"
#include "arrow/ipc_dictionaries.hpp"
#include "arrow/ipc_formats.hpp"
#include "arrow/ipc_metadata.hpp"
#include "arrow/ipc_reader.hpp"

namespace sluice::lib::arrow {

namespace {

/// Columns of nulls take no bytes, and runs few. All columns of a batch together may claim this number of values
/// without any bytes; a batch with more values must have some.
constexpr std::int64_t kIpcRowsWithoutBytes = std::int64_t{1} << 22;
/// The highest ratios of the codecs: a run of lz4 adds 255 bytes for each byte, a block of zstd takes 4 bytes for 128
/// KiB. A longer claim is made up.
constexpr std::size_t kLz4Ratio = 256, kZstdRatio = std::size_t{1} << 15;

std::int64_t bytes_of_bits(std::int64_t bits) { return bits / 8 + (bits % 8 != 0 ? 1 : 0); }

}  // namespace

using namespace ipc;

struct ipc_batch_reader {
  std::string_view body;
  ipc_batch& to;
  const ipc_reading& how;
  const vector_of<const ipc::node*>* nodes = nullptr;
  const vector_of<const ipc::range*>* ranges = nullptr;
  const vector_of<std::int64_t>* view_buffers = nullptr;  ///< for each column of views, the number of its buffers
  flatbuffers::uoffset_t next_node = 0, next_range = 0, next_view = 0;
  ipc_codec codec = ipc_codec::none;
  bool is_version4 = false;
  bool skips = false;      ///< the column is not wanted
  std::int64_t nulls = 0;  ///< values of columns of nulls and of runs, so far

  /// The address for buffers without bytes: it contains the one offset of a column without rows.
  alignas(64) static constexpr char kNoBytes[64] = {};

  /// `rows`: the number of values that each child must have.
  status read_children(ArrowArray& parent, const ArrowSchema& s, std::int64_t rows) {
    auto& list = to.lists_.emplace_back(static_cast<std::size_t>(s.n_children));
    for (std::size_t k = 0; k != list.size(); ++k) {
      ArrowArray& child = to.nodes_.emplace_back();
      list[k] = &child;
      status why = read(child, *s.children[k]);
      if (!why.ok()) return why;
      if (child.length < rows && !skips)
        return broken(*s.children[k],
                      std::to_string(child.length) + " values, and " + std::to_string(rows) + " are spoken of");
    }
    parent.n_children = s.n_children;
    parent.children = list.data();
    return {};
  }

  static status broken(const ArrowSchema& s, const std::string& what) {
    return broken_stream("column \"" + std::string(ipc_name_of(s)) + "\" has " + what);
  }

  std::vector<const void*>& make_buffers(ArrowArray& a, std::size_t n) {
    auto& buffers = to.buffers_.emplace_back(n);
    a.buffers = buffers.data();
    a.n_buffers = static_cast<std::int64_t>(n);
    return buffers;
  }

  status read(ArrowArray& a, const ArrowSchema& s) {
    if (!nodes || next_node == nodes->size()) return broken_stream("a batch has fewer columns than its schema");
    const ipc::node& node = *nodes->Get(next_node++);
    a.length = node.length;
    a.null_count = node.null_count;
    if (node.length < 0 || node.length > INT64_MAX / 2 || node.null_count < 0 || node.null_count > node.length)
      return broken(s, std::to_string(node.length) + " values, " + std::to_string(node.null_count) + " of them nulls");
    const ipc_form form = ipc_form_of(ipc_format_of(s));
    const bool has_no_bytes = form.layout == ipc_layout::none || form.layout == ipc_layout::runs;
    if (has_no_bytes && !skips) nulls += a.length;
    status why = skips ? status() : check_rows(has_no_bytes ? std::max(a.length, nulls) : a.length, has_no_bytes, s);
    if (why.ok()) why = read_values(a, s, form);
    if (!why.ok() || !s.dictionary || skips) return why;
    return find_dictionary(a, s);
  }

  status read_values(ArrowArray& a, const ArrowSchema& s, const ipc_form& form) {
    if (form.width != 0 && a.length > INT64_MAX / form.width) return broken(s, std::to_string(a.length) + " values");
    switch (form.layout) {
      case ipc_layout::none: return {};
      case ipc_layout::runs: return read_children(a, s, 0);
      case ipc_layout::sparse_union:
      case ipc_layout::dense_union: return read_union(a, s, form.layout == ipc_layout::dense_union);
      case ipc_layout::views: return read_views(a, s);
      case ipc_layout::not_supported: return unread_stream(at({nullptr, ipc_name_of(s)}, "its format is not known"));
      default: break;
    }
    const bool is_text = form.layout == ipc_layout::texts || form.layout == ipc_layout::list_views;
    const bool is_nested = form.layout == ipc_layout::fixed_lists || form.layout == ipc_layout::members;
    auto& buffers = make_buffers(a, is_text ? 3 : is_nested ? 1 : 2);
    std::string_view bytes;
    status why = read_validity(a, s, buffers[0]);
    if (!why.ok()) return why;
    switch (form.layout) {
      case ipc_layout::bits: return read_buffer(s, bytes_of_bits(a.length), bytes, buffers[1]);
      case ipc_layout::fixed: return read_buffer(s, a.length * form.width, bytes, buffers[1]);
      case ipc_layout::texts: {
        std::int64_t last = 0;
        why = read_offsets(a, s, form.width, buffers[1], last);
        return why.ok() ? read_buffer(s, last, bytes, buffers[2]) : why;
      }
      case ipc_layout::lists: {
        std::int64_t last = 0;
        why = read_offsets(a, s, form.width, buffers[1], last);
        return why.ok() ? read_children(a, s, last) : why;
      }
      case ipc_layout::list_views: {
        why = read_buffer(s, a.length * form.width, bytes, buffers[1]);
        if (why.ok()) why = read_buffer(s, a.length * form.width, bytes, buffers[2]);
        return why.ok() ? read_children(a, s, 0) : why;
      }
      case ipc_layout::fixed_lists: return read_children(a, s, a.length * form.width);
      default: return read_children(a, s, a.length);
    }
  }

  /// Skips the parts of a union, which has no column. Before version 5 a union had a validity bitmap.
  status read_union(ArrowArray& a, const ArrowSchema& s, bool is_dense) {
    const bool skipped_before = std::exchange(skips, true);
    auto& buffers = make_buffers(a, is_dense ? 2 : 1);
    std::string_view bytes;
    const void* validity = nullptr;
    status why = is_version4 ? read_buffer(s, 0, bytes, validity) : status();
    for (const void*& buffer : buffers)
      if (why.ok()) why = read_buffer(s, 0, bytes, buffer);
    if (why.ok()) why = read_children(a, s, 0);
    skips = skipped_before;
    return why;
  }

  status read_views(ArrowArray& a, const ArrowSchema& s) {
    const std::int64_t n = view_buffers && next_view != view_buffers->size() ? view_buffers->Get(next_view++) : -1;
    const std::int64_t left = ranges ? static_cast<std::int64_t>(ranges->size() - next_range) : 0;
    if (n < 0 || n > left) return broken(s, "views, and no number of their buffers");
    auto& buffers = make_buffers(a, static_cast<std::size_t>(n) + 3);
    auto& lengths = to.lengths_.emplace_back(static_cast<std::size_t>(n));
    std::string_view bytes;
    status why = read_validity(a, s, buffers[0]);
    if (why.ok()) why = read_buffer(s, a.length * ipc_form_of(ipc_format_of(s)).width, bytes, buffers[1]);
    for (std::size_t k = 0; why.ok() && k != lengths.size(); ++k) {
      why = read_buffer(s, 0, bytes, buffers[2 + k]);
      lengths[k] = static_cast<std::int64_t>(bytes.size());
    }
    buffers.back() = lengths.empty() ? static_cast<const void*>(kNoBytes) : lengths.data();
    return why;
  }

  status find_dictionary(ArrowArray& a, const ArrowSchema& s) {
    const std::int64_t id = ipc_schema::dictionary_of(s).id;
    if (how.dictionaries && how.dictionaries->is_broken(id))
      return broken(s, "the dictionary " + std::to_string(id) + ", which could not be read");
    // Import does not change it.
    a.dictionary = const_cast<ArrowArray*>(how.dictionaries ? how.dictionaries->find(id) : nullptr);
    if (a.dictionary || a.null_count == a.length) return {};
    return broken(s, "values of the dictionary " + std::to_string(id) + ", which the stream has not defined before");
  }

  /// Rows without even a bit each are usually made up, except those of columns of nulls. Compressed bits are checked
  /// when their buffer is decompressed.
  status check_rows(std::int64_t rows, bool has_no_bytes, const ArrowSchema& s) const {
    if (codec != ipc_codec::none && !has_no_bytes) return {};
    const auto bits = static_cast<std::int64_t>(std::min<std::size_t>(body.size(), std::size_t{1} << 56)) * 8;
    if (rows <= bits || rows <= kIpcRowsWithoutBytes) return {};
    return broken(s, std::to_string(rows) + " values in a body of " + std::to_string(body.size()) + " bytes");
  }

  /// Reads the next buffer, which must have at least `bytes_min` bytes.
  status read_buffer(const ArrowSchema& s, std::int64_t bytes_min, std::string_view& bytes, const void*& to_pointer) {
    if (!ranges || next_range == ranges->size()) return broken_stream("a batch has fewer buffers than its schema");
    const ipc::range& r = *ranges->Get(next_range++);
    const auto size = static_cast<std::int64_t>(body.size());
    if (r.offset < 0 || r.length < 0 || r.offset > size || r.length > size - r.offset)
      return broken(s, "a buffer that leaves the body of the message");
    if (r.length != 0 && r.offset % 8 != 0) return broken(s, "a buffer that is not aligned to 8 bytes");
    bytes = body.substr(static_cast<std::size_t>(r.offset), static_cast<std::size_t>(r.length));
    to_pointer = kNoBytes;
    if (skips) return {};
    if (codec != ipc_codec::none)
      if (status why = inflate(s, bytes); !why.ok()) return why;
    if (static_cast<std::int64_t>(bytes.size()) < bytes_min)
      return broken(s,
                    "a buffer of " + std::to_string(bytes.size()) + " bytes, and needs " + std::to_string(bytes_min));
    if (!bytes.empty()) to_pointer = bytes.data();
    return {};
  }

  /// Replaces the bytes of a compressed buffer: the length before, -1 for bytes that are not compressed, and the bytes.
  status inflate(const ArrowSchema& s, std::string_view& bytes) {
    if (bytes.empty()) return {};
    std::int64_t declared = 0;
    if (bytes.size() < sizeof declared) return broken(s, "a compressed buffer without its length");
    std::memcpy(&declared, bytes.data(), sizeof declared);
    bytes.remove_prefix(sizeof declared);
    if (declared == -1) return {};
    const std::size_t ratio = codec == ipc_codec::lz4 ? kLz4Ratio : kZstdRatio;
    if (declared < 0 || static_cast<std::uint64_t>(declared) / ratio > bytes.size())
      return broken(s, "a compressed buffer of " + std::to_string(bytes.size()) + " bytes that claims " +
                           std::to_string(declared));
    const auto n = static_cast<std::size_t>(declared);
    if (n > how.bytes_max - to.inflated_bytes_)
      return element_limit_error(
          at({nullptr, ipc_name_of(s)},
             "the compressed buffers of this batch take more than " + std::to_string(how.bytes_max) +
                 " bytes, all that may be held: raise the memory budget, or write smaller batches"));
    auto room = std::make_unique_for_overwrite<std::uint64_t[]>(n / 8 + 1);
    status why = how.inflate(codec, bytes, reinterpret_cast<char*>(room.get()), n);
    if (!why.ok()) {
      const std::string what = at({nullptr, ipc_name_of(s)}, why.message());
      return why.code() == status_code::data_loss ? data_loss_error(what) : status(why.code(), what);
    }
    to.inflated_bytes_ += n;
    bytes = {reinterpret_cast<const char*>(room.get()), n};
    to.inflated_.push_back(std::move(room));
    return {};
  }

  status read_validity(const ArrowArray& a, const ArrowSchema& s, const void*& pointer) {
    std::string_view bits;
    status why = read_buffer(s, a.null_count == 0 ? 0 : bytes_of_bits(a.length), bits, pointer);
    if (a.null_count == 0) pointer = nullptr;  // the buffer has no additional information
    return why;
  }

  status read_offsets(const ArrowArray& a, const ArrowSchema& s, std::int64_t width, const void*& pointer,
                      std::int64_t& last) {
    std::string_view bytes;
    status why = read_buffer(s, 0, bytes, pointer);
    last = 0;
    if (!why.ok() || skips || (a.length == 0 && bytes.empty())) return why;
    if (static_cast<std::int64_t>(bytes.size()) / width <= a.length)
      return broken(s, std::to_string(a.length) + " values, and offsets of " + std::to_string(bytes.size()) + " bytes");
    return width == 4 ? check_offsets<std::int32_t>(a, s, pointer, last)
                      : check_offsets<std::int64_t>(a, s, pointer, last);
  }

  template <class T>
  static status check_offsets(const ArrowArray& a, const ArrowSchema& s, const void* pointer, std::int64_t& last) {
    auto* at = static_cast<const T*>(pointer);
    bool good = at[0] >= 0;
    for (std::int64_t i = 0; i != a.length; ++i) good = good && at[i] <= at[i + 1];
    last = at[a.length];
    return good ? status() : broken(s, "offsets that fall");
  }

  status read_codec(const Table* compression, checked_metadata& from) {
    if (!compression) return {};
    std::int8_t number = 0, method = 0;
    if (!from.value(*compression, ipc::body_compression::kCodec, number) ||
        !from.value(*compression, ipc::body_compression::kMethod, method))
      return broken_stream("the compression of a batch is invalid");
    if ((number != 0 && number != 1) || method != 0 || !how.inflate)
      return unread_stream("the Arrow stream's buffers are compressed by a codec that is not read (number " +
                           std::to_string(number) + "): write it with lz4, zstd, or without compression");
    codec = number == 0 ? ipc_codec::lz4 : ipc_codec::zstd;
    return {};
  }

  status read(const Table& batch, checked_metadata& from, const ArrowSchema& s) {
    ArrowArray& root = to.nodes_.emplace_back();
    const Table* compression = nullptr;
    if (!from.table(batch, ipc::record_batch::kCompression, compression) ||
        !from.value(batch, ipc::record_batch::kLength, root.length) ||
        !from.structs(batch, ipc::record_batch::kNodes, nodes) ||
        !from.structs(batch, ipc::record_batch::kBuffers, ranges) ||
        !from.numbers(batch, ipc::record_batch::kVariadicCounts, view_buffers))
      return broken_stream("the metadata of a batch is invalid");
    status why = read_codec(compression, from);
    if (!why.ok()) return why;
    if (root.length < 0) return broken_stream("a batch of " + std::to_string(root.length) + " rows");
    why = check_rows(root.length, false, s);
    if (!why.ok()) return why;
    auto& buffers = make_buffers(root, 1);
    buffers[0] = nullptr;
    why = read_columns(root, s);
    if (!why.ok()) return why;
    const bool all_used = (!nodes || next_node == nodes->size()) && (!ranges || next_range == ranges->size());
    return all_used ? why : broken_stream("a batch has more columns than its schema");
  }

  status read_columns(ArrowArray& root, const ArrowSchema& s) {
    auto& list = to.lists_.emplace_back(static_cast<std::size_t>(s.n_children));
    for (std::size_t k = 0; k != list.size(); ++k) {
      skips = how.wanted && !(*how.wanted)[k];
      ArrowArray& column = to.nodes_.emplace_back();
      list[k] = &column;
      status why = read(column, *s.children[k]);
      if (!why.ok()) return why;
      if (column.length != root.length)
        return broken(*s.children[k],
                      std::to_string(column.length) + " values in a batch of " + std::to_string(root.length) + " rows");
    }
    skips = false;
    root.n_children = s.n_children;
    root.children = list.data();
    return {};
  }

  /// Values are read in place if their alignment permits it.
  void align() {
    if (reinterpret_cast<std::uintptr_t>(body.data()) % 8 == 0 || body.empty()) return;
    to.copied_ = std::make_unique<std::uint64_t[]>(body.size() / 8 + 1);
    std::memcpy(to.copied_.get(), body.data(), body.size());
    body = {reinterpret_cast<const char*>(to.copied_.get()), body.size()};
  }
};

status read_ipc_batch(std::string_view metadata, std::string_view body, const ipc_schema& schema, ipc_batch& to,
                      const ipc_reading& how) {
  checked_metadata checked(metadata);
  message_table t;
  status why = read_message_table(checked, t);
  if (!why.ok()) return why;
  if (t.kind != ipc::header_kind::record_batch || !t.header) return broken_stream("a message that is no batch");
  ipc_batch_reader reader{body, to, how};
  reader.is_version4 = t.is_version4;
  reader.align();
  return reader.read(*t.header, checked, schema.get());
}

status ipc::read_dictionary_batch(std::string_view metadata, std::string_view body, const ipc_schema& schema,
                                  ipc_batch& to, const ipc_reading& how, std::int64_t& id, bool& is_delta) {
  checked_metadata checked(metadata);
  message_table t;
  status why = read_message_table(checked, t);
  if (!why.ok()) return why;
  std::uint8_t delta = 0;
  const Table* data = nullptr;
  if (t.kind != ipc::header_kind::dictionary_batch || !t.header ||
      !checked.value(*t.header, ipc::dictionary_batch::kIsDelta, delta) ||
      !checked.table(*t.header, ipc::dictionary_batch::kData, data) || !data)
    return broken_stream("the metadata of a dictionary is invalid");
  std::int64_t declared = 0;
  if (!checked.value(*t.header, ipc::dictionary_batch::kId, declared))
    return broken_stream("the metadata of a dictionary is invalid");
  const ipc_dictionary_field* field = schema.dictionary(declared);
  if (!field)
    return broken_stream("a dictionary with the id " + std::to_string(declared) +
                         ", which no column of the schema has");
  id = declared;
  is_delta = delta != 0;
  if (!field->type) return {};  // its columns are not read
  ArrowSchema* column[] = {const_cast<ArrowSchema*>(field->values)};
  ArrowSchema root{};
  root.format = "+s";
  root.n_children = 1;
  root.children = column;
  ipc_batch_reader reader{body, to, how};
  reader.is_version4 = t.is_version4;
  reader.align();
  return reader.read(*data, checked, root);
}

}  // namespace sluice::lib::arrow
