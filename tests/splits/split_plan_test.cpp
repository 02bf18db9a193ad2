// SPDX-License-Identifier: Apache-2.0
#include "sluice/splits/split_plan.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "sluice/io/memory_files.hpp"
#include "sluice/op/from_elements.hpp"
#include "sluice/op/map.hpp"
#include "sluice/op/range.hpp"
#include "sluice/op/transform.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib::split_plan_test {
namespace {

using texts = std::vector<std::string>;

texts plans_of(runtime& rt, const split_plan& parts, std::uint32_t stream = 0, std::uint64_t round = 0) {
  texts plans;
  for (const plan_split& s : sync_wait(rt, parts.splits(rt, stream, round)))
    plans.push_back(plan_text(*parts.plan_of(s)));
  return plans;
}

texts plans_of(const std::string& plan, const split_options& o = {}) {
  runtime rt({.workers = 1});
  memory_files files = add_memory_files(rt);
  for (const char* name : {"mem://a.txt", "mem://b.txt", "mem://c \"1\".txt"}) files.put(name, "1\n2\n3\n");
  return plans_of(rt, split_plan(parse_plan(plan), o));
}

std::string refusal_of(const std::string& plan, const split_options& o = {}) {
  try {
    split_plan parts(parse_plan(plan), o);
  } catch (const error& e) { return std::string(e.why().message()); }
  return "not refused";
}

std::string client_of(const std::string& plan, const split_options& o = {}) {
  return split_plan(parse_plan(plan), o).client_text();
}

}  // namespace

TEST_CASE("a plan that seeks is split by the numbers of its elements") {
  CHECK(plans_of("range(10) | map(it + random(5)) | enumerate", {.splits = 3}) ==
        texts{"range(10) | map(it + random(5)) | enumerate | take(4)",
              "range(10) | map(it + random(5)) | enumerate | skip(4) | take(4)",
              "range(10) | map(it + random(5)) | enumerate | skip(8) | take(2)"});
  CHECK(plans_of("range(7)", {.split_elements = 5}) == texts{"range(7) | take(5)", "range(7) | skip(5) | take(2)"});
  CHECK(plans_of("range(64)", {.split_bytes = 256}).size() == 2);
  CHECK(plans_of("range(1000)").size() == 16);
  CHECK_THROWS_WITH(plans_of("range(1000000000000)", {.split_elements = 1}),
                    Catch::Contains("more than 1000000 splits"));
  CHECK(plans_of("range(3)").size() == 3);
  CHECK(plans_of("range(0)") == texts{});
  // The inputs of a zip, and the epochs of a repeat, stay aligned.
  CHECK(plans_of("zip(range(4), range(4) | repeat(2)) | repeat(2)", {.splits = 2})[1] ==
        "zip(range(4), range(4) | repeat(2)) | repeat(2) | skip(4) | take(4)");
}

TEST_CASE("files are split by name, however their list is made") {
  CHECK(plans_of("list_files(\"mem://*.txt\") | interleave(lines) | map(it)") ==
        texts{"from_tensor_slices([\"mem://a.txt\"]) | interleave(lines) | map(it)",
              "from_tensor_slices([\"mem://b.txt\"]) | interleave(lines) | map(it)",
              "from_tensor_slices([\"mem://c \\\"1\\\".txt\"]) | interleave(lines) | map(it)"});
  CHECK(plans_of("lines(\"mem://[ab].txt\")", {.splits = 1}) ==
        texts{"from_tensor_slices([\"mem://a.txt\", \"mem://b.txt\"]) | flat_map(lines)"});
  CHECK(plans_of("list_files(\"mem://*.txt\") | shuffle(9, seed=1) | take(2) | flat_map(lines)").size() == 2);
  CHECK(plans_of("from_tensor_slices([\"mem://a.txt\", \"mem://b.txt\"]) | shuffle(2) | flat_map(lines)").size() == 2);
  CHECK(plans_of("list_files(\"mem://*.txt\") | flat_map(lines)", {.split_bytes = 12}).size() == 2);
  CHECK(plans_of("lines(\"mem://a.txt\") | filter(it > \"1\")") ==
        texts{"lines(\"mem://a.txt\") | filter(it > \"1\")"});
}

