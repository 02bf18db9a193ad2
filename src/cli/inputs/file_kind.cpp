// SPDX-License-Identifier: Apache-2.0
#include "cli/inputs/file_kind.hpp"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

#include "base/text/plan_quotes.hpp"
#include "base/text/redacted.hpp"
#include "cli/inputs/known_contents.hpp"
#include "cli/inputs/plan_argument.hpp"
#include "cli/inputs/text_kind.hpp"
#include "format/archive/tar_archive.hpp"
#include "sluice/base/utf8.hpp"
#include "sluice/format/tfrecord_frames.hpp"
#include "sluice/io/parquet_files.hpp"
#include "sluice/output/output_format.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib::cli {
namespace {

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t n = 0;
  for (std::size_t i = bytes.size(); i-- != 0;) n = n << 8 | static_cast<unsigned char>(bytes[i]);
  return n;
}

/// Arrow's magic word of a file with its padding, or the first message of a stream: a marker and a plausible length.
bool is_arrow(std::string_view head) {
  if (head.starts_with("ARROW1\0\0"sv)) return true;
  if (head.size() < 8 || !head.starts_with("\xff\xff\xff\xff"sv)) return false;
  const std::uint64_t bytes = little_endian(head.substr(4, 4));
  return bytes != 0 && bytes % 8 == 0 && bytes < (std::uint64_t{1} << 31);
}

bool is_zip_head(std::string_view head) { return head.starts_with("PK\x03\x04"sv) || head.starts_with("PK\x05\x06"sv); }

/// The first block header of a file of Riegeli.
constexpr std::string_view kRiegeliBeginning = "\x83\xaf\x70\xd1\x0d\x88\x4a\x3f\0\0\0\0\0\0\0\0"sv;

/// Returns the format by content that one of the readers reads; empty if none is recognized.
std::string_view readable_content(std::string_view head) {
  if (head.size() >= kTfrecordHeaderBytes && find_tfrecord({.bytes = head}, 0, 1) == 0) return "tfrecord";
  if (head.starts_with("\x93NUMPY"sv)) return "npy";
  if (head.starts_with(kRiegeliBeginning)) return "array_record";
  if (is_arrow(head)) return "arrow";
  if (is_zip_head(head)) return "zip";
  if (find_tar_entry({.bytes = head}, 0, 1) == 0) return "tar";
  return {};
}

/// The index of a folder of MDS shards, which is the file to name in place of the folder.
bool is_mds_index(const file_sample& file) {
  const bool is_named = file.name == "index.json" || file.name.ends_with("/index.json");
  return is_named && file.head.find("\"column_encodings\"") != file.head.npos;
}

/// A text may begin with the magic word of Parquet, and is one unless it also ends with it.
bool is_parquet(const file_sample& file) {
  if (!file.head.starts_with("PAR1"sv) && !file.head.starts_with("PARE"sv)) return false;
  return !is_text_head(file.head, file.is_all) || file.tail.ends_with("PAR1"sv) || file.tail.ends_with("PARE"sv);
}

/// The header of an .lzma file: properties below 225, a dictionary of 2^n or 2^n + 2^(n-1) bytes, and a size that is
/// plausible or unknown.
bool is_lzma(std::string_view head) {
  if (head.size() < 13 || static_cast<unsigned char>(head[0]) >= 225) return false;
  const std::uint64_t dictionary = little_endian(head.substr(1, 4)), size = little_endian(head.substr(5, 8));
  const auto is_power = [](std::uint64_t n) { return n != 0 && (n & (n - 1)) == 0; };
  if (dictionary < 4096 || !(is_power(dictionary) || is_power(dictionary / 3))) return false;
  return size == ~std::uint64_t{0} || (size != 0 && size < (std::uint64_t{1} << 38));
}

