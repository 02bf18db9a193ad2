// SPDX-License-Identifier: Apache-2.0
// sluice/dlpack.hpp. What NumPy reads: tests/arrow/pyarrow_test.py
#include "sluice/dlpack.hpp"

#include <array>
#include <cstring>
#include <string>
#include <thread>

#include <catch2/catch.hpp>

namespace sluice::lib {
namespace {

enum class colour : std::uint16_t { red = 3, green = 500 };

struct pixel {
  std::array<std::array<float, 3>, 2> values{};
  std::int64_t label = 0;
  bool flag = false;
  colour tint = colour::red;
  std::string text;
};

batched<pixel> pixels(int n) {
  batched<pixel> b;
  for (int i = 0; i != n; ++i) {
    pixel p;
    for (int k = 0; k != 6; ++k)
      p.values[static_cast<std::size_t>(k / 3)][static_cast<std::size_t>(k % 3)] = static_cast<float>(10 * i + k);
    p.label = i;
    p.flag = i % 2 == 1;
    p.tint = i % 2 ? colour::green : colour::red;
    p.text = "x";
    b.push_back(std::move(p));
  }
  return b;
}

struct deleted {
  DLManagedTensorVersioned* t;
  explicit deleted(DLManagedTensorVersioned* made) : t(made) {}
  deleted(const deleted&) = delete;
  deleted& operator=(const deleted&) = delete;
  ~deleted() { t->deleter(t); }
  DLTensor* operator->() const { return &t->dl_tensor; }
  template <class U> const U* values() const {
    return reinterpret_cast<const U*>(static_cast<const char*>(t->dl_tensor.data) + t->dl_tensor.byte_offset);
  }
};

}  // namespace

TEST_CASE("a column of numbers is a tensor over the same memory") {
  batched<pixel> b = pixels(5);
  const batched<pixel>& constant = b;
  deleted values(to_dlpack(b, &pixel::values)), read_only(to_dlpack(constant, &pixel::label));
  CHECK(values.t->version.major == 1);
  CHECK(values.t->flags == 0);
  CHECK(read_only.t->flags == DLPACK_FLAG_BITMASK_READ_ONLY);
  REQUIRE(values->ndim == 3);
  CHECK((values->shape[0] == 5 && values->shape[1] == 2 && values->shape[2] == 3));
  CHECK((values->strides[0] == 6 && values->strides[1] == 3 && values->strides[2] == 1));
  CHECK((values->dtype.code == kDLFloat && values->dtype.bits == 32 && values->dtype.lanes == 1));
  CHECK((values->device.device_type == kDLCPU && values->device.device_id == 0));
  CHECK(values->byte_offset == 0);
  CHECK(values->data == b.storage().rows_column().child(0).plain_values());
  CHECK(values.values<float>()[6 * 3 + 4] == 34);
  CHECK((read_only->dtype.code == kDLInt && read_only->dtype.bits == 64));
  deleted flags(to_dlpack(b, &pixel::flag)), tints(to_dlpack(b, &pixel::tint));
  CHECK((flags->dtype.code == kDLBool && flags->dtype.bits == 8));
  CHECK((tints->dtype.code == kDLUInt && tints->dtype.bits == 16));
  CHECK(tints.values<std::uint16_t>()[1] == 500);
}

TEST_CASE("rows that unbatch took are not in the tensor, and a batch without rows is an empty one") {
  batched<pixel> b = pixels(5);
  b.storage().drop_front(2);
  deleted values(to_dlpack(b, &pixel::values)), labels(to_dlpack(b, &pixel::label));
  CHECK((values->shape[0] == 3 && labels->shape[0] == 3));
  CHECK((values->byte_offset == 48 && labels->byte_offset == 16));
  CHECK(values.values<float>()[0] == 20);
  CHECK(labels.values<std::int64_t>()[2] == 4);
  batched<double> none;
  deleted empty(to_dlpack(none));
  CHECK((empty->ndim == 1 && empty->shape[0] == 0 && empty->data != nullptr));
}

TEST_CASE("a tensor keeps its memory when the batch is gone, and is deleted on any thread") {
  DLManagedTensorVersioned* t = nullptr;
  DLManagedTensor* old = nullptr;
  buffer* bytes = nullptr;
  {
    batched<std::array<std::int16_t, 2>> b;
    for (std::int16_t i = 0; i != 1000; ++i) b.push_back({i, static_cast<std::int16_t>(-i)});
    bytes = b.storage().rows_column().child(0).main_buffer();
    t = to_dlpack(b);
    old = to_old_dlpack(b);
  }
  CHECK_FALSE(bytes->unshared());
  std::thread([&] { old->deleter(old); }).join();
  CHECK(bytes->unshared());
  CHECK(static_cast<const std::int16_t*>(t->dl_tensor.data)[2 * 999 + 1] == -999);
  bytes->add_references(1);
  std::thread([&] { t->deleter(t); }).join();
  CHECK(bytes->unshared());
  bytes->drop_references(1);
}

TEST_CASE("what is not made of numbers is no tensor") {
  batched<pixel> b = pixels(1);
  auto refused = export_tensor(type_of<std::string>(), &b.storage().rows_column().child(4), 0, true);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.why().message().find("not of string") != std::string::npos);
}

}  // namespace sluice::lib
