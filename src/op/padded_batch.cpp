// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/padded_batch.hpp"

#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "element/padding.hpp"
#include "engine/error_gate.hpp"
#include "engine/grouping.hpp"
#include "engine/open_context.hpp"
#include "plan/arguments_of.hpp"
#include "runtime/held_memory.hpp"
#include "sluice/coro/erased_stream.hpp"

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
    double number = 0;  // whether it is a number of the member's type is seen when the plan is made
    codec_of<double>().read(&number, a, r);
    v = pad_value::number(a.text);
  }
  bool equal(const void* a, const void* b) const override { return get(a) == get(b); }
  std::string type_name() const override { return "number or text"; }

 private:
  static const pad_value& get(const void* p) { return *static_cast<const pad_value*>(p); }
};

/// The rows of the next batch, as they come.
class padded_rows {
 public:
  padded_rows(const element_type& row, std::vector<padded_member> members, held_memory& memory)
      : row_(row), members_(std::move(members)), memory_(memory), rows_(row) {}

  std::uint64_t size() const { return rows_.size(); }
  void forget() {
    rows_.clear();
    memory_.shrink_by(memory_.bytes() - room_bytes());
  }
  /// Takes all of `b`. Errors: resource_exhausted.
  status add(block& b) {
    const std::uint32_t n = b.size();
    const std::size_t before = room_bytes(), owned = owned_bytes(b.data(), n);
    const std::size_t doubled = rows_.must_grow(n) ? before + std::max(before, n * row_.size) : 0;
    if (!memory_.has_room_for(memory_.bytes() + owned + doubled))
      return memory_.refused_of(memory_.bytes() + owned + doubled);
    b.move_front(rows_.extend(n), n);
    rows_.add_live(n);
    return memory_.change(owned + room_bytes(), before);
  }
  /// The batch of them; then there are none. Errors: `which` is the row's number.
  status make(batch_storage& made, std::size_t& which) {
    const std::size_t n = rows_.size();
    status why = pad_tensors(members_, rows_.begin(), row_.size, n, which);
    if (!why.ok()) return why;
    why = memory_.resize(room_bytes() + owned_bytes(rows_.begin(), n) * 2);
    if (!why.ok()) return why;
    made.append(row_, rows_.begin(), n);
    rows_.set_live(0, 0);
    const std::size_t bytes = room_bytes() + made.memory_bytes() + padded_bytes(members_, made);
    if (!memory_.has_room_for(bytes)) return memory_.refused_of(bytes);
    why = memory_.resize(bytes);
    if (why.ok()) why = pad_lists(members_, row_, made, which);
    if (why.ok()) why = memory_.resize(room_bytes() + made.memory_bytes());
    return why;
  }
  /// The batch that was made is gone.
  void made_is_gone() { memory_.shrink_by(memory_.bytes() - room_bytes()); }

 private:
  std::size_t room_bytes() const { return rows_.capacity() * row_.size; }
  std::size_t owned_bytes(const char* rows, std::size_t n) const {
    return row_.footprint ? row_.footprint(row_, rows, n) : 0;
  }

  const element_type& row_;
  const std::vector<padded_member> members_;
  held_memory& memory_;
  slab rows_;
};

