// SPDX-License-Identifier: Apache-2.0
#include "service/client/split_reading.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "engine/lowering/error_gate.hpp"
#include "runtime/run_task.hpp"
#include "service/client/split_place.hpp"
#include "service/host/local_workers.hpp"
#include "service/wire/packed_frames.hpp"
#include "sluice/coro/sleep_until.hpp"

namespace sluice::lib {
namespace {

constexpr std::size_t kFrameBytesAccepted = std::size_t{1} << 30;
/// Blocks of a worker of this process may be small, and a report costs as much as some elements.
constexpr duration kLocalReportTime = std::chrono::milliseconds(1);
constexpr std::uint32_t kLocalBlocksMax = 256;
constexpr duration kMeasureTime = std::chrono::milliseconds(250);
constexpr duration kMeasureCallTime = std::chrono::seconds(2);

reader_options options_of_reader(const consumer& me) {
  reader_options o;
  const visitation v = me.options().visitation;
  if (v == visitation::at_most_once) o.visitation = reader_options::visits::at_most_once;
  if (v == visitation::at_least_once) o.visitation = reader_options::visits::at_least_once;
  if (me.link().patience() != duration()) o.give_up_after = me.link().patience();
  o.seed = me.incarnation();
  o.queued_max = 1;  // the next frame is received when the elements of the last one are used
  return o;
}

/// Adds the codecs that the consumer reads. A Unix socket is faster than each of them.
void ask_for_codecs(frame_compression wanted, const std::string& worker, read_request& request) {
  if (wanted == frame_compression::none) return;
  std::vector<std::string> names;
  if (wanted == frame_compression::automatic) {
    if (worker.starts_with("unix:")) return;
    for (const frame_codec c : frame_codecs()) names.emplace_back(name_of(c));
  } else {
    names.emplace_back(name_of(wanted == frame_compression::zstd ? frame_codec::zstd : frame_codec::lz4));
    request.is_compressed_always = true;
  }
  if (!names.empty()) request.codecs = std::move(names);
}

/// A worker that is gone, or older, needs no measurement.
run_task report_to_worker(std::shared_ptr<run_context>& run, std::shared_ptr<message_channel> to,
                          measured_request what) {
  auto channel = std::move(to);
  auto calling = channel->call("measured", to_json(what), run->time->now() + kMeasureCallTime);
  (void)co_await calling.as_result();
}

}  // namespace

arriving_bytes::arriving_bytes(const run_context& run)
    : ledger_(*run.ledger), line_(run.ledger->line(purpose::read_ahead, "distribute")) {}

std::size_t arriving_bytes::charge_credit(std::size_t wanted) {
  ledger_.change(std::exchange(credit_, 0), 0, line_);
  const std::size_t fits = ledger_.charge_up_to(std::max(wanted, kMin), line_);
  credit_ = std::max(fits, kMin);
  ledger_.change(fits, credit_, line_);
  return credit_;
}

void arriving_bytes::charge_frame(std::size_t bytes) { ledger_.change(std::exchange(frame_, bytes), bytes, line_); }

void arriving_bytes::release() noexcept {
  ledger_.change(std::exchange(credit_, 0) + std::exchange(frame_, 0), 0, line_);
}

split_reading::split_reading(std::shared_ptr<consumer> as, assigned_split split, const element_type& type,
                             std::uint64_t dropped)
    : me_(std::move(as)), split_(std::move(split)), arriving_(*me_->run()), ready_(type), dropped_next_(dropped) {}
split_reading::~split_reading() = default;

void split_reading::drop_before(std::uint64_t ordinal) {
  const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(ordinal - std::min(ordinal, first_), ready_.size()));
  if (n == 0) return;
  ready_.view().drop_front(static_cast<std::uint32_t>(n));
  first_ += n;
}

void split_reading::step(reader_event event) {
  std::vector<reader_action> actions;
  core_->step(std::move(event), now_, actions);
  for (reader_action& a : actions) perform(a);
}

void split_reading::perform(reader_action& a) {
  // In these modes no other worker can read the split.
  const bool has_own_worker = me_->options().mode != sharding::dynamic && !split_.worker.empty();
  if (auto* placing = std::get_if<reader_action::place>(&a.what)) to_place_ = std::move(*placing);
  else if (auto* opening = std::get_if<reader_action::open>(&a.what)) to_open_ = std::move(*opening);
  else if (auto* cancelling = std::get_if<reader_action::cancel>(&a.what)) {
    if (cancelling->read == read_) {
      reader_.reset();
      arriving_.release();
      stream_.reset();
    }
  } else if (auto* delivering = std::get_if<reader_action::deliver>(&a.what)) delivered_ = *delivering;
  else if (auto* failing = std::get_if<reader_action::fail>(&a.what)) failure_ = failing->why;
  else if (auto* waking = std::get_if<reader_action::wake_at>(&a.what)) due_ = waking->when;
  else if (auto* lacking = std::get_if<reader_action::no_worker>(&a.what))
    me_->run()->warn(absl::StrCat("distribute: ", lacking->why, "; start one: sluice worker --dispatcher ",
                                  me_->link().dispatcher(),
                                  has_own_worker ? absl::StrCat(" --listen ", split_.worker) : ""));
  else has_ended_ = true;
}

