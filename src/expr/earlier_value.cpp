// SPDX-License-Identifier: Apache-2.0
#include "expr/earlier_value.hpp"

#include <cstring>

#include "expr/expression_parts.hpp"

namespace sluice::lib::expressions {
namespace {

/// Texts of parts are compared, so large expressions share nothing.
constexpr std::size_t kSharedNodesMax = 256;

std::size_t nodes_of(const expression_tree& e) {
  std::size_t n = 1;
  for (const expression_tree& part : e.parts) n += nodes_of(part);
  return n;
}

/// A variable has a meaning only within its let(), and random() is another number each time.
bool can_be_shared(const expression_tree& e) {
  if (e.kind == expression_tree::let || (e.kind == expression_tree::call && e.text == "random")) return false;
  for (const expression_tree& part : e.parts)
    if (!can_be_shared(part)) return false;
  return true;
}

bool is_computed(const expression_tree& e) {
  return e.kind == expression_tree::binary || e.kind == expression_tree::unary || e.kind == expression_tree::call;
}

class shared_part final : public computed {
 public:
  shared_part(computed_ptr of, std::size_t variable, std::size_t bit)
      : computed(of->type()), of_(std::move(of)), variable_(variable), bit_(std::uint64_t{1} << bit) {}
  void eval(evaluation& ev, selection s, void* out) const override {
    const std::size_t bytes = type().size;
    if (!(ev.shared() & bit_)) {
      of_->eval(ev, s, out);
      if (ev.is_whole(s)) store(ev, s, static_cast<const char*>(out));
      return;
    }
    const char* all = ev.variables[variable_];
    auto* to = static_cast<char*>(out);
    if (!s.at) std::memcpy(to, all, s.n * bytes);
    else
      for (std::uint32_t i = 0; i != s.n; ++i) std::memcpy(to + i * bytes, all + s.at[i] * bytes, bytes);
  }
  const void* in_place(const evaluation& ev, selection s) const override {
    return !s.at && (ev.shared() & bit_) ? ev.variables[variable_] : nullptr;
  }

 private:
  void store(evaluation& ev, selection s, const char* values) const {
    const std::size_t bytes = type().size;
    char* all = ev.variables[variable_];
    if (!s.at) std::memcpy(all, values, s.n * bytes);
    else
      for (std::uint32_t i = 0; i != s.n; ++i) std::memcpy(all + s.at[i] * bytes, values + i * bytes, bytes);
    ev.set_shared(ev.shared() | bit_);
  }
  computed_ptr of_;
  std::size_t variable_;
  std::uint64_t bit_;
};

}  // namespace

computed_ptr earlier_value::part(const element_type& t, std::size_t offset) const {
  for (const leaf& l : leaves_)
    if (l.offset == offset && l.type == &t) {
      l.is_read = true;
      return std::make_unique<earlier_part>(*this, offset, std::make_unique<variable_part>(t, l.variable));
    }
  std::vector<computed_ptr> parts;
  for (const member& m : t.members) parts.push_back(part(*m.type, offset + m.offset));
  return std::make_unique<earlier_part>(*this, offset, std::make_unique<made_structure>(t, std::move(parts)));
}

computed_ptr part_in_memory(const computed& c, const element_type& t, std::size_t offset) {
  if (auto* p = dynamic_cast<const path*>(&c)) return p->part(t, offset);
  if (auto* p = dynamic_cast<const state_path*>(&c)) return p->part(t, offset);
  if (auto* p = dynamic_cast<const earlier_part*>(&c)) return p->part(t, offset);
  return nullptr;
}

void shared_values::count(const expression_tree& e) {
  if (nodes_of(e) > kSharedNodesMax || !can_be_shared(e)) return;
  auto each = [this](const auto& self, const expression_tree& part) -> void {
    if (is_computed(part)) ++times_[printed(part)];
    for (const expression_tree& inner : part.parts) self(self, inner);
  };
  each(each, e);
}

computed_ptr shared_values::part(const expression_tree& e, computed_ptr c) {
  if (times_.empty() || !is_computed(e) || c->constant() || nodes_of(e) > kSharedNodesMax || !can_be_shared(e))
    return c;
  const std::string text = printed(e);
  const auto times = times_.find(text);
  if (times == times_.end() || times->second < 2) return c;
  auto known = numbers_.find(text);
  if (known == numbers_.end()) {
    if (values_.size() == kMost) return c;
    known = numbers_.emplace(text, std::pair(values_.size(), &c->type())).first;
    values_.push_back({first_ + values_.size(), c->type().size});
  }
  const auto& [number, type] = known->second;
  if (type != &c->type()) return c;
  return std::make_unique<shared_part>(std::move(c), first_ + number, number);
}

}  // namespace sluice::lib::expressions
