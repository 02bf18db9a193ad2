// SPDX-License-Identifier: Apache-2.0
#include "arrow/ipc_unread.hpp"

#include <algorithm>

#include "arrow/ipc_formats.hpp"
#include "arrow/ipc_metadata.hpp"

namespace sluice::lib::arrow {

namespace {

/// Walks through the buffers of a batch, in the order of ipc_batch_reader.
class buffer_walk {
 public:
  explicit buffer_walk(const ipc::vector_of<const ipc::range*>& buffers) : buffers_(buffers) {}

  /// Returns false if the column has a layout whose buffers are not known here.
  bool pass(const ArrowSchema& s, column_use use) {
    const ipc_layout layout = ipc_form_of(ipc_format_of(s)).layout;
    const column_use values = use == column_use::all ? use : column_use::none;
    switch (layout) {
      case ipc_layout::none: return true;
      case ipc_layout::bits:
      case ipc_layout::fixed: return pass_buffer(use) && pass_buffer(values);
      case ipc_layout::texts: return pass_buffer(use) && pass_buffer(use) && pass_buffer(values);
      case ipc_layout::lists: return pass_buffer(use) && pass_buffer(use) && pass_children(s, use);
      case ipc_layout::fixed_lists:
      case ipc_layout::members: return pass_buffer(use) && pass_children(s, use);
      case ipc_layout::list_views:
        return pass_buffer(use) && pass_buffer(use) && pass_buffer(use) && pass_children(s, use);
      case ipc_layout::runs: return pass_children(s, use);
      default: return false;
    }
  }
  bool is_at_end() const { return next_ == buffers_.size(); }
  /// Returns what lies between the buffers that are looked at, up to `end`.
  std::vector<byte_range> between(std::uint64_t end) {
    std::ranges::sort(read_, {}, &byte_range::begin);
    read_.push_back({end, end});
    std::vector<byte_range> unread;
    std::uint64_t from = 0;
    for (const byte_range& r : read_) {
      if (r.begin > from) unread.push_back({from, r.begin});
      from = std::max(from, r.end);
    }
    return unread;
  }

 private:
  bool pass_children(const ArrowSchema& s, column_use use) {
    for (std::int64_t k = 0; k != s.n_children; ++k)
      if (!pass(*s.children[k], use)) return false;
    return true;
  }
  bool pass_buffer(column_use use) {
    if (is_at_end()) return false;
    const ipc::range& r = *buffers_.Get(next_++);
    if (r.offset < 0 || r.length < 0 || r.length > INT64_MAX - r.offset) return false;
    if (use != column_use::none && r.length != 0)
      read_.push_back({static_cast<std::uint64_t>(r.offset), static_cast<std::uint64_t>(r.offset + r.length)});
    return true;
  }

  const ipc::vector_of<const ipc::range*>& buffers_;
  flatbuffers::uoffset_t next_ = 0;
  std::vector<byte_range> read_{};
};

}  // namespace

std::vector<byte_range> unread_in_batch(std::string_view metadata, const ipc_schema& schema,
                                        std::span<const column_use> columns) {
  ipc::checked_metadata checked(metadata);
  ipc::message_table t;
  const ipc::Table* compression = nullptr;
  const ipc::vector_of<const ipc::range*>* buffers = nullptr;
  const bool is_plain = ipc::read_message_table(checked, t).ok() && t.kind == ipc::header_kind::record_batch &&
                        t.header && checked.table(*t.header, ipc::record_batch::kCompression, compression) &&
                        !compression && checked.structs(*t.header, ipc::record_batch::kBuffers, buffers) && buffers;
  const ArrowSchema& all = schema.get();
  if (!is_plain || static_cast<std::int64_t>(columns.size()) != all.n_children) return {};
  buffer_walk walk(*buffers);
  for (std::size_t k = 0; k != columns.size(); ++k)
    if (!walk.pass(*all.children[k], columns[k])) return {};
  return walk.is_at_end() ? walk.between(static_cast<std::uint64_t>(t.body_bytes)) : std::vector<byte_range>();
}

}  // namespace sluice::lib::arrow
