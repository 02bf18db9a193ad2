// SPDX-License-Identifier: Apache-2.0
// sluice/dlpack.hpp. What NumPy reads: tests/arrow/pyarrow_test.py
#include "sluice/dlpack.hpp"

#include <array>
#include <cstring>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <catch2/catch.hpp>

namespace sluice::lib::dlpack_test {
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

TEST_CASE("a tensor goes out without a copy: read only, unless it is given away") {
  tensor t = tensor::of(std::vector<float>{1, 2, 3, 4, 5, 6}, {3, 2});
  {
    deleted part(to_dlpack(t[1]));
    CHECK(part.t->flags == DLPACK_FLAG_BITMASK_READ_ONLY);
    CHECK((part->ndim == 1 && part->shape[0] == 2 && part->strides[0] == 1));
    CHECK(part.values<float>() == t[1].values<float>().data());
    CHECK((part->dtype.code == kDLFloat && part->dtype.bits == 32));
    CHECK_FALSE(t.is_writable());
    deleted scalar(to_dlpack(tensor::scalar(bfloat16(1.0f))));
    CHECK((scalar->ndim == 0 && scalar->dtype.code == kDLBfloat && scalar.t->flags == 0));
    deleted none(to_dlpack(tensor::make(dtype::int8, {0, 3})));
    CHECK((none->shape[1] == 3 && none->data != nullptr));
  }
  CHECK(t.is_writable());
  deleted given(to_dlpack(std::move(t)));
  CHECK(given.t->flags == 0);
  CHECK((given->strides[0] == 2 && given->strides[1] == 1));
  CHECK_FALSE(export_tensor(tensor::of(std::vector<std::string>{"a"}), true).ok());
}

namespace {

/// Somebody else's tensor of int16; counts what is deleted.
struct foreign {
  std::vector<std::int64_t> shape, strides;
  std::vector<std::int16_t> values;
  int deletions = 0;

  template <class Tensor> Tensor* made() {
    auto* t = new Tensor{};
    t->dl_tensor.data = values.data();
    t->dl_tensor.device = {kDLCPU, 0};
    t->dl_tensor.ndim = static_cast<std::int32_t>(shape.size());
    t->dl_tensor.dtype = {kDLInt, 16, 1};
    t->dl_tensor.shape = shape.data();
    t->dl_tensor.strides = strides.empty() ? nullptr : strides.data();
    t->manager_ctx = this;
    t->deleter = [](Tensor* self) {
      ++static_cast<foreign*>(self->manager_ctx)->deletions;
      delete self;
    };
    if constexpr (std::is_same_v<Tensor, DLManagedTensorVersioned>) t->version = {1, 0};
    return t;
  }
};
using newer = DLManagedTensorVersioned;
using older = DLManagedTensor;

}  // namespace

TEST_CASE("a foreign tensor is shared, and deleted once, with the last that shares it") {
  foreign f{.shape = {2, 3}, .strides = {}, .values = {1, 2, 3, 4, 5, 6}};
  {
    tensor kept;
    {
      tensor t = from_dlpack(f.made<newer>());
      CHECK(t.spec_text() == "int16[2,3]");
      CHECK(t.values<std::int16_t>().data() == f.values.data());
      CHECK(t.is_writable());
      CHECK(type_of<tensor>().footprint(type_of<tensor>(), &t, 1) == 12);
      type_of<tensor>().compact(type_of<tensor>(), &t, 1);
      CHECK(t.values<std::int16_t>().data() == f.values.data());
      kept = t[1];
      CHECK_FALSE(t.is_writable());
    }
    CHECK(f.deletions == 0);
    CHECK(kept.to_json() == "[4,5,6]");
    deleted again(to_dlpack(kept));  // and out again
    CHECK(again.values<std::int16_t>() == f.values.data() + 3);
    std::thread([last = std::move(kept)] {}).join();
    CHECK(f.deletions == 0);
  }
  CHECK(f.deletions == 1);

  auto* flagged = f.made<newer>();
  flagged->flags = DLPACK_FLAG_BITMASK_READ_ONLY;
  CHECK_FALSE(from_dlpack(flagged).is_writable());
  CHECK_FALSE(from_dlpack(f.made<older>()).is_writable());
  CHECK(f.deletions == 3);
}

TEST_CASE("foreign tensors with gaps, turned round or misaligned are copied") {
  foreign f{.shape = {3, 2}, .strides = {1, 3}, .values = {1, 2, 3, 4, 5, 6}};
  tensor turned = from_dlpack(f.made<newer>());
  CHECK(f.deletions == 1);
  CHECK(turned.to_json() == "[[1,4],[2,5],[3,6]]");
  foreign backwards{.shape = {3}, .strides = {-2}, .values = {1, 2, 3, 4, 5, 6}};
  auto* t = backwards.made<newer>();
  t->dl_tensor.byte_offset = 8;
  CHECK(from_dlpack(t).to_json() == "[5,3,1]");
  foreign odd{.shape = {1}, .strides = {}, .values = {0, 0}};
  t = odd.made<newer>();
  t->dl_tensor.byte_offset = 1;
  CHECK(from_dlpack(t).to_json() == "[0]");
  CHECK(odd.deletions == 1);
  foreign one{.shape = {1, 2, 1}, .strides = {77, 1, 99}, .values = {1, 2}};  // strides of single ones mean nothing
  CHECK(from_dlpack(one.made<newer>()).values<std::int16_t>().data() == one.values.data());
}

TEST_CASE("foreign tensors of unsupported kinds are refused, and deleted") {
  foreign f{.shape = {2}, .strides = {}, .values = {1, 2}};
  int made = 0;
  auto refused = [&](auto change) {
    auto* t = f.made<newer>();
    change(*t);
    auto got = import_tensor(t);
    CHECK(f.deletions == ++made);
    CHECK(got.why().code() == status_code::invalid_argument);
  };
  refused([](newer& t) { t.dl_tensor.device.device_type = static_cast<DLDeviceType>(2); });
  refused([](newer& t) { t.dl_tensor.dtype.lanes = 4; });
  refused([](newer& t) { t.dl_tensor.dtype = {5, 64, 1}; });  // complex
  refused([](newer& t) {
    t.dl_tensor.dtype = {kDLBool, 8, 1};
    t.dl_tensor.data = const_cast<char*>("\x02\x01");
  });
  refused([](newer& t) { t.version.major = 2; });
  refused([](newer& t) { t.dl_tensor.data = nullptr; });
  refused([](newer& t) { t.dl_tensor.ndim = -1; });
  f.shape = {std::int64_t{1} << 40, std::int64_t{1} << 40};
  refused([](newer&) {});
  f.shape = {-1};
  refused([](newer&) {});
  f.shape.assign(9, 1);
  refused([](newer&) {});
}

TEST_CASE("elements that are not numbers cannot become a tensor") {
  batched<pixel> b = pixels(1);
  auto refused = export_tensor(type_of<std::string>(), &b.storage().rows_column().child(4), 0, true);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.why().message().find("not of string") != std::string::npos);
}

}  // namespace sluice::lib::dlpack_test
