// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/jsonl.hpp"

#include <absl/strings/str_cat.h>

#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "element/text/read_type_text.hpp"
#include "engine/by_number/planned_index.hpp"
#include "engine/files/chosen_columns.hpp"
#include "engine/files/file_pieces.hpp"
#include "engine/files/file_stage.hpp"
#include "engine/files/parsed_texts.hpp"
#include "format/json/json_rows.hpp"
#include "op/jsonl/formats.hpp"
#include "op/jsonl/infer.hpp"
#include "plan/codecs/index_codec.hpp"
#include "plan/matching_files.hpp"
#include "sluice/element/type_text.hpp"

namespace sluice::lib {

namespace {

/// Parses "label: int64, text: string", or a type.
result<const element_type*> type_said(const std::string& text) {
  auto members = detail::row_type_from_text(text);
  if (members.ok()) return members;
  auto type = type_from_text(text);
  return type.ok() ? type : members;
}

std::deque<file_pieces> pieces_of(const jsonl_arguments& a, const std::vector<std::string>& files) {
  std::deque<file_pieces> all;
  const inflate_limits limits = limits_of(a.options.inflated_bytes_max, a.options.inflate_ratio_max);
  for (const std::string& file : files) all.emplace_back(file, a.options.compression, limits);
  return all;
}

/// Returns the type of a line with all members.
const element_type* whole_json_type(const jsonl_arguments& a, std::string& why) {
  if (a.schema.row) return a.schema.row;
  if (a.built.columns.all && a.schema.value.empty()) return a.built.columns.all;
  const bool is_said = !a.schema.value.empty();
  if (a.options.infer == 0 || a.options.infer < -1) {
    why = "infer must be a number of lines from 1 on, or -1 for all";
    return nullptr;
  }
  auto type = is_said ? type_said(a.schema.value) : infer_jsonl_type(pieces_of(a, {a.path.value}), a.options.infer);
  status fits = type.ok() ? check_json_type(**type) : type.why();
  if (fits.ok()) return *type;
  if (!fits.where().file.empty()) throw_status(fits);
  why = fits.message();
  return nullptr;
}

const element_type* json_type(const node& n, std::string& why) {
  check_index<jsonl_arguments>(n);
  const auto& a = n.as<jsonl_arguments>();
  const element_type* whole = whole_json_type(a, why);
  return whole ? chosen_members(*whole, a.built, why) : nullptr;
}

erased_stream open_jsonl(const node& n, open_context& context) {
  const json_type_arg& said = n.as<jsonl_arguments>().schema;
  const bool is_inferred = !said.row && said.value.empty();
  const jsonl_options& o = n.as<jsonl_arguments>().options;
  std::string from;
  if (is_inferred) from = jsonl_lines_looked_at(o.infer);
  const bool is_strict = o.strict && !is_inferred;
  const column_choice& built = n.as<jsonl_arguments>().built;
  std::string why;
  const element_type* whole = built.columns.list.empty() ? n.type : whole_json_type(n.as<jsonl_arguments>(), why);
  if (!whole) throw_status(invalid_argument_error(why));
  const element_type& row = *n.type;
  auto make = [&row, whole, from, is_strict, trust = built.trust.is_on()] {
    auto reader = std::make_unique<json_row_reader>(*whole, from, is_strict);
    if (whole != &row) reader->build_only(row, trust);
    return reader;
  };
  byte_source_options reading = reading_with<jsonl_arguments>(n, context);
  if (!parses_ahead(n, context, o.parallelism))
    return open_file_stage(n, context, std::move(reading), jsonl_format_of(row, std::move(*make())));
  return open_parsed_texts(n, context, std::move(reading), jsonl_line_cutter(), jsonl_line_parser(row, std::move(make)),
                           o.parallelism);
}

/// Returns the arguments with the common type of several files.
arguments jsonl_of_files(const node& n, const std::vector<std::string>& files) {
  jsonl_arguments a = n.as<jsonl_arguments>();
  if (a.schema.row || !a.schema.value.empty()) return n.arguments;
  auto type = infer_jsonl_type(pieces_of(a, files), a.options.infer);
  if (!type.ok()) throw_status(type.why());
  a.schema.value = jsonl_schema_text(**type);
  a.options.strict = true;
  return arguments::of(std::move(a));
}

/// Prints and reads the type as text. Structure types of the program distinguish those with the same text.
class json_type_codec final : public codec {
 public:
  void print(const void* p, printer& to) const override { to.text(get(p).value); }
  void read(void* p, const argument& a, reading& r) const override {
    if (!is_text_argument(a)) r.expected(a, "a text in quotes, such as \"label: int64, text: string\"");
    *static_cast<json_type_arg*>(p) = json_type_arg(text_of(a));
  }
  bool equal(const void* a, const void* b) const override {
    return get(a).value == get(b).value && get(a).row == get(b).row;
  }
  bool takes_text() const override { return true; }
  std::string type_name() const override { return "schema"; }

 private:
  static const json_type_arg& get(const void* p) { return *static_cast<const json_type_arg*>(p); }
};

}  // namespace

json_type_arg::json_type_arg(const element_type& t) : value(jsonl_schema_text(t)), row(&t) {
  status why = check_json_type(t);
  if (!why.ok()) throw_status(status(why.code(), absl::StrCat("jsonl: ", std::string(why.message()))));
}

template <> const codec& codec_of<json_type_arg>() {
  static const json_type_codec c;
  return c;
}

const op_info jsonl_op{
    .name = "jsonl",
    .doc = "the lines of a file, each a JSON text, as structures",
    .shape = op_info::source,
    .arguments = arguments_of<jsonl_arguments>,
    .of_matches = plan_of_matching_files,
    .for_files = jsonl_of_files,
    .for_columns = arguments_for_columns<jsonl_arguments>,
    .type = json_type,
    .facts = facts_by_index<jsonl_arguments>(),
    .splits = {.rule = split_rule::one_file, .skips_in_file = ranges_by_index<jsonl_arguments>},
    .lowering = {.open = open_jsonl},
};

}  // namespace sluice::lib
