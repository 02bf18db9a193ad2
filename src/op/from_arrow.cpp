// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/from_arrow.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "arrow/import.hpp"
#include "arrow/ipc_dictionaries.hpp"
#include "arrow/ipc_formats.hpp"
#include "arrow/ipc_reader.hpp"
#include "arrow/ipc_unread.hpp"
#include "arrow/merged_rows.hpp"
#include "arrow/row_type.hpp"
#include "engine/files/arrow_rows_in_file.hpp"
#include "engine/files/arrow_schema.hpp"
#include "engine/files/chosen_columns.hpp"
#include "engine/files/file_head.hpp"
#include "engine/files/file_stage.hpp"
#include "format/codec/buffer_codec.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "plan/matching_files.hpp"
#include "runtime/held_memory.hpp"
#include "sluice/arrow/columns.hpp"

namespace sluice::lib {

namespace {

/// The limit of a schema. A longer one means that the file is no Arrow stream.
constexpr std::size_t kSchemaBytesMax = std::size_t{64} << 20;

/// The bytes before the batches: the magic word of a file, and the schema.
struct arrow_head {
  found at;
  std::unique_ptr<arrow::ipc_schema> schema;
};

/// `left`: the number of bytes to the end of the file, if known.
arrow_head read_arrow_head(std::string_view bytes, std::uint64_t left, bool last) {
  using kind = arrow::ipc_message::kind;
  arrow_head head;
  if (bytes.size() < 8 && !last) {
    head.at.needed_bytes = 8;
    return head;
  }
  const std::size_t magic = arrow::ipc_magic_bytes(bytes);
  const std::uint64_t behind = left == arrow::kIpcUnknown ? left : left - magic;
  auto m = arrow::read_ipc_message(bytes.substr(magic), behind);
  if (m.is == kind::incomplete) {
    head.at.needed_bytes = magic + m.needed_bytes;
    return head;
  }
  head.at.why = m.why;
  if (m.is == kind::broken) return head;
  head.schema = std::make_unique<arrow::ipc_schema>();
  head.at.why = m.is == kind::end ? data_loss_error("the Arrow stream has no schema")
                                  : arrow::read_ipc_schema(m.metadata, *head.schema);
  if (head.at.why.ok()) head.at.used_bytes = magic + m.size_bytes;
  return head;
}

status inflate_part(arrow::ipc_codec codec, std::string_view in, char* out, std::size_t bytes) {
  return inflate_buffer(codec == arrow::ipc_codec::lz4 ? compression::lz4 : compression::zstd, in, out, bytes);
}

/// Returns the columns of a schema that rows of this type are made of.
std::vector<bool> wanted_columns(const element_type& row, const ArrowSchema& s) {
  std::vector<bool> wanted(static_cast<std::size_t>(s.n_children), true);
  if (row.kind != kind::structure) return wanted;
  for (std::size_t k = 0; k != wanted.size(); ++k)
    wanted[k] = std::any_of(row.members.begin(), row.members.end(),
                            [&](const member& m) { return m.name == arrow::ipc_name_of(*s.children[k]); });
  return wanted;
}

/// Returns what is read of each column of a schema. `whole`: the structure of all columns, of which `row` has some.
/// `checks_rest`: the others are checked.
std::vector<arrow::column_use> uses_of_columns(const element_type& row, const element_type& whole, bool checks_rest,
                                               const ArrowSchema& s) {
  using arrow::column_use;
  const std::vector<bool> built = wanted_columns(row, s);
  std::vector<column_use> uses(built.size(), column_use::none);
  for (std::size_t k = 0; k != uses.size(); ++k) {
    if (built[k]) uses[k] = column_use::all;
    if (built[k] || !checks_rest) continue;
    const auto m = std::ranges::find(whole.members, arrow::ipc_name_of(*s.children[k]), &member::name);
    if (m == whole.members.end()) continue;
    uses[k] = arrow::needs_no_values(*m->type, *s.children[k]) ? column_use::validity_and_offsets : column_use::all;
  }
  return uses;
}

class arrow_format final : public element_format {
 public:
  /// `memory`: for dictionaries and decompressed buffers.
  /// `whole`: the structure of all columns, of which `row` has some. The others are checked, or with `trust` not read.
  arrow_format(const element_type& row, const element_type& whole, bool trust, std::unique_ptr<held_memory> memory)
      : row_(row), whole_(whole), trust_(trust), memory_(std::move(memory)) {}

