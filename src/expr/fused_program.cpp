// SPDX-License-Identifier: Apache-2.0
#include "expr/fused_program.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "expr/checking/checker.hpp"
#include "expr/column_parts.hpp"
#include "expr/earlier_value.hpp"
#include "expr/expression_parts.hpp"
#include "expr/vectorised.hpp"

namespace sluice::lib {

using expressions::computed;
using expressions::earlier_value;
using expressions::evaluation;
using expressions::selection;

struct fused_program::step {
  bool is_filter = false;
  expressions::computed_ptr root;
  /// The numbers of the root's value, in the order of value->leaves(); empty: a filter.
  struct leaf {
    const computed* part;
    bool may_fail;
  };
  std::vector<leaf> leaves;
  std::unique_ptr<earlier_value> value;
  const earlier_value* element = nullptr;  ///< the element of this program; null: in memory
  expressions::computed_ptr whole;         ///< the value, built from its leaves, if it is the last one
};

fused_program::fused_program() = default;
fused_program::~fused_program() = default;

namespace {

/// Adds the numbers that `c` consists of. Returns false if it has other parts.
bool add_leaves(const computed& c, std::size_t offset, std::vector<const computed*>& parts,
                std::vector<earlier_value::leaf>& leaves) {
  if (expressions::is_number(c.type())) {
    parts.push_back(&c);
    leaves.push_back({offset, &c.type(), 0});
    return true;
  }
  auto* made = dynamic_cast<const expressions::made_structure*>(&c);
  if (!made) return false;
  for (std::size_t k = 0; k != made->parts().size(); ++k)
    if (!add_leaves(*made->parts()[k], offset + c.type().members[k].offset, parts, leaves)) return false;
  return true;
}

/// Returns true if the part needs no computation, so that it cannot fail.
bool is_stored(const computed& c) {
  return dynamic_cast<const expressions::path*>(&c) || dynamic_cast<const expressions::earlier_part*>(&c) ||
         c.constant();
}

std::uint32_t count_of(const bool* yes, std::uint32_t n) {
  std::uint32_t kept = 0;
  vectorised([&]() SLUICE_VECTORISED {
    for (std::uint32_t i = 0; i != n; ++i) kept += yes[i];
  });
  return kept;
}

/// Moves the registers whose answer is yes to the front. Without a branch, because answers are hard to predict.
template <class T> void move_up(char* registers, const bool* yes, std::uint32_t n) {
  auto* all = reinterpret_cast<T*>(registers);
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i != n; ++i) {
    all[kept] = all[i];
    kept += yes[i];
  }
}
void move_up(char* registers, std::size_t bytes, const bool* yes, std::uint32_t n) {
  switch (bytes) {
    case 1: return move_up<std::uint8_t>(registers, yes, n);
    case 2: return move_up<std::uint16_t>(registers, yes, n);
    case 4: return move_up<std::uint32_t>(registers, yes, n);
    default: return move_up<std::uint64_t>(registers, yes, n);
  }
}

}  // namespace

std::unique_ptr<const fused_program> fused_program::make(std::span<const fused_part> parts, callables& functions,
                                                         bool from_columns) {
  std::unique_ptr<fused_program> p(new fused_program);
  p->in_ = parts.front().in;
  p->shared_ = std::make_unique<expressions::shared_values>(0);
  p->variables_ = expressions::shared_values::kMost;
  bool is_new_element = true;
  for (std::size_t k = 0; k != parts.size(); ++k) {
    if (is_new_element) {
      p->shared_->forget();
      for (std::size_t i = k; i != parts.size(); ++i) {
        p->shared_->count(parts[i].text->tree());
        if (!parts[i].is_filter) break;
      }
    }
    if (!p->add(parts[k], functions, from_columns, k + 1 == parts.size())) return nullptr;
    is_new_element = !parts[k].is_filter;
  }
  if (!p->out_ && from_columns) {
    p->out_ = p->in_;
    p->element_ = std::make_unique<expressions::path>(std::make_shared<std::vector<expressions::path*>>(), *p->in_, 0);
  }
  if (!p->out_) return nullptr;
  for (std::size_t k = parts.size(); k-- != 0 && parts[k].is_filter;) {
    step* before = k != 0 ? p->steps_[k - 1].get() : nullptr;
    if (before && before->value) before->whole = before->value->part(before->root->type(), 0);
  }
  return p;
}

bool fused_program::add(const fused_part& part, callables& functions, bool from_columns, bool is_last) {
  auto s = std::make_unique<step>();
  s->is_filter = part.is_filter;
  for (const auto& earlier : steps_)
    if (earlier->value) s->element = earlier->value.get();
  expression_scope scope{
      .is_condition = part.is_filter, .earlier = s->element, .shared = shared_.get(), .first_variable = variables_};
  expressions::checker check(*part.in, functions, scope);
  const expression_tree& tree = part.text->tree();
  s->root = part.wanted ? check.make(tree, *part.wanted) : check.make(tree);
  if (part.is_filter) s->root = expressions::checker::as_condition(std::move(s->root));
  variables_ = check.variables();
  if (!check.has_light_members() || (from_columns && !check.reads_columns())) return false;
  if (!part.is_filter) {
    std::vector<earlier_value::leaf> leaves;
    std::vector<const computed*> numbers;
    const bool has_leaves = add_leaves(*s->root, 0, numbers, leaves) && !leaves.empty();
    if (!has_leaves && !is_last) return false;
    out_ = &s->root->type();
    if (!is_last) {
      for (earlier_value::leaf& l : leaves) l.variable = variables_++;
      for (const computed* c : numbers) s->leaves.push_back({c, check.may_fail(tree) && !is_stored(*c)});
      s->value = std::make_unique<earlier_value>(std::move(leaves));
    }
  }
  steps_.push_back(std::move(s));
  return true;
}

