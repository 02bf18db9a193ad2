// SPDX-License-Identifier: Apache-2.0
#include "service/host/worker_host.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "pipeline/replay/open_replay.hpp"
#include "service/host/local_workers.hpp"
#include "service/host/open_read.hpp"
#include "service/wire/dropped_frames.hpp"
#include "service/wire/element_frames.hpp"
#include "sluice/coro/any_stream.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/pipeline/iterate.hpp"

namespace sluice::lib {
namespace {

/// A block is sent after this time although its frame is not full, so that the consumer does not wait for slow elements.
constexpr duration kFrameTime = std::chrono::milliseconds(2);
constexpr std::uint32_t kFrameElementsMax = 1 << 14;

}  // namespace

worker_host::worker_host(std::shared_ptr<run_context> run, std::shared_ptr<service_link> link)
    : core_loop(std::move(run), worker_core({})), link_(link), plans_(std::move(link)) {}
worker_host::~worker_host() { local_workers::remove(this); }

void worker_host::start(worker_options o) {
  set_core(worker_core(std::move(o)));
  heard_at_.store(run_->time->now().time_since_epoch().count(), std::memory_order_relaxed);
  is_started_.store(true, std::memory_order_release);
  step({worker_event::woken{}});
}

void worker_host::serve_locally(const std::string& address) { local_workers::add(*link_, address, shared_me()); }

task<std::string> worker_host::on_call(std::string method, std::string request) {
  if (method != "measured")
    throw error(unimplemented_error(
        absl::StrCat("a worker has no call ", method, "; it has the call measured and the stream read")));
  const result<measured_request> m = from_json<measured_request>(request);
  if (!m.ok()) throw error(m.why());
  mutex_lock lock(reads_mutex_);
  for (auto& [stream, read] : reads_) {
    const read_request& r = read->request;
    if (!read->to || r.split != m->split || r.iteration != m->iteration || r.consumer != m->consumer) continue;
    read->to->measured(*m, duration(read->blocked.exchange(0, std::memory_order_relaxed)));
  }
  co_return std::string("{}");
}

task<> worker_host::on_stream(std::string method, std::string request, frame_writer& out) {
  if (method != "read")
    throw error(unimplemented_error(absl::StrCat("a worker has no stream ", method, "; it has read")));
  result<read_request> read = from_json<read_request>(request);
  if (!read.ok()) throw error(read.why());
  if (!is_started_.load(std::memory_order_acquire)) throw error(unavailable_error("the worker is starting"));
  result<std::shared_ptr<sent_frames>> to = sent_.of(*read);
  if (!to.ok()) throw error(to.why());
  open_read mine(*this, *std::move(read));
  mine.to = *std::move(to);
  auto opening = mine.open();
  status why = co_await opening;
  if (!why.ok()) throw error(why);
  auto serving = serve(mine, out);
  co_await serving;
}

task<result<split_run>> worker_host::plan_of(read_request request) {
  auto finding = plans_.find(request.dataset);
  auto plan = co_await finding;
  if (!plan.ok()) co_return plan.why();
  auto making = (*plan)->plan_of(std::move(request), *run_->rt);
  result<split_run> run = co_await making;
  co_return run;
}

erased_stream worker_host::open_plan(open_read& mine, const split_run& run, const plan_forms& plan,
                                     const std::vector<dropped_elements>& before) {
  iterate_options how;
  how.seed = run.seed;
  how.epoch = run.epoch;
  if (mine.request.on_error == "skip") how.on_error = error_policy::skip;
  if (mine.request.dropped_from) {  // also of what belongs to the splits before, so that no file is opened here
    mine.dropped = std::make_shared<dropped_collector>(*mine.request.dropped_from, before);
    how.quarantine = quarantine(mine.request.quarantine.value_or(""));
  }
  erased_stream in = open_collecting_run(*run_->rt, plan.written, plan.runs, how, mine.dropped);
  mine.runs(in.shared_run());
  return in;
}

std::vector<dropped_elements> worker_host::dropped_by(const erased_stream& in,
                                                      const std::vector<dropped_elements>& before) {
  std::vector<dropped_elements> all;
  const run_report report = report_of(in);
  for (const stage_errors& stage : report.errors_by_stage) {
    const auto of_stage = [&](const auto& x) { return x.stage == stage.stage; };
    const auto earlier = std::find_if(before.begin(), before.end(), of_stage);
    std::uint64_t passed = earlier == before.end() ? 0 : earlier->errors;
    if (stage.errors <= passed) continue;
    dropped_elements d{stage.stage, stage.errors - passed, {}};
    for (const status& why : report.first_errors)
      if (d.first.ok() && why.where().stage == stage.stage && passed-- == 0) d.first = why;
    if (d.first.ok()) d.first = unknown_error("a later error than the 16 that are kept").in_stage(stage.stage);
    all.push_back(std::move(d));
  }
  return all;
}

task<std::vector<dropped_elements>> worker_host::dropped_before(open_read& mine, split_run run) {
  std::vector<dropped_elements> dropped;
  if (!run.before.runs) co_return dropped;
  erased_stream in = open_plan(mine, run, run.before);
  const demand one{0, 1};
  (void)co_await in.try_next_block(one);  // an error will end the split, too
  dropped = dropped_by(in);
  auto cleaning = cleanup(std::move(in));
  (void)co_await cleaning.as_result();
  co_return dropped;
}

task<> worker_host::serve(open_read& mine, frame_writer& out) {
  auto making = plan_of(mine.request);
  result<split_run> run = co_await making;
  if (!run.ok()) throw error(run.why());
  environment* env = co_await this_environment();
  scope all(*env);
  all.spawn(send_all(*this, mine, *std::move(run), out, all));
  all.spawn(keep_alive(mine, out));
  co_await all.join();
}

task<> worker_host::send_all(worker_host& me, open_read& mine, split_run run, frame_writer& out, scope& all) {
  auto sending = me.send_elements(mine, std::move(run), out);
  co_await sending;
  all.request_stop();
}

task<> worker_host::keep_alive(open_read& mine, frame_writer& out) {
  for (;;) {
    sleep_for resting(kKeepaliveTime);
    co_await resting;
    if (mine.has_sent.exchange(false, std::memory_order_relaxed)) continue;
    auto writing = out.write(slice::copy_of(keepalive_frame()));
    co_await writing;
  }
}

task<status> worker_host::send_frame(open_read& mine, frame_maker& frames, frame_writer& out) {
  if (!mine.to) {
    auto writing = out.write(frames.take());
    status why = co_await writing.as_result();
    co_return why;
  }
  environment* env = co_await this_environment();
  const std::size_t raw = frames.bytes();
  slice frame;
  if (const auto codec = mine.to->codec_for_next()) {
    const time_point began = env->time->now();
    auto packing = mine.packer.pack(*codec, frames.view(), mine.packed);
    status why = co_await packing;
    if (!why.ok()) co_return why;
    mine.to->packed(*codec, raw, mine.packed.size(), env->time->now() - began);
    if (mine.packed.size() < raw) frame = slice::copy_of(mine.packed);
  }
  if (frame.empty()) frame = frames.take();
  frames.clear();
  const std::size_t wire = frame.size();
  const time_point began = env->time->now();
  auto writing = out.write(std::move(frame));
  status why = co_await writing.as_result();
  const time_point ended = env->time->now();
  mine.blocked.fetch_add((ended - began).count(), std::memory_order_relaxed);
  if (why.ok()) mine.to->sent(raw, wire, ended);
  co_return why;
}

task<status> worker_host::send_dropped(open_read& mine, frame_maker& frames, frame_writer& out) {
  if (!mine.dropped || mine.dropped->empty()) co_return status();
  if (!frames.empty()) {
    auto sending = send_frame(mine, frames, out);
    status why = co_await sending;
    if (!why.ok()) co_return why;
  }
  std::uint64_t number = mine.dropped->first();
  const std::vector<dropped_element> all = mine.dropped->take();
  std::string frame;
  for (const dropped_element& e : all) {
    if (frame.empty()) frame = begin_dropped_frame(number);
    append_dropped(e, frame);
    number += e.times;
    if (frame.size() < kFrameBytes && &e != &all.back()) continue;
    auto writing = out.write(slice::copy_of(std::exchange(frame, {})));
    status why = co_await writing.as_result();
    if (!why.ok()) co_return why;
  }
  mine.has_sent.store(true, std::memory_order_relaxed);
  co_return status();
}

task<> worker_host::send_elements(open_read& mine, split_run run, frame_writer& out) {
  environment* env = co_await this_environment();
  auto counting = dropped_before(mine, run);
  const std::vector<dropped_elements> before = co_await counting;
  erased_stream in = open_plan(mine, run, run.plan, before);
  detail::stop_hook client_gone;
  client_gone.arm(env->stop, &open_read::on_stop, &mine);

  frame_maker frames(in.type(), mine.request.offset);
  demand next{mine.request.offset, 1, kFrameBytes};
  time_point frame_began = env->time->now();
  status why;
  for (;;) {
    const time_point began = env->time->now();
    auto some = co_await in.try_next_block(next);
    auto dropping = send_dropped(mine, frames, out);
    status sent = co_await dropping;
    if (!sent.ok()) some = {{}, std::move(sent)};
    if (!some.view) {
      why = some.why;
      break;
    }
    if (frames.empty()) frame_began = began;
    frames.add(some.view);
    const time_point now = env->time->now();
    const bool is_fast = now - began < kFrameTime;
    next = {0, is_fast ? std::min(2 * next.elements, kFrameElementsMax) : std::max(next.elements / 2, 1u), kFrameBytes};
    if (frames.bytes() < kFrameBytes && now - frame_began < kFrameTime) continue;
    mine.moved(frames.next());
    auto sending = send_frame(mine, frames, out);
    why = co_await sending;
    if (!why.ok()) break;
    mine.has_sent.store(true, std::memory_order_relaxed);
  }
  client_gone.disarm();
  const std::uint64_t ended = frames.next() - std::min(frames.next(), in.skip_left());
  const bool is_stopped = why.code() == status_code::cancelled;
  if (!is_stopped && !frames.empty()) {
    auto sending = send_frame(mine, frames, out);
    (void)co_await sending;
  }
  if (!is_stopped) {
    const auto dropped = mine.dropped ? std::vector<dropped_elements>() : dropped_by(in, before);
    auto writing = out.write(slice::copy_of(why.ok() ? end_frame(ended, dropped) : failure_frame(ended, why)));
    (void)co_await writing.as_result();
  }
  auto cleaning = cleanup(std::move(in));
  (void)co_await cleaning.as_result();
  if (is_stopped) throw error(mine.why().ok() ? why : mine.why());
}

void worker_host::perform(worker_action& a) {
  if (auto* beating = std::get_if<worker_action::heartbeat>(&a.what)) {
    std::vector<compression_status> sent = sent_.describe();
    if (!sent.empty()) beating->request.compression = std::move(sent);
    beat(run_, shared_me(), std::move(beating->request));
  } else if (auto* waking = std::get_if<worker_action::wake_at>(&a.what)) {
    wake_at<worker_event::woken>(waking->when);
  } else if (std::get_if<worker_action::drained>(&a.what)) {
    drained_.try_send(true);
  } else if (auto* starting = std::get_if<worker_action::start>(&a.what)) {
    with_read(starting->stream, [](open_read& read) { read.began({}); });
  } else if (auto* refusing = std::get_if<worker_action::refuse>(&a.what)) {
    with_read(refusing->stream, [&](open_read& read) { read.began(refusing->why); });
  } else if (auto* cancelling = std::get_if<worker_action::cancel>(&a.what)) {
    with_read(cancelling->stream, [&](open_read& read) { read.stop(cancelling->why); });
  }
}

template <class F> void worker_host::with_read(std::uint64_t stream, F f) {
  mutex_lock lock(reads_mutex_);
  const auto found = reads_.find(stream);
  if (found != reads_.end()) f(*found->second);
}

run_task worker_host::beat(std::shared_ptr<run_context>&, std::shared_ptr<worker_host> shared,
                           heartbeat_request request) {
  auto me = std::move(shared);
  auto asking = me->link_->ask_once(std::move(request));
  auto asked = co_await asking.as_result();
  const duration now = me->run_->time->now().time_since_epoch();
  if (asked.ok()) me->heard_at_.store(now.count(), std::memory_order_relaxed);
  else if (asked.why().code() != status_code::cancelled &&
           now - duration(me->heard_at_.load(std::memory_order_relaxed)) >= service_link::kSilent)
    me->run_->warn(absl::StrCat("dispatcher ", me->link_->dispatcher(),
                                " does not answer; it is called again: ", std::string(asked.why().message())));
  if (asked.ok() && !asked->ok() && !may_be_repeated(asked->why()))
    me->run_->warn(absl::StrCat(me->link_->dispatcher(), " refuses this worker: ", std::string(asked->why().message()),
                                "; a worker needs the address that a dispatcher prints"));
  if (asked.ok()) me->step({worker_event::heartbeat_replied{*std::move(asked)}});
  else if (asked.why().code() != status_code::cancelled) me->step({worker_event::heartbeat_replied{asked.why()}});
}

task<> worker_host::drain(duration patience) {
  if (patience != duration()) end_drain(run_, shared_me(), patience);
  step({worker_event::drain{}});
  auto receiving = drained_.receive();
  co_await receiving;
}

run_task worker_host::end_drain(std::shared_ptr<run_context>&, std::shared_ptr<worker_host> shared, duration patience) {
  auto me = std::move(shared);
  auto resting = sleep_until_time(me->run_->time->now() + patience);
  const status why = co_await resting.as_result();
  if (why.ok()) me->drained_.try_send(false);
}

}  // namespace sluice::lib
