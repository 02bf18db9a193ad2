// SPDX-License-Identifier: Apache-2.0
#include "cli/plan_argument.hpp"

#include <absl/strings/str_cat.h>

#include <filesystem>
#include <fstream>

#include "cli/verbs.hpp"
#include "sluice/format/inflate.hpp"
#include "sluice/format/tfrecord.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::cli {
namespace {

/// The line of `text` that holds byte `at`, and a caret under it.
std::string pointed_at(const std::string& text, std::size_t at) {
  auto begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;  // npos + 1 is 0
  auto end = std::min(text.find('\n', at), text.size());
  std::string blank;
  for (char c : text.substr(begin, at - begin)) {
    bool continues = (static_cast<unsigned char>(c) & 0xC0) == 0x80;  // of a character of several bytes
    if (!continues) blank += c == '\t' ? '\t' : ' ';
  }
  return absl::StrCat("  ", text.substr(begin, end - begin), "\n  ", blank, "^");
}

std::string quoted(const std::string& path) {
  std::string out = "\"";
  for (char c : path) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

/// The first plain bytes of a file, undone from gzip or zlib.
std::string beginning_of(const std::string& path) {
  std::string bytes(4096, '\0'), plain(4096, '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  compression c = detect_compression(bytes);
  if (c == compression::none) return bytes;
  auto step = inflater(c).step(bytes, false, plain.data(), plain.size());
  plain.resize(step.produced);
  return plain;
}

}  // namespace

bool is_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

std::string plan_reading(const std::string& file) {
  std::string begin = beginning_of(file);
  bool is_tfrecord = file.find(".tfrecord") != file.npos ||
                     (begin.size() >= kTfrecordHeaderBytes && find_tfrecord({.bytes = begin}, 0) == 0);
  return absl::StrCat(is_tfrecord ? "tfrecord(" : "lines(", quoted(file), ")");
}

node_ptr plan_of(const std::string& text) {
  try {
    return parse_plan(text);
  } catch (const plan_error& e) {
    if (is_file(text))
      throw misuse(absl::StrCat(text, " is a file; the plan that reads it is '", plan_reading(text), "'"));
    throw misuse(
        absl::StrCat(std::string(e.why().message()), "\n", pointed_at(text, std::min(e.column() - 1, text.size()))));
  }
}

}  // namespace sluice::cli
