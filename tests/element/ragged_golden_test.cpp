// SPDX-License-Identifier: Apache-2.0
// Ragged and sparse tensors against what TensorFlow answers (tests/golden/make_golden_ragged.py).
#include <catch2/catch.hpp>

#include <fstream>
#include <string>
#include <vector>

#include "sluice/element/ragged_tensor.hpp"
#include "sluice/element/sparse_tensor.hpp"
#include "sluice/element/value.hpp"
#include "support/tensors.hpp"

namespace sluice::lib::ragged_golden_test {
using namespace sluice::lib::test;

namespace {

template <class T> T read(const std::string& json) {
  return value_from_json(type_of<T>(), json).value().template as<T>();
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> out(1);
  for (char c : line) {
    if (c == '\t') out.emplace_back();
    else out.back() += c;
  }
  return out;
}

struct flat_and_splits {
  dims values{};
  std::vector<dims> row_splits{};
};

std::string json(const dims& d) { return value::of(d).print(); }
tensor default_of(std::int64_t n) { return tensor::scalar(n); }

sparse_tensor sparse_of(const std::string& json) {
  struct parts {
    std::vector<dims> indices{};
    dims values{}, dense_shape{};
  };
  auto p = read<parts>(json);
  dims flat;
  for (const dims& index : p.indices) flat.insert(flat.end(), index.begin(), index.end());
  return {
      tensor::of(flat, {static_cast<std::int64_t>(p.values.size()), static_cast<std::int64_t>(p.dense_shape.size())}),
      tensor::of(p.values), p.dense_shape};
}

template <class Lists> void check_ragged(const std::vector<std::string>& f) {
  const ragged_tensor r = ragged_tensor::of(read<Lists>(f[1]));
  CHECK(value::of(r).print() == f[2]);
  CHECK(r.to_tensor().to_json() == f[3]);
  CHECK(r.to_tensor(default_of(-9)).to_json() == f[4]);
  CHECK(json(r.bounding_shape()) == f[5]);
  CHECK(r.to_sparse() == sparse_of(f[6]));
}

}  // namespace

TEST_CASE("ragged and sparse tensors convert to each other as in TensorFlow") {
  std::ifstream in("tests/golden/ragged.tsv");
  std::size_t cases = 0;
  for (std::string line; std::getline(in, line); ++cases) {
    CAPTURE(line);
    const std::vector<std::string> f = fields_of(line);
    if (f[0] == "ragged") {
      const bool is_deep = read<flat_and_splits>(f[2]).row_splits.size() == 2;
      if (is_deep) check_ragged<std::vector<std::vector<dims>>>(f);
      else check_ragged<std::vector<dims>>(f);
    } else if (f[0] == "stack") {
      std::vector<ragged_tensor> rows;
      for (auto& nest : read<std::vector<std::vector<dims>>>(f[1])) rows.push_back(ragged_tensor::of(nest));
      CHECK(value::of(stacked(rows)).print() == f[2]);
    } else {
      const auto matrix = read<std::vector<dims>>(f[1]);
      const sparse_tensor wanted = sparse_of(f[2]), mixed = sparse_of(f[3]);
      dims flat;
      for (const dims& row : matrix) flat.insert(flat.end(), row.begin(), row.end());
      CHECK(sparse_tensor::of(tensor::of(flat, wanted.dense_shape)) == wanted);
      CHECK(mixed.check().ok());
      CHECK(mixed.ordered() == sparse_of(f[4]));
      CHECK(mixed.to_dense() == wanted.to_dense());
      CHECK(wanted.to_dense(default_of(5)).to_json() == f[5]);
    }
  }
  CHECK(cases == 400);
}

}  // namespace sluice::lib::ragged_golden_test
