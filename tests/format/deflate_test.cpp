// SPDX-License-Identifier: Apache-2.0
#include "sluice/format/deflate.hpp"

#include <zlib.h>
#include <catch2/catch.hpp>

#include <random>

#include "sluice/format/inflate.hpp"

namespace sluice::lib::deflate_test {

namespace {

/// All members, by zlib.
std::string gunzipped(std::string bytes) {
  std::string out;
  while (!bytes.empty()) {
    z_stream s{};
    REQUIRE(::inflateInit2(&s, 16 + MAX_WBITS) == Z_OK);
    s.next_in = reinterpret_cast<Bytef*>(bytes.data());
    s.avail_in = static_cast<uInt>(bytes.size());
    int code = Z_OK;
    while (code == Z_OK) {
      char piece[5000];
      s.next_out = reinterpret_cast<Bytef*>(piece);
      s.avail_out = sizeof piece;
      code = ::inflate(&s, Z_NO_FLUSH);
      out.append(piece, sizeof piece - s.avail_out);
    }
    CHECK(code == Z_STREAM_END);
    bytes.erase(0, bytes.size() - s.avail_in);
    ::inflateEnd(&s);
    if (code != Z_STREAM_END) break;
  }
  return out;
}

/// All members, by ours.
std::string inflated(const std::string& bytes) {
  inflater gz(compression::gzip);
  std::string out;
  std::string_view left = bytes;
  for (;;) {
    char piece[7000];
    inflate_step s = gz.step(left, true, piece, sizeof piece);
    REQUIRE(s.why.ok());
    out.append(piece, s.produced);
    left.remove_prefix(s.consumed);
    if (s.ended) return out;
  }
}

std::string text_of(std::mt19937_64& draw, std::size_t size) {
  std::string text;
  while (text.size() < size) {
    if (draw() % 4 == 0) text += std::to_string(draw());
    else text += "the same words again ";
  }
  text.resize(size);
  return text;
}

}  // namespace

TEST_CASE("data deflated in any pieces and members are inflated correctly, by zlib and by us") {
  std::mt19937_64 draw(5);
  for (int trial = 0; trial != 60; ++trial) {
    deflater gz;
    std::string plain, packed;
    std::uint64_t members = 1 + draw() % 3;
    for (std::uint64_t m = 0; m != members; ++m) {
      for (auto pieces = draw() % 5; pieces != 0; --pieces) {
        std::string piece = text_of(draw, draw() % 3 == 0 ? draw() % 10 : draw() % 300'000);
        gz.append(piece, packed);
        plain += piece;
      }
      gz.end_member(packed);
      CHECK_FALSE(gz.is_in_member());
      CHECK(inflated(packed) == plain);
    }
    CHECK(gunzipped(packed) == plain);
  }
}

TEST_CASE("text becomes smaller, and noise hardly larger") {
  std::mt19937_64 draw(6);
  std::string text = text_of(draw, 1'000'000), noise(1'000'000, '\0'), packed;
  for (char& c : noise) c = static_cast<char>(draw());
  deflater gz;
  gz.append(text, packed);
  CHECK(gz.is_in_member());
  gz.end_member(packed);
  CHECK(packed.size() < text.size() / 3);
  packed.clear();
  gz.append(noise, packed);
  gz.end_member(packed);
  CHECK(packed.size() < noise.size() + noise.size() / 100);
  CHECK(inflated(packed) == noise);
}

TEST_CASE("a member without bytes is a whole gzip file") {
  deflater gz;
  std::string packed;
  gz.append("", packed);
  CHECK_FALSE(gz.is_in_member());
  gz.end_member(packed);
  CHECK(packed.size() >= 18);
  CHECK(gunzipped(packed).empty());
  CHECK(inflated(packed).empty());
}

}  // namespace sluice::lib::deflate_test
