// SPDX-License-Identifier: Apache-2.0
#include "sluice/pipeline/replay.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "engine/quarantine/quarantine_file.hpp"
#include "pipeline/replay/open_replay.hpp"
#include "pipeline/replay/replay_watch.hpp"
#include "pipeline/seal.hpp"
#include "sluice/coro/sync_wait.hpp"
#include "sluice/plan/identity.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib {
namespace {

/// If elements before the bad one were mended, it comes after more elements than in its run. At most this many.
constexpr int kMoreElementsMax = 10'000;

/// Requests the elements up to the bad one: usually one element, since the errors before it are counted first. `ended`:
/// receives the error that ends the stream.
task<void> make_up_to(any_stream& from, const replay_watch& watch, status& ended) {
  for (int i = 0; i != kMoreElementsMax; ++i) {
    demand d;
    d.elements = 1;
    auto got = co_await from.try_next_block(d);
    ended = std::move(got.why);
    if (!got.view || watch.has_passed()) co_return;
  }
}

/// The text that stands for a part of an address (base/text/redacted.hpp).
constexpr std::string_view kHidden = "***";

node_ptr plan_of(const stored_failure& bad, const replay_options& o) {
  if (o.plan) return o.plan;
  if (bad.plan.empty()) throw_status(invalid_argument_error("the entry has no plan: name the plan of its run"));
  node_ptr plan;
  try {
    plan = parse_plan(bad.plan);
  } catch (const error& e) {
    throw_status(invalid_argument_error("the plan of the entry cannot be read: " + std::string(e.why().message()) +
                                        "; if its functions are those of a program, replay it in that program with "
                                        "its plan (docs/errors.md, Replay)"));
  }
  const bool is_other = fingerprint(*plan) != fingerprint_of_sealed(bad.position.bytes);
  if (is_other && bad.plan.find(kHidden) != bad.plan.npos)
    throw_status(invalid_argument_error(
        "an address in the plan has a secret, which entries do not contain: name the plan of the run"));
  return plan;
}

}  // namespace

stored_failure read_failure(const std::string& path, std::uint64_t number) {
  result<stored_error> read = read_quarantined(path, number);
  if (!read.ok()) throw_status(read.why());
  stored_error& e = *read;
  return {.why = e.why,
          .bytes = std::move(e.bytes),
          .is_whole = !e.is_cut,
          .times = e.times,
          .plan = std::move(e.at.plan),
          .seed = e.at.seed,
          .delivered = e.at.delivered,
          .position = {std::move(e.at.position)},
          .worker = std::move(e.worker),
          .split = std::move(e.split)};
}

replay_report replay(runtime& rt, const stored_failure& bad, const replay_options& o) {
  if (bad.position.empty())
    throw_status(failed_precondition_error(
        "the entry has no position from which its element can be made again: its run read a stream, or was made by an "
        "older version of sluice"));
  if (!bad.split.empty())
    throw_status(failed_precondition_error(
        "the element was dropped on " + bad.worker + ", in " + bad.split +
        ", and a replay shows stages of one process: run the plan without distribute and with a quarantine, and replay "
        "the entry of that run"));
  iterate_options run;
  run.from = bad.position;
  run.on_error = read_seal(bad.position.bytes).on_error;
  run.on_changed_inputs = o.on_changed_inputs;
  run.rebase = o.rebase;
  run.order_fingerprint = run_switch(false);
  const auto watch = std::make_shared<replay_watch>(bad, o.before);
  any_stream from = open_replay(rt, plan_of(bad, o), run, watch);
  status ended;
  sync_wait(rt, make_up_to(from, *watch, ended));
  sync_wait(rt, cleanup(std::move(from)));
  replay_report seen = watch->report();
  // Another error, as of a changed input, ends the run before the element; or a file is missing.
  if (!seen.has_failed && !ended.ok()) throw_status(ended);
  if (status lost = watch->lost(); !seen.has_failed && !lost.ok()) throw_status(lost);
  return seen;
}

}  // namespace sluice::lib
