// SPDX-License-Identifier: Apache-2.0
// Files that TensorFlow wrote, or read, are read as TensorFlow reads them (tests/golden/expected.json).
#include <bit>
#include <fstream>
#include <string>
#include <vector>

#include <isa-l/crc.h>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "sluice/format/example.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::golden_files_test {
namespace {

using nlohmann::json;

const std::string kFolder = "tests/golden/";

json read_json(const std::string& name) {
  std::ifstream in(kFolder + name);
  return json::parse(in);
}

template <class T> task<std::vector<std::string>> drain(stream<T> s) {
  std::vector<std::string> all;
  while (auto x = co_await s.next()) all.emplace_back(x->view());
  co_return all;
}

template <class T> std::vector<std::string> answer(const dataset<T>& ds) {
  runtime rt({.workers = 1});
  return sync_wait(rt, drain(ds.iterate(rt)));
}

/// zlib's CRC-32.
std::uint32_t crc32(const std::string& s) {
  return crc32_gzip_refl(0, reinterpret_cast<const unsigned char*>(s.data()), s.size());
}

void check(const std::vector<std::string>& got, const json& expected) {
  REQUIRE(got.size() == expected["count"].get<std::size_t>());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CHECK(got[i].size() == expected["lengths"][i].get<std::size_t>());
    CHECK(crc32(got[i]) == expected["crc32"][i].get<std::uint32_t>());
  }
}

compression named(const json& file) {
  std::string name = file["compression"];
  return name == "gzip" ? compression::gzip : name == "zlib" ? compression::zlib : compression::none;
}

dataset<record> fixed_length_as_asked(const std::string& path, const json& asked, compression c) {
  auto number = [&](const char* key) { return asked[key].get<std::int64_t>(); };
  return fixed_length(path, {.record_bytes = number("record_bytes"),
                             .header_bytes = number("header_bytes"),
                             .footer_bytes = number("footer_bytes"),
                             .compression = c});
}

/// Calls use(path, compression, expected) for each file of a format, told and untold how it is compressed.
template <class Use> void for_each_file(const std::string& format, Use use) {
  auto all = read_json("expected.json");
  int files = 0;
  for (const json& expected : all["files"]) {
    if (expected["format"] != format) continue;
    for (const json& file : expected["files"]) {
      CAPTURE(file.dump());
      use(kFolder + file["file"].get<std::string>(), named(file), expected);
      use(kFolder + file["file"].get<std::string>(), compression::automatic, expected);
      ++files;
    }
  }
  REQUIRE(files >= 3);
}

struct bits_of_features {
  json operator()(const feature_values& f) const {
    if (f.kind == feature_kind::int64s) return {{"int64", f.int64s}};
    if (f.kind == feature_kind::floats)
      return {{"float_bits", transformed(f.floats, [](float x) { return std::bit_cast<std::uint32_t>(x); })}};
    if (f.kind == feature_kind::bytes) return {{"bytes_hex", transformed(f.bytes, hex)}};
    return json::object();
  }
  template <class T, class F> static json transformed(const std::vector<T>& values, F f) {
    json out = json::array();
    for (const T& v : values) out.push_back(f(v));
    return out;
  }
  static std::string hex(const std::string& s) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string out;
    for (unsigned char c : s) {
      out += digits[c >> 4];
      out += digits[c & 15];
    }
    return out;
  }
};

}  // namespace

TEST_CASE("TFRecord files written by TensorFlow are read record by record") {
  for_each_file("tfrecord", [](const std::string& path, compression c, const json& expected) {
    check(answer(tfrecord(path, {.compression = c})), expected);
  });
}

TEST_CASE("lines are split as TensorFlow splits them") {
  for_each_file("lines", [](const std::string& path, compression c, const json& expected) {
    check(answer(lines(path, {.compression = c})), expected);
  });
}

TEST_CASE("fixed-length records are cut as TensorFlow cuts them, and refused where it refuses them") {
  for_each_file("fixed_length", [](const std::string& path, compression c, const json& expected) {
    CAPTURE(expected["record_bytes"]);
    auto ds = fixed_length_as_asked(path, expected, c);
    if (expected["error"].is_null()) check(answer(ds), expected);
    else CHECK_THROWS_AS(answer(ds), error);
  });
}

TEST_CASE("short reads give the same records as one read of the whole file") {
  for_each_file("tfrecord", [](const std::string& path, compression c, const json& expected) {
    for (std::int64_t bytes : {512, 4096, 1 << 20})
      check(answer(tfrecord(path, {.compression = c, .read_bytes = bytes})), expected);
  });
}

TEST_CASE("features of tf.Examples written by TensorFlow are exactly theirs") {
  auto expected = read_json("features.json");
  auto records = answer(tfrecord(kFolder + "examples.tfrecord.gz"));
  REQUIRE(records.size() == expected.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    CAPTURE(i);
    auto features = read_example(records[i]);
    REQUIRE(features.ok());
    json got = json::object();
    for (const auto& [name, values] : *features) got[name] = bits_of_features()(values);
    CHECK(got == expected[i]);
  }
}

TEST_CASE("damage that TensorFlow sees we see, after the same records") {
  auto all = read_json("expected.json");
  for (const json& damaged : all["damaged"]) {
    CAPTURE(damaged["edit"]);
    std::string path = "damaged_as_for_tensorflow.tfrecord";  // in the working folder of the test
    {
      std::ofstream out(path, std::ios::binary);
      std::string hex = damaged["data_hex"];
      for (std::size_t i = 0; i < hex.size(); i += 2)
        out.put(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
    }
    // TensorFlow takes a cut header for the end of the file; for us it is damage too.
    auto before = damaged["records_before"].get<std::int64_t>();
    CHECK(answer(tfrecord(path) | take(before)).size() == static_cast<std::size_t>(before));
    try {
      answer(tfrecord(path));
      FAIL("no error");
    } catch (const error& e) {
      CHECK(e.code() == status_code::data_loss);
      CHECK(e.why().where().file == path);
      CHECK(e.why().where().record_index == static_cast<std::uint64_t>(before));
      CHECK(e.why().where().offset_bytes == static_cast<std::uint64_t>(before) * 26);
    }
    std::remove(path.c_str());
  }
}

}  // namespace sluice::lib::golden_files_test
