// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <random>
#include <vector>

#include "format/compressed.hpp"
#include "sluice/format/inflate.hpp"
#include "sluice/format/seek_points.hpp"
#if SLUICE_HAVE_ZSTD
#include <zstd.h>
#endif

namespace sluice::lib::seek_points_test {
using namespace sluice::lib::testing;

namespace {

/// Inflates `bytes` by an inflater that may have points, `in_piece` bytes at a time into rooms of `out_piece`.
std::string inflated(inflater& z, std::string_view bytes, std::size_t in_piece, std::size_t out_piece, status& why) {
  std::string plain, room(out_piece, '\0');
  for (std::size_t have = std::min(in_piece, bytes.size());;) {
    inflate_step s = z.step(bytes.substr(0, have), have == bytes.size(), room.data(), room.size());
    plain.append(room, 0, s.produced);
    bytes.remove_prefix(s.consumed);
    have -= s.consumed;
    why = s.why;
    if (!why.ok() || s.ended) return plain;
    if (s.consumed != 0 || s.produced != 0) {
      if (have == 0) have = std::min(in_piece, bytes.size());
      continue;
    }
    if (s.wants_bytes != 0) z.allow(s.wants_bytes);
    else have = std::min(have + in_piece, bytes.size());
  }
}

/// Words, with runs of random bytes that deflate stores, and of zeros.
std::string mixed_text(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::string s;
  while (s.size() < n) {
    const auto kind = random() % 40;
    if (kind == 0)
      for (int i = 0; i != 20'000; ++i) s += static_cast<char>(random());
    else if (kind == 1) s.append(10'000, '\0');
    else
      for (int i = 0; i != 200; ++i) s += "line " + std::to_string(random()) + "\n";
  }
  s.resize(n);
  return s;
}

/// zlib with flushes between, and a strategy of its own: other kinds of blocks.
std::string flushed(std::string_view plain, int window_bits, int strategy, std::size_t each) {
  z_stream z{};
  if (deflateInit2(&z, 6, Z_DEFLATED, window_bits, 8, strategy) != Z_OK) std::abort();
  std::string out(plain.size() * 2 + 4096, '\0');
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  for (std::size_t at = 0; at < plain.size(); at += each) {
    const std::string_view piece = plain.substr(at, each);
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
    z.avail_in = static_cast<uInt>(piece.size());
    const bool last = at + each >= plain.size();
    if (deflate(&z, last ? Z_FINISH : Z_SYNC_FLUSH) != (last ? Z_STREAM_END : Z_OK)) std::abort();
  }
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

std::vector<seek_point> points_of(compression format, std::string_view bytes, std::string_view plain,
                                  std::uint64_t spacing, std::size_t in_piece, std::size_t out_piece) {
  seek_point_builder notes(spacing);
  inflater z(format);
  z.note_points(notes);
  status why;
  REQUIRE(inflated(z, bytes, in_piece, out_piece, why) == plain);
  REQUIRE(why.ok());
  return notes.take();
}

/// Inflates the file from each point on; returns the largest distance between two.
std::uint64_t check_points(compression format, const std::string& bytes, const std::string& plain,
                           const std::vector<seek_point>& points) {
  std::uint64_t before = 0, distance = 0;
  for (const seek_point& p : points) {
    CAPTURE(p.in_bytes, p.out_bytes, p.used_bits, p.is_within_member);
    REQUIRE(p.out_bytes > before);
    distance = std::max(distance, p.out_bytes - before);
    before = p.out_bytes;
    inflater z(format);
    REQUIRE(z.go_to(p).ok());
    status why;
    const bool same = inflated(z, std::string_view(bytes).substr(p.in_bytes), 50'000, 70'000, why) ==
                      std::string_view(plain).substr(p.out_bytes);
    CHECK(same);
    CHECK(why.ok());
    CHECK(z.out_bytes() == plain.size());
    CHECK(z.in_bytes() == bytes.size());
  }
  return std::max<std::uint64_t>(distance, plain.size() - before);
}

}  // namespace

TEST_CASE("gzip and zlib continue at each point as they were inflated from the start") {
  const std::string plain = mixed_text(1'500'000, 3);
  for (int window_bits : {31, 15})
    for (int level : {0, 1, 6, 9}) {
      const compression format = window_bits == 31 ? compression::gzip : compression::zlib;
      CAPTURE(window_bits, level);
      const std::string bytes = compressed(plain, window_bits, level);
      const auto points = points_of(format, bytes, plain, 60'000, 16'384, 256 << 10);
      CHECK(points.size() >= 6);
      CHECK(check_points(format, bytes, plain, points) < 500'000);
    }
}

TEST_CASE("points do not depend on the pieces in which a file is inflated") {
  const std::string plain = mixed_text(1'000'000, 4), bytes = gzipped(plain);
  const auto expected = points_of(compression::gzip, bytes, plain, 60'000, bytes.size(), plain.size());
  CHECK(expected.size() >= 4);
  for (std::size_t in_piece : {1u, 7u, 1000u, 40'000u})
    for (std::size_t out_piece : {1000u, 33'333u, 1u << 20}) {
      CAPTURE(in_piece, out_piece);
      const auto points = points_of(compression::gzip, bytes, plain, 60'000, in_piece, out_piece);
      CHECK(points.size() >= 4);
      check_points(compression::gzip, bytes, plain, points);
    }
}

TEST_CASE("points are found between stored, fixed and flushed blocks") {
  const std::string plain = mixed_text(700'000, 5);
  for (int strategy : {Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE, Z_DEFAULT_STRATEGY})
    for (std::size_t each : {3'001u, 50'000u}) {
      CAPTURE(strategy, each);
      const std::string bytes = flushed(plain, 31, strategy, each);
      const auto points = points_of(compression::gzip, bytes, plain, 60'000, 16'384, 256 << 10);
      CHECK(points.size() >= 4);
      check_points(compression::gzip, bytes, plain, points);
    }
}

TEST_CASE("members that follow one another begin without a window") {
  std::string plain, bytes;
  for (unsigned i = 0; i != 20; ++i) {
    const std::string part = mixed_text(40'000 + i * 7'000, i);
    plain += part;
    bytes += gzipped(part);
  }
  const auto points = points_of(compression::gzip, bytes, plain, 100'000, 65'536, 256 << 10);
  std::size_t within = 0;
  for (const seek_point& p : points) within += p.is_within_member;
  CHECK(points.size() - within >= 15);
  CHECK(check_points(compression::gzip, bytes, plain, points) < 300'000);
  const auto members = points_of(compression::gzip, bytes, plain, 1 << 30, 65'536, 256 << 10);
  CHECK(members.size() == 19);
  for (const seek_point& p : members) CHECK((p.window.empty() && p.used_bits == 0));
}

#if SLUICE_HAVE_ZSTD
TEST_CASE("zstd continues at each frame") {
  std::string plain, bytes;
  for (unsigned i = 0; i != 12; ++i) {
    const std::string part = mixed_text(80'000, i);
    std::string frame(ZSTD_compressBound(part.size()), '\0');
    frame.resize(ZSTD_compress(frame.data(), frame.size(), part.data(), part.size(), 3));
    plain += part;
    bytes += frame;
  }
  const auto points = points_of(compression::zstd, bytes, plain, 60'000, 65'536, 256 << 10);
  CHECK(points.size() == 11);
  CHECK(check_points(compression::zstd, bytes, plain, points) == 80'000);
}
#endif

TEST_CASE("damage behind a point is found by the checksum of the member") {
  const std::string plain = mixed_text(500'000, 6), good = gzipped(plain);
  const auto points = points_of(compression::gzip, good, plain, 60'000, 65'536, 256 << 10);
  REQUIRE(points.size() >= 3);
  std::string bad = good;
  bad[bad.size() - 8] ^= 1;  // the checksum itself
  inflater z(compression::gzip);
  REQUIRE(z.go_to(points[2]).ok());
  status why;
  inflated(z, std::string_view(bad).substr(points[2].in_bytes), 65'536, 65'536, why);
  CHECK(why.code() == status_code::data_loss);

  seek_point other = points[2];
  other.window.back() = static_cast<char>(other.window.back() ^ 1);
  inflater y(compression::gzip);
  CHECK(y.go_to(other).code() == status_code::data_loss);
}

TEST_CASE("points are dropped when they are many") {
  seek_point_builder notes(1);
  for (std::uint64_t i = 1; i != 5'000; ++i) {
    if (!notes.wants_within(i * 100)) continue;
    seek_point p;
    p.in_bytes = i;
    p.out_bytes = i * 100;
    p.is_within_member = true;
    notes.add_within(std::move(p), "plain");
  }
  const auto points = notes.take();
  CHECK(points.size() > 500);
  CHECK(points.size() < 1024);
  CHECK(seek_point_before(points, 99) == nullptr);
  for (std::size_t i = 1; i < points.size(); ++i) {
    CHECK(points[i].out_bytes > points[i - 1].out_bytes);
    CHECK(points[i].out_bytes - points[i - 1].out_bytes < 2'000);
  }
  CHECK(seek_point_before(points, points[7].out_bytes) == &points[7]);
  CHECK(seek_point_before(points, points[8].out_bytes - 1) == &points[7]);
}

}  // namespace sluice::lib::seek_points_test
