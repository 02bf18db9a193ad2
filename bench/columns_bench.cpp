// SPDX-License-Identifier: Apache-2.0
// Plans that read three of twenty columns, or one element of a hundred, with the rules of the optimizer and without.
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "bench/harness.hpp"
#include "sluice/pipeline/write.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::bench {
namespace {

constexpr std::uint32_t kBlock = 256;
constexpr std::int64_t kRows = 40'000;

/// A folder that is removed with this object.
class data_folder {
 public:
  data_folder() : path_(std::filesystem::temp_directory_path() / ("sluice_columns_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~data_folder() { std::filesystem::remove_all(path_); }
  data_folder(const data_folder&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::string written(const std::string& name, const std::string& plan) const {
    sync_wait(all_workers(), write(all_workers(), parse_plan(plan), file(name)));
    return file(name);
  }

 private:
  std::filesystem::path path_;
};

/// Twenty members: five whole numbers, five real numbers, five short texts, and five lists or texts of a line.
std::string wide_rows(bool has_lists) {
  std::string members;
  for (int k = 0; k != 5; ++k) {
    const std::string n = std::to_string(k), x = "(it * " + std::to_string(7919 + k) + " % 100003)";
    members += (k ? ", " : "") + ("n" + n) + ": " + x + ", x" + n + ": double(" + x + ") / 1000.0, s" + n +
               ": string(" + x + "), t" + n + ": " +
               (has_lists && k < 3 ? "[float(it), 0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5]"
                                   : "\"a text of about fifty characters with the number \" + string(" + x + ")");
  }
  return "range(" + std::to_string(kRows) + ") | map({" + members + "})";
}

std::string schema(const char* whole, const char* real, const char* text, const char* list) {
  std::string out;
  for (int k = 0; k != 5; ++k) {
    const std::string n = std::to_string(k);
    out += (k ? ", " : "") + ("n" + n) + ": " + whole + ", x" + n + ": " + real + ", s" + n + ": " + text + ", t" + n +
           ": " + (k < 3 ? list : text);
  }
  return out;
}

workload drained(const std::string& plan, std::int64_t elements) {
  const dataset<std::int64_t> ds(parse_plan(plan));
  return [ds, elements] { return drain(ds, kBlock, static_cast<double>(elements)); };
}

/// Returns how many times faster a plan of int64 runs with its rules.
samples gain(const std::string& plan, const std::string& options, std::int64_t elements) {
  return compare(drained(plan + options, elements), drained(plan + " | with_options(optimize=false)", elements))
      .speedup();
}

constexpr const char* kTrusted = " | with_options(trust=true)";

void columns_of_examples(report& r) {
  const data_folder folder;
  const std::string path = folder.written("a.tfrecord", wide_rows(true));
  const std::string plan = "tfrecord(\"" + path + "\") | parse_example(\"" +
                           schema("int64", "float", "bytes", "float[8]") + "\") | map(n0 + int(x1) + length(s2))";
  r.at_least("parse_example: three of twenty columns", "as written", gain(plan, "", kRows), 3, "x");
  r.at_least("parse_example: three of twenty columns, trusted", "as written", gain(plan, kTrusted, kRows), 3, "x");
}
SLUICE_BENCH(columns_of_examples);

void columns_of_csv(report& r) {
  const data_folder folder;
  const std::string path = folder.written("a.csv", wide_rows(false));
  const std::string plan = "csv(\"" + path + "\", \"" + schema("int64", "double", "bytes", "bytes") +
                           "\", header=true) | map(n0 + int(x1) + length(s2))";
  r.at_least("csv: three of twenty columns", "as written", gain(plan, "", kRows), 1.5, "x");
  r.at_least("csv: three of twenty columns, trusted", "as written", gain(plan, kTrusted, kRows), 3, "x");
  const std::string few = "csv(\"" + path + "\", \"" + schema("int64", "double", "bytes", "bytes") +
                          "\", header=true) | filter(n0 % 100 == 0) | map(n0 + int(x1))";
  r.at_least("csv: a filter that keeps 1 %", "as written", gain(few, "", kRows), 4, "x");
  r.at_least("csv: a filter that keeps 1 %, trusted", "as written", gain(few, kTrusted, kRows), 4, "x");
}
SLUICE_BENCH(columns_of_csv);

void columns_of_json(report& r) {
  const data_folder folder;
  const std::string path = folder.written("a.jsonl", wide_rows(false));
  const std::string plan = "jsonl(\"" + path + "\", \"" + schema("int64", "double", "string", "string") +
                           "\") | map(n0 + int(x1) + length(s2))";
  r.at_least("jsonl: three of twenty columns", "as written", gain(plan, "", kRows), 1, "x");
  r.at_least("jsonl: three of twenty columns, trusted", "as written", gain(plan, kTrusted, kRows), 1, "x");
}
SLUICE_BENCH(columns_of_json);

void columns_of_arrow(report& r) {
  const data_folder folder;
  const std::string path = folder.written("a.arrow", wide_rows(true) + " | batch(4096)");
  const std::string plan = "from_arrow(\"" + path + "\") | unbatch() | map(n0 + int(x1) + length(s2))";
  r.at_least("from_arrow: three of twenty columns", "as written", gain(plan, "", kRows), 5, "x");
  r.at_least("from_arrow: three of twenty columns, trusted", "as written", gain(plan, kTrusted, kRows), 5, "x");
}
SLUICE_BENCH(columns_of_arrow);

void filter_in_source(report& r) {
  constexpr std::int64_t kRecords = 4096, kRecordBytes = 64 << 10;
  const data_folder folder;
  const std::string path = folder.file("a.bin");
  std::ofstream out(path, std::ios::binary);
  const std::string record(kRecordBytes, 'x');
  for (std::int64_t i = 0; i != kRecords; ++i) out << record;
  out.close();
  r.at_least(
      "fixed_length: 1 % of records of 64 KiB", "as written",
      gain("fixed_length(\"" + path + "\", record_bytes=65536) | filter(random() < 0.01, seed=7) | map(length(it))", "",
           kRecords),
      20, "x");
}
SLUICE_BENCH(filter_in_source);

}  // namespace
}  // namespace sluice::lib::bench