/// The header of a member of a cpio archive in ASCII: numbers in fields of one width.
bool is_text_cpio(std::string_view head) {
  const auto digits = [head](std::size_t from, std::size_t n, int base) {
    if (head.size() < from + n) return false;
    return std::ranges::all_of(head.substr(from, n), [base](char c) {
      return base == 8 ? c >= '0' && c <= '7' : absl::ascii_isxdigit(static_cast<unsigned char>(c));
    });
  };
  if (head.starts_with("070707"sv)) return digits(6, 70, 8);
  return (head.starts_with("070701"sv) || head.starts_with("070702"sv)) && digits(6, 104, 16);
}

bool is_riff(std::string_view head) {
  return head.starts_with("RIFF"sv) || head.starts_with("RIFX"sv) || head.starts_with("RF64"sv) ||
         head.starts_with("BW64"sv) || head.starts_with("FORM"sv);
}

bool fits(const magic& m, const file_sample& file) {
  const std::string_view head = file.head;
  if (head.size() < m.at + m.bytes.size() || head.substr(m.at, m.bytes.size()) != m.bytes) return false;
  if (m.at == 8 && m.bytes != "DUCK" && !is_riff(head)) return false;
  if (!m.is_word || !is_text_head(head, file.is_all) || has_controls(head)) return true;
  const std::size_t tail_bytes = m.tail.size() + m.tail_at;  // not those of the magic word itself
  if (m.tail.empty() || file.tail.size() < tail_bytes || head.size() <= m.bytes.size() + tail_bytes) return false;
  return file.tail.substr(file.tail.size() - m.tail_at - m.tail.size(), m.tail.size()) == m.tail;
}

/// The size of a safetensors header, and the JSON that it begins with.
bool is_safetensors(std::string_view head) {
  return head.size() >= 10 && head[8] == '{' && (head[9] == '"' || head[9] == '}' || head[9] == ' ') &&
         little_endian(head.substr(0, 8)) < (std::uint64_t{1} << 32);
}

/// A path as the shell needs it.
std::string in_shell(std::string_view path) {
  constexpr std::string_view kPlainMarks = "_-./:@%+=,";
  const auto is_plain = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kPlainMarks.find(c) != kPlainMarks.npos;
  };
  if (std::ranges::all_of(path, is_plain)) return std::string(path);
  return absl::StrCat("'", absl::StrReplaceAll(std::string(path), {{"'", "'\\''"}}), "'");
}

/// The name that a command for this file contains.
std::string name_in_command(const file_sample& file) {
  return file.name == "-" ? std::string("FILE") : detail::redacted(file.name);
}

/// "is a Parquet file, which sluice does not read: `duckdb …` converts it".
status refused(const file_sample& file, std::string_view what, std::string_view way_out) {
  std::string message = absl::StrCat("is ", std::string(what), file.is_packed ? ", compressed" : "");
  if (way_out == kNoData) return unimplemented_error(absl::StrCat(message, ", which sluice does not read"));
  const std::string name = name_in_command(file);
  std::string words(way_out);
  if (way_out.starts_with("the plan ")) {
    if (way_out == kBySql && !find_op("sql"))
      return unimplemented_error(absl::StrCat(message, ", which this build of sluice does not read"));
    words = absl::StrReplaceAll(words, {{"\"FILE\"", detail::in_quotes(name)}, {"FILE", in_shell(name)}});
    return unimplemented_error(absl::StrCat(message, ": ", words));
  }
  const bool has_quotes = words.find("'FILE'") != words.npos;
  words = absl::StrReplaceAll(words, {{"FILE", has_quotes ? name : in_shell(name)}});
  return unimplemented_error(absl::StrCat(message, ", which sluice does not read: ", words));
}

/// "is a Parquet file, and this build of sluice lacks …: `duckdb …` converts it".
status refused_by_build(const file_sample& file, std::string_view what, std::string_view lack,
                        std::string_view way_out) {
  const std::string words = absl::StrReplaceAll(std::string(way_out), {{"FILE", name_in_command(file)}});
  return unimplemented_error(
      absl::StrCat("is ", std::string(what), ", and this build of sluice ", std::string(lack), ": ", words));
}

