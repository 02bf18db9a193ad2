// SPDX-License-Identifier: Apache-2.0
// Headers of NumPy's files: any bytes; and rows of what they say.
#include <algorithm>
#include <cstring>

#include "format/npy_rows.hpp"
#include "fuzz/target.hpp"

namespace sluice::lib::fuzz {

void npy(std::string_view bytes) {
  input in(bytes);
  const std::uint8_t how = in.byte();
  std::string text(in.rest());
  if (how % 2) {  // as a header of version 1 and of the right length
    std::string framed("\x93NUMPY\x01\x00", 8);
    framed += static_cast<char>(text.size() & 0xFF);
    framed += static_cast<char>(text.size() >> 8 & 0xFF);
    text = framed + text.substr(0, 0xFFFF);
  }
  npy_head head;
  npy_scan s = read_npy_head(text, head);
  expect((s.used_bytes != 0) + !s.why.ok() + (s.needed_bytes != 0) == 1 || !s.why.ok(),
         "a header is neither read nor refused");
  expect(s.used_bytes <= text.size(), "a header is longer than the file");
  for (std::size_t n = 0; n < std::min<std::size_t>(text.size(), 64); ++n) {
    npy_head part;
    npy_scan p = read_npy_head(std::string_view(text).substr(0, n), part);
    expect(p.used_bytes == 0 || p.used_bytes == s.used_bytes, "a part of a header is another one");
  }
  if (s.used_bytes == 0 || head.rows == 0 || head.row_bytes > 4096) return;
  expect(head.row_bytes % head.item_bytes == 0 && head.row_bytes != 0, "rows are no items");
  buffer* room = buffer::make(8192);
  for (std::size_t i = 0; i != 8192; ++i) room->data()[i] = static_cast<char>(i * how);
  {
    buffer_ref keep(room);
    for (std::size_t at : {0, 1, 3}) {
      try {
        tensor row = head.row(room->data() + at, *room);
        expect(row.dtype() == head.dtype && row.rank() == head.row_shape.rank(), "a row is another tensor");
        std::string json;
        row.sluice_print(json);
      } catch (const error& e) { expect(head.is_utf32 && e.code() == status_code::data_loss, "a row is refused"); }
    }
  }
}

}  // namespace sluice::lib::fuzz
