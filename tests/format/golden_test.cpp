// SPDX-License-Identifier: Apache-2.0
// Files that TensorFlow wrote, and its answers to them (tests/golden/README.md).
#include <zlib.h>
#include <catch2/catch.hpp>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

#include "sluice/format/example.hpp"
#include "sluice/format/fixed_length_scan.hpp"
#include "sluice/format/inflate.hpp"
#include "sluice/format/lines_scan.hpp"
#include "sluice/format/tfrecord_frames.hpp"

namespace sluice::lib::golden_test {
using nlohmann::json;

namespace {

std::filesystem::path golden_folder() {
  for (auto from = std::filesystem::absolute(__FILE__).parent_path(); from.has_relative_path();
       from = from.parent_path())
    if (std::filesystem::exists(from / "golden/expected.json")) return from / "golden";
  for (auto from = std::filesystem::current_path(); from.has_relative_path(); from = from.parent_path())
    if (std::filesystem::exists(from / "tests/golden/expected.json")) return from / "tests/golden";
  FAIL("tests/golden is not to be found");
  return {};
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  REQUIRE(in);
  return {std::istreambuf_iterator<char>(in), {}};
}

json read_json(const char* name) { return json::parse(bytes_of(golden_folder() / name)); }

/// What a compressed file holds, taken 1,000 bytes at a time.
std::string plain_bytes(const std::string& bytes, compression c) {
  if (c == compression::none) return bytes;
  inflater z(c);
  std::string plain, out(1000, '\0');
  for (std::size_t at = 0;;) {
    auto s = z.step(std::string_view(bytes).substr(at, 1000), at + 1000 >= bytes.size(), out.data(), out.size());
    REQUIRE(s.why.ok());
    plain.append(out, 0, s.produced);
    at += s.consumed;
    if (s.ended) return plain;
  }
}

struct outcome {
  std::vector<std::string> records;
  status why;
};

template <class Scan> outcome collect(Scan scan) {
  outcome o;
  std::string_view out[7];
  for (std::size_t at = 0;;) {
    auto s = scan(at, out);
    for (std::size_t i = 0; i < s.count; ++i) o.records.emplace_back(out[i]);
    at += s.used;
    o.why = s.why;
    if (s.count < 7) return o;
  }
}
struct step {
  std::size_t count, used;
  status why;
};

outcome read_tfrecords(std::string_view bytes) {
  return collect([&](std::size_t at, std::string_view* out) {
    tfrecord_window w;
    w.bytes = bytes.substr(at);
    w.last = true;
    auto s = scan_tfrecords(w, out, 7);
    return step{s.records, s.used_bytes, s.why};
  });
}
outcome read_lines(std::string bytes) {
  return collect([&](std::size_t at, std::string_view* out) {
    auto s = scan_lines(std::span(bytes).subspan(at), true, out, 7);
    return step{s.lines, s.used_bytes, {}};
  });
}
/// `sized`: as for a plain file, whose size is known.
outcome read_fixed(std::string_view bytes, const fixed_length_layout& layout, bool sized) {
  return collect([&](std::size_t at, std::string_view* out) {
    fixed_length_window w;
    w.bytes = bytes.substr(at);
    w.offset = at;
    w.last = true;
    if (sized) w.end = bytes.size();
    auto s = scan_fixed_length(layout, w, out, 7);
    return step{s.records, s.used_bytes, s.why};
  });
}

outcome read_golden(const json& file, const json& entry) {
  compression c = parse_compression(file["compression"].get<std::string>()).value();
  std::string bytes = bytes_of(golden_folder() / file["file"].get<std::string>());
  CHECK(detect_compression(std::string_view(bytes).substr(0, kCompressionGuessBytes)) == c);
  std::string plain = plain_bytes(bytes, c);
  if (entry["format"] == "tfrecord") return read_tfrecords(plain);
  if (entry["format"] == "lines") return read_lines(plain);
  fixed_length_layout layout{entry["record_bytes"], entry["header_bytes"], entry["footer_bytes"]};
  return read_fixed(plain, layout, c == compression::none);
}

std::uint32_t zlib_crc(const std::string& s) {
  return static_cast<std::uint32_t>(::crc32(0, reinterpret_cast<const Bytef*>(s.data()), static_cast<uInt>(s.size())));
}

std::string unhex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

feature_values expected_feature(const json& j) {
  feature_values f;
  if (j.contains("bytes_hex")) {
    f.kind = feature_kind::bytes;
    for (auto& v : j["bytes_hex"]) f.bytes.push_back(unhex(v));
  } else if (j.contains("float_bits")) {
    f.kind = feature_kind::floats;
    for (auto& v : j["float_bits"]) {
      auto bits = v.get<std::uint32_t>();
      std::memcpy(&f.floats.emplace_back(), &bits, 4);
    }
  } else if (j.contains("int64")) {
    f.kind = feature_kind::int64s;
    for (auto& v : j["int64"]) f.int64s.push_back(v);
  }
  return f;
}

}  // namespace

TEST_CASE("files written by TensorFlow are read as in TensorFlow: TFRecords, lines, fixed lengths; plain, gzip, zlib") {
  int files = 0;
  const json expected = read_json("expected.json");
  for (auto& entry : expected["files"])
    for (auto& file : entry["files"]) {
      CAPTURE(file.dump(), entry["format"].dump());
      auto got = read_golden(file, entry);
      REQUIRE(got.records.size() == entry["count"].get<std::size_t>());
      for (std::size_t i = 0; i < got.records.size(); ++i) {
        REQUIRE(got.records[i].size() == entry["lengths"][i].get<std::size_t>());
        REQUIRE(zlib_crc(got.records[i]) == entry["crc32"][i].get<std::uint32_t>());
      }
      CHECK(got.why.ok() == (!entry.contains("error") || entry["error"].is_null()));
      ++files;
    }
  CHECK(files > 30);
}

TEST_CASE("the features of TensorFlow's examples are read exactly") {
  auto expected = read_json("features.json");
  auto records = read_tfrecords(bytes_of(golden_folder() / "examples.tfrecord")).records;
  REQUIRE(records.size() == expected.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    CAPTURE(i);
    auto got = read_example(records[i]);
    REQUIRE(got.ok());
    REQUIRE(got->size() == expected[i].size());
    for (auto& [name, values] : expected[i].items()) {
      feature_values want = expected_feature(values);
      feature_values& have = (*got)[name];
      REQUIRE(have.kind == want.kind);
      REQUIRE(have.bytes == want.bytes);
      REQUIRE(have.int64s == want.int64s);
      REQUIRE(have.floats.size() == want.floats.size());
      if (!want.floats.empty())  // as bits: -0 and NaN have no equals
        REQUIRE(std::memcmp(have.floats.data(), want.floats.data(), want.floats.size() * 4) == 0);
    }
    REQUIRE(json::accept(*example_to_json(records[i])));
  }
}

TEST_CASE("files that TensorFlow finds damaged are damaged for us too, after the same records") {
  int files = 0;
  const json expected = read_json("expected.json");
  for (auto& damage : expected["damaged"]) {
    CAPTURE(damage["edit"].dump());
    std::string bytes = unhex(damage["data_hex"]);
    auto got = read_tfrecords(bytes);
    CHECK(got.records.size() == damage["records_before"].get<std::size_t>());
    // Every cut is an error for us; TensorFlow takes one inside a header for the end.
    CHECK(got.why.code() == status_code::data_loss);
    ++files;
  }
  CHECK(files > 4);
}

}  // namespace sluice::lib::golden_test
