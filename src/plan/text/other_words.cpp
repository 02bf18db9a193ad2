// SPDX-License-Identifier: Apache-2.0
#include "plan/text/other_words.hpp"

namespace sluice::lib::detail {

namespace {

struct other_word {
  std::string_view name, instead;
};
// Sorting and joining need all rows at once, which is what databases are for. tests/cli/words_test.py runs these pipes.
#define SLUICE_DETAIL_DATABASE(QUERY)                                               \
  "sluice run 'PLAN' --output arrow:- | python3 -c \"import sys, pyarrow, duckdb; " \
  "t = pyarrow.ipc.open_stream(sys.stdin.buffer).read_all(); duckdb.sql('from t " QUERY "').show()\""
constexpr std::string_view kSort =
    "; top(N, by=score) yields the N largest. Sorting needs all elements at once, as a database "
    "does: " SLUICE_DETAIL_DATABASE("order by score");
constexpr std::string_view kJoin = "; joining needs all elements at once, as a database does: " SLUICE_DETAIL_DATABASE(
    "join read_csv(\\'b.csv\\') using (id)");
#undef SLUICE_DETAIL_DATABASE
constexpr other_word kOtherWords[] = {
    {"write", "; it is --output PATH of `sluice run`, or `sluice convert`; in C++ write(rt, dataset, \"PATH\")"},
    {"at", "; it is skip(N) | take(1); in C++ co_await dataset.at(rt, N)"},
    {"cardinality",
     "; it is what `sluice explain` says beside each stage, or `sluice count`; in C++ dataset.cardinality()"},
    {"element_spec", "; it is `sluice explain --spec`; in C++ dataset.element_spec()"},
    {"options", "; it is with_options(…), or on_error=, order= and others of a call; in C++ dataset.options()"},
    {"apply", "; it is the stages themselves, one after the other; in C++ dataset | apply(function)"},
    {"broadcast", "; it is of C++ alone, where one run has several readers: broadcast(dataset, rt, N)"},
    {"tee", "; it is of C++ alone, where one run has several readers: broadcast(dataset, rt, N), or tee(…)"},
    {"count", "; it is count_elements, or `sluice count`"},
    {"pack", "; it is pack_sequences(length)"},
    {"sort", kSort},
    {"sort_by", kSort},
    {"order_by", kSort},
    {"orderby", kSort},
    {"arrange", kSort},
    {"join", kJoin},
    {"left_join", kJoin},
    {"inner_join", kJoin},
    {"union", "; it is concatenate(A, B), or concatenate(A, B) | unique() without duplicates"},
    {"union_all", "; it is concatenate(A, B)"},
    {"append", "; it is concatenate(A, B)"},
    {"tail", "; the end is known when all elements were read: count them with `sluice count`, and write skip(N)"},
    {"last", "; the end is known when all elements were read: count them with `sluice count`, and write skip(N)"},
    {"first", "; it is take(1)"},
    {"slice", "; it is skip(A) | take(N)"},
    {"rename", "; it is map({new_name: old_name, …})"},
    {"drop", "; columns are chosen by map({a, b}), the first N elements are skipped by skip(N)"},
    {"with_column", "; it is map({a, b, new_column: a + b})"},
    {"mutate", "; it is map({a, b, new_column: a + b})"},
    {"assign", "; it is map({a, b, new_column: a + b})"},
    {"agg", "; it is group_by(key, {n: count(), total: sum(x)}); over all elements group_by(true, {…})"},
    {"aggregate", "; it is group_by(key, {n: count(), total: sum(x)}); over all elements group_by(true, {…})"},
    {"summarize", "; it is group_by(key, {n: count(), total: sum(x)}); over all elements group_by(true, {…})"},
    {"summarise", "; it is group_by(key, {n: count(), total: sum(x)}); over all elements group_by(true, {…})"},
    {"groupby", "; it is group_by(key, {n: count(), total: sum(x)})"},
    {"having", "; it is filter(…) after group_by(…)"},
    {"sum", "; it is reduce(0, state + it), or group_by(true, {total: sum(x)})"},
    {"mean", "; it is group_by(true, {mean: mean(x)})"},
    {"avg", "; it is group_by(true, {mean: mean(x)})"},
    {"min", "; it is group_by(true, {least: min(x)}), or top(1, by=-x)"},
    {"max", "; it is group_by(true, {most: max(x)}), or top(1, by=x)"},
    {"value_counts", "; it is group_by(key, {n: count()}) | top(10, by=n)"},
    {"dropna", "; it is filter(x != none)"},
    {"drop_nulls", "; it is filter(x != none)"},
    {"fillna", "; it is map({x: value_or(x, 0), …})"},
    {"fill_null", "; it is map({x: value_or(x, 0), …})"},
    {"dedup", "; it is unique()"},
    {"drop_duplicates", "; it is unique()"},
    {"uniq", "; it is unique()"},
    {"print",
     "; `sluice run PLAN --output jsonl` prints the elements, and inspect(function) calls a function with each"},
    {"explode", "; it is flat_map(list)"},
    {"unnest", "; it is flat_map(list)"},
    {"parquet", ": duckdb converts it: duckdb -c \"copy (from 'a.parquet') to 'a.csv'\""},
    {"json", "; it is jsonl(\"PATH\"), which reads a JSON text in each line"},
    {"text", "; it is lines(\"PATH\")"},
    {"read_csv", "; it is csv(\"PATH\", header=true)"},
    {"read_json", "; it is jsonl(\"PATH\")"},
    {"tsv", "; it is csv(\"PATH\", header=true, delimiter=\"\\t\")"},
    {"arrow", "; it is from_arrow(\"PATH\")"},
    {"sqlite", "; it is sql(\"PATH\", \"select …\")"},
};

}  // namespace

std::string_view other_word_for(std::string_view name) {
  for (const other_word& w : kOtherWords)
    if (w.name == name) return w.instead;
  return {};
}

}  // namespace sluice::lib::detail