  found scan(const byte_window& w, buffer&, void* to, std::size_t elements_max) const override {
    if (w.offset == 0) return read_head(w);
    found f;
    auto* batches = static_cast<batch_storage*>(to);
    while (f.elements != elements_max) {
      auto m = arrow::read_ipc_message(w.view().substr(f.used_bytes), left_at(w, f.used_bytes));
      if (m.is == arrow::ipc_message::kind::dictionary && f.elements == 0) {
        if (!take_dictionary(m, f)) return f;
        continue;
      }
      if (m.is != arrow::ipc_message::kind::batch) return f.used_bytes ? f : without_batch(w, m);
      batch_storage b;
      status why = read_batch(m, b);
      if (!why.ok()) {
        if (f.used_bytes) return f;  // elements before it are delivered first
        f.why = std::move(why);
        f.damaged_bytes = m.size_bytes;
        return f;
      }
      ::new (static_cast<void*>(batches + f.elements++)) batch_storage(std::move(b));
      f.used_bytes += m.size_bytes;
    }
    return f;
  }
  found pass_over(const byte_window& w, std::uint64_t elements_max) const override {
    found f;
    if (elements_max == 0) {
      f.needed_bytes = 8;
      f.ended = w.last && w.bytes.empty();
      return f;
    }
    if (w.offset == 0) return w.last && w.bytes.empty() ? ended() : read_head(w);
    const bool with_body = w.end == provenance::kUnknown;
    while (f.elements != elements_max && f.used_bytes < w.bytes.size()) {
      const std::string_view bytes = w.view().substr(static_cast<std::size_t>(f.used_bytes));
      const std::uint64_t left = left_at(w, f.used_bytes);
      auto m = arrow::read_ipc_message(bytes, left, with_body);
      if (m.is == arrow::ipc_message::kind::dictionary) {
        if (f.used_bytes) return f;
        if (!with_body) m = arrow::read_ipc_message(bytes, left);
        if (m.is == arrow::ipc_message::kind::dictionary) take_dictionary(m, f);
        return m.is == arrow::ipc_message::kind::dictionary ? f : without_batch(w, m);
      }
      if (m.is != arrow::ipc_message::kind::batch) return f.elements ? f : without_batch(w, m);
      ++f.elements;
      f.used_bytes += m.size_bytes;
    }
    if (f.elements == 0) {
      f.needed_bytes = 8;
      f.ended = w.last;
    }
    return f;
  }
  std::vector<byte_range> unread(const byte_window& w) const override {
    if (&row_ == &whole_ || row_.kind != kind::structure || w.offset == 0 || !schema_) return {};
    const auto m = arrow::read_ipc_message(w.view(), left_at(w, 0), false);
    if (m.is != arrow::ipc_message::kind::batch) return {};
    const char* const after_metadata = m.metadata.data() + m.metadata.size();
    const std::uint64_t body = w.offset + static_cast<std::uint64_t>(after_metadata - w.bytes.data());
    std::vector<byte_range> unread = arrow::unread_in_batch(m.metadata, *schema_, uses_);
    for (byte_range& r : unread) r = {r.begin + body, r.end + body};
    return unread;
  }
  bool skips_unchecked() const override { return true; }
  bool has_head() const override { return true; }
  found read_head(const byte_window& w) const override {
    arrow_head head = read_arrow_head(w.view(), left_at(w, 0), w.last);
    if (head.at.used_bytes == 0) return std::move(head.at);
    is_file_ = arrow::ipc_magic_bytes(w.view()) != 0;
    head.at.why = check_arrow_rows(whole_, head.schema->get());
    if (!head.at.why.ok()) {
      head.at.used_bytes = 0;
      return std::move(head.at);
    }
    schema_ = std::move(head.schema);
    wanted_ = wanted_columns(trust_ ? row_ : whole_, schema_->get());
    uses_ = uses_of_columns(row_, whole_, !trust_, schema_->get());
    dictionaries_.clear();
    return std::move(head.at);
  }
  /// Batches need the dictionaries before them.
  found read_before(const byte_window& w, std::uint64_t offset) const override {
    found f;
    if (schema_ && !schema_->has_dictionaries()) {
      f.used_bytes = offset - w.offset;
      return f;
    }
    const std::uint64_t left = left_at(w, 0);
    const bool with_body = w.end == provenance::kUnknown;
    auto m = arrow::read_ipc_message(w.view(), left, with_body);
    if (m.is == arrow::ipc_message::kind::dictionary && !with_body) m = arrow::read_ipc_message(w.view(), left);
    f.needed_bytes = m.needed_bytes;
    if (m.is == arrow::ipc_message::kind::incomplete) return f;
    // A message that could not be read was dropped by the run before the checkpoint, too.
    if (m.is == arrow::ipc_message::kind::dictionary && !take_dictionary(m, f)) f.why = {};
    f.used_bytes = m.size_bytes;
    if (m.size_bytes == 0 || m.is == arrow::ipc_message::kind::end) f.why = data_loss_error("no message begins here");
    return f;
  }

