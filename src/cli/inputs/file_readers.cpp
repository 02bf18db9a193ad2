// SPDX-License-Identifier: Apache-2.0
#include "cli/inputs/file_readers.hpp"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include "cli/inputs/plan_argument.hpp"
#include "cli/verbs.hpp"
#include "sluice/format/inflate.hpp"
#include "sluice/output/output_format.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib::cli {
namespace {

constexpr reader kReaders[] = {{"tfrecord", "tfrecord", false, "", ""},
                               {"lines", "lines", false, "", ""},
                               {"csv", "csv", true, "header=true", ""},
                               {"jsonl", "jsonl", true, "", ""},
                               {"npy", "npy", false, "", ""},
                               {"tar", "tar", false, "", ""},
                               {"webdataset", "webdataset", false, "", ""},
                               {"zip", "zip_members", false, "", ""},
                               {"arrow", "from_arrow", true, "", " | unbatch"}};

}  // namespace

std::vector<std::string> reader_formats() {
  std::vector<std::string> all;
  for (const reader& r : kReaders) all.emplace_back(r.format);
  return all;
}

const reader& reader_named(std::string_view format) {
  for (const reader& r : kReaders)
    if (r.format == format) return r;
  throw misuse(absl::StrCat("--from is one of ", absl::StrJoin(reader_formats(), ", "), ", not ", std::string(format)));
}

const reader& reader_of(const std::string& file) {
  switch (format_of_path(std::string(name_of_data(file))).format) {
    case output_format::csv: return reader_named("csv");
    case output_format::jsonl: return reader_named("jsonl");
    case output_format::numpy: return reader_named("npy");
    case output_format::arrow: return reader_named("arrow");
    case output_format::tfrecords: return reader_named("tfrecord");
    case output_format::text_lines: return reader_named("lines");
    default: break;
  }
  const std::string plan = plan_reading(file);
  for (const reader& r : kReaders)
    if (plan.starts_with(absl::StrCat(std::string(r.op), "("))) return r;
  return reader_named("lines");
}

std::string plan_for(const std::string& file, const reader& r, const std::string& schema) {
  if (!find_op(r.op))
    throw misuse(absl::StrCat(file, ": this sluice has no operator ", std::string(r.op), ", which reads it"));
  std::string text = absl::StrCat(std::string(r.op), "(", in_quotes(file));
  if (r.takes_schema && !schema.empty())
    absl::StrAppend(&text, r.format == "arrow" ? ", schema=" : ", ", in_quotes(schema));
  if (!r.options.empty()) absl::StrAppend(&text, ", ", std::string(r.options));
  return absl::StrCat(text, ")", std::string(r.behind));
}

}  // namespace sluice::lib::cli
