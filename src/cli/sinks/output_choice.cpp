// SPDX-License-Identifier: Apache-2.0
#include "cli/sinks/output_choice.hpp"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <utility>

#include "base/text/closest.hpp"
#include "cli/inputs/remote_files.hpp"
#include "cli/verbs.hpp"
#include "io/paths/file_router.hpp"
#include "output/data_folder.hpp"
#include "sluice/format/inflate.hpp"
#include "sluice/io/parquet_files.hpp"
#include "sluice/op/load.hpp"

namespace sluice::lib::cli {
namespace {

constexpr std::string_view kStandardOutput = "-";

/// Returns the descriptor that a path names; -1: none.
int descriptor_in(std::string_view path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  const std::string own = absl::StrCat("/proc/", ::getpid(), "/fd/");
  for (std::string_view folder :
       {std::string_view("/dev/fd/"), std::string_view("/proc/self/fd/"), std::string_view(own)}) {
    if (!path.starts_with(folder)) continue;
    int number = -1;
    std::string_view digits = path.substr(folder.size());
    auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (read.ec == std::errc() && read.ptr == digits.data() + digits.size()) return number;
  }
  return -1;
}

/// Returns true for descriptors that the program inherited. The program's own descriptors are closed by exec, unlike
/// inherited ones.
bool is_given(int descriptor) {
  int flags = ::fcntl(descriptor, F_GETFD);
  return flags >= 0 && (flags & FD_CLOEXEC) == 0;
}

/// Returns the suffix of compressions that outputs cannot have, with the one to use; empty for other suffixes.
std::string_view way_to_suffix(std::string_view suffix) {
  for (std::string_view packed : {".zip", ".bz2", ".xz", ".7z", ".lz4", ".Z", ".br"})
    if (suffix == packed) return "; outputs are compressed by gzip or zstd: end the name in .gz or .zst";
  if (suffix == ".json") return "; JSON is written as lines: end the name in .jsonl";
  if (suffix == ".feather" || suffix == ".ipc") return "; Arrow is written as a stream: end the name in .arrow";
  return "; names end in .jsonl, .csv, .txt, .tfrecord, .arrow, .parquet, .bagz, .array_record or .npy, and then .gz "
         "for gzip or .zst "
         "for "
         "zstd";
}

/// Returns the message for a text that names no output.
std::string unknown_output(const std::string& text, const output_arguments& a) {
  const std::string name_of_option(a.names_option ? "--output " : "");
  if (text.empty())
    return absl::StrCat(name_of_option.empty() ? "the output" : "--output",
                        " is empty; --output jsonl prints the elements");
  if (text == "table")
    return absl::StrCat("--output table belongs to head; use: sluice head '", a.plan.empty() ? "PLAN" : a.plan,
                        "' --output table");
  if (is_folder(text))
    return absl::StrCat(name_of_option, text, ": ", text, " is a folder: write ", folder_text(text), "out.jsonl");
  const auto colon = text.find(':');
  if (colon != text.npos && !parse_output_format(text.substr(0, colon)).ok()) {
    static const std::vector<std::string> kFormats{"jsonl",   "csv",   "raw",          "lines",   "tfrecord",
                                                   "example", "arrow", "arrow-binary", "parquet", "npy"};
    std::string meant = detail::did_you_mean(text.substr(0, colon), kFormats);
    if (meant.empty())
      return absl::StrCat(name_of_option, text, ": there is no format ", text.substr(0, colon), "; the formats are ",
                          absl::StrJoin(kFormats, ", "));
    meant.pop_back();  // the question mark
    return absl::StrCat(name_of_option, text, ": there is no format ", text.substr(0, colon), meant, text.substr(colon),
                        "?");
  }
  const bool is_known = parse_output_format(text.substr(0, colon)).ok();
  if (is_known && colon != text.npos)
    return absl::StrCat(name_of_option, text, " has no path after the colon; write ", name_of_option, text, "PATH",
                        text == "csv:" || text == "jsonl:"
                            ? absl::StrCat(", or ", name_of_option, text.substr(0, colon), " to print")
                            : "");
  if (is_known) return absl::StrCat(name_of_option, text, " needs a path; write ", name_of_option, text, ":PATH");
  std::string_view name = std::string_view(text).substr(text.rfind('/') + 1);
  for (std::string_view packed : {".gz", ".zst"})
    if (name.ends_with(packed)) name.remove_suffix(packed.size());
  const std::size_t dot = name.rfind('.');
  if (dot != name.npos)
    return absl::StrCat(name_of_option, text, ": sluice writes no ", std::string(name.substr(dot)), " files",
                        std::string(way_to_suffix(name.substr(dot))));
  static const std::vector<std::string> kPrinted{"jsonl", "csv", "raw", "lines"};
  const std::string similar = detail::did_you_mean(text, kPrinted);
  return absl::StrCat(name_of_option, text, ": ", text, " is neither a format nor a path with a known suffix",
                      similar.empty() ? "; write jsonl, csv, raw or lines to print, or a path such as out.jsonl, "
                                        "out.csv or out.arrow"
                                      : similar);
}

/// Returns the message for Parquet in a build without Arrow C++.
std::string message_without_parquet(const std::string& text, const output_arguments& a, const output_options& o) {
  std::string arrow(without_compression_suffix(o.path));
  if (arrow.ends_with(".parquet")) arrow.resize(arrow.size() - std::string_view(".parquet").size());
  if (arrow.empty() || o.folder == o.path) arrow = "out";
  const std::string parquet = absl::StrCat(arrow, ".parquet");
  arrow += ".arrow";
  return absl::StrCat(
      a.names_option ? "--output " : "", text,
      ": this sluice was built without Arrow C++ (./dev deps formats), and writes no Parquet; write ",
      a.names_option ? "--output " : "", arrow,
      ", and convert it: python3 -c \"import pyarrow as a, pyarrow.parquet as p; p.write_table(a.ipc.open_stream('",
      arrow, "').read_all(), '", parquet, "')\"");
}

/// "csv:a.csv", "csv", "a.csv".
void read_format(const std::string& text, const output_arguments& a, output_options& o) {
  const auto colon = text.find(':');
  auto named = parse_output_format(text.substr(0, colon));
  using enum output_format;
  const bool is_text = named.ok() && (*named == jsonl || *named == raw || *named == text_lines || *named == csv);
  if (named.ok() && colon != text.npos && colon + 1 != text.size()) {
    o.format = *named;
    o.path = text.substr(colon + 1);
  } else if (is_text && colon == text.npos) {
    o.format = *named;
  } else if (!named.ok() && (names_data_folder(text) || format_of_path(text).format != output_format::automatic)) {
    o.format = output_format::automatic;
    o.path = text;
  } else {
    throw misuse(unknown_output(text, a));
  }
}

}  // namespace

std::string output_choice::text() const {
  return is_null ? "null"
                 : absl::StrCat(std::string(to_string(options.format)), ":", options.path.empty() ? "-" : options.path);
}

namespace {

/// Returns the stage that makes texts of numbers, which formats of records take; empty for other elements.
std::string as_text_by_map(const element_type& type) {
  return type.kind == kind::scalar ? "; the stage `map(string(it))` makes texts of them" : std::string();
}

}  // namespace

output_choice read_output(const output_arguments& a, const element_type& type) {
  output_choice out;
  const std::string& text = a.output;
  if (text == "null") {
    if (a.shards != 1 || a.shard_bytes != 0) throw misuse("--shards and --shard-size need an output: add --output");
    return out;
  }
  out.is_null = false;
  output_options& o = out.options;
  read_format(text, a, o);
  const named_format by_name = format_of_path(o.path);
  if (o.format == output_format::automatic) o.format = by_name.format;
  const bool is_records = by_name.format == output_format::tfrecords && o.format == output_format::tfrecords;
  if (is_records && !type.text && !text.starts_with("tfrecord:")) o.format = output_format::example;
  if (o.format == output_format::automatic) o.format = output_format::arrow;  // of a data folder
  o.compression = a.compression == "automatic" ? by_name.compression : *parse_compression(a.compression);
  if (a.compression != "automatic" && compresses_buffers(o.format, o.compression))
    o.buffers = std::exchange(o.compression, by_name.compression);
  else if (o.compression == compression::lz4)
    throw misuse(absl::StrCat("--compression ", a.compression,
                              " compresses the buffers of Arrow and the pages of Parquet: this output is ",
                              std::string(to_string(o.format)), "; gzip and zstd compress the file"));
  if (o.path == kStandardOutput) o.path.clear();
  o.path = detail::without_file_scheme(std::move(o.path));
  o.descriptor = o.path.empty() ? STDOUT_FILENO : descriptor_in(o.path);
  if (o.descriptor >= 0 && (a.shards != 1 || a.shard_bytes != 0))
    throw misuse(absl::StrCat("shards are files, and ", a.names_option ? "--output " : "", text,
                              " prints: name a file, as in ", a.names_option ? "--output " : "", "out.",
                              std::string(to_string(o.format))));
  for (const std::string_view name : {"{n}", "{i}", "{k}", "{index}", "{number}", "{part}"})
    if ((a.shards != 1 || a.shard_bytes != 0) && o.path.find(name) != o.path.npos)
      throw misuse(absl::StrCat(o.path, ": ", std::string(name),
                                " is unknown: {shard} is the number of a file, and "
                                "{shards} the number of files"));
  o.shards = a.shards;
  o.rows = a.rows;
  o.shard_bytes = static_cast<std::uint64_t>(a.shard_bytes);
  o.row_group_bytes = static_cast<std::uint64_t>(a.row_group_bytes);
  if (o.row_group_bytes != 0 && o.format != output_format::parquet)
    throw misuse(
        absl::StrCat("--row-group-size applies to Parquet, and this output is ", std::string(to_string(o.format))));
  if (o.shards != 1 && o.shard_bytes != 0) throw misuse("--shards and --shard-size: name one of them");
  if (status why = place_in_folder(o); !why.ok())
    throw misuse(absl::StrCat(why.where().file, ": ", std::string(why.message())));
  if (o.format == output_format::parquet && !has_parquet()) throw misuse(message_without_parquet(text, a, o));
  status why = check_output(o.format, type);
  if (!why.ok())
    throw misuse(absl::StrCat(
        a.names_option ? "--output " : "", text, ": ", std::string(why.message()),
        o.path.empty() ? "; --output jsonl prints all elements"
                       : absl::StrCat(as_text_by_map(type), "; ", a.names_option ? "--output " : "",
                                      "jsonl:", o.folder.empty() ? o.path : o.folder, " takes all elements")));
  if (!o.folder.empty())
    if (why = detail::why_not_loadable(o.format, type); !why.ok())
      throw misuse(absl::StrCat(o.folder, ": ", std::string(why.message())));
  if (o.descriptor > STDERR_FILENO && !is_given(o.descriptor))
    throw misuse(absl::StrCat("--output ", text, ": sluice was started without a descriptor ", o.descriptor));
  return out;
}

std::unique_ptr<element_sink> open_sink(const output_choice& output, const element_type& type,
                                        const output_start& start, std::uint64_t& cut_bytes) {
  cut_bytes = 0;
  if (output.is_null) return std::make_unique<null_sink>();
  auto sink = file_sink::open(output.options, type, start, cut_bytes);
  if (sink.ok()) return *std::move(sink);
  const status& why = sink.why();
  if (why.code() == status_code::failed_precondition && start.continues)
    throw_status(status(why.code(), absl::StrCat(std::string(why.message()), "; --new-output begins another output"))
                     .in_file(why.where().file));
  throw_status(why);
}

}  // namespace sluice::lib::cli
