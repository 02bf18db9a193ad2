// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/time/time.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <vector>

#include "cli/inputs/matched_files.hpp"
#include "cli/inputs/plan_argument.hpp"
#include "cli/inputs/remote_files.hpp"
#include "cli/messages/exit_status.hpp"
#include "cli/verbs.hpp"
#include "io/paths/file_router.hpp"
#include "op/bagz/bagz_files.hpp"
#include "sluice/element/type.hpp"
#include "sluice/io/files.hpp"

namespace sluice::lib::cli {
namespace {

std::string time_text(std::int64_t ns) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromUnixNanos(ns), absl::UTCTimeZone());
}

/// "    1234567  2026-11-24T10:00:00Z  path"
std::string line_of(const listed_file& f) {
  const std::string size = !f.info               ? "-"
                           : f.info->is_stream   ? "stream"
                           : !f.info->has_size() ? "?"
                                                 : absl::StrCat(f.info->size_bytes);
  const std::string time = f.info && f.info->modified_ns != 0 ? time_text(f.info->modified_ns) : "-";
  return absl::StrFormat("%14s  %20s  %s\n", size, time, f.path);
}

/// Returns {"path":"a","size":3,"modified":"…","version":"…"}, without the members that are unknown.
std::string json_of(const listed_file& f) {
  std::string text = "{\"path\":";
  print_json_text(f.path, text);
  if (f.info && f.info->has_size()) absl::StrAppend(&text, ",\"size\":", f.info->size_bytes);
  if (f.info && f.info->is_stream) absl::StrAppend(&text, ",\"stream\":true");
  if (f.info && f.info->modified_ns != 0)
    absl::StrAppend(&text, ",\"modified\":\"", time_text(f.info->modified_ns), "\"");
  if (f.info && !f.info->version.empty()) {
    absl::StrAppend(&text, ",\"version\":");
    print_json_text(f.info->version, text);
  }
  return text + "}\n";
}

/// Prints each page as it arrives, since a listing may be long, and does not store it.
task<void> list_into_output(runtime& rt, std::string pattern, bool as_json) {
  std::unique_ptr<listing> matches = files_of(rt).list(std::move(pattern), {.with_info = true, .with_folders = true});
  for (;;) {
    auto listing_more = matches->next(io_deadline(rt));
    std::vector<listed_file> page = co_await listing_more;
    if (page.empty()) break;
    std::string text;
    for (const listed_file& f : page) text += as_json ? json_of(f) : line_of(f);
    if (std::fputs(text.c_str(), stdout) != EOF && std::fflush(stdout) == 0) continue;
    if (errno == EPIPE) std::clearerr(stdout);  // the reader is gone: the output ends, without an error
    break;
  }
}

/// Returns a pattern that matches only this path.
std::string literal(const std::string& path) {
  std::string pattern;
  for (const char c : path) {
    if (std::string_view("*?[\\").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

bool is_local_folder(const std::string& path) { return !detail::is_remote(path) && is_folder(path); }

/// Returns true for s3://bucket, whose contents are listed as those of a folder.
bool is_bucket(const std::string& text) {
  const std::string scheme = detail::scheme_of(text);
  if (scheme != "s3" && scheme != "gs") return false;
  const std::string_view bucket = std::string_view(text).substr(scheme.size() + 3);
  return !bucket.empty() && bucket.find('/') == bucket.npos;
}

/// Returns a pattern for the contents of a folder, or for the name of an existing file, whatever characters it has;
/// otherwise `text`.
std::string pattern_of(const std::string& text) {
  if (is_bucket(text)) return text + "/*";
  if (is_local_folder(text)) return folder_text(literal(text)) + "*";
  if (is_folder(text)) return folder_text(text) + "*";
  return !detail::is_remote(text) && is_file(text) ? literal(text) : text;
}

/// Lists the matches, or the contents of a remote folder that is written without its /.
void list_pattern(runtime& rt, const std::string& text, bool as_json) {
  const std::string pattern = pattern_of(text);
  try {
    return sync_wait(rt, list_into_output(rt, pattern, as_json));
  } catch (const error& e) {
    const bool may_be_folder = e.code() == status_code::not_found && pattern == text && detail::is_remote(text) &&
                               !text.starts_with("http") && !is_file_pattern(text);
    if (!may_be_folder) throw;
    auto listing_folder = list_into_output(rt, text + "/*", as_json);
    const status listed = sync_wait_result(rt.root(), std::move(listing_folder));
    if (!listed.ok()) throw;
  }
}

/// Returns the patterns that are listed one after another: the shards of a set, or the pattern itself.
std::vector<std::string> patterns_in(const std::string& text) {
  if (!is_bagz_shard_set(text)) return {text};
  std::vector<std::string> shards = bagz_files(text).value();
  for (std::string& shard : shards)
    if (!detail::is_remote(shard)) shard = literal(shard);
  return shards;
}

}  // namespace

int ls(const ls_arguments& a) {
  runtime rt(runtime_of(a.reading));
  add_remote_files(rt);
  int exit_status = kOk;
  auto attempt = [&](const std::string& pattern, auto&& listing_it) {
    try {
      listing_it();
    } catch (const error& e) {
      if (e.code() == status_code::not_found && is_local_folder(pattern)) return;  // the folder is empty
      std::fflush(stdout);
      print_error(e.what());
      exit_status = more_serious(exit_status, exit_status_of(e.why()));
    }
  };
  for (const std::string& text : a.patterns)
    attempt(text, [&] {
      for (const std::string& pattern : patterns_in(text))
        attempt(pattern, [&] { list_pattern(rt, pattern, a.as_json); });
    });
  return exit_status;
}

}  // namespace sluice::lib::cli
