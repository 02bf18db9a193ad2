// SPDX-License-Identifier: Apache-2.0
#include "engine/batching/padded_rows.hpp"

#include <charconv>
#include <utility>

#include "sluice/element/ragged_tensor.hpp"
#include "sluice/element/sparse_tensor.hpp"
#include "sluice/element/tensor.hpp"

namespace sluice::lib {

namespace {

class pad_value_codec final : public codec {
 public:
  void print(const void* p, printer& to) const override {
    if (get(p).is_text()) to.text(get(p).text());
    else to.plain(get(p).text());
  }
  void read(void* p, const argument& a, reading& r) const override {
    auto& v = *static_cast<pad_value*>(p);
    if (is_text_argument(a)) {
      v = pad_value(text_of(a));
      return;
    }
    double number = 0;  // construction of the plan has checked that the member's type can store it
    codec_of<double>().read(&number, a, r);
    v = pad_value::number(a.text);
  }
  bool equal(const void* a, const void* b) const override { return get(a) == get(b); }
  std::string type_name() const override { return "number or text"; }

 private:
  static const pad_value& get(const void* p) { return *static_cast<const pad_value*>(p); }
};

}  // namespace

std::string pad_value::spelled(double number) {
  char text[32];
  char* end = std::to_chars(text, text + sizeof text, number).ptr;
  return {text, end};
}

template <> const codec& codec_of<pad_value>() {
  static const pad_value_codec c;
  return c;
}

namespace {

/// Returns why elements of this type cannot be padded; "" if they can. Sparse and ragged members of a structure stay as
/// they are, beside others that are padded.
std::string without_a_length(const element_type& t) {
  const bool is_sparse = &t == &type_of<sparse_tensor>();
  if (!is_sparse && &t != &type_of<ragged_tensor>()) return {};
  return "a " + t.name + " cannot be padded: to_dense(it) or to_tensor(it) in a map makes a tensor of it, and " +
         (is_sparse ? "sparse_batch" : "ragged_batch") + " keeps it";
}

}  // namespace

std::vector<padded_member> padded_members(const element_type& row, const member_map<std::vector<std::int64_t>>& shapes,
                                          const member_map<pad_value>& values, std::string& why) {
  if (std::string found = without_a_length(row); !found.empty())
    return why = std::move(found), std::vector<padded_member>();
  std::vector<padded_member> all = padded_members(row);
  auto named = [&](const std::string& path, const char* where) -> padded_member* {
    for (auto& m : all)
      if (m.path == path) return &m;
    why = std::string(where) + " names " + path + ", and ";
    if (all.empty()) why += row.name + " has no lists of numbers or texts, and no tensors";
    else
      for (auto& m : all) why += (&m == all.data() ? "what is padded is " : ", ") + m.path;
    return nullptr;
  };
  for (auto& [path, dims] : shapes) {
    padded_member* m = named(path, "shapes");
    if (!m) return {};
    m->dims = dims;
    for (std::int64_t d : dims)
      if (d < -1)
        return why = "shapes: a length is at least 0, or -1, and one of " + path + " is " + std::to_string(d), all;
    if (dims.size() > tensor::kRankMax || (!m->is_tensor() && dims.size() != m->rank()))
      return why = "shapes has " + std::to_string(dims.size()) + " lengths for " + path + ", which is " + m->type->name,
             all;
  }
  for (auto& [path, value] : values) {
    padded_member* m = named(path, "values");
    if (!m) return {};
    m->spelled = value.text();
    m->is_text = value.is_text();
    m->is_given = true;
    const element_type* leaf = m->type;
    while (leaf->kind == kind::list) leaf = leaf->element;
    if (!m->is_tensor() && !m->value.set(*dtype_of(*leaf), m->spelled, m->is_text))
      return why = "values: " + (m->is_text ? "\"" + m->spelled + "\"" : m->spelled) + " is no " + leaf->name +
                   ", as " + path + " has",
             all;
  }
  return all;
}

namespace {

constexpr std::size_t kPaddedBytesMax = ~std::size_t{0} >> 4;  // far beyond the memory of any machine

/// Builds a batch of rows that are lists of numbers, and consumes them.
status make_batch_of_lists(const padded_member& m, slab& rows, held_memory& memory, batch_storage& made,
                           std::size_t& made_bytes, std::size_t& which) {
  const std::size_t n = rows.size(), before = memory.bytes();
  std::size_t length = 0;
  status why = padded_length(m, rows.begin(), n, length, which);
  if (!why.ok()) return why;
  std::size_t padded = 0;
  if (__builtin_mul_overflow(n * m.type->element->size, length, &padded) || padded > kPaddedBytesMax)
    return memory.refused();
  const std::size_t bytes = before + m.type->footprint(*m.type, rows.begin(), n) + padded;
  if (!memory.has_room_for(bytes)) return memory.refused_of(bytes);
  why = memory.resize(bytes);
  if (why.ok()) why = append_padded(m, rows.begin(), n, length, made);
  if (!why.ok()) return why;
  rows.clear();
  made_bytes = made.memory_bytes();
  return memory.resize(before + made_bytes);
}

}  // namespace

status make_padded_batch(const std::vector<padded_member>& members, slab& rows, held_memory& memory,
                         batch_storage& made, std::size_t& made_bytes, std::size_t& which) {
  const element_type& row = rows.type();
  const std::size_t n = rows.size(), before = memory.bytes();
  if (are_number_lists(members, row)) return make_batch_of_lists(members[0], rows, memory, made, made_bytes, which);
  // The padded tensors may be much larger than the input's.
  const std::size_t padded = padded_tensor_bytes(members, rows.begin(), row.size, n);
  if (!memory.has_room_for(padded > ~std::size_t{0} - before ? padded : before + padded))
    return memory.refused_of(padded > ~std::size_t{0} - before ? padded : before + padded);
  status why = memory.resize(before + padded);
  if (why.ok()) why = pad_tensors(members, rows.begin(), row.size, n, which);
  if (!why.ok()) return why;
  const std::size_t owned = row.footprint ? row.footprint(row, rows.begin(), n) : 0;
  const std::size_t foreseen = before + owned * 2 + n * row.size;
  if (!memory.has_room_for(foreseen)) return memory.refused_of(foreseen);
  why = memory.resize(foreseen);
  if (!why.ok()) return why;
  made.append(row, rows.begin(), n);
  rows.set_live(0, 0);
  const std::size_t bytes = before + made.memory_bytes() + padded_bytes(members, made);
  if (!memory.has_room_for(bytes)) return memory.refused_of(bytes);
  why = memory.resize(bytes);
  if (why.ok()) why = pad_lists(members, row, made, which);
  made_bytes = made.memory_bytes();
  if (why.ok()) why = memory.resize(before + made_bytes);
  return why;
}

status padded_batch_maker::make(slab& rows, held_memory& memory, void* to, std::size_t& made_bytes,
                                std::size_t& which) {
  batch_storage made;
  status why = make_padded_batch(members_, rows, memory, made, made_bytes, which);
  if (why.ok()) ::new (to) batch_storage(std::move(made));
  return why;
}

}  // namespace sluice::lib
