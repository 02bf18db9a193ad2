// SPDX-License-Identifier: Apache-2.0
#include "plan/text/spellings.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text/closest.hpp"
#include "plan/text/mistaken_calls.hpp"
#include "sluice/base/assert.hpp"

namespace sluice::lib::detail {

namespace {

/// The destination of an argument of the spelling.
struct destination {
  std::string_view name;  ///< in the spelling
  std::size_t call;       ///< the index of the call
  std::string_view field;
};

struct spelling {
  std::string_view name;
  std::span<const std::string_view> calls;
  std::span<const destination> arguments;  ///< an argument may go to several consecutive fields
  std::size_t positional;                  ///< the number of leading names that may be omitted
  bool is_listed = true;                   ///< false: a word of SQL, and of tables, for one verb
};

constexpr std::array<std::string_view, 1> kInspect{"inspect"}, kInterleave{"interleave"};
constexpr std::array<std::string_view, 2> kMapBatch{"map", "batch"}, kShuffleRepeat{"shuffle", "repeat"};
constexpr destination kTap[] = {{"function", 0, "function"}};
constexpr destination kMapAndBatch[] = {
    {"function", 0, "function"},       {"size", 1, "size"},   {"drop_remainder", 1, "drop_remainder"},
    {"parallelism", 0, "parallelism"}, {"order", 0, "order"}, {"seed", 0, "seed"}};
constexpr destination kShuffleAndRepeat[] = {
    {"buffer_size", 0, "buffer_size"}, {"times", 1, "times"}, {"seed", 0, "seed"}};
constexpr std::string_view kSloppy = "sloppy";
constexpr destination kParallelInterleave[] = {{"inner", 0, "inner"},
                                               {"cycle_length", 0, "cycle_length"},
                                               {"cycle_length", 0, "parallelism"},
                                               {"block_length", 0, "block_length"},
                                               {kSloppy, 0, "order"}};
constexpr std::array<std::string_view, 1> kTake{"take"}, kSkip{"skip"}, kFilter{"filter"}, kUnique{"unique"};
constexpr destination kFirstOnes[] = {{"count", 0, "elements"}};
constexpr destination kCondition[] = {{"condition", 0, "function"}, {"seed", 0, "seed"}};
constexpr destination kDifferent[] = {{"spill", 0, "spill"}};
constexpr spelling kSpellings[] = {{"tap", kInspect, kTap, 1},
                                   {"map_and_batch", kMapBatch, kMapAndBatch, 2},
                                   {"shuffle_and_repeat", kShuffleRepeat, kShuffleAndRepeat, 3},
                                   {"parallel_interleave", kInterleave, kParallelInterleave, 3},
                                   {"limit", kTake, kFirstOnes, 1, false},
                                   {"head", kTake, kFirstOnes, 1, false},
                                   {"offset", kSkip, kFirstOnes, 1, false},
                                   {"where", kFilter, kCondition, 1, false},
                                   {"distinct", kUnique, kDifferent, 0, false}};

const spelling* find(std::string_view name) {
  auto* at = std::find_if(std::begin(kSpellings), std::end(kSpellings), [&](auto& s) { return s.name == name; });
  return at == std::end(kSpellings) ? nullptr : at;
}

/// The names, each once.
std::vector<std::string> names_of(const spelling& s) {
  std::vector<std::string> names;
  for (const destination& d : s.arguments)
    if (names.empty() || names.back() != d.name) names.emplace_back(d.name);
  return names;
}

/// Adds the argument `a`, which is called `name`, to the calls.
void place(const spelling& s, std::string_view name, const argument& a, std::vector<std::vector<argument>>& to) {
  bool is_for_each = name == "on_error" || name == "errors_max";
  bool is_known = is_for_each;
  for (std::size_t call = 0; is_for_each && call != to.size(); ++call) to[call].push_back(a);
  for (const destination& d : s.arguments) {
    if (d.name != name) continue;
    is_known = true;
    argument one = a;
    one.name = d.field;
    if (one.name_at == 0) one.name_at = one.at;
    if (d.name == kSloppy) {
      if (a.text != "true" && a.text != "false")
        throw misplaced{a.at, absl::StrCat(std::string(s.name), ": sloppy expects true or false, and is ", a.shown())};
      one.text = a.text == "true" ? "sloppy" : "deterministic";
      one.source = {};
      one.calls.clear();
    }
    to[d.call].push_back(std::move(one));
  }
  if (is_known) return;
  std::vector<std::string> names = names_of(s);
  std::string all;
  for (const std::string& n : names) absl::StrAppend(&all, all.empty() ? "" : ", ", n);
  throw misplaced{a.name_at, absl::StrCat(std::string(s.name), ": has no ", std::string(name), " (it has ", all, ")",
                                          did_you_mean(name, names))};
}

argument text_member(std::string_view name, std::string_view text, std::size_t at) {
  argument a;
  a.kind = argument::string;
  a.at = at;
  a.name = name;
  a.text = text;
  return a;
}

}  // namespace

bool is_spelling(std::string_view name) { return find(name) != nullptr; }

std::vector<spelling_text> all_spellings() {
  std::vector<spelling_text> all;
  for (const spelling& s : kSpellings) {
    if (!s.is_listed) continue;
    spelling_text one{std::string(s.name), {}, {}};
    for (const std::string& name : names_of(s))
      absl::StrAppend(&one.arguments, one.arguments.empty() ? "" : ", ", name);
    for (std::size_t call = 0; call != s.calls.size(); ++call) {
      std::string fields;
      for (const destination& d : s.arguments) {
        if (d.call != call) continue;
        absl::StrAppend(&fields, fields.empty() ? "" : ", ", std::string(d.field));
        if (d.field != d.name) absl::StrAppend(&fields, "=", std::string(d.name));
      }
      absl::StrAppend(&one.calls, call == 0 ? "" : " | ", std::string(s.calls[call]), "(", fields, ")");
    }
    all.push_back(std::move(one));
  }
  return all;
}

plan_syntax spelled_out(const call_syntax& call) {
  SLUICE_REQUIRES(is_spelling(call.name), "the call is no spelling");
  const spelling& s = *find(call.name);
  const std::vector<std::string> names = names_of(s);
  std::vector<std::vector<argument>> arguments(s.calls.size());
  std::size_t next = 0;
  for (const argument& a : call.arguments) {
    if (!a.name.empty()) {
      place(s, a.name, a, arguments);
    } else if (next < s.positional) {
      place(s, names[next++], a, arguments);
    } else {
      throw misplaced{a.at, absl::StrCat(call.name, ": takes no more values, and found ", written(a))};
    }
  }
  plan_syntax calls;
  for (std::size_t i = 0; i != s.calls.size(); ++i)
    calls.push_back({call.at, std::string(s.calls[i]), std::move(arguments[i])});
  return calls;
}

argument spelled_out(const argument& object, std::string_view name) {
  const spelling& s = *find(name);
  std::vector<std::vector<argument>> arguments(s.calls.size());
  argument made;
  made.kind = argument::object;
  made.at = object.at;
  for (const argument& member : object.items) {
    bool has_fields = member.name == "arguments" && member.kind == argument::object;
    if (has_fields) {
      for (const argument& a : member.items) place(s, a.name, a, arguments);
    } else if (member.name != "op") {
      made.items.push_back(member);  // inputs, and members that are rejected as usual
    }
  }
  for (std::size_t i = 0; i != s.calls.size(); ++i) {
    if (i != 0) {
      argument inputs;
      inputs.kind = argument::list;
      inputs.at = object.at;
      inputs.name = "inputs";
      inputs.items.push_back(std::exchange(made, argument()));
      made.kind = argument::object;
      made.at = object.at;
      made.items.push_back(std::move(inputs));
    }
    argument fields;
    fields.kind = argument::object;
    fields.at = object.at;
    fields.name = "arguments";
    fields.items = std::move(arguments[i]);
    made.items.push_back(text_member("op", s.calls[i], object.at));
    made.items.push_back(std::move(fields));
  }
  made.name = object.name;
  return made;
}

}  // namespace sluice::lib::detail
