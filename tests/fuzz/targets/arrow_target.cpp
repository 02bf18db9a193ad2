// SPDX-License-Identifier: Apache-2.0
// Arrow IPC streams: any bytes, as messages, their dictionaries, and the rows that they have.
#include <string>

#include "arrow/import.hpp"
#include "arrow/ipc_dictionaries.hpp"
#include "arrow/ipc_reader.hpp"
#include "arrow/row_type.hpp"
#include "format/codec/buffer_codec.hpp"
#include "fuzz/target.hpp"

namespace sluice::lib::fuzz {

namespace {

/// Less than what a hostile file of a few kilobytes could stand for.
constexpr std::size_t kRoomBytes = std::size_t{1} << 20;

status inflate_part(arrow::ipc_codec codec, std::string_view in, char* out, std::size_t bytes) {
  return inflate_buffer(codec == arrow::ipc_codec::lz4 ? compression::lz4 : compression::zstd, in, out, bytes);
}

/// Reads the rows of a batch, and checks that they can be printed.
void read_rows(const arrow::ipc_message& m, const arrow::ipc_schema& schema, const element_type& row,
               const arrow::ipc_reading& how) {
  arrow::ipc_batch batch;
  if (!arrow::read_ipc_batch(m.metadata, m.body, schema, batch, how).ok()) return;
  batch_storage rows;
  std::size_t room = kRoomBytes;
  if (!arrow::append_rows_within(rows, row, schema.get(), batch.array(), &room).ok()) return;
  expect(rows.rows() == batch.array().length, "rows are missing");
  std::string json;
  print(*batched_of(&row), &rows, json);
}

}  // namespace

void arrow_stream(std::string_view bytes) {
  bytes.remove_prefix(arrow::ipc_magic_bytes(bytes));
  arrow::ipc_schema schema;
  arrow::ipc_dictionaries dictionaries;
  const element_type* row = nullptr;
  for (;;) {
    auto m = arrow::read_ipc_message(bytes, bytes.size());
    if (m.is == arrow::ipc_message::kind::incomplete || m.is == arrow::ipc_message::kind::end) return;
    if (m.is == arrow::ipc_message::kind::broken || m.size_bytes == 0) return;
    expect(m.size_bytes <= bytes.size(), "a message is longer than the stream");
    const arrow::ipc_reading how{.dictionaries = &dictionaries, .inflate = inflate_part, .bytes_max = kRoomBytes};
    if (m.is == arrow::ipc_message::kind::schema) {
      if (row || !schema.empty() || !arrow::read_ipc_schema(m.metadata, schema).ok()) return;
      auto type = arrow::row_type_of(schema.get());
      if (!type.ok()) return;
      row = *type;
      auto again = arrow::row_type_of(arrow::row_text(*row));
      expect(again.ok(), "the text of a schema is not read: " + arrow::row_text(*row));
    } else if (row && m.is == arrow::ipc_message::kind::dictionary) {
      (void)dictionaries.read(m.metadata, m.body, schema, how);
    } else if (row) {
      read_rows(m, schema, *row, how);
    }
    bytes.remove_prefix(static_cast<std::size_t>(m.size_bytes));
  }
}

}  // namespace sluice::lib::fuzz
