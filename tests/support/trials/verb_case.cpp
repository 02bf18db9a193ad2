// SPDX-License-Identifier: Apache-2.0
#include "support/trials/verb_case.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>

namespace sluice::lib::test {
namespace {

std::vector<std::unique_ptr<verb_case>>& registered() {
  static std::vector<std::unique_ptr<verb_case>> all;
  return all;
}

/// In an order that does not depend on how the program was linked: what a seed gives does not, either.
std::vector<const verb_case*> sorted_by_name() {
  std::vector<const verb_case*> all;
  for (auto& c : registered()) all.push_back(c.get());
  std::sort(all.begin(), all.end(), [](auto* a, auto* b) { return a->name < b->name; });
  for (std::size_t i = 1; i < all.size(); ++i)
    if (all[i - 1]->name == all[i]->name)
      throw std::logic_error("two verb cases are named " + std::string(all[i]->name));
  return all;
}

}  // namespace

int64s source_elements(const verb_lists& l) {
  int64s out;
  for (std::int64_t i = 0; i < l.a; ++i) out.push_back(l.element(i));
  return out;
}

std::int64_t some_size(random_numbers& random) { return 1 + static_cast<std::int64_t>(random.below(6)); }

std::int64_t some_length(random_numbers& random) { return static_cast<std::int64_t>(random.below(41)); }

register_verb::register_verb(std::string_view name, verb_case c) {
  c.name = name;
  registered().push_back(std::make_unique<verb_case>(c));
}

const std::vector<const verb_case*>& verb_cases() {
  static const std::vector<const verb_case*> all = sorted_by_name();
  return all;
}

const verb_case& case_named(std::string_view name) {
  for (auto* c : verb_cases())
    if (c->name == name) return *c;
  throw std::logic_error("no verb case is named " + std::string(name));
}

}  // namespace sluice::lib::test