task<> split_reading::place() {
  const reader_action::place what = *std::exchange(to_place_, std::nullopt);
  auto asking = me_->link().ask_once(place_request{.iteration = split_.iteration,
                                                   .consumer = split_.consumer,
                                                   .split = split_.split,
                                                   .attempt = what.attempt,
                                                   .failed = what.failed,
                                                   .incarnation = me_->incarnation()});
  auto reply = co_await asking.as_result();
  now_ = me_->run()->time->now();
  if (!reply.ok() && reply.why().code() == status_code::cancelled) failure_ = reply.why();
  else if (!reply.ok()) step({reader_event::place_failed{reply.why()}});
  else if (!reply->ok()) step({reader_event::place_failed{reply->why()}});
  else step({reader_event::placed{(*reply)->kind, (*reply)->worker, (*reply)->why.value_or("")}});
  is_refused_ = !failure_.ok() && failure_.code() != status_code::deadline_exceeded;
}

task<> split_reading::open() {
  const reader_action::open what = *std::exchange(to_open_, std::nullopt);
  reader_.reset();
  stream_.reset();
  read_ = what.read;
  read_request request;
  request.dataset = split_.dataset;
  request.iteration = split_.iteration;
  request.split = split_.split;
  request.payload = split_.payload;
  request.offset = what.offset;
  request.consumer = split_.consumer;
  request.incarnation = me_->incarnation();
  request.start = me_->start();
  request.attempt = what.read;
  request.on_error = me_->info().on_error;
  if (!me_->quarantines().empty()) {
    if (what.offset == 0 && me_->options().visitation == visitation::at_least_once) dropped_next_ = 0;
    request.dropped_from = dropped_next_;
    if (me_->run()->quarantine.is_given()) request.quarantine = me_->run()->quarantine.path;
  }
  if (is_static(me_->options().mode)) request.mode = std::string(to_string(me_->options().mode));
  request.rules = me_->rules();
  request.seed = split_.seed;
  request.epoch = split_.epoch;
  ask_for_codecs(me_->options().compression, what.worker, request);
  is_measured_ = request.codecs && !request.is_compressed_always;
  if (std::shared_ptr<worker_host> here = local_workers::find(me_->link(), what.worker)) {
    auto opening = open_local(std::move(here), std::move(request));
    co_await opening;
    co_return;
  }
  channel_ = me_->link().worker(what.worker);
  const std::size_t credit = arriving_.charge_credit(me_->credit_bytes());
  const stream_options how{.credit_bytes = credit, .frame_bytes_max = kFrameBytesAccepted};
  auto opening = channel_->open("read", to_json(request), how, now_ + reader_options().silence);
  auto opened = co_await opening.as_result();
  now_ = me_->run()->time->now();
  if (opened.ok()) reader_ = *std::move(opened);
  else if (opened.why().code() == status_code::cancelled) failure_ = opened.why();
  else step({reader_event::broke{read_, opened.why()}});
}

task<> split_reading::open_local(std::shared_ptr<worker_host> here, read_request request) {
  auto opening = worker_host::local_read::open(std::move(here), std::move(request));
  auto opened = co_await opening.as_result();
  now_ = me_->run()->time->now();
  stream_at_ = 0;
  if (!opened.ok() && opened.why().code() == status_code::cancelled) failure_ = opened.why();
  else if (!opened.ok()) step({reader_event::broke{read_, opened.why()}});
  else if (opened->ok()) stream_ = **std::move(opened);
  else if (may_be_repeated(opened->why())) step({reader_event::broke{read_, opened->why()}});
  else step({reader_event::handler_error{read_, opened->why()}});
}

erased_stream* split_reading::unreported(std::uint64_t wanted) {
  if (!stream_ || unreported_ == unreported_max_ || last_) return nullptr;
  ++unreported_;
  wanted_ = wanted;
  local_ = block();
  return &stream_->elements();
}

bool split_reading::got(const erased_stream::attempt& some) {
  if (some.view.empty()) return last_ = some, false;
  first_ = wanted_;
  stream_at_ = next_ = wanted_ + some.view.size();
  return true;
}