std::unique_ptr<evaluation> fused_program::make_room() const {
  auto room = std::make_unique<evaluation>(*in_, 0);
  room->variables.resize(variables_);
  return room;
}

template <class Start>
bool fused_program::compute_chunks(evaluation& ev, std::uint32_t n, void* to, std::span<const program_place> places,
                                   std::uint32_t* kept, Start start) const {
  auto* next = static_cast<char*>(to);
  try {
    for (std::uint32_t first = 0; first != n;) {
      const std::uint32_t some = std::min(n - first, expressions::kChunk);
      start(first, some);
      next += compute_chunk(ev, first, some, next, places, kept) * out_->size;
      first += some;
    }
  } catch (...) {  // computed again by each program, which reports what is wrong
    const auto made = static_cast<std::size_t>(next - static_cast<char*>(to)) / out_->size;
    if (!out_->trivially_destroyed) out_->destroy(*out_, to, made);
    return false;
  }
  return true;
}

bool fused_program::compute(evaluation& ev, const void* elements, std::uint32_t n, void* to,
                            std::span<const program_place> places, std::uint32_t* kept) const {
  auto* from = const_cast<char*>(static_cast<const char*>(elements));  // only read
  return compute_chunks(ev, n, to, places, kept,
                        [&](std::uint32_t first, std::uint32_t some) { ev.start(from + first * in_->size, some, 0); });
}

bool fused_program::compute(evaluation& ev, const column_view& rows, void* to, std::span<const program_place> places,
                            std::uint32_t* kept) const {
  return compute_chunks(ev, rows.n, to, places, kept, [&](std::uint32_t first, std::uint32_t some) {
    ev.start_rows(*rows.all, rows.first + first, some, 0);
  });
}

/// Returns the elements for which the filter's condition holds. If they are registers, these are moved to the front.
selection fused_program::filtered(const step& s, evaluation& ev, selection all) const {
  bool* yes = ev.room_for<bool>(all.n);
  s.root->eval(ev, all, yes);
  std::uint32_t kept = 0;
  if (!s.element) {
    auto* at = ev.room_for<std::uint32_t>(all.n);
    for (std::uint32_t i = 0; i != all.n; ++i) {
      at[kept] = all.element(i);
      kept += yes[i];
    }
    return {at, kept};
  }
  kept = count_of(yes, all.n);
  if (kept == all.n) return all;
  for (const earlier_value::leaf& l : s.element->leaves())
    if (l.is_read) move_up(ev.variables[l.variable], l.type->size, yes, all.n);
  for (std::size_t k = 0; k != shared_->all().size(); ++k)
    if (ev.shared() >> k & 1) move_up(ev.variables[shared_->all()[k].variable], shared_->all()[k].bytes, yes, all.n);
  return {nullptr, kept};
}

std::uint32_t fused_program::compute_chunk(evaluation& ev, std::uint32_t first, std::uint32_t n, char* to,
                                           std::span<const program_place> places, std::uint32_t* kept) const {
  evaluation::scratch here(ev);
  for (const auto& v : shared_->all()) ev.variables[v.variable] = static_cast<char*>(ev.room(n * v.bytes));
  selection all{nullptr, n};
  const earlier_value* value = nullptr;
  for (std::size_t k = 0; k != steps_.size() && all.n != 0; ++k) {
    const step& s = *steps_[k];
    ev.begin_program(all, places[k].ordinal + first, places[k].seed);
    if (s.is_filter) {
      all = filtered(s, ev, all);
      kept[k] += all.n;
      continue;
    }
    const bool is_last = k + 1 == steps_.size();
    if (is_last) {
      s.root->build(ev, all, to, out_->size);
      return all.n;
    }
    for (std::size_t l = 0; l != s.leaves.size(); ++l) {
      const earlier_value::leaf& leaf = s.value->leaves()[l];
      if (!leaf.is_read && !s.leaves[l].may_fail) continue;
      auto* registers = static_cast<char*>(ev.room(all.n * leaf.type->size));
      s.leaves[l].part->eval(ev, all, registers);
      ev.variables[leaf.variable] = registers;
    }
    ev.set_shared(0);
    all = {nullptr, all.n};
    value = s.value.get();
  }
  if (all.n == 0) return 0;
  if (element_) element_->build(ev, all, to, out_->size);
  if (element_) return all.n;
  for (std::size_t k = steps_.size(); k-- != 0;) {
    if (steps_[k]->value.get() != value) continue;
    steps_[k]->whole->build(ev, all, to, out_->size);
    break;
  }
  return all.n;
}

}  // namespace sluice::lib