TEST_CASE("the stages whose state spans splits run in the client") {
  CHECK(client_of("range(9) | filter(it > 1) | shuffle(3) | map(it) | batch(2)") == "shuffle(3) | map(it) | batch(2)");
  CHECK(client_of("range(9) | shuffle(3)") == "shuffle(3)");
  CHECK(client_of("range(9) | filter(it > 1)").empty());
  CHECK(client_of("range(9) | filter(it > 1) | take(2)") == "take(2)");
  CHECK(client_of("zip(range(9) | filter(it > 1), range(5)) | batch(2)") == "zip(splits(0), splits(1)) | batch(2)");
  CHECK(client_of("choose_from_datasets([range(3) | filter(it > 1), range(3)], range(2) | repeat)") ==
        "choose_from_datasets([splits(0), splits(1)], range(2) | repeat)");
  CHECK(client_of("range(9) | filter(it > 1) | map(it + index())") == "map(it + index())");
  CHECK(client_of("range(9) | filter(it > 1) | map(it + random(2))").empty());
  const split_plan parts(parse_plan("range(9) | filter(it > 1) | map(it) | shuffle(3) | map(it) | batch(2)"));
  REQUIRE(parts.client_stages().size() == 3);
  CHECK(parts.client_stages()[0].text == "shuffle(3)");
  CHECK(parts.client_stages()[0].why == "has a state that spans splits");
  CHECK(parts.client_stages()[1].why.empty());
  CHECK(parts.streams()[0].text == "range(9) | filter(it > 1) | map(it)");
}

TEST_CASE("at_least_once leaves batches and shuffles on the workers, and counts in the client") {
  const split_options o{.splits = 2, .visitation = visitation::at_least_once};
  CHECK(plans_of("range(9) | shuffle(3) | batch(2)", o) ==
        texts{"range(9) | take(5) | shuffle(3) | batch(2)", "range(9) | skip(5) | take(4) | shuffle(3) | batch(2)"});
  CHECK(client_of("range(9) | shuffle(3) | enumerate | batch(2)", o) == "enumerate | batch(2)");
  const split_plan parts(parse_plan("range(9) | shuffle(3) | batch(2)"), o);
  CHECK(!parts.streams()[0].is_exact);
  CHECK(!parts.streams()[0].keeps_order);
}

TEST_CASE("settings of the client apply to the stages of the workers") {
  CHECK(plans_of("range(9) | map(8 / it) | shuffle(3) | ignore_errors", {.splits = 1}) ==
        texts{"range(9) | take(9) | map(8 / it) | ignore_errors"});
  CHECK(plans_of("range(9) | filter(it > 1) | shuffle(3) | with_options(on_error=skip) | batch(2)", {.splits = 1}) ==
        texts{"range(9) | take(9) | filter(it > 1) | with_options(on_error=skip)"});
}

TEST_CASE("concatenated inputs have their splits one after another") {
  CHECK(plans_of("concatenate(range(4) | filter(it > 1), lines(\"mem://[ab].txt\") | map(int64(1))) | map(it)",
                 {.splits = 4}) ==
        texts{"range(4) | take(2) | filter(it > 1) | map(it)",
              "range(4) | skip(2) | take(2) | filter(it > 1) | map(it)",
              "from_tensor_slices([\"mem://a.txt\"]) | flat_map(lines) | map(int64(1)) | map(it)",
              "from_tensor_slices([\"mem://b.txt\"]) | flat_map(lines) | map(int64(1)) | map(it)"});
  CHECK(plans_of("concatenate(range(2) | filter(it > 0) | repeat(2), range(1))", {.splits = 3}).size() == 3);
}