 private:
  static found ended() {
    found f;
    f.ended = true;
    return f;
  }
  static std::uint64_t left_at(const byte_window& w, std::uint64_t used) {
    if (w.end == provenance::kUnknown) return w.last ? w.bytes.size() - used : arrow::kIpcUnknown;
    return w.end > w.offset + used ? w.end - w.offset - used : 0;
  }
  /// Returns the result for a message that is not a batch.
  found without_batch(const byte_window& w, arrow::ipc_message& m) const {
    using kind = arrow::ipc_message::kind;
    if (m.is == kind::end) return behind_end(w, static_cast<std::size_t>(m.size_bytes));
    found f;
    f.needed_bytes = m.needed_bytes;
    f.ended = w.last && w.bytes.empty();
    if (f.ended) return f;
    if (m.is == kind::schema) m.why = data_loss_error("not an Arrow stream, or damaged: a second schema");
    f.why = std::move(m.why);
    f.damaged_bytes = m.size_bytes;
    return f;
  }
  /// Checks what follows the end of the stream: nothing, or the directory of a file. `end_bytes`: the mark of the end,
  /// which begins the window.
  found behind_end(const byte_window& w, std::size_t end_bytes) const {
    found f;
    const bool is_known = w.end != provenance::kUnknown || w.last;
    const std::uint64_t left = left_at(w, end_bytes), there = w.bytes.size() - end_bytes;
    f.ended = is_known && left == 0;
    if (f.ended) return f;
    const bool is_long = (is_known ? left : there) > kSchemaBytesMax;
    const bool needs_more = is_file_ ? !is_long && (is_known ? there < left : true) : there == 0 && !is_known;
    if (needs_more) {
      f.needed_bytes = is_known ? static_cast<std::size_t>(end_bytes + left) : w.bytes.size() * 2 + 1;
      return f;
    }
    f.ended = is_file_ && !is_long && is_directory(w.view().substr(end_bytes));
    if (f.ended) return f;
    f.why = data_loss_error(absl::StrCat(is_known ? absl::StrCat(left, " bytes follow") : std::string("bytes follow"),
                                         " the end of the Arrow ", is_file_ ? "file" : "stream",
                                         ", and are not read: another one may have been appended; write each to a file "
                                         "of its own"));
    f.damaged_bytes = is_known ? end_bytes + left : 0;
    return f;
  }
  /// The directory, its length, and the magic word.
  static bool is_directory(std::string_view rest) {
    constexpr std::string_view kMagic = "ARROW1";
    constexpr std::size_t kTailBytes = sizeof(std::uint32_t) + kMagic.size(), kPaddingMax = 8;
    if (rest.size() < kTailBytes || !rest.ends_with(kMagic)) return false;
    std::uint32_t size = 0;
    std::memcpy(&size, rest.data() + rest.size() - kTailBytes, sizeof size);
    const std::size_t there = rest.size() - kTailBytes;
    return size <= there && there - size < kPaddingMax;
  }
  status read_batch(const arrow::ipc_message& m, batch_storage& to) const {
    if (!schema_) return data_loss_error("not an Arrow stream, or damaged: a batch without a schema");
    arrow::ipc_batch batch;
    status why = arrow::read_ipc_batch(m.metadata, m.body, *schema_, batch, reading());
    if (!why.ok()) return why;
    why = hold(batch.inflated_bytes());
    std::size_t room = room_bytes();
    const element_type* checked = &row_ == &whole_ || trust_ ? nullptr : &whole_;
    if (why.ok()) why = arrow::append_rows_within(to, row_, schema_->get(), batch.array(), &room, checked);
    memory_->shrink_by(memory_->bytes() - dictionaries_.memory_bytes());
    return why;
  }
  /// Reads a dictionary. Returns false if it is damaged.
  bool take_dictionary(const arrow::ipc_message& m, found& f) const {
    f.why = schema_ ? dictionaries_.read(m.metadata, m.body, *schema_, reading())
                    : data_loss_error("not an Arrow stream, or damaged: a dictionary without a schema");
    if (f.why.ok()) f.why = hold(0);
    if (!f.why.ok()) {
      f.damaged_bytes = m.size_bytes;
      return f.used_bytes = 0, false;
    }
    f.used_bytes += m.size_bytes;
    return true;
  }
  arrow::ipc_reading reading() const {
    return {.dictionaries = &dictionaries_, .inflate = inflate_part, .bytes_max = room_bytes(), .wanted = &wanted_};
  }
  std::size_t room_bytes() const {
    const std::size_t held = dictionaries_.memory_bytes();
    return memory_->budget_bytes() - std::min(memory_->budget_bytes(), held);
  }
  /// Charges the dictionaries, and `more` bytes.
  status hold(std::size_t more) const { return memory_->resize(dictionaries_.memory_bytes() + more); }

