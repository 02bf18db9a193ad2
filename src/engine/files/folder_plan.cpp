// SPDX-License-Identifier: Apache-2.0
#include "engine/files/folder_plan.hpp"

#include <absl/strings/str_cat.h>

#include <filesystem>
#include <string>
#include <utility>

#include "arrow/row_type.hpp"
#include "base/text/plan_quotes.hpp"
#include "element/text/scan_text.hpp"
#include "sluice/element/batched.hpp"
#include "sluice/element/type_text.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib {
namespace {

/// Escapes the characters that patterns of list_files give a meaning.
std::string in_pattern(std::string_view path) {
  std::string out;
  for (char c : path) {
    if (c == ',') {
      out += "[,]";
      continue;
    }
    if (std::string_view("*?[]\\").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

/// The reader of one file in plan text: a call without its path, and the stages after it.
struct one_file_reading {
  std::string reader, arguments, stages;
  bool has_index = false;

  /// `path`: in quotes; empty: a reader without a path.
  std::string text(const std::string& path, bool by_index) const {
    std::string in = path;
    for (const std::string& more : {arguments, std::string(by_index ? "index=required" : "")})
      if (!more.empty()) absl::StrAppend(&in, in.empty() ? "" : ", ", more);
    return absl::StrCat(reader, in.empty() ? "" : absl::StrCat("(", in, ")"), stages);
  }
};

one_file_reading reading_of(const data_folder& d, const element_type& type) {
  const element_type& row = type.kind == kind::batch ? *type.element : type;
  const auto schema = [&] { return absl::StrCat("schema=", detail::in_quotes(arrow::row_text(row))); };
  auto format = parse_output_format(d.format);
  using enum output_format;
  switch (format.ok() ? *format : automatic) {
    case arrow:
    case arrow_binary:
      return {"from_arrow", absl::StrCat("schema=", detail::in_quotes(arrow::exact_row_text(row))),
              type.kind == kind::batch ? "" : " | unbatch"};
    case parquet: return {"parquet", absl::StrCat("schema=", detail::in_quotes(arrow::exact_row_text(row))), ""};
    case jsonl: return {"jsonl", schema(), "", true};
    case csv: return {"csv", absl::StrCat(schema(), ", header=true"), "", true};
    case tfrecords: return {"tfrecord", "", type.name == "string" ? " | map(string(it))" : "", true};
    case text_lines: return {"lines", "", type.name == "string" ? " | map(string(it))" : "", true};
    case example:
      return {"tfrecord", "", absl::StrCat(" | parse_example(", detail::in_quotes(arrow::row_text(row)), ")"), true};
    case numpy: return {"npy", "", ""};
    default: break;
  }
  return {};
}

/// Returns a pattern that the files of the folder match: part-00000-of-00004.arrow gives part-*-of-00004.arrow.
std::string pattern_of(const data_folder& d) {
  const std::string& name = d.files[0].name;
  constexpr std::string_view kBefore = "part-";
  const std::size_t end = name.find_first_not_of("0123456789", kBefore.size());
  if (!name.starts_with(kBefore) || end == kBefore.size() || end == name.npos) return {};
  return absl::StrCat(std::string(kBefore), "*", name.substr(end));
}

/// Replaces the word `read` by the reader of one file.
std::string with_reader(const std::string& stages, const std::string& reader) {
  constexpr std::string_view kWord = "read";
  std::string out;
  bool in_text = false;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const bool is_name = i != 0 && detail::is_name_char(stages[i - 1]);
    const bool is_word = !in_text && !is_name && stages.compare(i, kWord.size(), kWord) == 0 &&
                         (i + kWord.size() == stages.size() || !detail::is_name_char(stages[i + kWord.size()]));
    if (in_text && stages[i] == '\\') out += stages[i++];
    else if (stages[i] == '"') in_text = !in_text;
    if (is_word) {
      out += reader;
      i += kWord.size() - 1;
    } else if (i < stages.size()) {
      out += stages[i];
    }
  }
  return out;
}

std::string text_of_folder(const data_folder& d, const std::string& folder, const one_file_reading& reading,
                           bool by_index, const std::string& reader_func = {}) {
  const auto one = [&](const data_folder::file& f) {
    return reading.text(detail::in_quotes(folder + f.name), by_index);
  };
  if (!reader_func.empty()) {
    const std::string name = d.files.size() == 1 ? d.files[0].name : pattern_of(d);
    return absl::StrCat("list_files(", detail::in_quotes(in_pattern(folder) + name), ") | ",
                        with_reader(reader_func, reading.text("", false)));
  }
  if (d.files.size() == 1) return one(d.files[0]);
  if (by_index) {
    std::string all;
    for (const data_folder::file& f : d.files) absl::StrAppend(&all, all.empty() ? "concatenate(" : ", ", one(f));
    return all + ")";
  }
  const std::string list = absl::StrCat("list_files(", detail::in_quotes(in_pattern(folder) + pattern_of(d)), ")");
  const std::string reader = reading.text("", false);
  return d.alternates ? absl::StrCat(list, " | interleave(", reader, ", cycle_length=", d.files.size(), ")")
                      : absl::StrCat(list, " | flat_map(", reader, ")");
}

/// Returns the plan that the text describes. Errors: failed_precondition: files of this format give other elements.
result<node_ptr> plan_with_type(const std::string& text, const data_folder& d, const element_type& type, bool is_exact,
                                bool has_stages) {
  const auto other = [&](const std::string& why) {
    if (has_stages) return invalid_argument_error(why);
    return failed_precondition_error(absl::StrCat("files of the format ", d.format,
                                                  " cannot give back elements of type ", d.type, ": ", why,
                                                  "; write the folder as arrow, or a file"));
  };
  try {
    node_ptr plan = parse_plan(text);
    // The name of a structure is lost in other formats than arrow; a plan in text does not use it.
    const bool fits = is_same_type(*plan->type, type) ||
                      (!is_exact && type.kind == kind::structure && plan->type->kind == kind::structure &&
                       arrow::row_text(*plan->type) == arrow::row_text(type));
    if (!fits)
      return other(absl::StrCat(has_stages ? "the stages give " : "they give ", type_text(*plan->type),
                                has_stages ? absl::StrCat(", and the elements are ", type_text(type)) : ""));
    return plan;
  } catch (const plan_error& e) { return other(std::string(e.why().message())); }
}

}  // namespace

void check_files(const data_folder& d, const std::string& folder) {
  for (const data_folder::file& f : d.files) {
    std::error_code why;
    const std::uint64_t bytes = std::filesystem::file_size(folder + f.name, why);
    if (why)
      throw_status(data_loss_error(absl::StrCat("a file of the data folder is missing: ", why.message(),
                                                "; restore it, or write the folder again"))
                       .in_file(folder + f.name));
    if (bytes != f.bytes)
      throw_status(data_loss_error(absl::StrCat("the file has ", bytes, " bytes, and the folder's manifest states ",
                                                f.bytes, "; restore it, or write the folder again"))
                       .in_file(folder + f.name));
  }
}

status why_not_loadable(output_format format, const element_type& type) {
  if (format == output_format::mds_folder) return {};  // its columns are read as they were written
  data_folder d{.is_complete = true,
                .format = std::string(to_string(format)),
                .compression = "none",
                .type = type_text(type),
                .elements = 0,
                .alternates = false,
                .files = {{"part", 0}}};
  const one_file_reading reading = reading_of(d, type);
  if (reading.reader.empty()) return failed_precondition_error(absl::StrCat("load() does not read ", d.format));
  return plan_with_type(text_of_folder(d, "/", reading, false), d, type, false, false).why();
}

namespace {

/// The reader of MDS reads the folder.
node_ptr plan_of_mds_folder(const data_folder& d, const std::string& folder, const folder_reading& how,
                            const element_type& type, bool is_exact) {
  if (how.index == file_index::required)
    throw_status(invalid_argument_error("index=required: folders of MDS have an index of their own; leave it out")
                     .in_file(folder));
  auto plan = plan_with_type(absl::StrCat("mds(", detail::in_quotes(folder), ")"), d, type, is_exact, false);
  if (!plan.ok()) throw_status(plan.why().in_file(folder));
  return *plan;
}

}  // namespace

node_ptr plan_of_data_folder(const data_folder& d, const std::string& folder, const folder_reading& how,
                             const element_type* type, bool is_exact) {
  if (d.format == to_string(output_format::mds_folder)) return plan_of_mds_folder(d, folder, how, *type, is_exact);
  const one_file_reading reading = reading_of(d, *type);
  if (reading.reader.empty())
    throw_status(failed_precondition_error(
                     absl::StrCat("the format \"", d.format, "\" is not one that this version of sluice reads"))
                     .in_file(folder));
  const bool by_index = how.index == file_index::required;
  if (by_index && (!reading.has_index || (d.files.size() > 1 && d.alternates)))
    throw_status(
        invalid_argument_error(
            !reading.has_index
                ? absl::StrCat("index=required: files of the format ", d.format,
                               " have no index; leave it out, or write tfrecord, example, jsonl, csv or lines")
                : std::string("index=required: the elements alternate between the files, so no index finds them; "
                              "leave it out, or write the folder with one shard or with shard_bytes"))
            .in_file(folder));
  if (d.files.size() > 1 && pattern_of(d).empty())
    throw_status(failed_precondition_error("its files have names that sluice does not write").in_file(folder));
  std::string text = text_of_folder(d, folder, reading, by_index, how.reader_func);
  if (how.cardinality) absl::StrAppend(&text, " | assert_cardinality(", d.elements, ")");
  auto plan = plan_with_type(text, d, *type, is_exact, !how.reader_func.empty());
  if (!plan.ok()) throw_status(plan.why().in_file(folder));
  return *plan;
}

}  // namespace sluice::lib
