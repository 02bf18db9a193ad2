// SPDX-License-Identifier: Apache-2.0
#include "arrow/ipc_reader.hpp"

#include <algorithm>
#include <bit>
#include <climits>
#include <cstring>
#include <utility>

#include "arrow/ipc_formats.hpp"
#include "arrow/ipc_metadata.hpp"

static_assert(std::endian::native == std::endian::little, "IPC streams are read in the byte order of memory");

namespace sluice::lib::arrow {

namespace {

using namespace ipc;

/// Columns of nulls take no bytes. All columns of a batch together may claim this number of values without any bytes; a
/// batch with more values must have some.
constexpr std::int64_t kIpcRowsWithoutBytes = std::int64_t{1} << 22;

/// Reads the kind of a message, and the length of its body.
ipc_message without_body(std::string_view metadata) {
  ipc_message m;
  m.is = ipc_message::kind::broken;
  checked_metadata checked(metadata);
  message_table t;
  m.why = read_message_table(checked, t);
  if (!m.why.ok()) return m;
  m.metadata = metadata;
  m.size_bytes = static_cast<std::uint64_t>(t.body_bytes);
  switch (t.kind) {
    case ipc::header_kind::schema: m.is = ipc_message::kind::schema; break;
    case ipc::header_kind::record_batch: m.is = ipc_message::kind::batch; break;
    case ipc::header_kind::dictionary_batch:
      m.why = unread_stream("the Arrow stream has dictionary-encoded columns: decode them before it is written");
      break;
    case ipc::header_kind::tensor:
    case ipc::header_kind::sparse_tensor:
      m.why = unread_stream("the Arrow stream has a tensor, and record batches are read");
      break;
    default: m.why = broken_stream("a message of kind " + std::to_string(static_cast<int>(t.kind))); break;
  }
  return m;
}

}  // namespace

status ipc::read_message_table(checked_metadata& from, message_table& to) {
  const Table* root = from.root();
  std::int16_t version = 0;
  std::uint8_t kind = 0;
  if (!root || !from.value(*root, message::kVersion, version) || !from.value(*root, message::kHeaderKind, kind) ||
      !from.value(*root, message::kBodyBytes, to.body_bytes) || !from.table(*root, message::kHeader, to.header))
    return broken_stream("the metadata of a message is invalid");
  if (version != kVersion4 && version != kVersion5)
    return unread_stream("the Arrow stream is of metadata version " + std::to_string(version + 1) +
                         ", and versions 4 and 5 are read: write it with Arrow 1.0 or newer");
  to.kind = static_cast<header_kind>(kind);
  if (to.body_bytes < 0) return broken_stream("a body of " + std::to_string(to.body_bytes) + " bytes");
  return {};
}

std::size_t ipc_magic_bytes(std::string_view bytes) {
  return bytes.starts_with(std::string_view(ipc::kFileMagic, sizeof ipc::kFileMagic)) ? sizeof ipc::kFileMagic : 0;
}

ipc_message read_ipc_message(std::string_view bytes, std::uint64_t left_bytes, bool with_body) {
  ipc_message m;
  std::uint32_t prefix[2];
  auto asks_for = [&](std::uint64_t wanted, const char* what) {
    if (left_bytes != kIpcUnknown && wanted > left_bytes) {
      m.is = ipc_message::kind::broken;
      m.why = broken_stream(std::string(what) + " would end " + std::to_string(wanted) +
                            " bytes on, and the file has " + std::to_string(left_bytes));
      return;
    }
    // If the end is not known, request at most about twice the bytes already read: the length may be made up.
    if (left_bytes == kIpcUnknown) wanted = std::min<std::uint64_t>(wanted, bytes.size() * 2 + (std::size_t{1} << 16));
    m.needed_bytes = static_cast<std::size_t>(wanted);
  };
  if (bytes.size() < sizeof prefix) {
    asks_for(sizeof prefix, "a message");
    return m;
  }
  std::memcpy(prefix, bytes.data(), sizeof prefix);
  if (prefix[0] != ipc::kContinuation) {
    m.is = ipc_message::kind::broken;
    m.why = prefix[0] < (1u << 24) && prefix[0] != 0
                ? broken_stream("no message begins here (streams of Arrow before 0.15 are not read)")
                : broken_stream("no message begins here");
    return m;
  }
  if (prefix[1] == 0) {
    m.is = ipc_message::kind::end;
    m.size_bytes = sizeof prefix;
    return m;
  }
  const std::uint64_t head = sizeof prefix + std::uint64_t{prefix[1]};
  if (prefix[1] > std::uint32_t{INT32_MAX} || prefix[1] % 8 != 0) {
    m.is = ipc_message::kind::broken;
    m.why = broken_stream("a message with " + std::to_string(prefix[1]) + " bytes of metadata");
    return m;
  }
  if (bytes.size() < head) {
    asks_for(head, "the metadata of a message");
    return m;
  }
  ipc_message whole = without_body(bytes.substr(sizeof prefix, prefix[1]));
  const std::uint64_t body = whole.size_bytes;
  const bool fits = left_bytes == kIpcUnknown || body <= left_bytes - head;
  whole.size_bytes = whole.is != ipc_message::kind::broken || (body != 0 && fits) ? head + body : 0;
  if (whole.is == ipc_message::kind::broken) return whole;
  if (!fits || (with_body && bytes.size() < whole.size_bytes)) {
    asks_for(whole.size_bytes, "the body of a message");
    if (m.is == ipc_message::kind::incomplete) m.size_bytes = whole.size_bytes;
    return m;
  }
  if (with_body) whole.body = bytes.substr(static_cast<std::size_t>(head), static_cast<std::size_t>(body));
  return whole;
}

// --- Record batches ---

struct ipc_batch_reader {
  std::string_view body;
  ipc_batch& to;
  const vector_of<const ipc::node*>* nodes = nullptr;
  const vector_of<const ipc::range*>* ranges = nullptr;
  flatbuffers::uoffset_t next_node = 0, next_range = 0;

