// SPDX-License-Identifier: Apache-2.0
// A sketch of bucketing, to prove that engine/held/held_elements.hpp serves it: elements wait in a bucket each, by a key, and leave
// it together. The operator is in no registry: scoped_operators puts it in force.
//
//   scoped_operators known(operators_with_buckets());
//   dataset<std::string> ds = in | in_buckets<std::string>(key, 3, 4);
//
// Order:  the elements of a bucket, in the input's order, once there are `size` of them; at the input's end those of each bucket
//         that are left, the lowest bucket first.
// Owns:   (size - 1) · buckets elements.
// State:  the ordinals of the elements in each bucket, which bucket is being given out, and how far the input has come.
#pragma once

#include <cstdint>
#include <functional>

#include "sluice/plan/dataset.hpp"

namespace sluice::lib::test {

/// Which bucket an element is for: its remainder by their number.
struct bucket_key : stage_function {
  std::function<std::int64_t(const void*)> of;
};

std::span<const op_info* const> operators_with_buckets();
node_ptr make_buckets(const node_ptr& in, std::shared_ptr<bucket_key> key, std::int64_t buckets, std::int64_t size);

template <class T> class bucket_stage : public stage_base_tag {
 public:
  bucket_stage(std::int64_t (*key)(const T&), std::int64_t buckets, std::int64_t size)
      : key_(std::make_shared<bucket_key>()), buckets_(buckets), size_(size) {
    key_->name = "key";
    key_->in = &type_of<T>();
    key_->out = &type_of<std::int64_t>();
    key_->of = [key](const void* x) { return key(*static_cast<const T*>(x)); };
  }
  dataset<T> apply(const dataset<T>& in) const { return dataset<T>(make_buckets(in.plan(), key_, buckets_, size_)); }

 private:
  std::shared_ptr<bucket_key> key_;
  std::int64_t buckets_, size_;
};
template <class T> bucket_stage<T> in_buckets(std::int64_t (*key)(const T&), std::int64_t buckets, std::int64_t size) {
  return {key, buckets, size};
}

}  // namespace sluice::lib::test