status refused_encoding(const file_sample& file, std::string_view encoding) {
  return unimplemented_error(absl::StrCat("is a text in ", std::string(encoding),
                                          ", and texts are read in UTF-8: `iconv -f ", std::string(encoding),
                                          " -t UTF-8 ", in_shell(name_in_command(file)), " > out.txt` converts it"));
}

/// The suffix of a converted text.
std::string_view suffix_of_text(std::string_view name) {
  const std::string_view kind = kind_of_name(name);
  return kind == "csv" ? ".csv" : kind == "tsv" ? ".tsv" : ".txt";
}

status refused_bytes(const file_sample& file) {
  const std::string_view head = file.head.substr(0, kTextBytes);
  std::string found;
  if (const std::size_t nul = head.find('\0'); nul != head.npos) {
    found = absl::StrCat("byte ", nul, " is NUL, so that it is no text");
  } else {
    std::size_t at = 0;
    for (std::size_t n = 1; at < head.size() && n != 0; at += n) n = utf8_length(head.substr(at));
    // Windows-1252 has letters and quotes where Latin-1 has control characters.
    const bool is_windows = std::ranges::any_of(head, [](char c) {
      const auto byte = static_cast<unsigned char>(c);
      return byte >= 0x80 && byte < 0xa0;
    });
    found = absl::StrCat("byte ", at, " is not UTF-8; a text in ", is_windows ? "Windows-1252" : "Latin-1",
                         " is converted by `iconv -f ", is_windows ? "WINDOWS-1252" : "LATIN1", " -t UTF-8 ",
                         in_shell(name_in_command(file)), " > out", std::string(suffix_of_text(file.name)),
                         "` (`iconv -l` lists others)");
  }
  return invalid_argument_error(absl::StrCat("is in no format that sluice knows: ", found,
                                             "; --from FORMAT or a plan reads it in the format that you name"));
}

/// Returns true if the file's name ends with the suffix, in any case for suffixes of small letters.
bool has_suffix(std::string_view name, std::string_view suffix) {
  if (suffix == ".Z") return name.ends_with(suffix);
  return absl::EndsWithIgnoreCase(std::string(name), std::string(suffix));
}

/// Refuses a file whose content is known to be in another format. `weak`: also the formats with short magic numbers.
status check_content(const file_sample& file, bool weak) {
  for (const magic& m : kMagics)
    if (fits(m, file)) return refused(file, m.what, m.way_out);
  if (is_text_cpio(file.head)) return refused(file, "a cpio archive", kByCpio);
  if (is_lzma(file.head) && !is_text_head(file.head, file.is_all)) return refused(file, "compressed by lzma", kByLzma);
  if (!weak) return {};
  for (const magic& m : kWeakMagics)
    if (fits(m, file)) return refused(file, m.what, m.way_out);
  if (is_safetensors(file.head)) return refused(file, "a safetensors model", kByPython);
  return {};
}

bool reads_text(std::string_view format) {
  return format == "csv" || format == "tsv" || format == "jsonl" || format == "lines";
}

/// Refuses JSON lines in a file named .csv, a table in a file named .jsonl, and either in one that is named as a file of
/// records.
status check_text_of_name(const file_sample& file, std::string_view by_name) {
  if (!reads_text(by_name) && !is_text_head(file.head, file.is_all)) return {};
  const std::string_view found = kind_of_text(file.head, file.is_all);
  if (found == "lines" || (reads_text(by_name) && (found == "jsonl") == (by_name == "jsonl"))) return {};
  const std::string words = absl::StrCat(found == "csv" ? "CSV" : "JSON lines", ": --from ", std::string(found));
  return invalid_argument_error(
      absl::StrCat("is named .", std::string(by_name), ", and contains ", words, " reads it"));
}

}  // namespace