TEST_CASE("a file of records of one length is split into ranges of them") {
  const texts halves = {"from_tensor_slices([\"mem://a.txt\"]) | flat_map(fixed_length(2) | take(2))",
                        "from_tensor_slices([\"mem://a.txt\"]) | flat_map(fixed_length(2) | skip(2))"};
  CHECK(plans_of("list_files(\"mem://a.txt\") | flat_map(fixed_length(record_bytes=2))", {.splits = 2}) == halves);
  CHECK(plans_of("list_files(\"mem://a.txt\") | flat_map(fixed_length(record_bytes=2))", {.split_bytes = 4}) == halves);
  CHECK(plans_of("list_files(\"mem://[ab].txt\") | interleave(fixed_length(record_bytes=2))", {.split_elements = 2})
            .size() == 4);
  CHECK(plans_of("fixed_length(\"mem://a.txt\", record_bytes=2) | map(1)", {.splits = 3}) ==
        texts{"fixed_length(\"mem://a.txt\", 2) | take(1) | map(1)",
              "fixed_length(\"mem://a.txt\", 2) | skip(1) | take(1) | map(1)",
              "fixed_length(\"mem://a.txt\", 2) | skip(2) | map(1)"});
  // A compressed file is read to skip records, and a stage may use their numbers.
  CHECK(plans_of("fixed_length(\"mem://a.txt\", record_bytes=2, compression=gzip)", {.splits = 3}).size() == 1);
  CHECK(plans_of("list_files(\"mem://a.txt\") | flat_map(fixed_length(record_bytes=2) | map(index()))", {.splits = 2})
            .size() == 1);
}

TEST_CASE("a repeat has a round of splits for each epoch") {
  runtime rt({.workers = 1});
  const split_plan endless(parse_plan("range(4) | filter(it > 1) | repeat | map(it)"), {.splits = 2});
  CHECK(endless.streams()[0].rounds == cardinality::forever());
  CHECK(plans_of(rt, endless, 0, 7) == texts{"range(4) | take(2) | filter(it > 1) | map(it)",
                                             "range(4) | skip(2) | take(2) | filter(it > 1) | map(it)"});
  const split_plan twice(parse_plan("range(4) | filter(it > 1) | repeat(2) | map(it) | repeat(3)"));
  CHECK(twice.streams()[0].rounds == cardinality::of(6));
  const split_plan counter(parse_plan("counter() | map(it)"), {.split_elements = 10});
  CHECK(plans_of(rt, counter, 0, 3) == texts{"counter() | map(it) | skip(30) | take(10)"});
  CHECK_THROWS_WITH(sync_wait(rt, twice.splits(rt, 0, 6)), Catch::Contains("6 rounds, and none with number 6"));
  CHECK_THROWS_WITH(sync_wait(rt, twice.splits(rt, 1)), Catch::Contains("1 streams, and none with number 1"));
}

TEST_CASE("each round of a shuffled list has the order of its epoch") {
  runtime rt({.workers = 1});
  memory_files files = add_memory_files(rt);
  for (char c = 'a'; c != 'j'; ++c) files.put(std::string("mem://") + c + ".txt", "1\n");
  const std::string list = "list_files(\"mem://*.txt\") | shuffle(9)";
  const split_plan parts(parse_plan(list + " | flat_map(lines) | repeat(2)"), {.splits = 1, .seed = 5});
  const texts first = plans_of(rt, parts, 0, 0), second = plans_of(rt, parts, 0, 1);
  CHECK(first != second);
  CHECK(first == plans_of(rt, parts, 0, 0));
}

