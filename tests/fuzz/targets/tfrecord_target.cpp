// SPDX-License-Identifier: Apache-2.0
// TFRecord framing against a byte-by-byte reader: records, where they end, errors, and what is passed over.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "fuzz/target.hpp"
#include "sluice/base/crc32c.hpp"
#include "sluice/format/tfrecord_frames.hpp"

namespace sluice::lib::fuzz {
namespace {

/// CRC-32C by its polynomial, a table of one byte.
std::uint32_t plain_crc(std::string_view bytes) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> t{};
    for (std::uint32_t i = 0; i != 256; ++i) {
      std::uint32_t c = i;
      for (int bit = 0; bit != 8; ++bit) c = (c >> 1) ^ (c & 1 ? 0x82f63b78u : 0u);
      t[i] = c;
    }
    return t;
  }();
  std::uint32_t crc = ~0u;
  for (char c : bytes) crc = (crc >> 8) ^ table[(crc ^ static_cast<unsigned char>(c)) & 0xff];
  return ~crc;
}

std::uint64_t little(std::string_view bytes) {
  std::uint64_t n = 0;
  for (std::size_t i = bytes.size(); i-- != 0;) n = n << 8 | static_cast<unsigned char>(bytes[i]);
  return n;
}
bool crc_fits(std::string_view bytes, std::string_view stored) {
  return mask_crc(plain_crc(bytes)) == static_cast<std::uint32_t>(little(stored));
}

/// Frames of any bytes, sound and not, as the input says.
std::string written(input& in) {
  std::string file;
  while (!in.done() && file.size() < 1 << 16) {
    auto what = in.byte();
    switch (what % 8) {
      default: append_tfrecord(file, in.take(in.byte())); break;
      case 4: append_tfrecord(file, std::string(in.number(2) % 2048, 'x')); break;
      case 5: {  // a sound header, and whatever follows
        auto header = tfrecord_header(in.number(what & 8 ? 8 : 1));
        file.append(header.data(), header.size());
        break;
      }
      case 6: file += in.take(in.byte()); break;
      case 7:  // damage behind us
        if (!file.empty()) file[in.number(2) % file.size()] = static_cast<char>(in.byte());
    }
  }
  return file;
}

struct reading {
  std::vector<std::string> records;
  std::uint64_t at = 0;  ///< where it ended
  bool sound = true;
  bool operator==(const reading&) const = default;
};

/// The definition.
reading expected(std::string_view file, std::uint64_t record_bytes_max) {
  reading r;
  for (;;) {
    auto rest = file.substr(r.at);
    if (rest.empty()) return r;
    r.sound = false;
    if (rest.size() < 12 || !crc_fits(rest.substr(0, 8), rest.substr(8, 4))) return r;
    std::uint64_t size = little(rest.substr(0, 8));
    if (size > record_bytes_max || rest.size() < 16 || size > rest.size() - 16) return r;
    if (!crc_fits(rest.substr(12, size), rest.substr(12 + size, 4))) return r;
    r.sound = true;
    r.records.emplace_back(rest.substr(12, size));
    r.at += size + 16;
  }
}

struct manner {
  std::size_t window_bytes = 1;
  std::size_t records_max = 1;
  std::uint64_t record_bytes_max = 1u << 31;
  bool sized = false;  ///< the file's size is known beforehand
};

