// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/text/plan_quotes.hpp"
#include "base/text/redacted.hpp"
#include "cli/inputs/file_readers.hpp"
#include "cli/inputs/matched_files.hpp"
#include "cli/inputs/merged_schema.hpp"
#include "cli/inputs/plan_argument.hpp"
#include "cli/inputs/remote_files.hpp"
#include "cli/options/typed_command.hpp"
#include "cli/reports/run_record.hpp"
#include "cli/reports/watch.hpp"
#include "cli/verbs.hpp"
#include "engine/files/file_head.hpp"
#include "format/example/example_inference.hpp"
#include "format/npy_rows.hpp"
#include "io/paths/file_router.hpp"
#include "output/data_folder.hpp"
#include "sluice/element/type_text.hpp"
#include "sluice/op/take.hpp"
#include "sluice/op/tfrecord.hpp"
#include "sluice/pipeline/iterate.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib::cli {
namespace {

/// The records of a file, and the schema that they have.
struct examined_records {
  stream<record> records;
  example_inference* inference;
  bool skips;  ///< records that do not fit are dropped by the run
  std::uint64_t seen = 0;
  status why{};  ///< why the record number `seen` is not a tf.Example like those before it
};

/// Errors: those of reading.
task<void> examine(examined_records* e) {
  for (;; ++e->seen) {
    auto r = co_await e->records.next();
    if (!r) break;
    status why = e->inference->add(r->view());
    if (why.ok() || (e->skips && e->inference->has_features())) continue;
    e->why = std::move(why);
    break;
  }
  auto ending = cleanup(std::move(e->records));
  co_await ending;
}

/// Returns the text of the stage that parses the records of all files; empty if they are not tf.Examples. All records
/// are read, since a schema of some of them would lose the features that only others have.
std::string guessed_parser(const std::vector<std::string>& files, const run_arguments& a) {
  runtime rt(runtime_of(a.reading));
  add_remote_files(rt);
  example_inference inference;
  iterate_options o;
  set_errors(a.errors, o);
  o.quarantine = {};  // the run keeps what it drops
  o.errors_max = iterate_options().errors_max;
  std::uint64_t left = a.limit ? *a.limit : ~std::uint64_t{0};
  for (const std::string& file : files) {
    const auto most = static_cast<std::int64_t>(std::min<std::uint64_t>(left, INT64_MAX));
    examined_records examined{(tfrecord(file) | take(most)).iterate(rt, o), &inference, a.errors.skips};
    sync_wait(rt, examine(&examined));
    const status& why = examined.why;
    if (why.code() == status_code::data_loss && !inference.has_features())
      return {};  // the records are not tf.Examples
    if (!why.ok())
      throw_status(why.with_message(absl::StrCat(std::string(why.message()), ": add --schema"))
                       .in_file(file, provenance::kUnknown, examined.seen));
    left -= std::min(left, examined.seen);
    if (left == 0) break;
  }
  const std::string schema = inference.schema_text();
  std::string sequence;
  if (inference.has_feature_lists()) {
    auto text = inference.sequence_text();
    if (!text.ok()) throw misuse(std::string(text.why().message()));
    sequence = *std::move(text);
  }
  if (schema.empty() && sequence.empty()) return {};
  if (!a.report.quiet)
    std::fprintf(stderr, "schema, inferred from %llu records of %s: %s%s%s\n",
                 static_cast<unsigned long long>(inference.examples()),
                 files.size() == 1 ? detail::redacted(files[0]).c_str() : absl::StrCat(files.size(), " files").c_str(),
                 schema.c_str(), sequence.empty() ? "" : "; sequence: ", sequence.c_str());
  if (sequence.empty()) return absl::StrCat(" | parse_example(", detail::in_quotes(schema), ")");
  return absl::StrCat(" | parse_sequence_example(",
                      schema.empty() ? "" : absl::StrCat("context=", detail::in_quotes(schema), ", "),
                      "sequence=", detail::in_quotes(sequence), ")");
}

output_format format_of_output(const convert_arguments& a) {
  const std::string& out = a.run.output.output;
  auto named = parse_output_format(out.substr(0, out.find(':')));
  return named.ok() ? *named : format_of_path(out).format;
}

/// Returns true if records are written unchanged.
bool keeps_records(const convert_arguments& a) {
  const output_format f = format_of_output(a);
  return f == output_format::tfrecords || f == output_format::raw || f == output_format::text_lines;
}

/// Returns the head of an npy file; nothing if the file cannot be examined, or is not npy: reading it reports the
/// reason.
std::optional<npy_head> head_of_npy(const std::string& file) {
  if (!is_file(file)) return {};
  auto begin = read_file_head(file, compression::automatic, kNpyHeadBytesMax);
  npy_head head;
  if (!begin.ok() || !read_npy_head(begin->bytes, head).why.ok()) return {};
  return head;
}

/// Returns the plan text that converts an array of one dimension, whose elements are tensors without dimensions, to
/// numbers that CSV and Arrow can represent.
std::string numbers_of_npy(const npy_head& head) {
  const bool is_number = head.row_shape.rank() == 0 && head.dtype != dtype::string && head.dtype != dtype::float16;
  if (!is_number) return {};
  const std::string_view name = head.dtype == dtype::float32   ? "float"
                                : head.dtype == dtype::float64 ? "double"
                                                               : name_of(head.dtype);
  return absl::StrCat(" | map(", std::string(name), "(it))");
}

/// Returns true for a table's file that names its columns and has no rows. The types of its columns are unknown, and
/// equal those of the other files.
bool is_table_without_rows(const std::string& file) {
  constexpr std::uintmax_t kHeaderBytesMax = 1 << 20;
  const output_format f = format_of_path(std::string(name_of_data(file))).format;
  const bool is_table = f == output_format::csv || f == output_format::jsonl || name_of_data(file).ends_with(".tsv");
  if (is_table && is_file(file))
    if (is_blank(sample_of(file))) return true;
  std::error_code unknown;
  if (f != output_format::csv || !is_file(file) || is_compressed(file) ||
      std::filesystem::file_size(detail::without_file_scheme(file), unknown) > kHeaderBytesMax)
    return false;
  std::ifstream in(detail::without_file_scheme(file), std::ios::binary);
  std::string header, rest;
  std::getline(in, header);
  return !std::getline(in, rest);
}

/// Removes the files without rows from the list, if any file has rows.
void leave_out_empty(std::vector<std::string>& files) {
  std::vector<std::string> with_rows;
  std::remove_copy_if(files.begin(), files.end(), std::back_inserter(with_rows), is_table_without_rows);
  if (!with_rows.empty()) files = std::move(with_rows);
}

/// Uses a runtime of its own, which ends before the run's runtime begins.
void replace_patterns(convert_arguments& a) {
  if (std::none_of(a.inputs.begin(), a.inputs.end(), is_file_pattern_and_no_plan)) return;
  runtime rt(runtime_of(a.run.reading));
  add_remote_files(rt);
  a.inputs = matched_files(rt, a.inputs, is_file_pattern_and_no_plan);
}

/// Refuses tables of different columns, which no single output can have. Errors of reading are reported later.
void refuse_other_columns(const std::vector<std::string>& files, const std::vector<std::string>& plans) {
  if (plans.size() < 2) return;
  std::vector<std::string> types;
  try {
    for (const std::string& plan : plans) types.push_back(type_text(*parse_plan(plan)->type));
  } catch (const std::exception&) { return; }
  for (std::size_t i = 1; i != types.size(); ++i)
    if (types[i] != types[0])
      throw misuse(absl::StrCat(files[i], " has other columns than ", files[0], ": ", types[i], ", and ", types[0],
                                "; convert each by itself"));
}

std::string plan_text_of(convert_arguments& a) {
  replace_patterns(a);
  if (a.inputs.size() == 1 && a.format.from.empty() && !names_data(a.inputs[0])) {
    refuse_folder(a.inputs[0], "convert", absl::StrCat(" ", shell_word(a.run.output.output)));
    check_not_missing(a.inputs[0]);
    refuse_for_plan(a.inputs[0], a.format);
    return a.inputs[0];
  }
  if (a.format.from.empty() && a.format.schema.empty() && a.inputs.size() > 1) leave_out_empty(a.inputs);
  const format_arguments format = with_merged_schema(a.inputs, a.format);
  std::vector<std::string> plans;
  bool is_records = true;
  for (const std::string& file : a.inputs) {
    if (file != "-" && !names_data(file)) {
      refuse_folder(file, "convert", absl::StrCat(" ", shell_word(a.run.output.output)));
      check_not_missing(file);
      throw misuse(absl::StrCat(file, " is no file: several inputs are files; one plan can be an input alone"));
    }
    reader r = reader_of(file, a.format);
    if (format_of_output(a) != output_format::jsonl) r.is_empty = false;  // columns are needed: refused with --schema
    is_records = is_records && r.format == "tfrecord";
    plans.push_back(plan_for(file, r, format));
    if (!a.format.schema.empty() && names_file(file))
      plan_of_file(file, plans.back(), a.format);  // throws its mistakes
    auto array = r.format == "npy" ? head_of_npy(file) : std::nullopt;
    if (!array) continue;
    if (format_of_output(a) != output_format::numpy) plans.back() += numbers_of_npy(*array);
    else if (!a.run.output.rows) a.run.output.rows = tensor_spec{array->dtype, array->row_shape};
  }
  refuse_other_columns(a.inputs, plans);
  std::string text = plans.size() == 1 ? plans[0] : absl::StrCat("concatenate(", absl::StrJoin(plans, ", "), ")");
  if (!is_records || keeps_records(a) || !a.format.schema.empty()) return text;
  const bool is_stream = !std::all_of(a.inputs.begin(), a.inputs.end(), names_file);
  if (is_stream) throw misuse("records that can be read once only are not looked at: add --schema");
  return text + guessed_parser(a.inputs, a.run);
}

/// Refuses `convert *.tfrecord`, which would replace the last of the files.
void refuse_to_replace(const convert_arguments& a) {
  std::error_code unknown;
  const std::string path = detail::without_file_scheme(a.run.output.output);
  const bool continues = !a.run.checkpoint_file.empty() && std::filesystem::exists(a.run.checkpoint_file, unknown);
  if (a.overwrites || continues) return;
  if (names_data_folder(path)) {
    const bool has_files = detail::is_remote(path)
                               ? exists(absl::StrCat(path, std::string(kManifestName)), a.run.reading)
                               : !std::filesystem::is_empty(path, unknown) && !unknown;
    if (!has_files) return;
    throw misuse(
        absl::StrCat(path, " has files, which the output may replace: name another folder, or add --overwrite"));
  }
  if (detail::is_remote(path) ? !exists(path, a.run.reading) : !std::filesystem::is_regular_file(path, unknown)) return;
  throw misuse(absl::StrCat(path, " exists: name another output, or add --overwrite"));
}

}  // namespace

namespace {

int convert_into(convert_arguments& a, watch& interrupts, run_record& record) {
  if (a.inputs.size() < 2)
    throw misuse(absl::StrCat("convert needs an input and an output, as in: sluice convert ", a.inputs[0], " ",
                              a.inputs[0].ends_with(".jsonl") ? "out.csv" : "out.jsonl"));
  a.run.output.output = std::move(a.inputs.back());
  a.inputs.pop_back();
  if (a.inputs.size() == 1) a.run.output.input = a.inputs[0];
  refuse_to_replace(a);
  if (!a.to.empty()) a.run.output.output = absl::StrCat(a.to, ":", a.run.output.output);
  else if (a.run.output.output == "-")
    throw misuse("the output - is standard output: choose its format with --to, such as --to jsonl");
  a.run.output.names_option = false;
  a.run.is_output_named = true;
  a.run.plan = plan_text_of(a);
  a.run.resume_file = a.run.checkpoint_file;
  a.run.starts_without_checkpoint = true;
  return run(a.run, interrupts, record);
}

}  // namespace

int convert(convert_arguments a) {
  watch interrupts;
  return with_report(a.run.report, "convert", [&](run_record& record) { return convert_into(a, interrupts, record); });
}

}  // namespace sluice::lib::cli
