// SPDX-License-Identifier: Apache-2.0
#include "expr/checking/call_arguments.hpp"
#include "expr/checking/type_limits.hpp"

#include "absl/strings/str_cat.h"
#include "base/text/closest.hpp"
#include "expr/default_options.hpp"
#include "expr/expression_parts.hpp"

namespace sluice::lib::expressions {
namespace {

/// A value that all elements share.
class default_value final : public computed {
 public:
  default_value(const element_type& t, const char* value) : computed(t), value_(value) {}
  void eval(evaluation&, selection s, void* out) const override { load(type(), value_, 0, s, out); }
  void build(evaluation&, selection s, char* to, std::size_t stride) const override {
    type().copy(type(), to, value_, s.n, stride, 0);
  }

 private:
  const char* value_;
};

bool is_several(const element_type& in) { return in.kind == kind::pair || in.kind == kind::tuple; }

}  // namespace

call_arguments::call_arguments(const expression_tree& call, const callable& f)
    : call_(call), in_(f.in()), options_(options_in(f.in())), fixed_(options_ ? in_.members.size() - 1 : 0) {
  while (by_position_ != call.parts.size() && !is_named(by_position_)) ++by_position_;
}

std::size_t call_arguments::member_named(std::string_view name) const {
  for (std::size_t i = 0; i != options_->members.size(); ++i)
    if (options_->members[i].name == name) return i;
  return kNone;
}

std::size_t call_arguments::option(std::size_t k) const {
  if (!options_ || k < fixed_) return kNone;
  const std::size_t i = is_named(k) ? member_named(call_.names[k]) : k - fixed_;
  return i < options_->members.size() ? i : kNone;
}

const element_type* call_arguments::type(std::size_t k) const {
  if (options_) {
    if (k < fixed_) return is_named(k) ? nullptr : in_.members[k].type;
    const std::size_t i = option(k);
    return i == kNone ? nullptr : options_->members[i].type;
  }
  const std::size_t n = call_.parts.size();
  if (n == 1) return &in_;
  return is_several(in_) && in_.members.size() == n ? in_.members[k].type : nullptr;
}

bool call_arguments::accepted() const {
  const std::size_t n = call_.parts.size();
  if (!options_) return by_position_ == n && (n == 1 || (is_several(in_) && in_.members.size() == n));
  if (by_position_ < fixed_) return false;
  return why_not().empty() && by_position_ - fixed_ <= options_->members.size();
}

std::string call_arguments::why_not() const {
  for (std::size_t k = by_position_; k != call_.parts.size(); ++k) {
    const std::string& name = call_.names[k];
    if (!options_)
      return absl::StrCat("has no arguments by name, and gets ", name, "=; to compare, write ", name,
                          " == ", shown(call_.parts[k]));
    const std::size_t i = member_named(name);
    if (i == kNone) {
      std::vector<std::string> known;
      std::string list;
      for (auto& m : options_->members) {
        known.push_back(m.name);
        absl::StrAppend(&list, list.empty() ? "" : ", ", m.name);
      }
      return absl::StrCat("has no argument ", name, "; by name it has ", list, detail::did_you_mean(name, known));
    }
    if (i + fixed_ < by_position_) return absl::StrCat("gets the argument ", name, " twice, by position and by name");
  }
  return {};
}

computed_ptr call_arguments::combined(std::vector<computed_ptr> values) const {
  if (!options_)
    return values.size() == 1 ? std::move(values[0]) : std::make_unique<made_structure>(in_, std::move(values));
  std::vector<computed_ptr> members(options_->members.size()), all(fixed_);
  for (std::size_t k = 0; k != values.size(); ++k) (k < fixed_ ? all[k] : members[option(k)]) = std::move(values[k]);
  const char* defaults = default_options(*options_);
  for (std::size_t i = 0; i != members.size(); ++i) {
    const member& m = options_->members[i];
    if (!members[i]) members[i] = std::make_unique<default_value>(*m.type, defaults + m.offset);
  }
  all.push_back(std::make_unique<made_structure>(*options_, std::move(members)));
  return std::make_unique<made_structure>(in_, std::move(all));
}

}  // namespace sluice::lib::expressions
