// SPDX-License-Identifier: Apache-2.0
// What pyarrow_test.py calls by ctypes: random batches and runs as the C structs, and a reader of what Python exports. Every
// function returns JSON, or "error: …"; the text is valid until the next call.
#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arrow/ipc_stream.hpp"
#include "arrow/random_columns.hpp"
#include "sluice/arrow.hpp"
#include "sluice/dlpack.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::test::python_shim {

/// What the test knows the values of.
struct post {
  std::string text;
  std::int64_t label = 0;
  std::vector<std::int32_t> tags;
  std::optional<double> weight;
  bool flag = false;
  std::array<float, 2> place{};
  std::optional<std::string> note;
};

post make_post(std::int64_t i) {
  post p;
  p.text = "post " + std::to_string(i);
  p.label = i;
  for (std::int64_t k = 0; k != i % 3; ++k) p.tags.push_back(static_cast<std::int32_t>(10 * i + k));
  if (i % 2) p.weight = static_cast<double>(i) / 4;
  p.flag = i % 5 == 0;
  p.place = {static_cast<float>(i), static_cast<float>(-i)};
  if (i % 4 == 1) p.note = "ä" + std::to_string(i);
  return p;
}

/// Rows as numbers and arrays of them.
struct tensors {
  std::array<std::array<float, 3>, 2> values{};
  std::int64_t label = 0;
  std::uint8_t byte = 0;
  bool flag = false;
};

struct labelled {
  tensor image;
  std::int64_t label = 0;
};

/// 0, 1, 2 …; of bools their last bits.
tensor counted(dtype d, const tensor_shape& shape) {
  tensor t = tensor::zeros(d, shape);
  for (std::size_t i = 0; i != t.size(); ++i) {
    switch (d) {
      case dtype::uint8: t.writable<std::uint8_t>()[i] = static_cast<std::uint8_t>(i); break;
      case dtype::int64: t.writable<std::int64_t>()[i] = static_cast<std::int64_t>(i); break;
      case dtype::float16: t.writable<float16>()[i] = float16(static_cast<float>(i)); break;
      case dtype::float64: t.writable<double>()[i] = static_cast<double>(i); break;
      default: t.writable<bool>()[i] = i % 2 == 1;
    }
  }
  return t;
}

const char* said(std::string text) {
  static std::string kept;
  kept = std::move(text);
  return kept.c_str();
}

template <class F> const char* answer(F f) {
  try {
    return said(f());
  } catch (const std::exception& e) { return said(std::string("error: ") + e.what()); }
}

void check_ok(const status& s) {
  if (!s.ok()) throw_status(s);
}

batched<tensors> some_tensors(std::int64_t n) {
  batched<tensors> b;
  for (std::int64_t i = 0; i != n; ++i) {
    tensors t;
    for (std::size_t k = 0; k != 6; ++k) t.values[k / 3][k % 3] = static_cast<float>(10 * i) + static_cast<float>(k);
    t.label = -i;
    t.byte = static_cast<std::uint8_t>(i);
    t.flag = i % 2 == 1;
    b.push_back(t);
  }
  return b;
}

template <class T> task<std::vector<std::string>> printed(stream<T> s) {
  std::vector<std::string> all;
  while (auto* x = co_await s.next()) {
    std::string text;
    print(type_of<T>(), x, text);
    all.push_back(std::move(text));
  }
  co_return all;
}

/// An array around another: counts its releases.
std::atomic<int> released{0};

void count_releases(ArrowArray* array) {
  auto* inner = new ArrowArray(*array);
  array->private_data = inner;
  array->release = [](ArrowArray* a) {
    auto* of = static_cast<ArrowArray*>(a->private_data);
    of->release(of);
    delete of;
    a->release = nullptr;
    ++released;
  };
}

}  // namespace sluice::lib::test::python_shim

using namespace sluice::lib;
using namespace sluice::lib::test;
using namespace sluice::lib::test::python_shim;

#define SHIM extern "C" __attribute__((visibility("default")))

/// The random batch of this seed.
SHIM const char* shim_random(std::uint64_t seed, ArrowSchema* schema, ArrowArray* array) {
  return answer([&] {
    random_columns random(seed);
    const element_type& row = random.row_type();
    batch_storage b = random.batch(row);
    check_ok(export_schema(row, schema));
    check_ok(export_rows(b, row, array));
    count_releases(array);
    return json_of(b, row);
  });
}

/// Reads an array of the type of this seed, and releases both.
SHIM const char* shim_read(std::uint64_t seed, ArrowSchema* schema, ArrowArray* array) {
  return answer([&] {
    random_columns random(seed);
    const element_type& row = random.row_type();
    batch_storage b;
    status s = append_arrow_rows(b, row, *schema, *array);
    schema->release(schema);
    array->release(array);
    check_ok(s);
    return json_of(b, row);
  });
}

