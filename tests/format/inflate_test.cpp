// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <random>
#include <vector>

#include "format/compressed.hpp"
#include "sluice/format/inflate.hpp"
#include "sluice/format/tfrecord_frames.hpp"

namespace sluice::lib::inflate_test {
using namespace sluice::lib::testing;

namespace {

struct outcome {
  std::string plain;
  status why;
  bool ended = false;
};

/// Feeds `in_piece` bytes at a time and takes `out_piece`.
outcome inflate_all(compression format, const std::string& bytes, std::size_t in_piece, std::size_t out_piece) {
  inflater z(format);
  outcome o;
  std::string out(out_piece, '\0');
  std::size_t at = 0, have = std::min(in_piece, bytes.size());
  while (o.why.ok() && !o.ended) {
    std::string window = bytes.substr(at, have);  // its own allocation, so that ASan sees a read beyond it
    auto s = z.step(window, at + have == bytes.size(), out.data(), out.size());
    o.plain.append(out, 0, s.produced);
    o.why = s.why;
    o.ended = s.ended;
    at += s.consumed;
    have -= s.consumed;
    if (have == 0 || (s.consumed == 0 && s.produced == 0)) {
      std::size_t more = std::min(in_piece, bytes.size() - at - have);
      if (more == 0 && s.consumed == 0 && s.produced == 0 && o.why.ok() && !o.ended) {
        o.why = internal_error("no progress");
        break;
      }
      have += more;
    }
  }
  return o;
}

std::string text(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::string s;
  while (s.size() < n) s += "line " + std::to_string(random() % 1000) + "\n";
  s.resize(n);
  return s;
}

}  // namespace

TEST_CASE("gzip and zlib come back as zlib wrote them, in pieces of any size") {
  for (std::size_t n : {0u, 1u, 100u, 70'000u, 300'000u})
    for (int level : {0, 1, 6, 9}) {
      std::string plain = text(n, 11);
      for (std::size_t in : {1u, 7u, 4096u, 1u << 20})
        for (std::size_t out : {13u, 65'536u, 1u << 20}) {
          if (n > 1000 && (in == 1 || out == 13) && level != 6) continue;
          CAPTURE(n, level, in, out);
          auto gz = inflate_all(compression::gzip, gzipped(plain, level), in, out);
          REQUIRE(gz.why.to_string() == "ok");
          REQUIRE(gz.plain == plain);
          auto z = inflate_all(compression::zlib, zlibbed(plain, level), in, out);
          REQUIRE(z.why.to_string() == "ok");
          REQUIRE(z.plain == plain);
        }
    }
}

TEST_CASE("concatenated gzip members are one stream, empty members included") {
  std::string a = text(50'000, 12), b = text(777, 13);
  std::string bytes = gzipped(a) + gzipped("") + gzipped(b) + gzipped(b, 0);
  for (std::size_t in : {1u, 2u, 9u, 4096u, 1u << 20}) {
    CAPTURE(in);
    auto o = inflate_all(compression::gzip, bytes, in, 4096);
    REQUIRE(o.why.to_string() == "ok");
    REQUIRE(o.plain == a + b + b);
  }
}

TEST_CASE("an empty file is an empty stream") {
  auto o = inflate_all(compression::gzip, "", 10, 10);
  CHECK(o.ended);
  CHECK(o.why.ok());
}

TEST_CASE("a truncated stream is reported, and the bytes before the cut are correct") {
  std::string plain = text(600, 14);
  for (compression format : {compression::gzip, compression::zlib}) {
    std::string bytes = format == compression::gzip ? gzipped(plain) : zlibbed(plain);
    for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
      CAPTURE(cut);
      auto o = inflate_all(format, bytes.substr(0, cut), 64, 100);
      REQUIRE(o.why.code() == status_code::data_loss);
      REQUIRE(o.why.message().find("stream is cut short at compressed byte " + std::to_string(cut)) !=
              std::string_view::npos);
      REQUIRE(plain.substr(0, o.plain.size()) == o.plain);
    }
  }
}

TEST_CASE("a flipped bit is an error or, in a header's idle bytes, changes nothing") {
  std::string plain = text(300, 15);
  for (compression format : {compression::gzip, compression::zlib}) {
    const std::string bytes = format == compression::gzip ? gzipped(plain) : zlibbed(plain);
    int errors = 0;
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      std::string copy = bytes;
      copy[bit / 8] ^= static_cast<char>(1 << bit % 8);
      auto o = inflate_all(format, copy, 64, 100);
      CAPTURE(bit);
      if (o.why.ok()) REQUIRE(o.plain == plain);
      else REQUIRE(o.why.code() == status_code::data_loss);
      errors += !o.why.ok();
    }
    CHECK(errors > static_cast<int>((bytes.size() - 12) * 8));
  }
}

TEST_CASE("bytes after the end, a wrong checksum and a file of another kind are named") {
  std::string gz = gzipped("hello"), z = zlibbed("hello");
  auto garbage = inflate_all(compression::gzip, gz + "junk", 100, 100);
  CHECK(garbage.plain == "hello");
  CHECK(garbage.why.to_string() ==
        "data_loss: there are bytes after the end of the gzip stream, at compressed byte " + std::to_string(gz.size()));
  for (std::size_t step : {1, 7, 1000}) {
    auto padded = inflate_all(compression::gzip, gz + std::string(512, '\0') + gz, step, 100);  // as tapes pad
    CHECK(padded.why.ok());
    CHECK(padded.plain == "hellohello");
  }
  CHECK(!inflate_all(compression::gzip, gz + std::string(3, '\0') + "junk", 100, 100).why.ok());
  auto twice = inflate_all(compression::zlib, z + z, 100, 100);
  CHECK(twice.why.message().find("bytes after the end of the zlib stream") != std::string_view::npos);
  std::string wrong = gz;
  wrong[wrong.size() - 8] ^= 1;
  auto checksum = inflate_all(compression::gzip, wrong, 100, 100);
  CHECK(checksum.why.message().find("its checksum is wrong") != std::string_view::npos);
  auto plain = inflate_all(compression::gzip, "plain text", 100, 100);
  CHECK(plain.why.to_string() ==
        "data_loss: this is no gzip file: its first bytes are wrong (expected the bytes 1f 8b)");
}

TEST_CASE("bytes after a zlib stream are an error however few, and a step never takes more than it is given") {
  for (std::size_t plain_size : {0u, 1u, 17u, 300u})
    for (int level : {0, 1, 6})
      for (std::size_t junk = 1; junk != 12; ++junk) {
        CAPTURE(plain_size, level, junk);
        std::string stream = zlibbed(std::string(plain_size, '\x11'), level);
        for (std::size_t piece : {1u, 5u, 1000u}) {
          auto o = inflate_all(compression::zlib, stream + std::string(junk, '\xff'), piece, 1000);
          REQUIRE(o.why.message().find("bytes after the end of the zlib stream") != std::string_view::npos);
        }
      }
}

TEST_CASE("a bomb fills no more than the room it is given") {
  std::string bomb = gzipped(std::string(50 << 20, '\0'), 9);
  inflater z(compression::gzip);
  std::string out(4096, '\0');
  std::size_t consumed = 0, produced = 0;
  for (bool ended = false; !ended;) {
    auto s = z.step(std::string_view(bomb).substr(consumed), true, out.data(), out.size());
    REQUIRE(s.why.ok());
    REQUIRE(s.produced <= out.size());
    consumed += s.consumed;
    produced += s.produced;
    ended = s.ended;
  }
  CHECK(produced == 50u << 20);
  CHECK(z.out_bytes() == produced);
}

TEST_CASE("the compression is known by a file's beginning") {
  for (std::size_t n : {0u, 1u, 1000u, 100'000u})
    for (int level : {0, 1, 6, 9}) {
      CAPTURE(n, level);
      auto begin = [](const std::string& bytes) { return bytes.substr(0, kCompressionGuessBytes); };
      CHECK(detect_compression(begin(gzipped(text(n, 3), level))) == compression::gzip);
      for (int window = 9; window <= 15; ++window)
        CHECK(detect_compression(begin(compressed(text(n, 3), window, level))) == compression::zlib);
    }
  CHECK(detect_compression("") == compression::none);
  CHECK(detect_compression("plain text") == compression::none);
  for (std::size_t size : {376u, 40'056u, 35'615u}) {  // lengths that begin like zlib and gzip
    std::string record;
    append_tfrecord(record, std::string(size, 'x'));
    CHECK(detect_compression(record) == compression::none);
  }
}

TEST_CASE("plain bytes that begin like a compressed file are plain") {
  std::mt19937 random(16);
  for (int round = 0; round < 2000; ++round) {
    std::string data, words;
    std::size_t n = random() % 5000;
    while (data.size() < n) data += static_cast<char>(random());
    while (words.size() < n) words += random() % 6 ? static_cast<char>('a' + random() % 26) : ' ';
    CAPTURE(round);
    // Every two bytes that are a zlib header; of texts: 'x^', 'hC', '8O', 'HG', 'XG'.
    for (const char* begin :
         {"x^", "x^2", "hC", "8O", "HG", "XG", "(S", "x^2 + y^2 = z^2\n", "x\x9c", "x\xda", "x\x01"}) {
      CHECK(detect_compression((begin + words).substr(0, kCompressionGuessBytes)) == compression::none);
      CHECK(detect_compression((begin + data).substr(0, kCompressionGuessBytes)) == compression::none);
    }
    for (std::string begin : {std::string("\x1f\x8b"), std::string("\x1f\x8b\x08"), std::string("\x1f\x8b\x08\0", 4),
                              "\x1f\x8b\x08\x08" + std::string(600, 'n')})
      if (data.size() > 600)  // fewer may be a gzip file that is cut short
        CHECK(detect_compression((begin + data).substr(0, kCompressionGuessBytes)) == compression::none);
  }
}

TEST_CASE("a compressed file's name makes its damage that of a compressed file") {
  std::string gz = gzipped(text(5000, 17)), z = zlibbed(text(5000, 17));
  gz[12] ^= 0x55;
  z[4] ^= 0x55;
  for (const char* name : {"a.gz", "d/a.tfrecord.gz", "a.tgz", "a.gzip"}) {
    CHECK(detect_compression(gz, name) == compression::gzip);
    CHECK(detect_compression(gz.substr(0, 5), name) == compression::gzip);
    CHECK(detect_compression("plain text", name) == compression::none);
  }
  for (const char* name : {"a.zz", "a.zlib"}) {
    CHECK(detect_compression(z, name) == compression::zlib);
    CHECK(detect_compression("plain text", name) == compression::none);
  }
  CHECK(detect_compression("x^2 is plain", "a.txt") == compression::none);
  std::string late = gzipped(text(100'000, 18));
  late[2000] ^= 0x55;  // far behind the beginning: nobody takes this for plain
  CHECK(detect_compression(late.substr(0, kCompressionGuessBytes)) == compression::gzip);
}

TEST_CASE("zlib streams of every window size come back") {
  std::string plain = text(200'000, 19);
  for (int window = 9; window <= 15; ++window) {
    CAPTURE(window);
    auto o = inflate_all(compression::zlib, compressed(plain, window), 4096, 65'536);
    CHECK(o.why.to_string() == "ok");
    CHECK((o.plain == plain));
  }
}

TEST_CASE("a gzip header with reserved flags is refused, of a later member too") {
  for (unsigned char flag : {0x20, 0x40, 0x80})
    for (std::size_t in : {1u, 3u, 100u}) {
      CAPTURE(flag, in);
      std::string first = gzipped("hello"), second = gzipped("again");
      second[3] = static_cast<char>(second[3] | flag);
      auto o = inflate_all(compression::gzip, first + second, in, 100);
      CHECK(o.plain == "hello");
      CHECK(o.why.code() == status_code::data_loss);
      CHECK(o.why.message().find("at compressed byte " + std::to_string(first.size()) +
                                 " has flags that are reserved") != std::string_view::npos);
      CHECK(inflate_all(compression::gzip, second, in, 100).why.code() == status_code::data_loss);
    }
}

TEST_CASE("of damaged bytes never more are consumed than were given") {
  std::mt19937 random(20);
  for (int round = 0; round < 20'000; ++round) {
    std::string plain = text(random() % 300, static_cast<unsigned>(round));
    compression format = round % 2 ? compression::gzip : compression::zlib;
    std::string bytes = format == compression::gzip ? gzipped(plain) : zlibbed(plain);
    for (unsigned n = random() % 4; n != 0; --n) bytes[random() % bytes.size()] = static_cast<char>(random());
    std::size_t piece = 1 + random() % bytes.size(), at = 0;
    inflater z(format);
    char out[1024];
    for (inflate_step s; at < bytes.size();) {
      std::string window = bytes.substr(at, piece);
      s = z.step(window, at + window.size() == bytes.size(), out, sizeof out);
      CAPTURE(round, at, s.consumed);
      REQUIRE(s.consumed <= window.size());
      at += s.consumed;
      if (!s.why.ok() || s.ended) break;
      if (s.consumed == 0 && s.produced == 0) piece += 1;
    }
    REQUIRE(z.in_bytes() <= bytes.size());
  }
}

TEST_CASE("compressions are named as here and as in tf.data") {
  CHECK(*parse_compression("") == compression::none);
  CHECK(*parse_compression("GZIP") == compression::gzip);
  CHECK(*parse_compression("zlib") == compression::zlib);
  CHECK(*parse_compression("auto") == compression::automatic);
  CHECK(*parse_compression("ZSTD") == compression::zstd);
  CHECK(parse_compression("rar").why().message() ==
        "\"rar\" is no compression; there are none, gzip, zlib, zstd, lz4, snappy, snappy_blocks, bzip2, xz and auto");
}

}  // namespace sluice::lib::inflate_test