erased_stream padded_batch_loop(outlet out, erased_stream in, std::vector<padded_member> members, std::uint64_t rows,
                                bool drop_remainder, std::shared_ptr<run_context> run, std::string label) {
  in.may_go_back();
  held_memory memory(std::move(run), purpose::batch, std::move(label), "a batch", "lower its size");
  padded_rows part(in.type(), std::move(members), memory);
  for (bool ended = false; !ended;) {
    auto* to = reinterpret_cast<batch_storage*>(out.room(1));
    part.made_is_gone();
    while (part.size() != rows && !ended) {
      const std::uint64_t passed = out.pass(demand::kAll / rows);
      std::uint64_t rows_to_pass = 0;
      if (passed) {  // whole batches are passed over as rows; what was collected belongs to the first of them
        rows_to_pass = passed * rows - part.size();
        part.forget();
      }
      demand d;
      d.skip = rows_to_pass;
      d.elements = static_cast<std::uint32_t>(std::min(rows - part.size(), grouped_at_once(in.type())));
      auto b = co_await in.next_block(d);
      if (!b) {
        ended = true;
        const std::uint64_t gone = passed * rows - (passed ? in.skip_left() : 0);
        const std::uint64_t whole = drop_remainder ? gone / rows : (gone + rows - 1) / rows;
        out.unpass(passed - std::min(passed, whole));
        continue;
      }
      status fits = part.add(b);
      if (!fits.ok()) co_await fail(std::move(fits));
    }
    if (part.size() == 0 || (ended && drop_remainder)) break;
    const std::uint64_t begin = in.consumed() - part.size();
    std::size_t which = 0;
    batch_storage made;
    status why = part.make(made, which);
    if (!why.ok()) {
      status told = why.code() == status_code::invalid_argument ? why.in_stage(memory.label(), begin + which)
                                                                : why.in_stage(memory.label());
      co_await fail(std::move(told));
    }
    ::new (static_cast<void*>(to)) batch_storage(std::move(made));
    in.hold_from(in.consumed());
    co_yield out.made(1);
  }
}

/// The members that are padded, with what the arguments say of them. Errors: empty, with the reason in `why`.
std::vector<padded_member> members_of(const node& n, std::string& why) {
  auto& o = n.as<padded_batch_arguments>().options;
  std::vector<padded_member> all = padded_members(*n.inputs[0]->type);
  auto named = [&](const std::string& path, const char* where) -> padded_member* {
    for (auto& m : all)
      if (m.path == path) return &m;
    why = std::string(where) + " names " + path + ", and ";
    if (all.empty()) why += n.inputs[0]->type->name + " has no lists of numbers or texts, and no tensors";
    else
      for (auto& m : all) why += (&m == all.data() ? "what is padded is " : ", ") + m.path;
    return nullptr;
  };
  for (auto& [path, dims] : o.shapes) {
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
  for (auto& [path, value] : o.values) {
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

erased_stream open_padded_batch(const node& n, open_context& context) {
  auto& a = n.as<padded_batch_arguments>();
  outlet out(*n.type);
  std::string why;
  std::vector<padded_member> members = members_of(n, why);
  erased_stream in = context.open(n.inputs[0]);
  std::string label = context.gate(n).label();
  return padded_batch_loop(out, std::move(in), std::move(members), static_cast<std::uint64_t>(a.size.value),
                           a.options.drop_remainder, context.run, std::move(label));
}

const element_type* padded_type(const node& n, std::string& why) {
  members_of(n, why);
  if (!why.empty()) return nullptr;
  const element_type* t = batched_of(n.inputs[0]->type);
  if (!t)
    why = "rows of " + n.inputs[0]->type->name +
          " cannot be stacked (numbers, texts, tensors, arrays and structs of them can)";
  return t;
}

}  // namespace

template <> const codec& codec_of<pad_value>() {
  static const pad_value_codec c;
  return c;
}

std::string pad_value::spelled(double number) {
  char text[32];
  char* end = std::to_chars(text, text + sizeof text, number).ptr;
  return {text, end};
}

const op_info padded_batch_op{
    .name = "padded_batch",
    .doc = "n elements become one, lists and tensors as long as the longest",
    .arguments = arguments_of<padded_batch_arguments>,
    .type = padded_type,
    .open = open_padded_batch,
    .size =
        [](const node& n) {
          auto& a = n.as<padded_batch_arguments>();
          return cardinality_of(*n.inputs[0]).in_groups(a.size, a.options.drop_remainder);
        },
};

padded_batch_verb padded_batch(count size, padded_batch_options o) {
  return padded_batch_verb(padded_batch_arguments{std::move(size), std::move(o)});
}

}  // namespace sluice::lib
