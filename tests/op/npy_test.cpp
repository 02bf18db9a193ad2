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
#include "verbs/npy_model.hpp"

namespace sluice::lib::npy_test {
namespace {

using namespace test;
using namespace npy_case;
using Catch::Contains;

nlohmann::json values_of_row(const tensor& row) {
  return row.size() == 0 ? nlohmann::json::array() : nlohmann::json::parse(row.reshape({-1}).to_json());
}

}  // namespace

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

}  // namespace sluice::lib::npy_test
