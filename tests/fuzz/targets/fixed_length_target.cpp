// SPDX-License-Identifier: Apache-2.0
// Records of one length against their definition, for files of known and of unknown size.
#include <algorithm>
#include <vector>

#include "fuzz/target.hpp"
#include "sluice/format/fixed_length_scan.hpp"

namespace sluice::lib::fuzz {
namespace {

/// Small, or one that sums may overflow with.
std::uint64_t size_of(input& in) {
  auto b = in.byte();
  return b < 240 ? b % 24 : in.number(8);
}

struct reading {
  std::vector<std::string> records;
  bool sound = true;
};

reading read_in_windows(const fixed_length_layout& layout, std::string_view file, std::size_t window_bytes, bool sized,
                        std::size_t records_max) {
  reading r;
  std::vector<std::string_view> out(records_max);
  std::size_t at = 0, have = std::min(window_bytes, file.size());
  for (;;) {
    std::string bytes(file.substr(at, have));
    bytes.shrink_to_fit();
    fixed_length_window w;
    w.bytes = bytes;
    w.offset = at;
    if (sized) w.end = file.size();
    w.last = at + have == file.size();
    auto s = scan_fixed_length(layout, w, out.data(), records_max);
    expect(s.records <= records_max && s.used_bytes <= bytes.size(), "a scan went beyond its window");
    for (std::size_t i = 0; i != s.records; ++i) r.records.emplace_back(out[i]);
    at += s.used_bytes;
    r.sound = s.why.ok();
    if (!r.sound) {
      expect(s.why.code() == status_code::invalid_argument, "a wrong size is told as " + s.why.to_string());
      return r;
    }
    if (s.records != records_max) {
      if (s.needed_bytes == 0) return r;
      expect(s.needed_bytes > bytes.size() - s.used_bytes, "a scan wants what it has");
      expect(!w.last, "a scan wants more than there is");
    }
    have = std::min(std::max(window_bytes, s.needed_bytes), file.size() - at);
  }
}

}  // namespace

void fixed_length(std::string_view bytes) {
  input in(bytes);
  fixed_length_layout layout;
  layout.record_bytes = std::max<std::uint64_t>(1, size_of(in));
  layout.header_bytes = size_of(in);
  layout.footer_bytes = size_of(in);
  std::size_t window_bytes = 1 + in.byte(), records_max = 1 + in.byte() % 8;
  std::string_view file = in.rest();

  bool framed = layout.header_bytes <= file.size() && layout.footer_bytes <= file.size() - layout.header_bytes;
  std::uint64_t between = framed ? file.size() - layout.header_bytes - layout.footer_bytes : 0;
  bool whole = framed && between % layout.record_bytes == 0;
  std::vector<std::string> want;
  for (std::uint64_t i = 0; framed && i != between / layout.record_bytes; ++i)
    want.emplace_back(file.substr(layout.header_bytes + i * layout.record_bytes, layout.record_bytes));

  expect(layout.check(file.size()).ok() == whole, "a size is judged wrongly");
  for (std::size_t window : {window_bytes, file.size() + 1}) {
    auto known = read_in_windows(layout, file, window, true, records_max);
    expect(known.sound == whole, "of a known size: whole or not");
    expect(known.records == (whole ? want : std::vector<std::string>()), "of a known size: other records");
    auto unknown = read_in_windows(layout, file, window, false, records_max);
    expect(unknown.sound == whole, "of an unknown size: whole or not");
    expect(unknown.records == want, "of an unknown size: other records");
  }
}

}  // namespace sluice::lib::fuzz
