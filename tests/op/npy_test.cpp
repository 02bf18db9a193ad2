// SPDX-License-Identifier: Apache-2.0
// sluice/op/npy.hpp, src/format/npy_rows.hpp
#include "sluice/op/npy.hpp"

#include <fstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "format/npy_rows.hpp"
#include "sluice/sluice.hpp"
#include "support/file_case.hpp"
#include "support/op_conformance.hpp"
#include "support/printed_run.hpp"
#include "verbs/npy_model.hpp"

namespace sluice::lib::npy_test {
namespace {

using namespace test;
using namespace npy_case;
using Catch::Contains;

std::string refused_head(const std::string& bytes) {
  npy_head h;
  npy_scan s = read_npy_head(bytes, h);
  if (s.used_bytes) return "";
  return s.why.ok() ? "more" : std::string(s.why.message());
}
std::string refused_dict(const std::string& dict) { return refused_head(npy_header(dict)); }

nlohmann::json values_of_row(const tensor& row) {
  return row.size() == 0 ? nlohmann::json::array() : nlohmann::json::parse(row.reshape({-1}).to_json());
}

}  // namespace

TEST_CASE("npy prints as text, and is read again") {
  round_trips(*npy("a.npy").plan(), "npy(\"a.npy\")");
  round_trips(*(list_files("a-*") | flat_map(npy)).plan(), "list_files(\"a-*\") | flat_map(npy)");
}

TEST_CASE("files that NumPy has written give their rows") {
  std::ifstream in("tests/golden/npy/expected.json");
  const auto expected = nlohmann::json::parse(in);
  runtime rt({.workers = 1});
  auto read_all = [](runtime& on, const std::string path, std::vector<tensor>& to) -> task<void> {
    auto s = npy(path).iterate(on);
    while (auto row = co_await s.next()) to.push_back(*row);
  };
  for (const auto& [name, file] : expected["files"].items()) {
    std::vector<tensor> rows;
    sync_wait(rt, read_all(rt, "tests/golden/npy/" + name + ".npy", rows));
    CAPTURE(name);
    REQUIRE(rows.size() == file["rows"].size());
    for (std::size_t i = 0; i != rows.size(); ++i) {
      CHECK(rows[i].spec_text() == file["spec"].get<std::string>());
      if (name == "bytes") continue;  // one is not UTF-8
      const bool is_same = values_of_row(rows[i]) == file["rows"][i];
      CHECK(is_same);
    }
    if (name == "bytes") CHECK(rows[1].text(1) == "\xFF");
  }
}

TEST_CASE("hostile headers are refused, and no memory is allocated for their sizes") {
  auto refused = [](const std::string& said, const std::string& words) { CHECK_THAT(said, Contains(words)); };
  const std::string tail = ", 'fortran_order': False, 'shape': (2, 3), }";
  CHECK(refused_dict("{'descr': '<f4'" + tail).empty());
  CHECK(refused_dict("{\"shape\":(2L,),'fortran_order':True,'descr':'=i8'}").empty());
  refused(refused_head("PK\x03\x04"), "does not begin with");
  CHECK(refused_head("\x93NUM") == "more");
  CHECK(refused_head(npy_header("{'descr': '<f4'" + tail).substr(0, 60)) == "more");
  refused(refused_head(std::string("\x93NUMPY\x07\x00\x10\x00", 10)), "version 7");
  refused(refused_head(std::string("\x93NUMPY\x02\x00\xFF\xFF\xFF\xFF", 12)), "its header has 4294967295 bytes");
  refused(refused_dict("{'descr': '|O'" + tail), "the dtype '|O' is not read");
  refused(refused_dict("{'descr': '<c8'" + tail), "the dtype '<c8' is not read");
  refused(refused_dict("{'descr': '<f3'" + tail), "is not read");
  refused(refused_dict("{'descr': '<U99999999999'" + tail), "is not read");
  refused(refused_dict("{'descr': [('x', '<f4')]" + tail), "rows with fields");
  refused(refused_dict("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }"), "Fortran order");
  refused(refused_dict("{'descr': '<f4', 'fortran_order': False, 'shape': (), }"), "a single value");
  refused(refused_dict("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 0), }"), "no elements");
  refused(refused_dict("{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 2), }"), "no such dimension");
  refused(refused_dict("{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1), }"),
          "more than 9 dimensions");
  refused(refused_dict("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 4611686018427387904), }"), "2^63");
  refused(refused_dict("{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 2), }"),
          "larger than any file");
  refused(refused_dict("{'descr': '<f4', 'shape': (2, 3), }"), "lacks descr, fortran_order or shape");
  refused(refused_dict("{'descr': '<f4'" + tail + "import os"), "text follows");
  refused(refused_dict("{'more': 1" + tail), "has the key more");
  refused(refused_dict("{'descr': '<f4' 'fortran_order'"), "a comma is missing");

  temporary_file large("large.npy",
                       npy_header("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 1099511627776), }") + "xyz");
  CHECK_THAT(run_of(npy(large.path()).plan()).end, Contains("3 of 3 are missing") && Contains("large.npy"));
}

TEST_CASE("a file that is cut short gives its whole rows, then an error; under skip it ends") {
  const std::string whole =
      npy_header("{'descr': '|u1', 'fortran_order': False, 'shape': (4, 2), }") + std::string(8, 'a');
  for (std::size_t missing : {1, 2, 3, 8}) {
    temporary_file file("cut.npy", whole.substr(0, whole.size() - missing));
    auto plan = npy(file.path()).plan();
    auto stopped = run_of(plan), skipped = run_of(plan, error_policy::skip);
    CHECK(stopped.elements.size() == (8 - missing) / 2);
    CHECK_THAT(stopped.end, Contains("data_loss") && Contains("are missing"));
    CHECK(skipped.elements == stopped.elements);
    CHECK(skipped.end == "end");
  }
}

}  // namespace sluice::lib::npy_test