TEST_CASE("no two splits draw alike, and one split draws as its plan") {
  runtime rt({.workers = 1});
  const split_plan parts(parse_plan("range(9) | filter(random() < 0.5) | repeat(2)"), {.splits = 3, .seed = 7});
  CHECK(parts.streams()[0].draws);
  CHECK(!parts.streams()[0].is_exact);
  std::vector<std::uint64_t> epochs;
  for (std::uint64_t round = 0; round != 2; ++round)
    for (const plan_split& s : sync_wait(rt, parts.splits(rt, 0, round))) {
      CHECK(s.seed == 7);
      CHECK(std::find(epochs.begin(), epochs.end(), s.epoch) == epochs.end());
      epochs.push_back(s.epoch);
    }
  CHECK(epochs.size() == 6);
  CHECK(epochs[0] == 0);
}

TEST_CASE("a plan that cannot be split is refused with the stage, the reason and the remedy") {
  CHECK(refusal_of("lines(\"-\") | batch(2)") ==
        "the plan cannot be split: lines(\"-\") reads standard input, which no other process can read; write it to a "
        "file first");
  CHECK(refusal_of("range(9) | map(it, order=sloppy) | batch(2)")
            .starts_with("the plan cannot be split: map(it, order=sloppy) delivers in sloppy order, so a split"));
  CHECK(
      refusal_of("range(9) | map(it) | with_options(order=sloppy)")
          .starts_with("the plan cannot be split: map(it) delivers in sloppy order by with_options(order=sloppy), so"));
  CHECK(refusal_of("list_files(\"mem://*\") | flat_map(lines | map(it, order=sloppy))")
            .starts_with("the plan cannot be split: flat_map(lines | map(it, order=sloppy)) delivers in sloppy order"));
  CHECK(refusal_of("range(9) | filter(random(9) < 5) | cache | batch(2)")
            .starts_with("the plan cannot be split: cache yields the elements of the first epoch again, and a stage"));
  CHECK(refusal_of("range(9) | filter(it > 1) | snapshot(\"a\") | batch(2)")
            .starts_with("the plan cannot be split: snapshot(\"a\") keeps all elements on disk"));
  CHECK(refusal_of("range(9) | filter(it > 1) | cache(\"a.cache\")") ==
        "the plan cannot be split: cache(\"a.cache\") keeps all elements on disk, and each split has some of them; "
        "place it after distribute");
  CHECK(refusal_of("range(9) | map(it, order=sloppy)", {.visitation = visitation::at_most_once}) == "not refused");
  CHECK(refusal_of("range(9) | filter(it > 1) | shuffle(3) | global_shuffle()").find("cannot seek") !=
        std::string::npos);
  CHECK(refusal_of("range(9)", {.splits = 2, .split_elements = 2}) ==
        "splits: give splits, split_bytes or split_elements, and not two of them");
  CHECK_THROWS_WITH(split_plan(node_ptr()), Catch::Contains("the plan is null"));
  CHECK_THROWS_WITH(split_plan(range(3) | map([](std::int64_t x) { return x; })),
                    Catch::Contains("the plan cannot be split among other processes: ") && Catch::Contains("map"));
  CHECK_NOTHROW(split_plan(range(3) | map([](std::int64_t x) { return x; }), {.must_travel = false}));
}

TEST_CASE("a split is read back from its JSON, and forged ones are refused") {
  const plan_split s{.stream = 1,
                     .part = 2,
                     .round = 3,
                     .number = 4,
                     .first = 5,
                     .elements = 6,
                     .items = {"\"a\\xff\""},
                     .seed = 7,
                     .epoch = 8};
  CHECK(plan_split::from_json(s.json()) == s);
  for (const char* text :
       {"", "[]", "{\"part\": -1}", "{\"part\": 1e3}", "{\"part\": 4294967296}", "{\"items\": 1}", "{\"items\": [1]}"})
    CHECK_THROWS_WITH(plan_split::from_json(text), Catch::Contains("not a split: "));
  const split_plan parts(parse_plan("list_files(\"mem://*\") | flat_map(lines)"));
  for (const char* text :
       {"{\"stream\": 1}", "{\"part\": 1}", "{}", "{\"items\": [\"1\"]}", "{\"items\": [\"\\\"a\\\"]) | take(1\"]}",
        "{\"items\": [\"\\\"a\\\"]) | concatenate([\\\"b\\\"\"]}"})
    CHECK_THROWS(parts.plan_of(plan_split::from_json(text)));
  const split_plan numbers(parse_plan("range(9)"));
  CHECK_THROWS_WITH(numbers.plan_of({.first = ~std::uint64_t{0}}), Catch::Contains("too large"));
}

