// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "sluice/base/status.hpp"
#include "sluice/splits/split_plan.hpp"

namespace sluice::lib {
namespace {

using json_object = nlohmann::ordered_json;

[[noreturn]] void refuse_json(const std::string& why) {
  throw error(invalid_argument_error(absl::StrCat("not a split: ", why)));
}

template <class N> void read_number(const json_object& from, const char* name, N& to) {
  const auto found = from.find(name);
  if (found == from.end()) return;
  if (!found->is_number_unsigned() || found->get<std::uint64_t>() > std::numeric_limits<N>::max())
    refuse_json(absl::StrCat(name, " must be a whole number, and is ", found->dump()));
  to = static_cast<N>(found->get<std::uint64_t>());
}

}  // namespace

std::string_view to_string(visitation v) {
  constexpr std::string_view kNames[] = {"exactly_once", "at_most_once", "at_least_once"};
  return kNames[static_cast<std::size_t>(v)];
}

visitation visitation_named(std::string_view name) {
  for (const visitation v : {visitation::at_most_once, visitation::at_least_once})
    if (name == to_string(v)) return v;
  return visitation::exactly_once;
}

std::string plan_split::json() const {
  json_object all = {{"stream", stream}, {"part", part}, {"round", round}, {"number", number}, {"first", first}};
  if (elements) all["elements"] = *elements;
  if (!items.empty()) all["items"] = items;
  all["seed"] = seed;
  all["epoch"] = epoch;
  return all.dump();
}

plan_split plan_split::from_json(std::string_view text) {
  const json_object all = json_object::parse(text, nullptr, false);
  if (!all.is_object()) refuse_json("a JSON object is expected");
  plan_split s;
  read_number(all, "stream", s.stream);
  read_number(all, "part", s.part);
  read_number(all, "round", s.round);
  read_number(all, "number", s.number);
  read_number(all, "first", s.first);
  read_number(all, "seed", s.seed);
  read_number(all, "epoch", s.epoch);
  if (all.contains("elements")) read_number(all, "elements", s.elements.emplace());
  if (const auto found = all.find("items"); found != all.end()) {
    if (!found->is_array()) refuse_json("items must be a list");
    for (const json_object& item : *found) {
      if (!item.is_string()) refuse_json(absl::StrCat("an item must be a text, and is ", item.dump()));
      s.items.push_back(item.get<std::string>());
    }
  }
  return s;
}

}  // namespace sluice::lib
