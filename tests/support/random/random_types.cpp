// SPDX-License-Identifier: Apache-2.0
#include "support/random/random_types.hpp"

#include <utility>

#include "sluice/plan/rewrite.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib::test {
namespace {

std::string number_text(std::uint64_t n) { return std::to_string(n); }

std::string leaf_text(random_numbers& r) {
  switch (r.below(8)) {
    case 0: return "it";
    case 1: return "it * 0.5";
    case 2: return "it % 2 == 0";
    case 3: return "string(it)";
    case 4: return "string(it) + \"" + std::string(165, 'x') + "\"";
    case 5: return "[it, it, it, it][:it % 5]";
    case 6: return "int32(it)";
    default: return "string(it)[:it % 2]";
  }
}

std::string tensor_text(random_numbers& r) {
  switch (r.below(9)) {
    case 0: return "to_tensor([it, 2])";
    case 1: return "to_tensor([it * 0.5])";
    case 2: return "one_hot(it % 5, 5)";
    case 3: return "to_tensor([it, it, it, it][:it % 5])";
    case 4: return "to_tensor([string(it), \"b\"])";
    case 5: return "to_ragged([[it], [it, it]])";
    case 6: return "to_ragged([[it, it, it][:it % 4]])";
    case 7: return "to_sparse(to_tensor([it, 0, 2]))";
    default: return r.below(20) == 0 ? "one_hot(it % 5, 12500)" : "to_tensor([[it], [2]])";
  }
}

std::string value_text(random_numbers& r, int depth);

std::string members_text(random_numbers& r, int depth, std::uint64_t count, bool named) {
  std::string text = named ? "{" : "(";
  for (std::uint64_t k = 0; k != count; ++k) {
    if (k) text += ", ";
    if (named) text += std::string(1, static_cast<char>('a' + k)) + ": ";
    text += value_text(r, depth);
  }
  return text + (named ? "}" : ")");
}

std::string value_text(random_numbers& r, int depth) {
  if (depth == 0) return r.below(2) ? leaf_text(r) : tensor_text(r);
  const std::string x = value_text(r, depth - 1);
  switch (r.below(9)) {
    case 0: return "[" + x + "]";
    case 1: return "[" + x + ", " + x + "][:it % 3]";
    case 2: return "some(" + x + ")";
    case 3: return "if(it % 3 == 0, none, some(" + x + "))";
    case 4: return members_text(r, depth - 1, 2, false);
    case 5: return members_text(r, depth - 1, 1 + r.below(3), true);
    default: return x;
  }
}

std::string count_between(random_numbers& r, std::uint64_t least, std::uint64_t most) {
  return number_text(least + r.below(most - least + 1));
}

/// A plan in the making.
class plan_maker {
 public:
  explicit plan_maker(random_numbers& r) : r_(r) {}

  typed_plan make() {
    const std::uint64_t stages = 1 + r_.below(4);
    text_ = source();
    for (std::uint64_t i = 0; i != stages; ++i) add_stage();
    return {std::move(text_), std::move(verbs_)};
  }

  static std::vector<std::string> all_verbs() {
    std::vector<std::string> all{"batch",
                                 "unbatch",
                                 "rebatch",
                                 "concatenate",
                                 "zip",
                                 "filter that drops",
                                 "take_while that drops",
                                 "drop_while that drops"};
    for (auto& [name, arguments] : kStages) all.emplace_back(name);
    return all;
  }

 private:
  /// Stages for elements of any type, with the arguments after which `#` stands for a small number.
  static constexpr std::pair<const char*, const char*> kStages[] = {
      {"padded_batch", "(#)"},
      {"ragged_batch", "(#)"},
      {"window", "(#, shift=#)"},
      {"window_batch", "(#, shift=#)"},
      {"shuffle", "(#, seed=3)"},
      {"prefetch", "(#)"},
      {"repeat", "(2)"},
      {"take", "(#)"},
      {"skip", "(#)"},
      {"enumerate", ""},
      {"pad_to_cardinality", "(2#)"},
      {"ignore_errors", ""},
      {"filter", ""},
      {"take_while", ""},
      {"drop_while", ""},
      {"unique", ""},
      {"scan", ""},
      {"sparse_batch", ""},
      {"group_by_window", "(1, batch(3), 3)"},
      {"bucket_by_sequence_length", "(1, [2], [#, 2])"},
      {"batch_by_bytes", "(100#)"},
      {"batch_by_tokens", "(1, #, padded=true)"},
      {"flat_map", "([it, it])"},
      {"interleave", "([it, it], cycle_length=#)"},
      {"shard", "(2, 0)"},
      {"map", "((it, 1))"},
      {"sample_from_datasets", ""},
      {"choose_from_datasets", ""},
      {"weighted_flat_map", ""},
      {"round_robin", ""},
  };

  std::string source() {
    const std::string e = random_typed_expression(r_);
    const std::string elements = "range(" + count_between(r_, 0, 9) + ") | map(" + e + ")";
    if (r_.below(6) != 0) return elements;
    // A scan whose state contains an element: two of three elements are those before them.
    verbs_.insert("scan of elements");
    return elements + " | enumerate | scan((0, " + at_zero(e) +
           "), (state[0] + it[0], if(it[0] % 3 == 0, it[1], state[1]))) | map(it[1])";
  }
  /// Returns the value of an expression for the integer 0. No name in it contains "it".
  static std::string at_zero(std::string e) {
    for (std::size_t at = e.find("it"); at != e.npos; at = e.find("it")) e.replace(at, 2, "int64(0)");
    return e;
  }

