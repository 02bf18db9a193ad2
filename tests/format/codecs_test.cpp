// SPDX-License-Identifier: Apache-2.0
// Every way of compression against the library that made it (tests/format/packed.hpp) and against files of other tools
// (tests/golden/codecs).
#include <zlib.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>

#include "format/packed.hpp"
#include "sluice/format/inflate.hpp"

namespace sluice::lib::codecs_test {
using namespace sluice::lib::testing;

namespace {

struct outcome {
  std::string plain;
  status why;
  bool ended = false;
  std::uint64_t held = 0, members = 0, at = 0;
};

/// Gives pieces of at most `in` bytes and takes such of at most `out`, each of a random size, and allows what it is asked for.
outcome undo(compression c, std::string_view bytes, std::size_t in, std::size_t out, unsigned seed = 1,
             inflate_limits limits = {}) {
  std::mt19937 random(seed);
  limits.held_max = inflater::kBytes;
  inflater z(c, limits);
  outcome o;
  std::string room(out, '\0');
  std::size_t at = 0, have = 0;
  for (int idle = 0; o.why.ok() && !o.ended;) {
    std::string window(bytes.substr(at, have));  // its own allocation, so that ASan sees a read beyond it
    window.shrink_to_fit();
    auto s = z.step(window, at + have == bytes.size(), room.data(), 1 + random() % out);
    REQUIRE(s.consumed <= window.size());
    o.plain.append(room, 0, s.produced);
    o.why = s.why;
    o.ended = s.ended;
    at += s.consumed;
    have -= s.consumed;
    if (s.wants_bytes) {
      REQUIRE(s.wants_bytes > z.held_bytes());
      z.allow(s.wants_bytes);
      continue;
    }
    const bool moved = s.consumed || s.produced;
    idle = moved || at + have < bytes.size() ? 0 : idle + 1;  // a header may be looked at before it is taken
    REQUIRE(idle < 3);
    if (!moved || have == 0) have = std::min(have + 1 + random() % in, bytes.size() - at);
  }
  o.held = z.held_bytes();
  o.members = z.members();
  o.at = z.in_bytes();
  return o;
}

std::string text(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::string s;
  while (s.size() < n) s += "line " + std::to_string(random() % 1000) + "\n";
  s.resize(n);
  return s;
}
std::string noise(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::string s(n, '\0');
  for (char& c : s) c = static_cast<char>(random());
  return s;
}
/// Texts, noise and zeros one after the other.
std::string mixed(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::string s;
  while (s.size() < n) {
    const std::size_t part = 1 + random() % (n / 3 + 1);
    switch (random() % 3) {
      case 0: s += text(part, static_cast<unsigned>(random())); break;
      case 1: s += noise(part, static_cast<unsigned>(random())); break;
      default: s.append(part, '\0');
    }
  }
  s.resize(n);
  return s;
}

bool joins(compression c) { return c != compression::zlib; }
/// Its end is the end of the file and nothing else, so a file that is cut between chunks is a shorter one.
bool is_chunked(compression c) { return c == compression::snappy || c == compression::snappy_blocks; }

}  // namespace

TEST_CASE("random data in random pieces come back from every way of compression") {
  for (compression c : built_in_compressions()) {
    std::mt19937 random(57);
    for (unsigned round = 0; round != 60; ++round) {
      const std::size_t n = round < 4 ? round : random() % (round % 5 ? 20'000 : 400'000);
      const std::string plain = mixed(n, round);
      const int level = static_cast<int>(random() % 10);
      const std::size_t in = 1 + random() % (n < 20'000 ? 50 : 70'000),
                        out = 1 + random() % (n < 20'000 ? 300 : 300'000);
      CAPTURE(to_string(c), round, n, level, in, out);
      outcome o = undo(c, packed(c, plain, level), in, out, round);
      REQUIRE(o.why.to_string() == "ok");
      REQUIRE((o.plain == plain));
    }
  }
}

TEST_CASE(
    "members that follow each other are one stream, empty ones among them, and an empty file is an empty stream") {
  const std::string a = mixed(70'000, 1), b = text(777, 2);
  for (compression c : built_in_compressions()) {
    CAPTURE(to_string(c));
    CHECK(undo(c, "", 10, 10).why.ok());
    CHECK(undo(c, packed(c, ""), 3, 10).why.to_string() == "ok");
    outcome o = undo(c, packed(c, a) + packed(c, "") + packed(c, b, 3) + packed(c, b), 5000, 9000);
    if (joins(c)) {
      CHECK(o.why.to_string() == "ok");
      CHECK((o.plain == a + b + b));
      CHECK(o.members >= 3);
    } else {
      CHECK(o.why.message().find("bytes after the end of the zlib stream") != std::string_view::npos);
      CHECK((o.plain == a));
    }
  }
}

TEST_CASE("skippable frames of zstd and lz4, and the zeros between xz streams, are skipped") {
  const std::string skipped("\x53\x2a\x4d\x18\x05\0\0\0.....", 13), zeros(8, '\0');
  for (compression c : {compression::zstd, compression::lz4}) {
    if (!is_built_in(c)) continue;
    CAPTURE(to_string(c));
    const std::string one = packed(c, "one"), two = packed(c, "two");
    CHECK(undo(c, skipped + one + skipped + skipped + two + skipped, 3, 5).plain == "onetwo");
    const std::string whole = skipped + one + text(0, 1) + two;
    CHECK(detect_compression(whole, c == compression::lz4 ? "a.lz4" : "a") == c);
    CHECK(undo(c, skipped.substr(0, 9), 3, 5).why.code() == status_code::data_loss);
  }
  if (!is_built_in(compression::xz)) return;
  const std::string one = packed(compression::xz, "one"), two = packed(compression::xz, "two");
  CHECK(undo(compression::xz, one + zeros + two + zeros, 3, 5).plain == "onetwo");
  CHECK(undo(compression::xz, one + zeros + two + zeros, 3, 5).why.ok());
  CHECK(undo(compression::xz, one + zeros.substr(0, 3), 3, 5).why.ok() == false);
  CHECK(undo(compression::xz, zeros + one, 3, 5).why.code() == status_code::data_loss);  // only behind a stream
}

TEST_CASE("a stream truncated at any byte is reported at that byte, and the bytes before it are correct") {
  const std::string plain = text(600, 14);
  for (compression c : built_in_compressions()) {
    const std::string bytes = packed(c, plain);
    for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
      CAPTURE(to_string(c), cut, bytes.size());
      outcome o = undo(c, bytes.substr(0, cut), 64, 100);
      if (o.why.ok()) REQUIRE((is_chunked(c) && cut == 10));  // behind the stream identifier
      else {
        REQUIRE(o.why.code() == status_code::data_loss);
        REQUIRE(o.why.message().find("cut short at compressed byte " + std::to_string(cut)) != std::string_view::npos);
      }
      REQUIRE(plain.substr(0, o.plain.size()) == o.plain);
    }
  }
}

TEST_CASE("a flipped bit is an error, or changes nothing") {
  const std::string plain = text(300, 15);
  for (compression c : built_in_compressions()) {
    const std::string bytes = packed(c, plain);
    std::size_t errors = 0, wrong = 0;
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      std::string copy = bytes;
      copy[bit / 8] ^= static_cast<char>(1 << bit % 8);
      outcome o = undo(c, copy, 64, 100);
      CAPTURE(to_string(c), bit, o.why.to_string());
      // A flipped bit of zstd's header may name a dictionary.
      const bool wants_dictionary = o.why.message().find("needs the dictionary") != std::string_view::npos;
      if (!o.why.ok())
        REQUIRE(o.why.code() == (wants_dictionary ? status_code::unimplemented : status_code::data_loss));
      errors += !o.why.ok();
      wrong += o.why.ok() && o.plain != plain;
    }
    CAPTURE(to_string(c), errors, wrong, bytes.size());
    if (c == compression::snappy_blocks) CHECK(errors > bytes.size());  // it has no checksums
    else if (c == compression::snappy) CHECK(wrong <= 1);  // one bit makes a chunk one that readers have to pass over
    else CHECK(wrong == 0);
    if (c != compression::snappy_blocks) CHECK(errors > bytes.size() * 8 * 9 / 10);
  }
}