/// A run of n posts; its runtime lives as long as the stream.
SHIM const char* shim_stream(std::int64_t n, std::int64_t rows, std::int64_t fails_at, ArrowArrayStream* out) {
  return answer([&] {
    auto make = [fails_at](std::int64_t i) {
      if (i == fails_at) throw_status(data_loss_error("post " + std::to_string(i) + " is damaged"));
      return make_post(i);
    };
    auto rt = std::make_shared<runtime>(runtime_options{.workers = 2});
    check_ok(export_stream(rt, range(n) | map(make) | batch(rows) | prefetch(2), out));
    return std::string("ok");
  });
}

/// Reads a foreign stream of posts to its end, on threads for blocking calls: the batches' JSON, a line each.
SHIM const char* shim_read_stream(ArrowArrayStream* in) {
  return answer([&] {
    runtime rt({.workers = 2});
    auto posts = from_arrow<post>(in, {.threads = &rt.blocking_calls()}) | prefetch(2);
    std::string text;
    for (auto& line : sync_wait(rt, printed(posts.iterate(rt)))) text += line + "\n";
    return text;
  });
}

/// A column of n rows without the first `gone`: 0 values, 1 label, 2 byte, 3 flag.
SHIM void* shim_tensor(int which, std::int64_t n, std::int64_t gone, int constant) {
  batched<tensors> b = some_tensors(n);
  b.storage().drop_front(static_cast<std::size_t>(gone));
  auto column = [&](auto member) {
    const batched<tensors>& c = b;
    return constant ? to_dlpack(c, member) : to_dlpack(b, member);
  };
  switch (which) {
    case 0: return column(&tensors::values);
    case 1: return column(&tensors::label);
    case 2: return column(&tensors::byte);
    default: return column(&tensors::flag);
  }
}

SHIM void* shim_old_tensor(std::int64_t n) {
  batched<tensors> b = some_tensors(n);
  return to_old_dlpack(b, &tensors::values);
}

/// A tensor of ours, given away (then it may be written to) or not: 0 .. 23 in the shape [2, 3, 4]; the part `part` of it, if
/// not negative.
SHIM void* shim_own_tensor(const char* name, std::int64_t part, int given) {
  tensor t = counted(*dtype_named(name), {2, 3, 4});
  if (part >= 0) t = t[part];
  return given ? to_dlpack(std::move(t)) : to_dlpack(t);
}

/// Ten images with their labels, without the first `gone`.
SHIM const char* shim_images(const char* name, std::int64_t gone, ArrowArray* array, ArrowSchema* schema) {
  return answer([&] {
    const tensor all = counted(*dtype_named(name), {10, 2, 3});
    batched<labelled> b;
    for (std::int64_t i = 0; i != 10; ++i) b.push_back({all[i], i});
    b.storage().drop_front(static_cast<std::size_t>(gone));
    check_ok(export_batch(b, array, schema));
    return std::string("ok");
  });
}

/// Takes what NumPy exports, and says what it is: "float32[2,3] writable [[…]]".
SHIM const char* shim_take_tensor(void* t, int versioned) {
  return answer([&] {
    tensor got = versioned ? from_dlpack(static_cast<DLManagedTensorVersioned*>(t))
                           : from_dlpack(static_cast<DLManagedTensor*>(t));
    return got.spec_text() + (got.is_writable() ? " writable " : " fixed ") + got.to_json();
  });
}

/// For whom Python's capsule was not taken by anybody.
SHIM void shim_delete_tensor(void* t) {
  auto* tensor = static_cast<DLManagedTensorVersioned*>(t);
  tensor->deleter(tensor);
}

/// How many arrays of shim_random have been released.
SHIM int shim_released() { return released; }

/// A stream of random batches, by length and place, until the next call; their JSON is the answer, a line each.
SHIM const char* shim_write_ipc(std::uint64_t seed, const char** bytes, std::uint64_t* size) {
  return answer([&] {
    static std::string kept;
    const element_type* row = nullptr;
    auto batches = random_batches(seed, row);
    kept = ipc_of(batches, *row);
    *bytes = kept.data();
    *size = kept.size();
    std::string all;
    for (auto& b : batches) all += json_of(b, *row) + "\n";
    return all;
  });
}

/// A stream whose rows are those of this seed's.
SHIM const char* shim_read_ipc(std::uint64_t seed, const char* bytes, std::uint64_t size) {
  return answer([&] {
    const element_type* row = nullptr;
    random_batches(seed, row);
    auto read = read_ipc({bytes, size}, *row);
    check_ok(read.why);
    std::string all;
    for (auto& b : read.batches) all += b + "\n";
    return all;
  });
}
