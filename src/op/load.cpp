// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/load.hpp"

#include <absl/strings/str_cat.h>

#include <filesystem>
#include <string>
#include <utility>

#include "arrow/row_type.hpp"
#include "output/data_folder.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/element/batched.hpp"
#include "sluice/element/type_text.hpp"
#include "sluice/output/output_format.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib {
namespace {

/// Returns the text in double quotes, as plan text writes it.
std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') out += "\\n";
    else out += c;
  }
  return out + '"';
}

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

[[noreturn]] void refuse_folder(const std::string& folder, const std::string& why) {
  throw_status(failed_precondition_error(why).in_file(folder));
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
  const auto schema = [&] { return absl::StrCat("schema=", in_quotes(arrow::row_text(row))); };
  auto format = parse_output_format(d.format);
  using enum output_format;
  switch (format.ok() ? *format : automatic) {
    case arrow:
    case arrow_binary:
      return {"from_arrow", absl::StrCat("schema=", in_quotes(arrow::exact_row_text(row))),
              type.kind == kind::batch ? "" : " | unbatch"};
    case jsonl: return {"jsonl", schema(), "", true};
    case csv: return {"csv", absl::StrCat(schema(), ", header=true"), "", true};
    case tfrecords: return {"tfrecord", "", type.name == "string" ? " | map(string(it))" : "", true};
    case text_lines: return {"lines", "", type.name == "string" ? " | map(string(it))" : "", true};
    case example:
      return {"tfrecord", "", absl::StrCat(" | parse_example(", in_quotes(arrow::row_text(row)), ")"), true};
    case numpy: return {"npy", "", ""};
    default: break;
  }
  return {};
}

const element_type& type_in(const data_folder& d, const std::string& folder, const element_type* wanted) {
  auto read = type_from_text(d.type);
  if (!read.ok())
    refuse_folder(folder, absl::StrCat("its elements are of type ", d.type,
                                       ", which this program does not have: ", std::string(read.why().message())));
  if (wanted && !is_same_type(**read, *wanted))
    throw_status(
        invalid_argument_error(absl::StrCat("the elements of the folder are of type ", d.type, ", and load asks for ",
                                            type_text(*wanted), "; name the type of the elements"))
            .in_file(folder));
  return wanted ? *wanted : **read;
}

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

/// Returns a pattern that the files of the folder match: part-00000-of-00004.arrow gives part-*-of-00004.arrow.
std::string pattern_of(const data_folder& d) {
  const std::string& name = d.files[0].name;
  constexpr std::string_view kBefore = "part-";
  const std::size_t end = name.find_first_not_of("0123456789", kBefore.size());
  if (!name.starts_with(kBefore) || end == kBefore.size() || end == name.npos) return {};
  return absl::StrCat(std::string(kBefore), "*", name.substr(end));
}

std::string text_of_folder(const data_folder& d, const std::string& folder, const one_file_reading& reading,
                           bool by_index) {
  const auto one = [&](const data_folder::file& f) { return reading.text(in_quotes(folder + f.name), by_index); };
  if (d.files.size() == 1) return one(d.files[0]);
  if (by_index) {
    std::string all;
    for (const data_folder::file& f : d.files) absl::StrAppend(&all, all.empty() ? "concatenate(" : ", ", one(f));
    return all + ")";
  }
  const std::string list = absl::StrCat("list_files(", in_quotes(in_pattern(folder) + pattern_of(d)), ")");
  const std::string reader = reading.text("", false);
  return d.alternates ? absl::StrCat(list, " | interleave(", reader, ", cycle_length=", d.files.size(), ")")
                      : absl::StrCat(list, " | flat_map(", reader, ")");
}

}  // namespace

namespace {

/// Returns the plan that the text describes. Errors: failed_precondition: files of this format give other elements.
result<node_ptr> plan_with_type(const std::string& text, const data_folder& d, const element_type& type,
                                bool is_exact) {
  const auto other = [&](const std::string& why) {
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
    if (!fits) return other(absl::StrCat("they give ", type_text(*plan->type)));
    return plan;
  } catch (const plan_error& e) { return other(std::string(e.why().message())); }
}

}  // namespace

