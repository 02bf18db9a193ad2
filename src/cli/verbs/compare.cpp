// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <cstdio>
#include <deque>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "base/text/plan_quotes.hpp"
#include "base/text/redacted.hpp"
#include "cli/inputs/plan_argument.hpp"
#include "cli/inputs/remote_files.hpp"
#include "cli/messages/exit_status.hpp"
#include "cli/options/typed_command.hpp"
#include "cli/reports/figures.hpp"
#include "cli/reports/run_record.hpp"
#include "cli/verb_options/compare_verb.hpp"
#include "cli/verbs.hpp"
#include "output/data_folder.hpp"
#include "pipeline/checkpoint_bytes.hpp"
#include "pipeline/order/delivered_order.hpp"
#include "pipeline/seal.hpp"
#include "sluice/base/hash.hpp"
#include "sluice/base/small_file.hpp"
#include "sluice/coro/position.hpp"
#include "sluice/pipeline/checkpoint_file.hpp"
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

/// A file that describes a run, and the order fingerprint in it.
struct described_run {
  const char* what = nullptr;  ///< null: the side is something else
  order_fingerprint order = {};
};

std::uint64_t digest_in(const nlohmann::json& text) { return std::stoull(text.get<std::string>(), nullptr, 16); }

order_fingerprint order_in_report(const std::string& bytes, const std::string& path) {
  order_fingerprint print;
  try {
    const nlohmann::json report = nlohmann::json::parse(bytes);
    if (!report.at("run").is_object() || !report["run"].contains("order_fingerprint")) return print;
    const nlohmann::json& order = report["run"]["order_fingerprint"];
    if (!order.is_object()) return print;
    print = {.is_counted = true,
             .since = order.at("since").get<std::uint64_t>(),
             .elements = order.at("elements").get<std::uint64_t>(),
             .ordered = digest_in(order.at("ordered")),
             .rows = order.at("rows").get<std::uint64_t>(),
             .unordered = digest_in(order.at("unordered")),
             .is_across_counted = !order.value("across", nlohmann::json()).is_null(),
             .next_input = order.value("next_input", std::uint64_t{0})};
    if (print.is_across_counted) print.across = digest_in(order.at("across"));
    for (const nlohmann::json& m : order.at("milestones")) print.milestones.push_back(digest_in(m));
    order_fingerprint checked;
    if (read_order(written_order(print), checked)) return checked;
  } catch (const std::exception&) {}  // reported below
  throw_status(data_loss_error("the report is damaged: its order fingerprint cannot be read").in_file(path));
}

order_fingerprint order_in_checkpoint(const std::string& path) {
  auto at = load_checkpoint(path);
  if (!at.ok()) throw_status(at.why());
  order_fingerprint print;
  const std::string order = read_seal(at->bytes).order;
  if (!order.empty() && !read_order(order, print)) throw_status(damaged_position().in_file(path));
  return print;
}

described_run run_in(const std::string& path) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown) || std::filesystem::file_size(path, unknown) > (1u << 26))
    return {};
  const auto bytes = read_small_file(path);
  if (!bytes.ok()) return {};
  if (begins_as_checkpoint(std::string_view(*bytes).substr(0, kCheckpointHeadBytes)))
    return {"checkpoint", order_in_checkpoint(path)};
  if (bytes->starts_with(kReportBeginning)) return {"report", order_in_report(*bytes, path)};
  return {};
}

/// Compares what two runs have delivered by their order fingerprints, without reading an element.
int compare_runs(const compare_arguments& a, const described_run& left, const described_run& right) {
  const bool is_left_counted = left.what && left.order.is_counted;
  if (!is_left_counted || !right.what || !right.order.is_counted) {
    const described_run& named = is_left_counted || !left.what ? right : left;
    const std::string& path = &named == &left ? a.left : a.right;
    if (!named.what)
      throw misuse(absl::StrCat(path,
                                " is no report or checkpoint: compare elements with elements, or two runs by "
                                "the order fingerprints in their reports and checkpoints"));
    throw misuse(absl::StrCat(path, " is a ", named.what, " without an order fingerprint",
                              left.what && right.what ? "" : ", and compare reads elements",
                              "; write sluice checkpoint diff A B, or run both with --order-fingerprint"));
  }
  const order_fingerprint &x = left.order, &y = right.order;
  if (x.since != y.since)
    throw misuse(absl::StrCat("the fingerprints count from different elements, ", x.since, " and ", y.since,
                              ": compare runs from their beginnings"));
  const order_divergence found = divergence_of(x, y);
  if (!found.is_different && x.elements == y.elements) {
    std::printf("the same %s in the same order; %s\n", counted(x.elements, "element").c_str(),
                absl::StrFormat("order fingerprint %016x", x.ordered).c_str());
    return kOk;
  }
  if (found.is_different)
    std::printf("the first difference is among the elements %llu to %llu\n",
                static_cast<unsigned long long>(found.equal), static_cast<unsigned long long>(found.differs_by - 1));
  else std::printf("the first %s are the same\n", counted(found.equal, "element").c_str());
  if (x.rows == y.rows && x.is_across_counted && y.is_across_counted && x.across == y.across)
    std::puts("both have the same rows in the same order, in other batches");
  else if (x.rows == y.rows && x.unordered == y.unordered)
    std::puts("both have the same elements, in different orders");
  for (const auto& [path, print] : {std::pair(&a.left, &x), std::pair(&a.right, &y)})
    std::printf("%s: %s\n", path->c_str(), text_of_order(*print).c_str());
  return kFailed;
}

/// `before` and `after`: the arguments around it, for messages.
node_ptr side_plan(const std::string& text, const std::string& before, const std::string& after) {
  std::error_code unknown;
  if (!std::filesystem::is_directory(text, unknown)) return plan_or_reader(text, {});
  try {
    return parse_plan(absl::StrCat("load(", detail::in_quotes(text), ")"));
  } catch (const plan_error& e) {
    if (e.file_error().code() == status_code::not_found) {
      try {
        refuse_folder(text, "compare" + before, after);
      } catch (const misuse& why) {
        throw misuse(absl::StrCat(why.what(), "; a folder that --output DIR/ has written is compared as a whole"));
      }
    }
    if (!e.file_error().ok()) throw_status(e.file_error());
    throw;
  }
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
  const described_run of_left = run_in(a.left), of_right = run_in(a.right);
  if (of_left.what || of_right.what) return compare_runs(a, of_left, of_right);
  runtime rt(runtime_of(a.reading));
  add_remote_files(rt);
  iterate_options o;
  o.seed = a.seed;
  compared_side left{
      detail::redacted(a.left), open_run(rt, side_plan(a.left, "", " " + shell_word(a.right)), o), {}, false};
  compared_side right{
      detail::redacted(a.right), open_run(rt, side_plan(a.right, " " + shell_word(a.left), ""), o), {}, false};
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