task<> split_reading::receive_local() {
  erased_stream::attempt some;
  if (last_) some = *std::exchange(last_, std::nullopt);
  else some = co_await stream_->elements().try_next_block(next_demand());
  now_ = me_->run()->time->now();
  if (!some.why.ok()) {
    environment* env = co_await this_environment();
    const std::optional<status> closed = stream_->why_closed(some.why, env->stop);
    if (!closed) failure_ = some.why;
    else if (may_be_repeated(*closed)) step({reader_event::broke{read_, *closed}});
    else step({reader_event::handler_error{read_, *closed}});
    if (closed) stream_.reset();
    co_return;
  }
  const bool is_end = some.view.empty();
  stream_at_ = is_end ? wanted_ - std::min(wanted_, stream_->skip_left()) : wanted_ + some.view.size();
  const std::uint64_t from = std::min(core_->offset(), stream_at_);
  step({reader_event::frame{read_, from, stream_at_ - from, is_end}});
  if (!is_end) {
    local_ = some.view;
    first_ = wanted_;
    next_ = stream_at_;
    has_delivered_ = true;
    co_return;
  }
  has_end_frame_ = true;
  length_ = stream_at_;
  dropped_ = stream_->dropped();
  std::uint64_t number = 0;
  arrived_ = take_dropped(number);  // before the stream is gone
  auto closing = stream_->close();
  co_await closing;
  stream_.reset();
}

void split_reading::report_measured() {
  const duration passed = now_ - measured_at_;
  if (!is_measured_ || passed < kMeasureTime) return;
  measured_at_ = now_;
  measured_request what = std::exchange(measured_, {});
  if (10 * std::chrono::microseconds(what.waited_us) < passed && what.unpacked_bytes == 0) return;
  what.iteration = split_.iteration;
  what.split = split_.split;
  what.consumer = split_.consumer;
  std::shared_ptr<run_context> run = me_->run();
  report_to_worker(run, channel_, std::move(what));
}

task<> split_reading::receive() {
  const time_point asked = is_measured_ ? me_->run()->time->now() : time_point();
  auto waiting = reader_->next(due_);
  auto frame = co_await waiting.as_result();
  now_ = me_->run()->time->now();
  const std::uint64_t read = read_;
  if (is_measured_) {
    const auto waited = std::chrono::duration_cast<std::chrono::microseconds>(now_ - asked).count();
    measured_.waited_us += static_cast<std::uint64_t>(waited);
    report_measured();
  }
  if (frame.ok() && frame->ok() && **frame) {
    slice bytes = std::move(***frame);
    wire_bytes_ += bytes.size();
    status why;
    if (packed_frame::is_one(bytes.view())) {
      auto unpacking = unpacked(std::move(bytes));
      result<slice> raw = co_await unpacking;
      why = raw.ok() ? use(read, *raw) : raw.why();
    } else {
      why = use(read, bytes);
    }
    if (!why.ok()) step({reader_event::handler_error{read, why}});
    co_return;
  }
  if (!frame.ok() && frame.why().code() == status_code::deadline_exceeded) {  // nothing was consumed
    step({reader_event::woken{}});
    co_return;
  }
  reader_.reset();
  arriving_.release();
  if (!frame.ok() && frame.why().code() == status_code::cancelled) failure_ = frame.why();
  else if (!frame.ok()) step({reader_event::broke{read, frame.why()}});
  else if (frame->ok())
    step({reader_event::broke{read, data_loss_error("the frames end without an end of the split")}});
  else if (may_be_repeated(frame->why())) step({reader_event::broke{read, frame->why()}});  // the worker has refused it
  else step({reader_event::handler_error{read, frame->why()}});
}

split_reading::worker_place split_reading::place_now() const {
  const std::string& worker = core_ ? core_->worker() : split_.worker;
  const bool has_name = worker.empty() || worker.starts_with("worker ");  // of distribute() without an address
  return {has_name ? worker : absl::StrCat("worker ", worker), split_text(split_.split, split_.payload)};
}

status split_reading::in_place(const status& why) const {
  if (why.ok() || why.code() == status_code::cancelled) return why;
  const worker_place at = place_now();
  std::string message(on_worker(why, is_refused_ ? std::string() : at.worker, at.split).message());
  if (why.code() == status_code::deadline_exceeded && core_) {
    const auto held = std::chrono::duration_cast<std::chrono::milliseconds>(now_ - begun_).count();
    absl::StrAppend(&message, ", which consumer ", split_.consumer, " has had for ", held, " ms");
  }
  return why.with_message(message);
}

task<result<slice>> split_reading::unpacked(slice frame) {
  const result<packed_frame> head = packed_frame::read(frame.view(), kFrameBytesAccepted);
  if (!head.ok()) co_return head.why();
  arriving_.charge_frame(frame.size() + static_cast<std::size_t>(head->raw_bytes));
  const time_point began = me_->run()->time->now();
  auto unpacking = unpack_frame(*head);
  result<slice> raw = co_await unpacking;
  const duration took = me_->run()->time->now() - began;
  measured_.unpacked_bytes += head->raw_bytes;
  measured_.unpack_ns += static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(took).count());
  co_return raw;
}