/// Every window is an allocation of its own, so that ASan sees a read beyond it.
reading read_in_windows(std::string_view file, const manner& m) {
  reading r;
  std::vector<std::string_view> out(m.records_max);
  std::size_t have = std::min(m.window_bytes, file.size());
  for (;;) {
    std::string bytes(file.substr(r.at, have));
    bytes.shrink_to_fit();
    tfrecord_window w;
    w.bytes = bytes;
    w.offset = r.at;
    w.last = r.at + have == file.size();
    w.record_bytes_max = m.record_bytes_max;
    if (m.sized) w.end = file.size();
    auto s = scan_tfrecords(w, out.data(), m.records_max);
    expect(s.records <= m.records_max && s.used_bytes <= bytes.size(), "a scan went beyond its window");
    for (std::size_t i = 0; i != s.records; ++i) r.records.emplace_back(out[i]);
    r.at += s.used_bytes;
    r.sound = s.why.ok();
    if (!r.sound) {
      expect(s.why.code() == status_code::data_loss, "damage is told as " + s.why.to_string());
      expect(s.damaged_bytes <= bytes.size() - s.used_bytes, "a damaged record reaches beyond the window");
      return r;
    }
    if (s.records != m.records_max) {
      if (s.needed_bytes == 0) {
        expect(r.at == file.size(), "a scan ended before the file");
        return r;
      }
      expect(s.needed_bytes > bytes.size() - s.used_bytes, "a scan wants what it has");
      expect(!w.last, "a scan wants more than there is");
    }
    have = std::min(std::max(m.window_bytes, s.needed_bytes), file.size() - r.at);
  }
}

/// Records whose headers are sound, whatever their data.
void check_passing_over(std::string_view file, const manner& m) {
  std::size_t frames = 0, at = 0;
  while (file.size() - at >= 16 && crc_fits(file.substr(at, 8), file.substr(at + 8, 4))) {
    std::uint64_t size = little(file.substr(at, 8));
    if (size > m.record_bytes_max || size > file.size() - at - 16) break;
    at += size + 16;
    ++frames;
  }
  tfrecord_window w;
  w.bytes = file;
  w.last = true;
  w.record_bytes_max = m.record_bytes_max;
  if (m.sized) w.end = file.size();
  auto all = pass_over_tfrecords(w, ~std::size_t{0});
  expect(all.records == frames && all.used_bytes == at, "passing over came elsewhere than the headers lead");
  expect(all.why.ok() == (at == file.size()), "passing over ended in " + all.why.to_string());
  auto some = pass_over_tfrecords(w, m.records_max);
  expect(some.records == std::min(frames, m.records_max), "passing over some passed over another number");
  // A window that shows headers only: a record may reach beyond it.
  w.bytes = file.substr(0, m.window_bytes);
  w.last = w.bytes.size() == file.size();
  auto part = pass_over_tfrecords(w, ~std::size_t{0});
  expect(part.records <= frames && part.used_bytes <= file.size(), "passing over a part went beyond the file");
}

void check_finding(std::string_view file, std::size_t from, const manner& m) {
  tfrecord_window w;
  w.bytes = file;
  w.last = true;
  w.record_bytes_max = m.record_bytes_max;
  std::size_t expected_at = std::string_view::npos;
  for (std::size_t at = from; at + 12 <= file.size() && expected_at == file.npos; ++at) {
    auto rest = file.substr(at);
    if (little(rest.substr(0, 8)) > m.record_bytes_max) continue;
    if (crc_fits(rest.substr(0, 8), rest.substr(8, 4))) expected_at = at;
  }
  expect(find_tfrecord(w, from) == expected_at, "the next record is found elsewhere");
}

}  // namespace

void tfrecord(std::string_view bytes) {
  input in(bytes);
  manner m;
  m.window_bytes = 1 + in.byte();
  m.records_max = 1 + in.byte() % 8;
  auto modes = in.byte();
  m.sized = modes & 1;
  if (modes & 2) m.record_bytes_max = 100;
  auto from = in.byte();
  std::string file = modes & 4 ? std::string(in.rest()) : written(in);
  reading want = expected(file, m.record_bytes_max);
  expect(read_in_windows(file, m) == want, "windows of a file give other records than the file");
  manner at_once = m;
  at_once.window_bytes = file.size() + 1;
  at_once.records_max = file.size() / 16 + 1;
  expect(read_in_windows(file, at_once) == want, "a file read at once gives other records");
  check_passing_over(file, m);
  check_finding(file, std::min<std::size_t>(from, file.size()), m);
}

}  // namespace sluice::lib::fuzz