TEST_CASE("elements in memory are split by numbers, and stay in this process") {
  const auto in_memory = from_elements(std::vector<std::int64_t>{1, 2, 3, 4, 5});
  CHECK_THROWS_WITH(split_plan(in_memory), Catch::Contains("cannot be split among other processes"));
  runtime rt({.workers = 1});
  const split_plan parts(in_memory, {.splits = 2, .must_travel = false});
  CHECK(plans_of(rt, parts).size() == 2);
  auto same = [](stream<std::int64_t> in) -> stream<std::int64_t> {
    while (auto x = co_await in.next()) co_yield *x;
  };
  const split_plan cut(in_memory | transform(same), {.splits = 2, .must_travel = false});
  CHECK(cut.client_stages().size() == 1);
}

TEST_CASE("the client's plan takes streams of the types of the plan") {
  const split_plan parts(parse_plan("range(9) | filter(it > 1) | map(string(it)) | batch(2)"));
  CHECK(plan_text(*parts.client_plan({parse_plan("from_tensor_slices([\"a\"])")})) ==
        "from_tensor_slices([\"a\"]) | batch(2)");
  CHECK_THROWS_WITH(parts.client_plan({}), Catch::Contains("1 streams, and gets 0"));
  CHECK_THROWS_WITH(parts.client_plan({parse_plan("range(1)")}), Catch::Contains("stream 0 has elements of"));
}

TEST_CASE("plans whose inputs are shared very often are refused") {
  node_ptr n = parse_plan("range(2) | filter(it > 0)");
  const op_info& concatenate = *find_op("concatenate");
  for (int i = 0; i != 20; ++i) n = make_combine(concatenate, {}, {n, n});
  CHECK_THROWS_WITH(split_plan(n), Catch::Contains("shared so often"));
}

namespace {

std::string cells_of(const op_info& op) {
  // They check, when a plan is built, that their inputs seek, or have known sizes, and a stream has neither.
  if (op.name == "global_shuffle" || op.name == "weighted_flat_map") return "refused | refused";
  switch (op.splits.rule) {
    case split_rule::unstated: return "client | client";
    case split_rule::numbered: return "ranges of numbers | ranges of numbers";
    case split_rule::listing: return "read when the plan is split | read when the plan is split";
    case split_rule::one_file:
      return op.splits.skips_in_file ? "one split, or ranges of its elements | the same" : "one split | one split";
    case split_rule::one_split: return "one split | one split";
    case split_rule::this_process: return "refused | refused";
    case split_rule::each_element: return "workers | workers";
    case split_rule::groups: return "client | workers, by split";
    case split_rule::all_before: return "client | client";
    case split_rule::repeats: return "a round for each epoch | a round for each epoch";
    case split_rule::settings: return "workers and client | workers and client";
    case split_rule::one_after_another: return "splits of each input | splits of each input";
    case split_rule::together: return "client, a stream for each input | client, a stream for each input";
  }
  return {};
}

}  // namespace

TEST_CASE("docs/splits.md has a row for each operator, and each operator states a rule") {
  std::ifstream file("docs/splits.md");
  std::stringstream page;
  page << file.rdbuf();
  std::string missing;
  for (const op_info* op : operators()) {
    const std::string row = "| `" + std::string(op->name) + "` | " + cells_of(*op) + " |\n";
    if (page.str().find(row) == std::string::npos) missing += row;
    if (op->splits.rule == split_rule::unstated) missing += std::string(op->name) + " states no rule\n";
  }
  CHECK(missing == "");
}

}  // namespace sluice::lib::split_plan_test
