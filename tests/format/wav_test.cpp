// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "sluice/format/wav.hpp"
#include "support/bytes/golden_cases.hpp"

namespace sluice::lib::wav_test {
using namespace sluice::lib::test;

namespace {

std::string wav_of(std::string_view format, std::string_view data) {
  auto chunk = [](std::string_view name, std::string_view bytes) {
    const auto size = static_cast<std::uint32_t>(bytes.size());
    std::string c(name);
    c.append(reinterpret_cast<const char*>(&size), 4).append(bytes);
    return c;
  };
  return chunk("RIFF", std::string("WAVE") + chunk("fmt ", format) + chunk("data", data));
}

std::string format_of(std::uint16_t form, std::uint16_t channels, std::uint16_t bits, std::uint16_t frame_bytes) {
  std::string f(16, '\0');
  std::memcpy(&f[0], &form, 2);
  std::memcpy(&f[2], &channels, 2);
  std::memcpy(&f[12], &frame_bytes, 2);
  std::memcpy(&f[14], &bits, 2);
  return f;
}

status why_not(const std::string& encoded, const wav_options& o = {}) { return decode_wav(encoded, o).why(); }

}  // namespace

TEST_CASE("sounds are decoded as TensorFlow and NumPy do") {
  const golden_cases golden;
  const auto cases = golden.of("decode_wav");
  REQUIRE(cases.size() > 100);
  for (auto* c : cases) {
    INFO(c->at("name"));
    auto got = decode_wav(golden.blob(c->at("encoded")),
                          {.channels = c->value("channels", 0), .samples = c->value("samples", 0)});
    REQUIRE(got.ok());
    CHECK(got->rate == c->at("rate").get<std::int64_t>());
    const auto shape = c->at("shape").get<std::vector<std::int64_t>>();
    REQUIRE(got->samples.spec() == tensor_spec{dtype::float32, shape});
    const std::string want = golden.inflated(c->at("values"));
    REQUIRE(want.size() == got->samples.size_bytes());
    CHECK(std::memcmp(want.data(), got->samples.data(), want.size()) == 0);
  }
}

TEST_CASE("a WAV that is cut short is data loss") {
  const std::string whole = wav_of(format_of(1, 2, 16, 4), std::string(40, 'x'));
  REQUIRE(decode_wav(whole).ok());
  for (std::size_t n = 12; n != whole.size(); ++n) {
    INFO(n);
    CHECK(why_not(whole.substr(0, n)).code() == status_code::data_loss);
  }
  for (std::size_t n = 0; n != 12; ++n) CHECK(why_not(whole.substr(0, n)).code() == status_code::invalid_argument);
}

TEST_CASE("formats that are not read, or contradict themselves, are refused") {
  CHECK(why_not(wav_of(format_of(2, 1, 4, 1), "abcd")).code() == status_code::invalid_argument);
  CHECK(why_not(wav_of(format_of(6, 1, 16, 2), "abcd")).code() == status_code::invalid_argument);
  CHECK(why_not(wav_of(format_of(1, 1, 33, 5), "abcde")).code() == status_code::invalid_argument);
  CHECK(why_not(wav_of(format_of(1, 1, 12, 4), "abcd")).code() == status_code::data_loss);
  CHECK(why_not(wav_of(format_of(3, 1, 16, 2), "abcd")).code() == status_code::invalid_argument);
  CHECK(why_not(wav_of(format_of(1, 0, 16, 0), "abcd")).code() == status_code::data_loss);
  CHECK(why_not(wav_of(format_of(1, 2, 16, 2), "abcd")).code() == status_code::data_loss);
  CHECK(why_not(wav_of(format_of(1, 2, 16, 4), "abcde")).code() == status_code::data_loss);
  CHECK(why_not("RIFF....AVI ").code() == status_code::invalid_argument);
}

TEST_CASE("a sound that is asked for with more than bytes_max is refused before it is made") {
  const std::string whole = wav_of(format_of(1, 1, 16, 2), "abcd");
  CHECK(why_not(whole, {.channels = 1 << 30, .samples = std::int64_t{1} << 60}).code() ==
        status_code::resource_exhausted);
  CHECK(why_not(whole, {.bytes_max = 7}).code() == status_code::resource_exhausted);
  CHECK(decode_wav(whole, {.bytes_max = 8}).ok());
  CHECK(why_not(whole, {.channels = -1}).code() == status_code::invalid_argument);
}

namespace {

std::vector<float> values_of(const std::string& encoded) {
  auto got = decode_wav(encoded);
  INFO(got.why().to_string());
  REQUIRE(got.ok());
  const std::span<const float> all = got->samples.values<float>();
  return {all.begin(), all.end()};
}

/// Overwrites four bytes.
std::string with_size(std::string bytes, std::size_t at, std::uint32_t size) {
  std::memcpy(&bytes[at], &size, 4);
  return bytes;
}

constexpr std::size_t kRiffSizeAt = 4, kDataSizeAt = 40;

/// The same sound as RF64, with its sizes in the chunk ds64.
std::string rf64_of(std::string_view format, std::string_view data, std::uint64_t data_bytes) {
  const std::string plain = wav_of(format, data);
  const std::uint64_t riff_bytes = plain.size() + 28;
  std::string sizes(28, '\0');
  std::memcpy(&sizes[0], &riff_bytes, 8);
  std::memcpy(&sizes[8], &data_bytes, 8);
  std::string out = "RF64\xff\xff\xff\xffWAVEds64" + std::string("\x1c\0\0\0", 4) + sizes + plain.substr(12);
  return with_size(out, out.size() - data.size() - 4, 0xffffffff);
}

}  // namespace

TEST_CASE("A-law and mu-law are expanded as ITU-T G.711 says") {
  auto one = [](std::uint16_t form, int code) {
    return values_of(wav_of(format_of(form, 1, 8, 1), std::string(1, static_cast<char>(code))))[0] * 32768;
  };
  CHECK(one(6, 0xd5) == 8);
  CHECK(one(6, 0x55) == -8);
  CHECK(one(6, 0xaa) == 32256);
  CHECK(one(6, 0x2a) == -32256);
  CHECK(one(6, 0x80) == 5504);
  CHECK(one(7, 0xff) == 0);
  CHECK(one(7, 0x7f) == 0);
  CHECK(one(7, 0x80) == 32124);
  CHECK(one(7, 0x00) == -32124);
  CHECK(one(7, 0xef) == 132);
  // The sums of the 128 positive values, as libsndfile has them.
  double a_law = 0, mu_law = 0;
  for (int code = 0x80; code != 0x100; ++code) {
    a_law += one(6, code);
    mu_law += one(7, code);
  }
  CHECK(a_law == 782336);
  CHECK(mu_law == 766464);
}

TEST_CASE("RF64 and RIFX are read like RIFF") {
  const std::string data("\1\0\0\x80\xff\x7f", 6);
  const std::vector<float> expected{1 / 32768.0F, -1, 32767 / 32768.0F};
  CHECK(values_of(wav_of(format_of(1, 1, 16, 2), data)) == expected);
  CHECK(values_of(rf64_of(format_of(1, 1, 16, 2), data, 6)) == expected);
  CHECK(values_of(rf64_of(format_of(1, 1, 16, 2), data + "junk", 6)) == expected);
  CHECK(why_not(rf64_of(format_of(1, 1, 16, 2), data, 8)).code() == status_code::data_loss);
  CHECK(why_not(rf64_of(format_of(1, 1, 16, 2), data, std::uint64_t{1} << 62)).code() == status_code::data_loss);
  std::string without_sizes = with_size(wav_of(format_of(1, 1, 16, 2), data), kDataSizeAt, 0xffffffff);
  without_sizes.replace(0, 4, "RF64");
  CHECK(why_not(without_sizes).code() == status_code::data_loss);
  const std::string big(
      "RIFX\0\0\0\x2aWAVEfmt \0\0\0\x10\0\1\0\1\0\0\x1f\x40\0\0\x3e\x80\0\2\0\x10"
      "data\0\0\0\6\0\1\x80\0\x7f\xff",
      50);
  CHECK(values_of(big) == expected);
  CHECK(decode_wav(big)->rate == 8000);
}

TEST_CASE("a stream, whose header has no sizes, ends with its bytes") {
  const std::string whole = wav_of(format_of(1, 1, 16, 2), std::string("\0\x40\0\xc0", 4));
  const std::vector<float> expected{0.5F, -0.5F};
  for (const std::uint32_t size : {0xffffffffU, 0U, 0x7ffff000U}) {
    CAPTURE(size);
    CHECK(values_of(with_size(with_size(whole, kRiffSizeAt, size), kDataSizeAt, size)) == expected);
  }
  // The header that Python's module wave writes first.
  CHECK(values_of(with_size(with_size(whole, kRiffSizeAt, 36), kDataSizeAt, 0)) == expected);
  // A sound of no samples, with a chunk after them.
  const std::string silent = wav_of(format_of(1, 1, 16, 2), "") + "LIST" + std::string(4, '\0');
  CHECK(values_of(with_size(silent, kRiffSizeAt, 44)).empty());
  // Half a sample at the end of a stream, and sizes that are wrong but no stream's.
  const std::string streamed = with_size(whole, kDataSizeAt, 0xffffffff);
  CHECK(why_not(streamed.substr(0, streamed.size() - 1)).code() == status_code::data_loss);
  CHECK(why_not(with_size(whole, kDataSizeAt, 6)).code() == status_code::data_loss);
  CHECK(why_not(with_size(whole, kDataSizeAt, 0xfffffffe)).code() == status_code::data_loss);
  CHECK_THAT(std::string(why_not(with_size(whole, kDataSizeAt, 6)).message()),
             Catch::Contains("have 6 bytes, and 4 are there, at byte 48"));
}

TEST_CASE("bits that do not fill their bytes are the upper ones") {
  CHECK(values_of(wav_of(format_of(1, 1, 12, 2), std::string("\0\x40\xf0\xbf", 4))) ==
        std::vector<float>{0.5F, -16400 / 32768.0F});
  CHECK(values_of(wav_of(format_of(1, 1, 20, 3), std::string("\0\0\x40\0\0\xc0", 6))) ==
        std::vector<float>{0.5F, -0.5F});
}

}  // namespace sluice::lib::wav_test
