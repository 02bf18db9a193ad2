// SPDX-License-Identifier: Apache-2.0
// Files of every way of compression: read, resumed, damaged, too large.
#include <algorithm>
#include <string>

#include <catch2/catch.hpp>

#include "format/packed.hpp"
#include "pipeline/file_world.hpp"
#include "pipeline/input_files.hpp"
#include "pipeline/outcome.hpp"
#include "pipeline/record_files.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/sluice.hpp"
#include "support/bytes/tar_bytes.hpp"

namespace sluice::lib::compressed_files_test {
namespace {

using namespace testing;
using Catch::Contains;
using test::tar_header_bytes;
using test::tar_padded;

/// Calls use(name, dataset of text): every format, told how it is compressed.
template <class Use> void for_each_reader(const std::string& path, compression c, Use use) {
  constexpr std::int64_t kRead = 4096;
  auto text = [](const auto& x) { return std::string(x.view()); };
  use(file_format::lines, lines(path, {.compression = c, .read_bytes = kRead}) | map(text));
  use(file_format::tfrecord, tfrecord(path, {.compression = c, .read_bytes = kRead}) | map(text));
  use(file_format::fixed_length,
      fixed_length(path, {.record_bytes = kElementBytes, .compression = c, .read_bytes = kRead}) | map(text));
}

}  // namespace

TEST_CASE("every format reads every compression, named or recognized, and continues at every element") {
  const texts elements = some_elements(60);
  for (compression c : built_in_compressions())
    for (compression told : {c, compression::automatic}) {
      if (c == compression::snappy_blocks && told != c) continue;  // nothing tells it
      for_each_reader("a", told, [&](file_format f, const auto& ds) {
        file_world w;
        w.files->put("a", packed(c, file_bytes(f, compression::none, elements)));
        const outcome whole = run(w.rt, ds);
        CAPTURE(name_of(f), to_string(c), to_string(told), whole.message());
        REQUIRE(whole.why.ok());
        REQUIRE((whole.elements == elements));
        for (std::size_t k = 0; k != whole.places.size(); ++k) {
          iterate_options o;
          o.from = whole.places[k];
          const outcome rest = run(w.rt, ds, o);
          CAPTURE(k, rest.message());
          REQUIRE((rest.elements == texts(elements.begin() + static_cast<std::ptrdiff_t>(k), elements.end())));
        }
      });
    }
}

TEST_CASE("compressed files are read alike behind channels, in interleaves, in small memory and with slow reads") {
  const texts elements = some_elements(400);
  for (compression c : built_in_compressions()) {
    if (c == compression::snappy_blocks) continue;
    for (file_format f : {file_format::lines, file_format::tfrecord}) {
      file_world w(3, c == compression::bzip2 || c == compression::xz ? 48 << 20 : 2 << 20);
      w.files->put("a", packed(c, file_bytes(f, compression::none, elements)) + packed(c, ""));
      if (c == compression::zlib) w.files->put("a", packed(c, file_bytes(f, compression::none, elements)));
      for_each_way(f, "a", [&](const std::string& how, const auto& ds) {
        const outcome got = run(w.rt, ds);
        CAPTURE(name_of(f), to_string(c), how, got.message());
        CHECK(got.why.ok());
        CHECK((got.elements == elements));
      });
    }
  }
}

TEST_CASE(
    "damage, truncation and extra bytes are reported with the file and the compressed byte, after the elements "
    "before") {
  const texts records = some_records(3000, 50);
  for (compression c : built_in_compressions()) {
    file_world w;
    const std::string good = packed(c, framed(records));
    w.files->put("cut", good.substr(0, good.size() - 3));
    auto options = [c] { return tfrecord_options{.compression = c, .read_bytes = 4096}; };
    const outcome cut = run(w.rt, tfrecord("cut", options()));
    CAPTURE(to_string(c), cut.message());
    CHECK(cut.why.code() == status_code::data_loss);
    CHECK(cut.why.where().file == "cut");
    CHECK_THAT(cut.message(), Contains("cut short at compressed byte " + std::to_string(good.size() - 3)));
    CHECK((cut.elements == first_of(records, cut.elements.size())));
    if (c == compression::snappy_blocks) continue;
    w.files->put("followed", good + "something else");
    const outcome followed = run(w.rt, tfrecord("followed", options()));
    CAPTURE(followed.message());
    CHECK(followed.why.code() == status_code::data_loss);
    CHECK((followed.elements == records));
    w.files->put("wrong", framed(records));
    const outcome wrong = run(w.rt, tfrecord("wrong", options()));
    CHECK_THAT(wrong.message(),
               Contains("this is no " + std::string(to_string(c)) + " file") && Contains("(expected "));
  }
}

TEST_CASE(
    "a file that expands too much is an error after the allowed bytes, and the limits do not change a plan's "
    "identity") {
  const std::string zeros(4 << 20, '\n');
  for (compression c : built_in_compressions()) {
    file_world w;
    w.files->put("bomb", packed(c, zeros));
    const outcome by_size = run(
        w.rt, lines("bomb", {.compression = c, .inflated_bytes_max = 5000}) | batch(1000, {.drop_remainder = false}));
    CAPTURE(to_string(c), by_size.message());
    CHECK(by_size.why.code() == status_code::data_loss);
    CHECK_THAT(by_size.message(), Contains("more than 5000 plain bytes, which inflated_bytes_max allows"));
    CHECK(by_size.why.where().file == "bomb");
    CHECK(by_size.elements.size() == 5);
    const outcome by_ratio = run(w.rt, lines("bomb", {.compression = c, .inflate_ratio_max = 2}) | batch(100'000));
    CHECK_THAT(by_ratio.message(), Contains("inflate_ratio_max"));
    const outcome whole = run(w.rt, lines("bomb", {.compression = c, .inflated_bytes_max = 4 << 20}) | batch(1 << 20));
    CHECK(whole.why.ok());
    CHECK(whole.elements.size() == 4);
  }
  const auto plain = lines("a"), limited = lines("a", {.cache = page_cache::direct,
                                                       .inflated_bytes_max = std::int64_t{10} << 30,
                                                       .inflate_ratio_max = 7});
  CHECK(plan_text(*limited.plan()) == R"(lines("a", cache=direct, inflated_bytes_max=10GiB, inflate_ratio_max=7))");
  CHECK(same_plan(*parse_plan(plan_text(*limited.plan())), *limited.plan()));
  CHECK(same_plan(*parse_plan_json(plan_json(*limited.plan())), *limited.plan()));
  CHECK(fingerprint(*plain.plan()) == fingerprint(*limited.plan()));
  CHECK_THROWS_WITH(parse_plan(R"(lines("a", inflate_ratio_max=-1))"), Contains("at least 0"));
  CHECK_THROWS_WITH(parse_plan(R"(lines("a", cache=none))"), Contains("keep, drop or direct"));
}

TEST_CASE("a wrong checksum after an archive's end, or an array's, is damage, after the elements") {
  const std::string member = tar_header_bytes({.name = "one", .size = 5}) + tar_padded("hello");
  const std::string archive = member + std::string(64 << 10, '\0');  // padded, as tapes have it
  std::string head = "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }";
  head.resize(128 - 10 - 1, ' ');
  const std::string array = std::string("\x93NUMPY\x01\x00\x76\x00", 10) + head + '\n' + std::string(12, '\7');
  for (compression c : {compression::gzip, compression::xz}) {
    if (!is_built_in(c)) continue;
    for (const std::string& bytes : {archive, array}) {
      file_world w;
      std::string packed_bytes = packed(c, bytes);
      const std::string suffix = c == compression::gzip ? ".gz" : ".xz";
      w.files->put("good" + suffix, packed_bytes);
      const std::size_t check_at = packed_bytes.size() - (c == compression::gzip ? 8 : 13);
      packed_bytes[check_at] = static_cast<char>(packed_bytes[check_at] ^ 1);
      w.files->put("bad" + suffix, packed_bytes);
      auto read = [&](const std::string& path) {
        if (bytes == array) return run(w.rt, npy(path) | map([](const tensor&) { return std::string("row"); }));
        return run(w.rt, tar(path) | map([](const tar_member& m) { return std::string(m.bytes.view()); }));
      };
      const outcome good = read("good" + suffix), bad = read("bad" + suffix);
      CAPTURE(to_string(c), bytes.size(), good.message(), bad.message());
      CHECK(good.why.ok());
      CHECK(good.elements.size() == (bytes == array ? 3u : 1u));
      CHECK(bad.elements == good.elements);
      CHECK(bad.why.code() == status_code::data_loss);
      CHECK_THAT(bad.message(), Contains("bad"));
    }
  }
}

TEST_CASE("every reader of files has a cache and limits, which are no part of a plan's meaning") {
  for (const char* reader : {"csv(\"a\", \"x: int64\"", "jsonl(\"a\", \"x: int64\"", "npy(\"a\"", "tar(\"a\"",
                             "webdataset(\"a\"", "tfrecord(\"a\"", "zip_members(\"a\""}) {
    const std::string text = std::string(reader) + ", cache=drop, inflated_bytes_max=1GiB, inflate_ratio_max=9)";
    const node_ptr limited = parse_plan(text), plain = parse_plan(std::string(reader) + ")");
    CHECK(plan_text(*limited) == text);
    CHECK(same_plan(*parse_plan_json(plan_json(*limited)), *limited));
    CHECK(fingerprint(*plain) == fingerprint(*limited));
  }
}

TEST_CASE("a window is charged before it is allocated: a file with a window above the budget is refused by name") {
  const texts records = some_records(20'000, 100);
  for (compression c : {compression::xz, compression::bzip2, compression::zstd}) {
    if (!is_built_in(c)) continue;
    file_world small(1, 1 << 20), large(1, 96 << 20);
    const std::string bytes = packed(c, framed(records), 9);
    for (file_world* w : {&small, &large}) w->files->put("a", bytes);
    const outcome refused = run(small.rt, tfrecord("a"));
    CAPTURE(to_string(c), refused.message());
    CHECK(refused.why.code() == status_code::resource_exhausted);
    CHECK_THAT(refused.message(), Contains("one more open compressed file"));
    CHECK(refused.elements.empty());
    CHECK((run(large.rt, tfrecord("a")).elements == records));
    std::size_t peak = 0;
    for (const ledger_line_report& l : large.rt.ledger().report().lines)
      if (l.held_for == purpose::open_file) peak = std::max(peak, l.peak_bytes);
    CHECK(peak > 1 << 20);
  }
}

}  // namespace sluice::lib::compressed_files_test