  const element_type &row_, &whole_;
  const bool trust_;
  const std::unique_ptr<held_memory> memory_;
  mutable std::vector<bool> wanted_;
  mutable std::vector<arrow::column_use> uses_;  ///< of the columns of the file
  mutable arrow::ipc_dictionaries dictionaries_;
  mutable std::unique_ptr<arrow::ipc_schema> schema_;  // a stage has a format of its own: one thread at a time
  mutable bool is_file_ = false;                       ///< begins with the magic word of an Arrow IPC file
};

}  // namespace

/// Returns the type of the rows of the file under a path. It is looked up when a plan is built, before a run exists.
result<const element_type*> arrow_rows_in_file(const std::string& path, compression packed,
                                               const inflate_limits& limits) {
  constexpr std::size_t kFirstLookBytes = 4096, kNextLook = 16;
  if (path.empty() || path == "-")
    return invalid_argument_error("the schema of an unknown file cannot be read: give it as schema=\"label: int64\"");
  for (std::size_t looked_at = kFirstLookBytes;;) {
    auto begin = read_file_head(path, packed, looked_at, limits);
    if (!begin.ok()) return begin.why();
    const std::string& bytes = begin->bytes;
    arrow_head head = read_arrow_head(bytes, begin->is_all ? bytes.size() : arrow::kIpcUnknown, begin->is_all);
    if (!head.at.why.ok()) return head.at.why.in_file(path);
    if (head.at.used_bytes) {
      auto row = arrow::row_type_of(head.schema->get());
      if (!row.ok()) return row.why().in_file(path);
      return row;
    }
    if (!begin->cut.ok()) return begin->cut;
    if (begin->is_all || looked_at == kSchemaBytesMax || head.at.needed_bytes > kSchemaBytesMax)
      return data_loss_error("the file has no Arrow schema").in_file(path);
    // A read of a compressed file requests a number of decompressed bytes, and may return fewer or none, because the
    // first bytes arrive with a whole block.
    looked_at = std::min(std::max(head.at.needed_bytes, looked_at * kNextLook), kSchemaBytesMax);
  }
}

result<const element_type*> arrow_rows_in_bytes(const std::string& name, std::string_view bytes, bool is_all) {
  arrow_head head = read_arrow_head(bytes, is_all ? bytes.size() : arrow::kIpcUnknown, is_all);
  if (!head.at.why.ok()) return head.at.why.in_file(name);
  if (head.at.used_bytes == 0)
    return data_loss_error(
               "its schema is longer than the bytes that have arrived: give it with --schema, or copy the "
               "data to a file")
        .in_file(name);
  auto row = arrow::row_type_of(head.schema->get());
  return row.ok() ? row : result<const element_type*>(row.why().in_file(name));
}

namespace {

/// Returns the structure of all columns. Null, with the reason in `why`, if the schema is invalid.
const element_type* whole_arrow_row(const from_arrow_arguments& a, std::string& why) {
  const arrow_schema_arg& schema = a.options.schema;
  if (schema.row) return schema.row;
  if (a.built.columns.all && schema.value.empty()) return a.built.columns.all;
  auto row = schema.value.empty()
                 ? arrow_rows_in_file(a.path.value, a.options.compression,
                                      limits_of(a.options.inflated_bytes_max, a.options.inflate_ratio_max))
                 : arrow::row_type_of(schema.value);
  if (row.ok()) return *row;
  if (!row.why().where().file.empty()) throw_status(row.why());
  why = schema.value.empty() ? row.why().to_string() : std::string(row.why().message());
  return nullptr;
}

const element_type* arrow_batches(const node& n, std::string& why) {
  const auto& a = n.as<from_arrow_arguments>();
  const element_type* whole = whole_arrow_row(a, why);
  const element_type* row = whole ? chosen_members(*whole, a.built, why) : nullptr;
  return row ? batched_of(row) : nullptr;
}

/// Returns the arguments with the columns of several files, merged by name.
sluice::lib::arguments arrow_of_files(const node& n, const std::vector<std::string>& files) {
  from_arrow_arguments a = n.as<from_arrow_arguments>();
  if (a.options.schema.row || !a.options.schema.value.empty()) return n.arguments;
  arrow::merged_rows rows;
  for (const std::string& file : files) {
    auto next = arrow_rows_in_file(file, a.options.compression,
                                   limits_of(a.options.inflated_bytes_max, a.options.inflate_ratio_max));
    if (!next.ok()) throw_status(next.why());
    if (status why = rows.add(**next, file); !why.ok()) throw_status(why);
  }
  a.options.schema = arrow_schema_arg(*rows.type(), "from_arrow");
  return sluice::lib::arguments::of(std::move(a));
}

erased_stream open_from_arrow(const node& n, open_context& context) {
  auto memory =
      std::make_unique<held_memory>(context.run, context.site(n).line(purpose::open_file), context.gate(n).label(),
                                    "the dictionaries and decompressed buffers of an Arrow file",
                                    "open fewer files at once, or write smaller batches");
  const auto& a = n.as<from_arrow_arguments>();
  std::string why;
  const element_type* whole = a.built.columns.list.empty() ? n.type->element : whole_arrow_row(a, why);
  if (!whole) throw_status(invalid_argument_error(why));
  return open_file_stage(
      n, context, reading_with<from_arrow_arguments>(n, context),
      std::make_shared<arrow_format>(*n.type->element, *whole, a.built.trust.is_on(), std::move(memory)));
}

}  // namespace

const op_info from_arrow_op{
    .name = "from_arrow",
    .doc = "the batches of an Arrow IPC stream or file",
    .shape = op_info::source,
    .arguments = arguments_of<from_arrow_arguments>,
    .of_matches = plan_of_matching_files,
    .for_files = arrow_of_files,
    .for_columns = arguments_for_columns<from_arrow_arguments>,
    .type = arrow_batches,
    .splits = {.rule = split_rule::one_file},
    .lowering = {.open = open_from_arrow},
};

}  // namespace sluice::lib
