// SPDX-License-Identifier: Apache-2.0
#include "service/client/split_place.hpp"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "sluice/splits/split_plan.hpp"

namespace sluice::lib {
namespace {

std::string words_of_items(const std::vector<std::string>& items) {
  constexpr std::size_t kShownMax = 3;
  if (items.size() <= kShownMax) return absl::StrJoin(items, ", ");
  return absl::StrCat(items.size(), " items from ", items.front(), " to ", items.back());
}

std::string words_of_range(const plan_split& s) {
  if (!s.elements) return s.first == 0 ? std::string() : absl::StrCat("elements from ", s.first, " on");
  if (*s.elements == 0) return "no elements";
  if (*s.elements == 1) return absl::StrCat("element ", s.first);
  return absl::StrCat("elements ", s.first, " to ", s.first + (*s.elements - 1));
}

std::string words_of_split(const std::string& payload) {
  const auto all = nlohmann::json::parse(payload, nullptr, false);
  if (!all.is_object()) return {};
  try {
    if (all.contains("shard")) return absl::StrCat("shard ", all.at("shard").dump(), " of ", all.at("shards").dump());
    const plan_split s = plan_split::from_json(payload);
    std::vector<std::string> words;
    if (!s.items.empty()) words.push_back(words_of_items(s.items));
    if (std::string range = words_of_range(s); !range.empty()) words.push_back(std::move(range));
    if (s.round != 0) words.push_back(absl::StrCat("round ", s.round));
    return absl::StrJoin(words, ", ");
  } catch (const std::exception&) { return {}; }
}

}  // namespace

std::string split_text(std::uint64_t number, const std::string& payload) {
  const std::string words = words_of_split(payload);
  return words.empty() ? absl::StrCat("split ", number) : absl::StrCat("split ", number, " (", words, ")");
}

}  // namespace sluice::lib