TEST_CASE("bytes that are no member are reported with the expected ones, at the file's start and after a member") {
  for (compression c : built_in_compressions()) {
    CAPTURE(to_string(c));
    if (c == compression::snappy_blocks) continue;  // anything may be a block
    outcome o = undo(c, "plain text, which nobody has compressed", 100, 100);
    CHECK(o.why.message().find("this is no " + std::string(to_string(c)) +
                               " file: its first bytes are wrong (expected ") == 0);
    if (c == compression::snappy) continue;  // what follows has to be a chunk
    const std::string one = packed(c, "hello");
    for (std::size_t in : {1u, 100u}) {
      outcome followed = undo(c, one + "junk, and more of it", in, 100);
      CHECK(followed.plain == "hello");
      CHECK(followed.why.message() == "there are bytes after the end of the " + std::string(to_string(c)) +
                                          " stream, at compressed byte " + std::to_string(one.size()));
    }
  }
  if (is_built_in(compression::lz4))
    CHECK(undo(compression::lz4, std::string("\x02\x21\x4c\x18\0\0\0\0", 8), 100, 100).why.message().find("legacy") !=
          std::string_view::npos);
}

TEST_CASE("a bomb ends at the limit of its size or ratio, exactly, and smaller files do not notice") {
  const std::string zeros(3 << 20, '\0');
  for (compression c : built_in_compressions()) {
    const std::string bomb = packed(c, zeros, 6);
    for (std::size_t out : {100'000u, 5'000'000u}) {
      CAPTURE(to_string(c), out, bomb.size());
      inflate_limits by_size, by_ratio;
      by_size.bytes_max = 2'000'001;
      outcome o = undo(c, bomb, 1 << 20, out, 1, by_size);
      CHECK(o.plain.size() == 2'000'001);
      CHECK(o.why.code() == status_code::data_loss);
      CHECK(o.why.message().find("more than 2000001 plain bytes, which inflated_bytes_max allows") !=
            std::string_view::npos);
      by_size.bytes_max = zeros.size();
      CHECK(undo(c, bomb, 1 << 20, out, 1, by_size).why.ok());
      by_ratio.ratio_max = 3;
      outcome r = undo(c, bomb, 1 << 20, out, 1, by_ratio);
      CHECK(r.why.message().find("inflate_ratio_max") != std::string_view::npos);
      CHECK(r.plain.size() < zeros.size() + 1);
      CHECK(undo(c, packed(c, zeros.substr(0, 1 << 20)), 1 << 20, out, 1, by_ratio).why.ok());  // a megabyte is none
      by_ratio.ratio_max = 1'000'000;
      CHECK(undo(c, bomb, 1 << 20, out, 1, by_ratio).why.ok());
    }
  }
}

TEST_CASE("a window's memory is requested first, as large as the header says and no larger than the file needs") {
  const std::string plain = mixed(3 << 20, 3);
  for (compression c : built_in_compressions()) {
    CAPTURE(to_string(c));
    outcome o = undo(c, packed(c, plain, 9), 100'000, 100'000);
    CHECK((o.plain == plain));
    CHECK(o.held <= (std::size_t{80} << 20));
    if (c == compression::xz) CHECK(o.held >= (std::size_t{3} << 20));
    if (c == compression::bzip2) CHECK(o.held >= 3'600'000);
    if (c == compression::gzip || c == compression::zlib || c == compression::snappy) CHECK(o.held <= 300 << 10);
  }
  // Damaged lengths take as much as there are bytes.
  if (is_built_in(compression::snappy))
    CHECK(undo(compression::snappy_blocks, "\x7f\xff\xff\xff" + noise(100, 4), 10, 10).held < 200 << 10);
}

TEST_CASE("a file's kind is detected from its beginning; texts that begin alike are plain") {
  for (compression c : built_in_compressions()) {
    if (c == compression::snappy_blocks) continue;
    for (std::size_t n : {0u, 1u, 1000u, 100'000u})
      for (int level : {1, 6, 9}) {
        CAPTURE(to_string(c), n, level);
        CHECK(detect_compression(packed(c, mixed(n, 3), level).substr(0, kCompressionGuessBytes)) == c);
      }
  }
  for (std::string_view plain : {"BZh9 is how bzip2 begins", "BZh", "BZh9", "(\xb5/\xfd and more text than that",
                                 "\xfd"
                                 "7zXZ is it",
                                 "\x04\x22\x4d\x18 is no frame at all", "\xff\x06 sNaPpY", "S*M\x18 is skippable?"})
    CHECK(detect_compression(plain, "a.txt") == compression::none);
  std::string damaged = packed(compression::bzip2, text(5000, 3));
  damaged[6] ^= 0x55;
  if (is_built_in(compression::bzip2)) {
    CHECK(detect_compression(damaged) == compression::none);
    CHECK(detect_compression(damaged, "a.bz2") == compression::bzip2);
  }
}

TEST_CASE("files of the reference tools decompress to their original bytes") {
  std::filesystem::path folder = "tests/golden/codecs";
  for (auto from = std::filesystem::absolute(__FILE__).parent_path(); from.has_relative_path();
       from = from.parent_path())
    if (std::filesystem::exists(from / "golden/codecs")) {
      folder = from / "golden/codecs";
      break;
    }
  std::ifstream list(folder / "files.json");
  REQUIRE(list);
  const auto files = nlohmann::json::parse(list)["files"];
  std::size_t read = 0;
  for (const auto& f : files) {
    const std::string name = f["file"];
    std::ifstream in(folder / name, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    const compression c = *parse_compression(f["compression"].get<std::string>());
    if (!is_built_in(c)) continue;
    CAPTURE(name, f["made_by"]);
    if (c != compression::snappy_blocks) CHECK(detect_compression(bytes.substr(0, kCompressionGuessBytes), name) == c);
    for (std::size_t piece : {1u, 700u, 1u << 20}) {
      outcome o = undo(c, bytes, piece, 4 * piece);
      CHECK(o.why.to_string() == "ok");
      CHECK(o.plain.size() == f["plain_bytes"].get<std::size_t>());
      CHECK(::crc32(0, reinterpret_cast<const Bytef*>(o.plain.data()), static_cast<uInt>(o.plain.size())) ==
            f["crc32"].get<std::uint32_t>());
    }
    ++read;
  }
  CHECK(read + 0 >= 2 * (built_in_compressions().size() - 2));
}

TEST_CASE("a format that was left out is named with advice") {
  for (compression c : {compression::zstd, compression::lz4, compression::snappy, compression::snappy_blocks,
                        compression::bzip2, compression::xz}) {
    if (is_built_in(c)) continue;
    outcome o;
    char room[10];
    status why = inflater(c).step("abc", true, room, sizeof room).why;
    CHECK(why.code() == status_code::unimplemented);
    CHECK(why.message().find("meson option -D") != std::string_view::npos);
  }
}

TEST_CASE("a path without the suffix of its compression is its plain name") {
  for (const char* packed : {"a.csv.gz", "a.csv.gzip", "a.csv.zst", "a.csv.zstd", "a.csv.lz4", "a.csv.sz",
                             "a.csv.snappy", "a.csv.bz2", "a.csv.bzip2", "a.csv.xz", "a.csv.zz", "a.csv.zlib"})
    CHECK(without_compression_suffix(packed) == "a.csv");
  for (const char* plain : {"a.csv", "a.tgz", "gz", ""}) CHECK(without_compression_suffix(plain) == plain);
}

}  // namespace sluice::lib::codecs_test