status detail::why_not_loadable(output_format format, const element_type& type) {
  data_folder d{.is_complete = true,
                .format = std::string(to_string(format)),
                .compression = "none",
                .type = type_text(type),
                .elements = 0,
                .alternates = false,
                .files = {{"part", 0}}};
  const one_file_reading reading = reading_of(d, type);
  if (reading.reader.empty()) return failed_precondition_error(absl::StrCat("load() does not read ", d.format));
  return plan_with_type(text_of_folder(d, "/", reading, false), d, type, false).why();
}

node_ptr detail::plan_of_folder(std::string_view path, const load_options& o, const element_type* wanted) {
  std::string folder(path);
  if (folder.starts_with("file://")) folder.erase(0, 7);
  if (folder.find("://") != folder.npos)
    throw_status(invalid_argument_error("load reads local folders; name the files and their format, as in "
                                        "list_files(\"s3://bucket/out/part*\") | interleave(tfrecord)")
                     .in_file(folder));
  std::error_code unknown;
  if (std::filesystem::is_regular_file(folder, unknown))
    throw_status(invalid_argument_error("load reads a folder, and this is a file; name its format, as in "
                                        "jsonl(\"FILE\"); `sluice head FILE` shows its elements")
                     .in_file(folder));
  if (!names_data_folder(folder)) folder += '/';
  auto d = read_data_folder(folder);
  if (!d.ok() && d.why().code() == status_code::not_found)
    throw_status(not_found_error(std::filesystem::is_directory(folder, unknown)
                                     ? "the folder has no manifest of sluice; write(…, \"DIR/\") and `--output DIR/` "
                                       "write one, and files without it are read by their format, as in "
                                       "list_files(\"DIR/*.csv\") | interleave(csv(header=true))"
                                     : "no such folder")
                     .in_file(folder));
  if (!d.ok()) throw_status(d.why());
  if (!d->is_complete)
    refuse_folder(folder,
                  "the output in this folder is not complete: the run that writes it has not ended, or has failed; end "
                  "it, resume it with its checkpoint, or write the folder again");
  const element_type& type = type_in(*d, folder, wanted);
  check_files(*d, folder);
  const one_file_reading reading = reading_of(*d, type);
  if (reading.reader.empty())
    refuse_folder(folder, absl::StrCat("the format \"", d->format, "\" is not one that this version of sluice reads"));
  const bool by_index = o.index == file_index::required;
  if (by_index && (!reading.has_index || (d->files.size() > 1 && d->alternates)))
    throw_status(
        invalid_argument_error(
            !reading.has_index
                ? absl::StrCat("index=required: files of the format ", d->format,
                               " have no index; leave it out, "
                               "or write tfrecord, example, jsonl, csv or lines")
                : std::string("index=required: the elements alternate between the files, so no index finds them; "
                              "leave it out, or write the folder with one shard or with shard_bytes"))
            .in_file(folder));
  if (d->files.size() > 1 && pattern_of(*d).empty())
    refuse_folder(folder, "its files have names that sluice does not write");
  std::string text = text_of_folder(*d, folder, reading, by_index);
  if (o.cardinality) absl::StrAppend(&text, " | assert_cardinality(", d->elements, ")");
  auto plan = plan_with_type(text, *d, type, wanted != nullptr);
  if (!plan.ok()) throw_status(plan.why().in_file(folder));
  return *plan;
}

namespace {

node_ptr folder_in(const node& n) {
  const auto& a = n.as<load_arguments>();
  return a.path.is_given ? detail::plan_of_folder(a.path.value, a.options, nullptr) : nullptr;
}

const element_type* unnamed_folder(const node&, std::string& why) {
  why = "the folder is missing: its manifest states what its elements are; write load(\"DIR\")";
  return nullptr;
}

}  // namespace

const op_info load_op{
    .name = "load",
    .doc = "the elements of a folder that write() or --output DIR/ wrote",
    .shape = op_info::source,
    .arguments = arguments_of<load_arguments>,
    .of_matches = folder_in,
    .type = unnamed_folder,
    .splits = {.rule = split_rule::one_file},
    .lowering = {},
};

}  // namespace sluice::lib