std::string_view kind_of_name(std::string_view name) {
  const std::string_view path = without_query(name);
  if (path.ends_with(".tgz")) return "tar";
  const std::string_view data = name_of_data(name);
  if (data.ends_with(".tar")) return "tar";
  if (data.ends_with(".parquet")) return "parquet";
  if (data.ends_with(".zip")) return "zip";
  if (data.ends_with(".npz")) return "npz";
  if (path.ends_with(".array_record") || path.ends_with(".arrayrecord")) return "array_record";
  if (path.ends_with(".bagz") || path.ends_with(".bag")) return "bagz";
  if (data.ends_with(".tsv") || data.ends_with(".tab")) return "tsv";
  switch (format_of_path(std::string(data)).format) {
    case output_format::csv: return "csv";
    case output_format::jsonl: return "jsonl";
    case output_format::numpy: return "npy";
    case output_format::arrow: return "arrow";
    case output_format::tfrecords: return "tfrecord";
    case output_format::text_lines: return "lines";
    default: break;
  }
  return data.substr(data.rfind('/') + 1).find(".tfrecord") != data.npos ? "tfrecord" : "";
}

result<std::string_view> kind_of(const file_sample& file) {
  if (file.head.starts_with("version https://git-lfs.github.com/spec/"sv))
    return refused(file, "a pointer of Git LFS", "`git lfs pull` fetches the file");
  const std::string_view by_name = kind_of_name(file.name), data = name_of_data(file.name);
  // A Bagz file begins with its first record, which may be anything. Robots record other files named .bag.
  if (by_name == "bagz" && !file.head.starts_with("#ROSBAG"sv)) return by_name;
  if (const std::string_view by_content = readable_content(file.head); !by_content.empty()) {
    if (by_content == "zip")
      for (const known_suffix& s : kZipSuffixes)
        if (has_suffix(data, s.suffix)) return refused(file, s.what, s.way_out);
    if (by_content == "zip" && by_name == "npz") return by_name;
    return by_content;
  }
  if (is_mds_index(file)) return "mds"sv;
  if (is_parquet(file)) {
    if (has_parquet()) return "parquet"sv;
    return refused_by_build(file, "a Parquet file", "lacks Arrow C++ (./dev deps formats)", kByDuckdb);
  }
  if (status why = check_content(file, by_name.empty()); !why.ok()) return why;
  if (!by_name.empty() && by_name != "lines")
    if (const markup_page page = markup_page_of(file.head); !page.what.empty())
      return refused(file, page.what, page.way_out);
  if (by_name == "csv")
    if (const std::string_view mark = excel_delimiter(file.head); !mark.empty())
      return refused(file, absl::StrCat("a table whose first line is Excel's sep=", std::string(mark)),
                     absl::StrCat("`tail -n +2 FILE | sluice head --from csv --delimiter '", std::string(mark),
                                  "' -` leaves that line out"));
  if (by_name.empty() || reads_text(by_name)) {
    const std::string_view encoding = wide_encoding(file.head);
    if (!encoding.empty()) return refused_encoding(file, encoding);
  }
  if (!by_name.empty() && by_name != "lines")
    if (status why = check_text_of_name(file, by_name); !why.ok()) return why;
  if (by_name == "parquet" && !has_parquet())
    return refused_by_build(file, "named as a Parquet file", "lacks Arrow C++ (./dev deps formats)", kByDuckdb);
  // A table in another encoding is text throughout; bytes that a field may have include control characters.
  if ((by_name == "csv" || by_name == "tsv") && !has_controls(file.head) && !is_text_head(file.head, file.is_all))
    return refused_bytes(file);
  if (!by_name.empty() && by_name != "lines") return by_name;
  if (by_name.empty())
    for (const known_suffix& s : kSuffixes)
      if (has_suffix(data, s.suffix)) return refused(file, s.what, s.way_out);
  // Lines have no structure that could be damaged: a name in .txt makes no text of binary data.
  if (!is_text_head(file.head, file.is_all)) return refused_bytes(file);
  return by_name.empty() ? kind_of_text(file.head, file.is_all) : by_name;
}

}  // namespace sluice::lib::cli
