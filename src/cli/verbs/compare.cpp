// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <cstdio>
#include <deque>
#include <filesystem>
#include <string>

#include "base/text/redacted.hpp"
#include "cli/inputs/plan_argument.hpp"
#include "cli/inputs/remote_files.hpp"
#include "cli/messages/exit_status.hpp"
#include "cli/options/compare_verb.hpp"
#include "cli/verbs.hpp"
#include "output/data_folder.hpp"
#include "pipeline/checkpoint_bytes.hpp"
#include "sluice/base/hash.hpp"
#include "sluice/base/small_file.hpp"
#include "sluice/pipeline/iterate.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib::cli {
namespace {

constexpr std::uint32_t kComparedAtOnce = 256;
constexpr std::size_t kShownBytesMax = 400;

/// One of the two sequences: a plan, a file, or a data folder.
struct compared_side {
  std::string name;
  any_stream stream;
  std::deque<std::string> next;  ///< printed elements that are read and not compared yet
  bool has_ended = false;
};

void refuse_checkpoint(const std::string& path) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown) || std::filesystem::file_size(path, unknown) > (1u << 26))
    return;
  const auto bytes = read_small_file(path);
  if (bytes.ok() && begins_as_checkpoint(std::string_view(*bytes).substr(0, kCheckpointHeadBytes)))
    throw misuse(absl::StrCat(path, " is a checkpoint, and compare reads elements; write sluice checkpoint diff A B"));
}

node_ptr side_plan(const std::string& text) {
  std::error_code unknown;
  refuse_checkpoint(text);
  if (!std::filesystem::is_directory(text, unknown)) return plan_or_reader(text, {});
  return parse_plan(absl::StrCat("load(", in_quotes(text), ")"));
}

task<void> read_more(compared_side* side) {
  demand d;
  d.elements = kComparedAtOnce;
  auto got = co_await side->stream.try_next_block(d);
  if (!got.why.ok()) throw_status(got.why);
  side->has_ended = !got.view;
  if (!got.view) co_return;
  for (std::uint32_t i = 0; i != got.view.size(); ++i)
    print(got.view.type(), got.view.at(i), side->next.emplace_back());
}

std::string shown_element(const std::string& text) {
  if (text.size() <= kShownBytesMax) return text;
  std::size_t end = kShownBytesMax;
  while (end != 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // not within a character
  return absl::StrCat(text.substr(0, end), "… (", text.size(), " bytes)");
}

/// Returns what a side has at this place, for the message about the first difference.
std::string at_place(const compared_side& side, std::uint64_t element) {
  return side.next.empty() ? absl::StrCat("ends after ", element, element == 1 ? " element" : " elements")
                           : shown_element(side.next.front());
}

}  // namespace

int compare(const compare_arguments& a) {
  runtime rt(runtime_of(a.reading));
  add_remote_files(rt);
  iterate_options o;
  o.seed = a.seed;
  compared_side left{detail::redacted(a.left), open_run(rt, side_plan(a.left), o), {}, false};
  compared_side right{detail::redacted(a.right), open_run(rt, side_plan(a.right), o), {}, false};
  std::uint64_t elements = 0, digest = 0;
  for (;;) {
    for (compared_side* side : {&left, &right})
      while (side->next.empty() && !side->has_ended) sync_wait(rt, read_more(side));
    if (left.next.empty() && right.next.empty()) break;
    if (left.next.empty() || right.next.empty() || left.next.front() != right.next.front()) {
      std::printf("element %llu is the first that differs\n", static_cast<unsigned long long>(elements));
      for (const compared_side* side : {&left, &right})
        std::printf("%s: %s\n", side->name.c_str(), at_place(*side, elements).c_str());
      return kFailed;
    }
    digest = stable_hash(left.next.front(), digest);
    left.next.pop_front();
    right.next.pop_front();
    ++elements;
  }
  std::printf("the same %llu elements in the same order; digest of their texts %016llx\n",
              static_cast<unsigned long long>(elements), static_cast<unsigned long long>(digest));
  return kOk;
}

}  // namespace sluice::lib::cli