status split_reading::use(std::uint64_t read, const slice& bytes) {
  result<element_frame> f = element_frame::read(bytes.view());
  if (!f.ok()) return f.why();
  if (f->what == element_frame::failure) return f->why;
  if (f->what == element_frame::keepalive) return step({reader_event::keepalive{read}}), status();
  if (f->what == element_frame::dropped_ones) return step({reader_event::keepalive{read}}), use_dropped(*f);
  if (f->what == element_frame::end) {
    has_end_frame_ = true;
    arriving_.release();
    dropped_ = f->dropped();
    length_ = has_delivered_ ? next_ : std::min(next_, f->first);
    return step({reader_event::frame{read, f->first, 0, true}}), status();
  }
  arriving_.charge_frame(bytes.view().size());
  status why = f->parse(bytes.owner(), ready_);
  if (!why.ok()) return why;
  delivered_.reset();
  step({reader_event::frame{read, f->first, ready_.size(), false}});
  const reader_action::deliver part = delivered_.value_or(reader_action::deliver{ready_.size(), 0});
  first_ = next_;
  ready_.view().drop_front(static_cast<std::uint32_t>(part.cut));
  next_ += part.count;
  has_delivered_ = has_delivered_ || part.count != 0;
  return {};
}

status split_reading::use_dropped(const element_frame& f) {
  if (f.first != dropped_next_)
    return data_loss_error(
        absl::StrCat("the worker has sent dropped element ", f.first, " of the split instead of ", dropped_next_));
  run_context& run = *me_->run();
  for (std::string_view rest = f.rest; !rest.empty();) {
    dropped_view next;
    status why = sluice::lib::take_dropped(rest, next);
    if (!why.ok()) return why;
    ledger_line& line = run.ledger->line(purpose::channel, "distribute");
    kept_bytes bytes = next.has_bytes ? kept_copy(next.bytes, *run.ledger, line) : kept_bytes();
    arrived_.push_back({std::string(next.stage), std::string(next.path), next.why, next.times, std::move(bytes)});
    dropped_next_ += next.times;
  }
  return {};
}

bool split_reading::has_dropped_here() const { return stream_->collector() && !stream_->collector()->empty(); }

std::vector<dropped_element> split_reading::take_dropped(std::uint64_t& number) {
  if (stream_ && has_dropped_here())
    for (dropped_element& e : stream_->collector()->take()) {
      dropped_next_ += e.times;
      arrived_.push_back(std::move(e));
    }
  number = dropped_next_;
  return std::exchange(arrived_, {});
}

void split_reading::report_taken() {
  if (next_ == taken_) return;
  const std::uint64_t n = next_ - std::exchange(taken_, next_);
  step({reader_event::took{n}});
  me_->delivered(split_, next_);
  if (!stream_) return;
  stream_->moved(next_);
  const bool is_fast = now_ - std::exchange(reported_, now_) < kLocalReportTime;
  unreported_max_ = is_fast ? std::min(2 * unreported_max_ + 1, kLocalBlocksMax) : unreported_max_ / 2;
  unreported_ = 0;
}

task<> split_reading::wait() {
  if (to_place_) return place();
  if (to_open_) return open();
  if (stream_) return receive_local();
  if (reader_) return receive();
  return rest();
}

task<> split_reading::rest() {
  sleep_until resting(due_);
  co_await resting;
  now_ = me_->run()->time->now();
  step({reader_event::woken{}});
}

task<status> split_reading::fill(std::uint64_t wanted) {
  now_ = me_->run()->time->now();
  wanted_ = wanted;
  local_ = block();
  if (!core_) {
    core_.emplace(options_of_reader(*me_), split_.worker, wanted);
    first_ = next_ = taken_ = wanted;
    begun_ = now_;
    step({reader_event::started{}});
  }
  report_taken();
  while (ready_.size() == 0 && local_.empty() && !has_ended_ && failure_.ok()) {
    me_->waits(split_, core_->worker());
    auto waiting = wait();
    status why = co_await waiting.as_result();
    if (!why.ok()) co_return why;
    drop_before(wanted);
    if (ready_.size() == 0) report_taken();
  }
  me_->waits_no_more(split_);
  if (failure_.ok() && has_ended_ && !has_end_frame_) {
    length_ = next_;
    me_->run()->warn(absl::StrCat("split ", split_.split, " is lost from element ", next_, " on: its worker broke"));
  }
  co_return failure_;
}

}  // namespace sluice::lib
