// SPDX-License-Identifier: Apache-2.0
#include "arrow/ipc_stream.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "arrow/import.hpp"
#include "arrow/ipc_dictionaries.hpp"
#include "arrow/ipc_reader.hpp"
#include "arrow/ipc_writer.hpp"
#include "arrow/random_columns.hpp"
#include "format/codec/buffer_codec.hpp"

namespace sluice::lib::test {

std::string ipc_of(const std::vector<batch_storage>& batches, const element_type& row, const arrow_options& o) {
  std::string out;
  ArrowSchema schema;
  status why = export_schema(row, &schema, o);
  if (!why.ok()) throw_status(why);
  why = arrow::append_ipc_schema(out, schema);
  for (auto& b : batches) {
    if (!why.ok()) break;
    ArrowArray array;
    why = export_rows(b, row, &array, o);
    if (!why.ok()) break;
    why = arrow::append_ipc_batch(out, schema, array);
    array.release(&array);
  }
  schema.release(&schema);
  if (!why.ok()) throw_status(why);
  arrow::append_ipc_end(out);
  return out;
}

namespace {

/// The first `n` bytes in a block of memory of their own: a sanitizer sees who reads on.
class bytes_alone {
 public:
  explicit bytes_alone(std::string_view bytes) : room_(std::make_unique<char[]>(bytes.size())), size_(bytes.size()) {
    if (!bytes.empty()) std::memcpy(room_.get(), bytes.data(), bytes.size());
  }
  std::string_view view() const { return {room_.get(), size_}; }

 private:
  std::unique_ptr<char[]> room_;
  std::size_t size_;
};

/// Reads a message as a file is read: with no more bytes than were asked for.
arrow::ipc_message next_message(std::string_view left, bool left_known) {
  std::size_t size = 0;
  for (;;) {
    auto m = arrow::read_ipc_message(left.substr(0, size), left_known ? left.size() : arrow::kIpcUnknown);
    if (m.is != arrow::ipc_message::kind::incomplete || size == left.size()) return m;
    if (m.needed_bytes <= size) throw_status(data_loss_error("no more bytes are asked for, and none found"));
    size = std::min(left.size(), m.needed_bytes);
  }
}

constexpr std::size_t kInflatedMax = std::size_t{4} << 20;

status inflate(arrow::ipc_codec codec, std::string_view in, char* out, std::size_t bytes) {
  return inflate_buffer(codec == arrow::ipc_codec::lz4 ? compression::lz4 : compression::zstd, in, out, bytes);
}

status read_one(const arrow::ipc_message& m, const element_type& row, arrow::ipc_schema& schema,
                arrow::ipc_dictionaries& dictionaries, ipc_contents& to) {
  using kind = arrow::ipc_message::kind;
  if (m.is == kind::incomplete) return data_loss_error("cut short");
  if (m.is == kind::broken) return m.why;
  if (m.is == kind::schema && !schema.empty()) return data_loss_error("a second schema");
  if (m.is == kind::schema) {
    status why = arrow::read_ipc_schema(m.metadata, schema);
    return why.ok() ? check_arrow_rows(row, schema.get()) : why;
  }
  if (schema.empty()) return data_loss_error("no schema");
  const arrow::ipc_reading how{.dictionaries = &dictionaries, .inflate = inflate, .bytes_max = kInflatedMax};
  if (m.is == kind::dictionary) return dictionaries.read(m.metadata, m.body, schema, how);
  arrow::ipc_batch batch;
  status why = arrow::read_ipc_batch(m.metadata, m.body, schema, batch, how);
  batch_storage rows;
  std::size_t room = kInflatedMax;
  if (why.ok()) why = arrow::append_rows_within(rows, row, schema.get(), batch.array(), &room);
  if (why.ok()) to.batches.push_back(json_of(rows, row));
  return why;
}

}  // namespace

ipc_contents read_ipc(std::string_view from, const element_type& row, bool left_known) {
  const bytes_alone alone(from);
  std::string_view bytes = alone.view();
  ipc_contents out;
  arrow::ipc_schema schema;
  arrow::ipc_dictionaries dictionaries;
  while (out.read_bytes != bytes.size()) {
    auto m = next_message(bytes.substr(out.read_bytes), left_known);
    if (m.is == arrow::ipc_message::kind::end) {
      out.read_bytes += m.size_bytes;
      out.has_end = true;
      return out;
    }
    out.why = read_one(m, row, schema, dictionaries, out);
    if (!out.why.ok()) return out;
    out.read_bytes += m.size_bytes;
  }
  return out;
}

std::vector<batch_storage> random_batches(std::uint64_t seed, const element_type*& row) {
  random_columns random(seed);
  row = &random.row_type();
  std::vector<batch_storage> batches;
  for (std::size_t n = random.below(4); n != 0; --n) batches.push_back(random.batch(*row));
  return batches;
}

}  // namespace sluice::lib::test
