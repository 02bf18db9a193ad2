// SPDX-License-Identifier: Apache-2.0
#include "sluice/engine/tensor_data.hpp"

#include <cstring>
#include <new>

#include "element/path.hpp"
#include "engine/data/tensor_literal.hpp"
#include "sluice/base/content_hash.hpp"
#include "sluice/element/structure.hpp"

namespace sluice::lib {

namespace {

[[noreturn]] void refuse_data(const std::string& why) { throw_status(invalid_argument_error(why)); }

/// Returns the element type of a single value of a plain tensor.
const element_type& plain_type(dtype d) {
  switch (d) {
    case dtype::int64: return type_of<std::int64_t>();
    case dtype::float64: return type_of<double>();
    case dtype::boolean: return type_of<bool>();
    case dtype::string: return type_of<std::string>();
    default: refuse_data("values of " + std::string(name_of(d)) + " are no plain numbers: they are tensors");
  }
}

/// Returns the type of a leaf as an element of `rank` dimensions.
const element_type& leaf_type(const tensor_leaf& leaf, std::size_t rank) {
  return leaf.is_plain && rank == 0 ? plain_type(leaf.values.dtype()) : type_of<tensor>();
}

void put_value(const tensor& t, std::size_t i, void* to) {
  switch (t.dtype()) {
    case dtype::boolean: ::new (to) bool(t.values<bool>()[i]); return;
    case dtype::string: ::new (to) std::string(t.text(i)); return;
    default: std::memcpy(to, t.data() + 8 * i, 8);  // plain_type() has no others
  }
}

/// Builds the nest with other leaves. Returns the same nest if no leaf changes.
class nest_builder {
 public:
  nest_builder(const std::vector<tensor_leaf>& leaves, std::size_t fewer, std::vector<std::size_t>& at)
      : leaves_(leaves), fewer_(fewer), at_(at) {}

  const element_type* of(const element_type& nest) {
    if (!nest.has_members()) {
      const tensor_leaf& leaf = leaves_.at(next_++);
      return &leaf_type(leaf, leaf.values.rank() - fewer_);
    }
    std::vector<member> members;
    bool is_same = true;
    for (const member& m : nest.members) {
      const element_type* t = of(*m.type);
      is_same = is_same && t == m.type;
      members.push_back({m.name, 0, t});
    }
    if (is_same) return &nest;
    if (nest.kind == kind::structure) return struct_of("", std::move(members));
    std::vector<const element_type*> parts;
    for (const member& m : members) parts.push_back(m.type);
    return nest.kind == kind::pair ? pair_of(parts[0], parts[1]) : tuple_of(parts);
  }
  void note_places(const element_type& made, std::size_t offset = 0) {
    if (!made.has_members()) return at_.push_back(offset);
    for (const member& m : made.members) note_places(*m.type, offset + m.offset);
  }

 private:
  const std::vector<tensor_leaf>& leaves_;
  std::size_t fewer_, next_ = 0;
  std::vector<std::size_t>& at_;
};

/// Returns why tensors have no slices; "" if they have.
std::string why_no_slices(const element_type& nest, const std::vector<tensor_leaf>& leaves) {
  const std::vector<std::string> paths = leaf_paths(nest);
  auto shown = [&](std::size_t k) {
    return (paths[k].empty() ? "" : paths[k] + " of ") + leaves[k].values.spec_text();
  };
  for (std::size_t k = 0; k != leaves.size(); ++k) {
    if (leaves[k].values.rank() == 0) return "slices need a first dimension, and " + shown(k) + " has none";
    if (leaves[k].values.shape()[0] != leaves[0].values.shape()[0])
      return "the first dimensions differ: " + shown(0) + ", and " + shown(k);
  }
  return leaves.empty() ? "a value without a tensor in it has no slices" : "";
}

}  // namespace

tensor_data::tensor_data(const element_type& nest, std::vector<tensor_leaf> leaves) : leaves_(std::move(leaves)) {
  nest_builder wholes(leaves_, 0, whole_at_);
  whole_ = wholes.of(nest);
  wholes.note_places(*whole_);
  no_slices_ = why_no_slices(nest, leaves_);
  if (no_slices_.empty()) {
    nest_builder rows(leaves_, 1, slice_at_);
    slice_ = rows.of(nest);
    rows.note_places(*slice_);
    slices_ = static_cast<std::uint64_t>(leaves_[0].values.shape()[0]);
  }
  std::size_t bytes = 0;
  for (const tensor_leaf& leaf : leaves_) bytes += leaf.values.size_bytes() + leaf.values.size();
  if (bytes > kTensorTextBytesMax) return;
  name = detail::tensor_literal(nest, leaves_);
  is_expression = !name.empty();
}

const element_type* tensor_data::slice_type(std::string& why) const {
  why = no_slices_;
  return slice_;
}

void tensor_data::make_whole(void* to) const {
  for (std::size_t k = 0; k != leaves_.size(); ++k) {
    const tensor_leaf& leaf = leaves_[k];
    void* at = static_cast<char*>(to) + whole_at_[k];
    if (leaf.is_plain && leaf.values.rank() == 0) put_value(leaf.values, 0, at);
    else ::new (at) tensor(leaf.values);
  }
}

void tensor_data::make_slices(std::uint64_t first, std::size_t n, void* to) const {
  for (std::size_t k = 0; k != leaves_.size(); ++k) {
    const tensor_leaf& leaf = leaves_[k];
    char* at = static_cast<char*>(to) + slice_at_[k];
    const bool is_value = leaf.is_plain && leaf.values.rank() == 1;
    for (std::uint64_t i = first; i != first + n; ++i, at += slice_->size) {
      if (is_value) put_value(leaf.values, i, at);
      else ::new (static_cast<void*>(at)) tensor(leaf.values[static_cast<std::int64_t>(i)]);
    }
  }
}

std::uint64_t tensor_data::values() const {
  std::call_once(hashed_, [this] {  // only a checkpoint needs the hash
    detail::content_hasher h;
    for (const tensor_leaf& leaf : leaves_) {
      h.word(leaf.values.hash());
      h.word(leaf.is_plain);
    }
    hash_ = h.value();
  });
  return hash_;
}

namespace detail {

tensor_data_arg tensor_data_of(const value& whole) {
  std::vector<tensor_leaf> leaves;
  for (value& v : flatten(whole)) {
    if (auto* t = v.get<tensor>()) leaves.push_back({std::move(*t), false});
    else if (auto* text = v.get<std::string>()) leaves.push_back({tensor::scalar(std::string_view(*text)), true});
    else if (auto* b = v.get<bool>()) leaves.push_back({tensor::scalar(*b), true});
    else if (auto* d = v.get<double>()) leaves.push_back({tensor::scalar(*d), true});
    else leaves.push_back({tensor::scalar(v.as<std::int64_t>()), true});
  }
  return {std::make_shared<tensor_data>(whole.type(), std::move(leaves))};
}

tensor_data_arg tensor_data_of(tensor t, dtype of_values) {
  if (t.dtype() != of_values)
    refuse_data("from_tensor_slices: values of " + std::string(name_of(of_values)) + " of a tensor of " +
                t.spec_text());
  std::vector<tensor_leaf> leaves;
  leaves.push_back({std::move(t), true});
  return {std::make_shared<tensor_data>(type_of<tensor>(), std::move(leaves))};
}

}  // namespace detail

}  // namespace sluice::lib
