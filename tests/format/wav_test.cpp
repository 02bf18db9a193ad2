// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <cstring>

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
  CHECK(why_not(wav_of(format_of(6, 1, 8, 1), "abcd")).code() == status_code::invalid_argument);
  CHECK(why_not(wav_of(format_of(1, 1, 12, 2), "abcd")).code() == status_code::invalid_argument);
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

}  // namespace sluice::lib::wav_test
