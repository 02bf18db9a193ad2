// SPDX-License-Identifier: Apache-2.0
// Every input that fuzzing has kept, and every one that once found something, run once.
#include <catch2/catch.hpp>

#include <filesystem>
#include <set>

#include "fuzz/corpus.hpp"
#include "fuzz/target.hpp"

namespace sluice::lib::corpus_test {

namespace {

namespace fs = std::filesystem;

void replay(const fuzz::target& t) {
  std::size_t inputs = 0;
  for (auto& file : fuzz::corpus_files(t)) {
    INFO(file.string());
    CHECK_NOTHROW(t.run(fuzz::content(file)));
    ++inputs;
  }
  CHECK(inputs >= 5);
}

}  // namespace

TEST_CASE("every fuzz target accepts the empty input, and inputs of one byte") {
  for (auto& t : fuzz::targets()) {
    INFO(t.name);
    CHECK_NOTHROW(t.run(""));
    for (int b = 0; b != 256; ++b) CHECK_NOTHROW(t.run(std::string(1, static_cast<char>(b))));
  }
}

TEST_CASE("every folder of the corpus belongs to a target, and the other way round") {
  std::set<std::string> folders, names;
  for (auto& entry : fs::directory_iterator(fuzz::corpus())) folders.insert(entry.path().filename().string());
  for (auto& t : fuzz::targets()) names.emplace(t.name);
  CHECK(folders == names);
}

TEST_CASE("the corpus of arrow_stream holds") { replay(*fuzz::find_target("arrow_stream")); }
TEST_CASE("the corpus of tfrecord holds") { replay(*fuzz::find_target("tfrecord")); }
TEST_CASE("the corpus of csv holds") { replay(*fuzz::find_target("csv")); }
TEST_CASE("the corpus of jsonl holds") { replay(*fuzz::find_target("jsonl")); }
TEST_CASE("the corpus of npy holds") { replay(*fuzz::find_target("npy")); }
TEST_CASE("the corpus of lines holds") { replay(*fuzz::find_target("lines")); }
TEST_CASE("the corpus of fixed_length holds") { replay(*fuzz::find_target("fixed_length")); }
TEST_CASE("the corpus of inflate holds") { replay(*fuzz::find_target("inflate")); }
TEST_CASE("the corpus of example holds") { replay(*fuzz::find_target("example")); }
TEST_CASE("the corpus of example_layout holds") { replay(*fuzz::find_target("example_layout")); }
TEST_CASE("the corpus of example_json holds") { replay(*fuzz::find_target("example_json")); }
TEST_CASE("the corpus of sequence_example holds") { replay(*fuzz::find_target("sequence_example")); }
TEST_CASE("the corpus of plan_text holds") { replay(*fuzz::find_target("plan_text")); }
TEST_CASE("the corpus of plan_json holds") { replay(*fuzz::find_target("plan_json")); }
TEST_CASE("the corpus of checkpoint holds") { replay(*fuzz::find_target("checkpoint")); }
TEST_CASE("the corpus of value holds") { replay(*fuzz::find_target("value")); }
TEST_CASE("the corpus of bmp holds") { replay(*fuzz::find_target("bmp")); }
TEST_CASE("the corpus of gif holds") { replay(*fuzz::find_target("gif")); }
TEST_CASE("the corpus of store_answers holds") { replay(*fuzz::find_target("store_answers")); }
TEST_CASE("the corpus of http holds") { replay(*fuzz::find_target("http")); }
TEST_CASE("the corpus of image_transform holds") { replay(*fuzz::find_target("image_transform")); }
TEST_CASE("the corpus of jpeg holds") { replay(*fuzz::find_target("jpeg")); }
TEST_CASE("the corpus of paths holds") { replay(*fuzz::find_target("paths")); }
TEST_CASE("the corpus of png holds") { replay(*fuzz::find_target("png")); }
TEST_CASE("the corpus of wav holds") { replay(*fuzz::find_target("wav")); }
TEST_CASE("the corpus of webp holds") { replay(*fuzz::find_target("webp")); }
TEST_CASE("the corpus of zip holds") { replay(*fuzz::find_target("zip")); }
TEST_CASE("the corpus of array_record holds") { replay(*fuzz::find_target("array_record")); }
TEST_CASE("the corpus of bagz holds") { replay(*fuzz::find_target("bagz")); }
TEST_CASE("the corpus of mds holds") { replay(*fuzz::find_target("mds")); }
TEST_CASE("the corpus of parquet holds") { replay(*fuzz::find_target("parquet")); }

}  // namespace sluice::lib::corpus_test
