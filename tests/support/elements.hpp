// SPDX-License-Identifier: Apache-2.0
// Elements of several kinds that stand for numbers: made of one, and read back as one. What a stage does to integers it has to
// do to texts, to slices of a shared buffer, to what can only be moved, and to what counts its objects.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "sluice/element/slice.hpp"
#include "sluice/element/tensor.hpp"
#include "support/counting_element.hpp"

namespace sluice::lib::test {

struct as_text {
  static constexpr const char* kName = "strings";
  /// Short ones and long ones: within the object, and on the heap.
  static std::string made(std::int64_t x) {
    std::string text = std::to_string(x);
    if (x % 2) text += " and more than a string keeps within itself";
    return text;
  }
  static std::int64_t number(const std::string& s) { return std::atoll(s.c_str()); }
};

struct as_record {
  static constexpr const char* kName = "records";
  static record made(std::int64_t x) { return record(slice::copy_of(std::to_string(x))); }
  static std::int64_t number(const record& r) { return std::atoll(std::string(r.view()).c_str()); }
};

struct as_tensor {
  static constexpr const char* kName = "tensors";
  static tensor made(std::int64_t x) {
    tensor t = tensor::zeros(dtype::float32, {16});
    std::memcpy(t.writable_data(), &x, sizeof x);
    return t;
  }
  static std::int64_t number(const tensor& t) {
    std::int64_t x = 0;
    if (t.values<float>().size() == 16) std::memcpy(&x, t.data(), sizeof x);
    return x;
  }
};

/// At both ends of its bytes; those between are not looked at.
struct as_image {
  static constexpr const char* kName = "images";
  static tensor made(std::int64_t x) {
    tensor t = tensor::make(dtype::uint8, {224, 224, 3});
    std::memcpy(t.writable_data(), &x, sizeof x);
    std::memcpy(t.writable_data() + t.size_bytes() - sizeof x, &x, sizeof x);
    return t;
  }
  static std::int64_t number(const tensor& t) {
    std::int64_t x = 0, end = 0;
    std::memcpy(&x, t.data(), sizeof x);
    std::memcpy(&end, t.data() + t.size_bytes() - sizeof end, sizeof end);
    return x == end && t.spec_text() == "uint8[224,224,3]" ? x : -1;
  }
};

struct as_move_only {
  static constexpr const char* kName = "move-only elements";
  static std::unique_ptr<std::int64_t> made(std::int64_t x) { return std::make_unique<std::int64_t>(x); }
  static std::int64_t number(const std::unique_ptr<std::int64_t>& x) { return *x; }
};

struct as_counting {
  static constexpr const char* kName = "counting elements";
  static counting_element made(std::int64_t x) { return counting_element(x); }
  static std::int64_t number(const counting_element& x) { return x.number(); }
};

}  // namespace sluice::lib::test
