// SPDX-License-Identifier: Apache-2.0
// Tensors among values: bytes, order, hash and specs.
#include <compare>

#include <catch2/catch.hpp>

#include "sluice/base/random_bits.hpp"
#include "sluice/element/serialise.hpp"
#include "sluice/element/spec.hpp"
#include "sluice/element/tensor.hpp"
#include "sluice/element/value.hpp"

namespace sluice::lib::tensor_value_test {

namespace {

struct sample {
  tensor image;
  std::vector<tensor> crops;
  std::int64_t label = 0;
};

tensor random_tensor(random_source& random) {
  auto d = static_cast<dtype>(random.below(kDtypes));
  std::vector<std::int64_t> dims;
  for (auto k = random.below(4); k != 0; --k) dims.push_back(static_cast<std::int64_t>(random.below(4)));
  tensor_shape shape(dims);
  if (d == dtype::string) {
    std::vector<std::string> texts(tensor_spec{d, shape}.elements());
    for (auto& t : texts) t = std::string(random.below(5), static_cast<char>('a' + random.below(26)));
    return tensor::of(texts, shape);
  }
  tensor t = tensor::zeros(d, shape);
  for (std::size_t i = 0; i != t.size_bytes(); ++i)
    t.writable_data()[i] = static_cast<char>(d == dtype::boolean ? random.below(2) : random());
  return t;
}

sample random_sample(std::uint64_t seed) {
  random_source random(seed);
  sample s{random_tensor(random), {}, static_cast<std::int64_t>(random())};
  for (auto k = random.below(3); k != 0; --k) s.crops.push_back(random_tensor(random));
  return s;
}

}  // namespace

TEST_CASE("nests with tensors are the same after bytes") {
  for (std::uint64_t seed = 0; seed != 500; ++seed) {
    INFO("seed " << seed);
    value v = value::of(random_sample(seed));
    auto back = parse_value(serialise(v));
    REQUIRE(back.ok());
    CHECK(*back == v);
    CHECK(back->hash() == v.hash());
    CHECK(std::is_eq(*back <=> v));
    value other = value::of(random_sample(seed + 1000));
    CHECK(std::is_neq(other <=> v));
    CHECK(std::is_lt(other <=> v) == std::is_gt(v <=> other));
  }
}

TEST_CASE("a byte changed or cut anywhere in a tensor's bytes is an error or another value") {
  for (std::uint64_t seed = 0; seed != 20; ++seed) {
    value v = value::of(random_sample(seed));
    const std::string bytes = serialise(v);
    std::string bare;
    serialise_bare(v.type(), v.data(), bare);
    for (std::size_t i = 0; i != bytes.size(); ++i) {
      CHECK(!parse_value(std::string_view(bytes).substr(0, i)).ok());
      std::string changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ 0x41);
      CHECK(!parse_value(changed).ok());
    }
    // Without the checksum, which would hide what the reader does with it.
    for (std::size_t i = 0; i != bare.size(); ++i)
      for (int bit : {0x01, 0x40, 0x80}) {
        std::string changed = bare;
        changed[i] = static_cast<char>(changed[i] ^ bit);
        auto read = parse_bare(v.type(), changed);
        if (read.ok()) CHECK(!(*read == v));
      }
  }
}

TEST_CASE("the spec of a tensor is its dtype and shape") {
  sample s{tensor::zeros(dtype::uint8, {4, 5, 3}),
           {tensor::zeros(dtype::float32, {2, 3}), tensor::zeros(dtype::float32, {7, 3})},
           1};
  CHECK(spec_of(value::of(s)).text() == "{image: uint8[4,5,3], crops: float32[2,?,3], label: int64}");
  CHECK(spec_of(type_of<sample>()).text().find("image: any") != std::string::npos);
}

}  // namespace sluice::lib::tensor_value_test
