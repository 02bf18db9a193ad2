// SPDX-License-Identifier: Apache-2.0
#include "plan/text/other_words.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "element/text/scan_text.hpp"

namespace sluice::lib::detail {

namespace {

/// `instead` contains 'PLAN', the text of the plan before the call (with_plan()); $1, the first argument (else `first`);
/// $O, an order; $B and $W, the rank of that order and what it yields; $V, the same for the other end; $K, the first column; $C, the columns; $N, the named arguments as fields; $F, the
/// columns with value_or($1) for those that may be missing; $M, those renamed; $D, the columns without the arguments; $R,
/// the reader of the file $1.
struct other_word {
  std::string_view name, instead, first = "x";
};
// Sorting and joining need all rows at once, which is what databases are for. tests/cli/words_test.py runs these
// commands.
#define SLUICE_DETAIL_DATABASE(QUERY) "sluice run 'PLAN' --output out.csv && duckdb -c \"from 'out.csv' " QUERY "\""
constexpr std::string_view kSort =
    "; top(10, by=$B) yields the 10 $W$V; a database sorts all: " SLUICE_DETAIL_DATABASE("order by $O");
constexpr std::string_view kJoin = "; a database joins: " SLUICE_DETAIL_DATABASE(
    "join 'b.csv' using ($K)") "; replace b.csv by the other file, and $K by the common column";
#undef SLUICE_DETAIL_DATABASE
constexpr std::string_view kImages = "; write list_files(\"$1\") | map(decode_image(read_file(it)))";
constexpr std::string_view kUrls = "; readers read URLs: csv(\"https://example.org/a.csv\", header=true)";
constexpr std::string_view kDatabase =
    "; sluice does not read this format; a database converts it: duckdb -c \"copy (from '$1') to 'out.csv'\"";
constexpr other_word kOtherWords[] = {
    {"write", "; an option writes the elements: sluice run 'PLAN' --output $1; in C++ write(rt, dataset, \"$1\")",
     "PATH"},
    {"to_csv", "; an option writes the elements: sluice run 'PLAN' --output $1", "out.csv"},
    {"save", "; an option writes the elements: sluice run 'PLAN' --output $1", "PATH"},
    {"open", "; write $R, which reads this file", "FILE"},
    {"load", "; write $R, which reads this file", "FILE"},
    {"read", "; write $R, which reads this file", "FILE"},
    {"from", "; write $R, which reads this file", "FILE"},
    {"file", "; write $R, which reads this file", "FILE"},
    {"scan_csv", "; write csv(\"$1\", header=true)", "PATH"},
    {"at", "; write skip($1) | take(1); in C++ co_await dataset.at(rt, $1)", "N"},
    {"cardinality",
     "; `sluice explain` prints it beside each stage, and `sluice count` prints it alone; in C++ "
     "dataset.cardinality()"},
    {"element_spec", "; `sluice explain --spec` prints it; in C++ dataset.element_spec()"},
    {"options", "; write with_options(…), or on_error=, order= and others of a call; in C++ dataset.options()"},
    {"apply", "; write the stages themselves, one after the other; in C++ dataset | apply(function)"},
    {"broadcast", "; only C++ has it, where one run has several readers: broadcast(dataset, rt, N)"},
    {"tee", "; only C++ has it, where one run has several readers: broadcast(dataset, rt, N), or tee(…)"},
    {"count", "; write count_elements, or `sluice count`"},
    {"pack", "; write pack_sequences($1)", "length"},
    {"sort", kSort},
    {"sort_by", kSort},
    {"order_by", kSort},
    {"order", kSort},
    {"orderby", kSort},
    {"arrange", kSort},
    {"join", kJoin},
    {"left_join", kJoin},
    {"inner_join", kJoin},
    {"union", "; write concatenate(A, B), or concatenate(A, B) | unique() without duplicates"},
    {"union_all", "; write concatenate(A, B)"},
    {"append", "; write concatenate(A, B)"},
    {"tail", "; print all elements, and keep the last: sluice run 'PLAN' --output jsonl | tail -n $1", "10"},
    {"last", "; print all elements, and keep the last: sluice run 'PLAN' --output jsonl | tail -n $1", "1"},
    {"first", "; write take($1)", "1"},
    {"slice", "; write skip(A) | take(N)"},
    {"rename", "; write map({$M})"},
    {"drop", "; the other columns are kept by map({$D}); the first N elements are skipped by skip(N)"},
    {"with_column", "; write map({$C, $N})"},
    {"mutate", "; write map({$C, $N})"},
    {"assign", "; write map({$C, $N})"},
    {"agg", "; write group_by(key, {n: count()}); over all elements group_by(true, {…})"},
    {"aggregate", "; write group_by(key, {n: count()}); over all elements group_by(true, {…})"},
    {"summarize", "; write group_by(key, {n: count()}); over all elements group_by(true, {…})"},
    {"summarise", "; write group_by(key, {n: count()}); over all elements group_by(true, {…})"},
    {"groupby", "; write group_by($1, {n: count()})", "key"},
    {"having", "; write filter(…) after group_by(…)"},
    {"sum", "; write group_by(true, {total: sum($1)})", "it"},
    {"mean", "; write group_by(true, {mean: mean($1)})", "it"},
    {"avg", "; write group_by(true, {mean: mean($1)})", "it"},
    {"min", "; write group_by(true, {least: min($1)}), or top(1, by=-$1)", "it"},
    {"max", "; write group_by(true, {most: max($1)}), or top(1, by=$1)", "it"},
    {"value_counts", "; write group_by($1, {n: count()}) | top(10, by=n)", "key"},
    {"dropna", "; write filter($1 != none)"},
    {"drop_nulls", "; write filter($1 != none)"},
    {"fillna", "; write map({$F})", "0"},
    {"fill_null", "; write map({$F})", "0"},
    {"grep", "; write filter(contains($T, \"$1\"))", "text"},
    {"columns", "; write select($1)", "id, name"},
    {"keep", "; write select($1)", "id, name"},
    {"pick", "; write select($1)", "id, name"},
    {"image", kImages, "*.png"},
    {"images", kImages, "*.png"},
    {"png", kImages, "*.png"},
    {"jpeg", kImages, "*.jpg"},
    {"jpg", kImages, "*.jpg"},
    {"wav", "; write list_files(\"$1\") | map(decode_wav(read_file(it)))", "*.wav"},
    {"audio", "; write list_files(\"$1\") | map(decode_wav(read_file(it)))", "*.wav"},
    {"http", kUrls},
    {"https", kUrls},
    {"url", kUrls},
    {"s3", "; readers read objects: csv(\"s3://bucket/a.csv\", header=true)"},
    {"excel", "; sluice does not read this format; Gnumeric converts it: ssconvert $1 out.csv", "FILE.xlsx"},
    {"xlsx", "; sluice does not read this format; Gnumeric converts it: ssconvert $1 out.csv", "FILE.xlsx"},
    {"read_excel", "; sluice does not read this format; Gnumeric converts it: ssconvert $1 out.csv", "FILE.xlsx"},
    {"hdf5", "; sluice does not read HDF5: h5py reads it in Python, and `h5dump $1` prints it", "FILE.h5"},
    {"h5", "; sluice does not read HDF5: h5py reads it in Python, and `h5dump $1` prints it", "FILE.h5"},
    {"avro", "; sluice does not read Avro: `fastavro $1 > out.jsonl` (pip install fastavro) converts it", "FILE.avro"},
    {"orc", "; sluice does not read ORC: pyarrow.orc reads it in Python", "FILE.orc"},
    {"feather", "; write from_arrow(\"$1\")", "PATH"},
    {"duckdb", kDatabase, "FILE"},
    {"yaml", "; sluice does not read YAML: `yq -o=json -I=0 $1 > out.jsonl` converts it", "FILE.yaml"},
    {"dedup", "; write unique()"},
    {"drop_duplicates", "; write unique()"},
    {"uniq", "; write unique()"},
    {"print",
     "; sluice run 'PLAN' --output jsonl prints the elements, and inspect(function) calls a function with each"},
    {"explode", "; write flat_map($1)", "list"},
    {"unnest", "; write flat_map($1)", "list"},
    {"read_parquet", "; write parquet(\"$1\")", "PATH"},
    {"scan_parquet", "; write parquet(\"$1\")", "PATH"},
    {"json", "; write jsonl(\"$1\"), which reads a JSON text in each line", "PATH"},
    {"text", "; write lines(\"$1\")", "PATH"},
    {"read_csv", "; write csv(\"$1\", header=true)", "PATH"},
    {"read_json", "; write jsonl(\"$1\")", "PATH"},
    {"tsv", "; write csv(\"$1\", header=true, delimiter=\"\\t\")", "PATH"},
    {"arrow", "; write from_arrow(\"$1\")", "PATH"},
    {"sqlite", "; write sql(\"$1\", \"select …\")", "PATH"},
};

/// Calls whose required arguments the messages show.
constexpr std::pair<std::string_view, std::string_view> kExamples[] = {
    {"range", "range(10)"},
    {"list_files", "list_files(\"data/*.csv\")"},
    {"csv", "csv(\"FILE.csv\", header=true)"},
    {"jsonl", "jsonl(\"FILE.jsonl\")"},
    {"lines", "lines(\"FILE.txt\")"},
    {"load", "load(\"DIR\")"},
    {"tfrecord", "tfrecord(\"FILE.tfrecord\")"},
    {"bagz", "bagz(\"FILE.bagz\")"},
    {"array_record", "array_record(\"FILE.array_record\")"},
    {"mds", "mds(\"FOLDER\")"},
    {"npy", "npy(\"FILE.npy\")"},
    {"sql", "sql(\"FILE.db\", \"select * from t\")"},
    {"fixed_length", "fixed_length(\"FILE.bin\", 4)"},
    {"from_arrow", "from_arrow(\"FILE.arrow\")"},
    {"tar", "tar(\"FILE.tar\")"},
    {"webdataset", "webdataset(\"FILE.tar\")"},
    {"zip_members", "zip_members(\"FILE.zip\")"},
    {"snapshot", "snapshot(\"DIR\")"},
    {"map", "map($V)"},
    {"filter", "filter($V > 1)"},
    {"flat_map", "flat_map([$V])"},
    {"interleave", "interleave(lines)"},
    {"shuffle", "shuffle(1000)"},
    {"batch", "batch(32)"},
    {"padded_batch", "padded_batch(32)"},
    {"ragged_batch", "ragged_batch(32)"},
    {"sparse_batch", "sparse_batch(32, [10])"},
    {"rebatch", "rebatch(32)"},
    {"batch_by_bytes", "batch_by_bytes(1MiB)"},
    {"pack_sequences", "pack_sequences(512)"},
    {"take", "take(10)"},
    {"skip", "skip(10)"},
    {"take_while", "take_while($V > 1)"},
    {"drop_while", "drop_while($V > 1)"},
    {"shard", "shard(4, 0)"},
    {"assert_cardinality", "assert_cardinality(10)"},
    {"pad_to_cardinality", "pad_to_cardinality(10)"},
    {"sleep", "sleep(10ms)"},
    {"window", "window(4)"},
    {"window_batch", "window_batch(4)"},
    {"scan", "scan(0, state + $V)"},
    {"reduce", "reduce(0, state + $V)"},
    {"group_by", "group_by($1, {n: count()})"},
    {"top", "top(10, by=$V)"},
    {"parse_example", "parse_example(\"label: int64\")"},
    {"zip", "zip(range(3), range(3))"},
    {"concatenate", "concatenate(range(3), range(3))"},
    {"merge", "merge(range(3), range(3))"},
};

constexpr std::size_t kShownMax = 200;

/// Returns an argument's text without the quotes of a text.
std::string value_of(const argument& a) {
  return a.kind == argument::quoted || a.source.empty() ? a.text : std::string(a.source);
}

std::string quoted_column(std::string_view name) {
  return is_identifier(name) ? std::string(name) : absl::StrCat("`", std::string(name), "`");
}

/// Returns the columns, each changed by `change`, which returns an empty text for those to leave out.
template <class F> std::string changed_columns(const element_type* in, std::string_view otherwise, F change) {
  std::string out;
  if (in && in->kind == kind::structure)
    for (const member& m : in->members) {
      const std::string one = change(m, quoted_column(m.name));
      absl::StrAppend(&out, out.empty() || one.empty() ? "" : ", ", one);
    }
  return out.empty() || out.size() > kShownMax ? std::string(otherwise) : out;
}

std::string named_arguments(const call_syntax& call) {
  std::string out;
  for (const argument& a : call.arguments)
    if (!a.name.empty() && !a.source.empty())
      absl::StrAppend(&out, out.empty() ? "" : ", ", a.name, ": ", std::string(a.source));
  return out.empty() ? "new_column: 0" : out;
}

std::string filled_columns(const element_type* in, const std::string& value) {
  bool has_optional = false;
  std::string out = changed_columns(in, "", [&](const member& m, const std::string& name) {
    if (m.type->kind != kind::maybe) return name;
    has_optional = true;
    return absl::StrCat(name, ": value_or(", name, ", ", value, ")");
  });
  return has_optional && !out.empty() ? out : absl::StrCat("x: value_or(x, ", value, "), …");
}

/// rename(old=new) and rename(new=old): the one that is a column is the old one.
std::string renamed_columns(const call_syntax& call, const element_type* in) {
  return changed_columns(in, "new_name: old_name, …", [&](const member& m, const std::string& name) {
    for (const argument& a : call.arguments) {
      if (a.name == m.name) return absl::StrCat(value_of(a), ": ", name);
      if (!a.name.empty() && value_of(a) == m.name) return absl::StrCat(a.name, ": ", name);
    }
    return name;
  });
}

std::string other_columns(const call_syntax& call, const element_type* in) {
  return changed_columns(in, "a, b", [&](const member& m, const std::string& name) {
    for (const argument& a : call.arguments)
      if (value_of(a) == m.name) return std::string();
    return name;
  });
}

}  // namespace

std::string columns_in_braces(const element_type* in, std::string_view otherwise) {
  return changed_columns(in, otherwise, [](const member&, const std::string& name) { return name; });
}

std::string columns_except(const element_type* in, std::string_view name) {
  return changed_columns(
      in, "a, b", [&](const member&, const std::string& column) { return column == name ? std::string() : column; });
}

std::string text_of_call(const call_syntax& call) {
  std::string out;
  for (const argument& a : call.arguments)
    absl::StrAppend(&out, out.empty() ? "" : ", ", a.name, a.name.empty() ? "" : "=", std::string(a.source));
  if (out.size() > kShownMax) out = "…";
  return absl::StrCat(call.name, "(", out, ")");
}

namespace {

bool is_number(const element_type& t) {
  const element_type& value = t.kind == kind::maybe ? *t.element : t;
  return value.kind == kind::scalar && &value != &type_of<bool>();
}
bool is_number_column(const member& m) { return is_number(*m.type); }

/// Returns true if the column `name`, or the element `it`, is a number.
bool is_number_named(const std::string& name, const element_type* in) {
  if (in && name == "it") return is_number(*in);
  return in && in->kind == kind::structure && std::ranges::any_of(in->members, [&](const member& m) {
           return quoted_column(m.name) == name && is_number_column(m);
         });
}

/// An order of SQL, and the rank whose largest elements come first in it: `score desc` and `score`.
struct written_order {
  std::string order, rank;
  std::string_view first = "largest";
  std::string other = {};  ///< ", top(10, by=-score) the 10 smallest" if no direction was written
};
written_order order_of(const call_syntax& call, const element_type* in) {
  std::string column = "it";
  if (in && in->kind == kind::structure && !in->members.empty()) {
    const auto number = std::ranges::find_if(in->members, is_number_column);
    column = quoted_column(number == in->members.end() ? in->members[0].name : number->name);
  }
  if (!call.arguments.empty() && !value_of(call.arguments[0]).empty()) column = value_of(call.arguments[0]);
  std::string order = column;
  bool is_ascending = false;
  for (std::string_view direction : {" desc", " DESC", " asc", " ASC"})
    if (column.ends_with(direction)) {
      column.resize(column.size() - direction.size());
      is_ascending = direction == " asc" || direction == " ASC";
    }
  for (const argument& a : call.arguments) is_ascending |= a.name == "ascending" && a.text == "true";
  for (const argument& a : call.arguments)
    if ((a.name == "desc" || a.name == "descending" || a.name == "reverse") && a.text == "true")
      order = column + " desc";
  const bool has_direction =
      order != column || std::ranges::any_of(call.arguments, [](const argument& a) {
        return a.name == "ascending" || a.name == "desc" || a.name == "descending" || a.name == "reverse";
      });
  // The columns of SQL have other quotes.
  if (order.starts_with('`')) order = absl::StrReplaceAll(order, {{"`", "\\\""}});
  if (is_ascending) return {order, "-" + column, "smallest"};
  written_order written{order, column};
  if (!has_direction && is_number_named(column, in))
    written.other = absl::StrCat(", top(10, by=-", column, ") the 10 smallest");
  return written;
}

std::string first_column(const element_type* in) {
  const bool has_columns = in && in->kind == kind::structure && !in->members.empty();
  return has_columns && is_identifier(in->members[0].name) ? in->members[0].name : "id";
}

}  // namespace

namespace {

/// Returns the last column of text, or `it`.
std::string text_column(const element_type* in) {
  std::string found = "it";
  if (in && in->kind == kind::structure)
    for (const member& m : in->members)
      if (m.type->kind == kind::text) found = quoted_column(m.name);
  return found;
}

}  // namespace

std::string with_plan(std::string message, std::string_view plan) {
  constexpr std::string_view kPlan = "'PLAN'", kBare = "PLAN_BEFORE";
  if (const std::size_t bare = message.find(kBare); bare != message.npos) {
    while (plan.ends_with(' ') || plan.ends_with('|')) plan.remove_suffix(1);
    const bool is_whole = !plan.empty() && plan.size() <= kShownMax && plan.find('\n') == plan.npos;
    return message.replace(bare, kBare.size(), is_whole ? std::string(plan) : "A");
  }
  const std::size_t at = message.find(kPlan);
  if (at == message.npos) return message;
  while (plan.ends_with(' ') || plan.ends_with('|')) plan.remove_suffix(1);
  int depth = 0;
  for (const char c : plan) depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
  const bool is_shown = depth == 0 && !plan.empty() && plan.size() <= kShownMax && plan.find('\n') == plan.npos;
  if (!is_shown) return absl::StrCat(message, "; PLAN is the plan before this stage");
  const std::string text = absl::StrReplaceAll(std::string(plan), {{"'", "'\\''"}});
  return message.replace(at, kPlan.size(), absl::StrCat("'", text, "'"));
}

std::string way_to_verb(const call_syntax& call, const element_type* in) {
  // Elements are cast by functions that have the names of types; the function cast() is for tensors.
  if (call.name == "cast" && call.arguments.size() == 2 && call.arguments[1].kind == argument::quoted)
    return absl::StrCat("; write map(", std::string(usual_type_name(call.arguments[1].text)), "(",
                        std::string(call.arguments[0].source), "))");
  const auto* word = std::ranges::find(kOtherWords, std::string_view(call.name), &other_word::name);
  if (word == std::end(kOtherWords)) return {};
  const bool has_first = !call.arguments.empty() && value_of(call.arguments[0]).size() <= kShownMax &&
                         !value_of(call.arguments[0]).empty();
  const written_order order = order_of(call, in);
  const std::string first = has_first ? value_of(call.arguments[0]) : std::string(word->first);
  const bool names_a_file = word->instead.find("$R") != word->instead.npos;
  if (names_a_file && first.starts_with('['))
    return absl::StrCat("; the elements of a list are from_tensor_slices(", first, ")");
  return absl::StrReplaceAll(absl::string_view(word->instead.data(), word->instead.size()),
                             {{"$1", first},
                              {"$O", order.order},
                              {"$B", order.rank},
                              {"$W", std::string(order.first)},
                              {"$V", order.other},
                              {"$K", first_column(in)},
                              {"$C", columns_in_braces(in, "a, b")},
                              {"$N", named_arguments(call)},
                              {"$F", filled_columns(in, first)},
                              {"$M", renamed_columns(call, in)},
                              {"$R", source_reading(first)},
                              {"$T", text_column(in)},
                              {"$D", other_columns(call, in)}});
}

std::string example_of_call(std::string_view verb, const element_type* in, std::string_view first) {
  const auto* example = std::ranges::find(kExamples, verb, &std::pair<std::string_view, std::string_view>::first);
  if (example == std::end(kExamples)) return {};
  std::string value = "it", key = "it";
  if (in && in->kind == kind::structure && !in->members.empty()) {
    const auto number = std::ranges::find_if(in->members, is_number_column);
    key = quoted_column(in->members[0].name);
    value = number == in->members.end() ? key : quoted_column(number->name);
  }
  if (!first.empty() && first.size() <= kShownMax) key = first;
  return absl::StrReplaceAll(absl::string_view(example->second.data(), example->second.size()),
                             {{"$V", value}, {"$1", key}});
}

std::string message_of_columns(const call_syntax& call, const element_type* in) {
  std::vector<std::string> columns;
  for (const argument& a : call.arguments)
    if (a.name.empty() && !a.source.empty() && a.source.size() <= kShownMax) columns.emplace_back(a.source);
  if (columns.empty()) return {};
  const std::string all = absl::StrJoin(columns, ", "), key = columns.size() == 1 ? all : absl::StrCat("{", all, "}");
  std::string rest;
  if (in && in->kind == kind::structure)
    for (const member& m : in->members)
      if (rest.empty() && std::ranges::find(columns, quoted_column(m.name)) == columns.end() && is_identifier(m.name))
        rest = absl::StrCat("; one row for each: group_by(", key, ", {", m.name, ": first(", m.name, ")})");
  return absl::StrCat(call.name, ": takes no columns, and found ", all, "; the distinct values: map(", key,
                      ") | unique", rest);
}

std::string message_of_keys(const call_syntax& call) {
  if (call.arguments.size() == 1 && call.arguments[0].source.starts_with('{') &&
      call.arguments[0].source.find("()") != call.arguments[0].source.npos)
    return absl::StrCat(call.name, ": the key is missing; all elements are one group: write ", call.name, "(true, ",
                        std::string(call.arguments[0].source), ")");
  std::string named;
  for (const argument& a : call.arguments)
    if (a.name != "" && a.name != "key" && a.name != "aggregates" && a.source.ends_with(')'))
      absl::StrAppend(&named, named.empty() ? "" : ", ", a.name, ": ", std::string(a.source));
  if (!named.empty() && call.arguments[0].name.empty() && !call.arguments[0].source.empty())
    return absl::StrCat(call.name, ": aggregates stand in braces: write ", call.name, "(",
                        std::string(call.arguments[0].source), ", {", named, "})");
  std::vector<std::string> keys;
  bool are_words = true;
  std::string aggregates;
  for (const argument& a : call.arguments) {
    if (!a.name.empty()) continue;
    if (a.source.starts_with('{') && &a != &call.arguments[0]) aggregates = std::string(a.source);
    else keys.emplace_back(a.source);
    are_words &= a.kind == argument::word || !aggregates.empty() || a.source.starts_with('`');
  }
  if (keys.size() < 2 || (keys.size() == 2 && aggregates.empty() && keys[1].ends_with(')'))) return {};
  return absl::StrCat(call.name, ": takes one key: write ", call.name, "({",
                      are_words ? absl::StrJoin(keys, ", ") : absl::StrCat(keys[0], ", name: ", keys[1]), "}, ",
                      aggregates.empty() ? "{n: count()}" : aggregates, ")");
}

std::string source_reading(std::string_view path) {
  static constexpr std::pair<std::string_view, std::string_view> kReaders[] = {{".csv", "csv"},
                                                                               {".jsonl", "jsonl"},
                                                                               {".ndjson", "jsonl"},
                                                                               {".tfrecord", "tfrecord"},
                                                                               {".arrow", "from_arrow"},
                                                                               {".feather", "from_arrow"},
                                                                               {".npy", "npy"},
                                                                               {".tar", "tar"},
                                                                               {".zip", "zip_members"},
                                                                               {".bagz", "bagz"},
                                                                               {".array_record", "array_record"}};
  std::string_view reader = "lines";
  for (const auto& [suffix, name] : kReaders)
    if (path.ends_with(suffix)) reader = name;
  return absl::StrCat(std::string(reader), "(\"", std::string(path), "\"", reader == "csv" ? ", header=true)" : ")");
}

}  // namespace sluice::lib::detail