  void add_stage() {
    const std::uint64_t drawn = r_.below(std::size(kStages) + 8);
    if (is_batch_ && r_.below(3) == 0) {
      add(r_.below(2) ? "unbatch" : "rebatch", "(#)");
    } else if (drawn < std::size(kStages)) {
      add(kStages[drawn].first, kStages[drawn].second);
    } else if (drawn == std::size(kStages)) {
      combine("concatenate(", ")");
    } else if (drawn == std::size(kStages) + 1) {
      combine("zip(", ")");
    } else {
      add("batch", r_.below(2) ? "(#)" : "(#, drop_remainder=true)");
    }
  }

  void add(const std::string& verb, const std::string& arguments) {
    static constexpr const char* kConditions[] = {"(it[0] % # != 0)", "(it[0] % # == 0)", "(it[0] < #)",
                                                  "(it[0] != #)"};
    if (verb == "filter" || verb == "take_while" || verb == "drop_while") {
      if (r_.below(4) == 0) return append(verb, "(1 < 2)");
      return add_by_number(verb, kConditions[r_.below(std::size(kConditions))]);
    }
    if (verb == "unique") {
      if (r_.below(2)) append("repeat", "(2)");  // without this stage, few elements are equal
      return append("unique", "");
    }
    if (verb == "scan") return add_scan();
    if (verb == "sparse_batch") return add_sparse_batch();
    append(verb, arguments);
  }

  /// Adds a stage whose function takes the number of an element, and keeps the elements.
  void add_by_number(const std::string& verb, const std::string& arguments) {
    const bool was_batch = is_batch_;
    append("enumerate", "");
    append(verb, arguments);
    append("map", "(it[1])");
    verbs_.insert(verb + " that drops");
    is_batch_ = was_batch;
  }

  /// Adds a scan over the numbers of the elements, beside the elements.
  void add_scan() {
    verbs_.insert({"scan", "zip"});
    text_ = "zip(" + text_ + ", " + text_ + " | enumerate | map(it[0]) | scan(0, state + it))";
    is_batch_ = false;
  }

  /// Adds a sparse_batch of rows that the numbers of the elements determine.
  void add_sparse_batch() {
    static constexpr const char* kRows[] = {"[it[0], it[0], 2][:it[0] % 4]", "to_tensor([it[0], 2])",
                                            "to_sparse(to_tensor([it[0], 0, 2]))",
                                            "[string(it[0]), \"b\"][:it[0] % 3]"};
    append("enumerate", "");
    append("map", std::string("(") + kRows[r_.below(std::size(kRows))] + ")");
    append("sparse_batch", r_.below(2) ? "(#, [-1])" : "(#, [-1], drop_remainder=true)");
  }

  void append(const std::string& verb, std::string arguments) {
    if (verb == "sample_from_datasets") return combine("sample_from_datasets([", "], seed=4)");
    if (verb == "choose_from_datasets") return combine("choose_from_datasets([", "], range(9) | map(it * it % 2))");
    if (verb == "weighted_flat_map") return combine("weighted_flat_map([", "])");
    if (verb == "round_robin") return combine("round_robin([", "])");
    if (verb == "unbatch") arguments.clear();
    for (std::size_t at = arguments.find('#'); at != arguments.npos; at = arguments.find('#'))
      arguments.replace(at, 1, count_between(r_, 1, 4));
    text_ += " | " + verb + arguments;
    verbs_.insert(verb);
    is_batch_ = (verb == "batch" || verb == "rebatch") || (is_batch_ && verb != "unbatch" && keeps_type(verb));
  }

  void combine(const std::string& begin, const std::string& end) {
    verbs_.insert(begin.substr(0, begin.find('(')));
    text_ = begin + text_ + ", " + text_ + end;
    is_batch_ = is_batch_ && !begin.starts_with("zip");
  }

  static bool keeps_type(const std::string& verb) {
    return verb == "shuffle" || verb == "prefetch" || verb == "repeat" || verb == "take" || verb == "skip" ||
           verb == "ignore_errors" || verb == "filter" || verb == "take_while" || verb == "unique" || verb == "shard";
  }

  random_numbers& r_;
  std::string text_;
  std::set<std::string> verbs_;
  bool is_batch_ = false;
};

}  // namespace

std::string random_typed_expression(random_numbers& r) {
  const std::uint64_t form = r.below(8);
  if (form == 0) return value_text(r, 2);
  return members_text(r, 2, 2 + r.below(4), form != 1);
}

typed_plan random_typed_plan(random_numbers& r) { return plan_maker(r).make(); }

std::vector<std::string> typed_plan_verbs() { return plan_maker::all_verbs(); }

dataset<std::int64_t> with_stages(const dataset<std::int64_t>& in, const std::string& stages) {
  const node_ptr chain = parse_plan("range(1) | " + stages);
  const node* first = chain.get();
  while (!first->inputs.empty()) first = first->inputs[0].get();
  auto moved = [&](const node_ptr& n) {
    if (n.get() == first) return in.plan();
    node copy = *n;
    copy.site = 0;  // its site depends on the stages of `in`
    return make_node(std::move(copy));
  };
  return dataset<std::int64_t>(rewrite(chain, moved));
}

}  // namespace sluice::lib::test