  /// The address for buffers without bytes: it contains the one offset of a column without rows.
  alignas(64) static constexpr char kNoBytes[64] = {};

  status read_children(ArrowArray& parent, const ArrowSchema& s, std::int64_t rows) {
    auto& list = to.lists_.emplace_back(static_cast<std::size_t>(s.n_children));
    for (std::size_t k = 0; k != list.size(); ++k) {
      ArrowArray& child = to.nodes_.emplace_back();
      list[k] = &child;
      status why = read(child, *s.children[k]);
      if (!why.ok()) return why;
      if (child.length < rows)
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

  status read(ArrowArray& a, const ArrowSchema& s) {
    if (!nodes || next_node == nodes->size()) return broken_stream("a batch has fewer columns than its schema");
    const ipc::node& node = *nodes->Get(next_node++);
    a.length = node.length;
    a.null_count = node.null_count;
    if (node.length < 0 || node.length > INT64_MAX / 2 || node.null_count < 0 || node.null_count > node.length)
      return broken(s, std::to_string(node.length) + " values, " + std::to_string(node.null_count) + " of them nulls");
    const ipc_form form = ipc_form_of(ipc_format_of(s));
    if (form.layout == ipc_layout::none) nulls += a.length;
    status why = check_rows(std::max(a.length, nulls), s);
    if (!why.ok() || form.layout == ipc_layout::none) return why;
    auto& buffers = to.buffers_.emplace_back(form.layout == ipc_layout::texts ? 3 : 2);
    a.buffers = buffers.data();
    a.n_buffers = static_cast<std::int64_t>(buffers.size());
    std::string_view bytes;
    why = read_validity(a, s, buffers[0]);
    if (!why.ok()) return why;
    switch (form.layout) {
      case ipc_layout::bits: return read_buffer(s, a.length / 8 + (a.length % 8 != 0 ? 1 : 0), bytes, buffers[1]);
      case ipc_layout::fixed:
        if (form.width != 0 && a.length > INT64_MAX / form.width)
          return broken(s, std::to_string(a.length) + " values");
        return read_buffer(s, a.length * form.width, bytes, buffers[1]);
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
      case ipc_layout::fixed_lists:
        a.n_buffers = 1;
        if (form.width != 0 && a.length > INT64_MAX / form.width)
          return broken(s, std::to_string(a.length) + " values");
        return read_children(a, s, a.length * form.width);
      default: a.n_buffers = 1; return read_children(a, s, a.length);
    }
  }

  std::int64_t nulls = 0;  ///< values of columns of nulls, so far

  /// Rows without even a bit each are usually made up, except those of columns of nulls.
  status check_rows(std::int64_t rows, const ArrowSchema& s) const {
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
    if (r.length < bytes_min)
      return broken(s, "a buffer of " + std::to_string(r.length) + " bytes, and needs " + std::to_string(bytes_min));
    if (r.length != 0 && r.offset % 8 != 0) return broken(s, "a buffer that is not aligned to 8 bytes");
    bytes = body.substr(static_cast<std::size_t>(r.offset), static_cast<std::size_t>(r.length));
    to_pointer = bytes.empty() ? kNoBytes : bytes.data();
    return {};
  }

  status read_validity(const ArrowArray& a, const ArrowSchema& s, const void*& pointer) {
    std::string_view bits;
    const std::int64_t needed = a.null_count == 0 ? 0 : a.length / 8 + (a.length % 8 != 0 ? 1 : 0);
    status why = read_buffer(s, needed, bits, pointer);
    if (a.null_count == 0) pointer = nullptr;  // the buffer has no additional information
    return why;
  }

  status read_offsets(const ArrowArray& a, const ArrowSchema& s, std::int64_t width, const void*& pointer,
                      std::int64_t& last) {
    std::string_view bytes;
    status why = read_buffer(s, 0, bytes, pointer);
    last = 0;
    if (!why.ok() || (a.length == 0 && bytes.empty())) return why;
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

  status read(const Table& batch, checked_metadata& from, const ArrowSchema& s) {
    ArrowArray& root = to.nodes_.emplace_back();
    const Table* compression = nullptr;
    if (!from.table(batch, ipc::record_batch::kCompression, compression) ||
        !from.value(batch, ipc::record_batch::kLength, root.length) ||
        !from.structs(batch, ipc::record_batch::kNodes, nodes) ||
        !from.structs(batch, ipc::record_batch::kBuffers, ranges))
      return broken_stream("the metadata of a batch is invalid");
    if (compression)
      return unread_stream(
          "the Arrow stream's buffers are compressed: write it without compression, or compress it as a "
          "whole with gzip");
    if (root.length < 0) return broken_stream("a batch of " + std::to_string(root.length) + " rows");
    status why = check_rows(root.length, s);
    if (!why.ok()) return why;
    auto& buffers = to.buffers_.emplace_back(1);
    root.buffers = buffers.data();
    root.n_buffers = 1;
    why = read_children(root, s, root.length);
    if (!why.ok()) return why;
    for (std::int64_t k = 0; k != root.n_children; ++k)
      if (root.children[k]->length != root.length)
        return broken(*s.children[k], std::to_string(root.children[k]->length) + " values in a batch of " +
                                          std::to_string(root.length) + " rows");
    const bool all_used = (!nodes || next_node == nodes->size()) && (!ranges || next_range == ranges->size());
    return all_used ? why : broken_stream("a batch has more columns than its schema");
  }

  /// Values are read in place if their alignment permits it.
  void align() {
    if (reinterpret_cast<std::uintptr_t>(body.data()) % 8 == 0 || body.empty()) return;
    to.copied_ = std::make_unique<std::uint64_t[]>(body.size() / 8 + 1);
    std::memcpy(to.copied_.get(), body.data(), body.size());
    body = {reinterpret_cast<const char*>(to.copied_.get()), body.size()};
  }
};

status read_ipc_batch(std::string_view metadata, std::string_view body, const ipc_schema& schema, ipc_batch& to) {
  checked_metadata checked(metadata);
  message_table t;
  status why = read_message_table(checked, t);
  if (!why.ok()) return why;
  if (t.kind != ipc::header_kind::record_batch || !t.header) return broken_stream("a message that is no batch");
  ipc_batch_reader reader{body, to};
  reader.align();
  return reader.read(*t.header, checked, schema.get());
}

}  // namespace sluice::lib::arrow
