// SPDX-License-Identifier: Apache-2.0
#include "service/client/consumer.hpp"

#include <absl/strings/str_cat.h>
#include <sys/random.h>

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <variant>

#include "service/host/process.hpp"
#include "sluice/base/random_bits.hpp"
#include "sluice/runtime/runtime.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/splits/split_plan.hpp"

namespace sluice::lib {
namespace {

constexpr std::string_view kTargets[] = {"automatic", "any", "local", "remote"};

consumer_options options_of_core(const consumer& me, std::string iteration, std::string name) {
  consumer_options o;
  o.iteration = std::move(iteration);
  o.consumer = std::move(name);
  o.incarnation = me.incarnation();
  o.report_every = duration();  // a consumer that dies without a checkpoint leaves few finished splits unreported
  if (me.link().patience() != duration()) o.give_up_after = me.link().patience();
  o.ends_job = me.options().job.empty();
  if (me.options().silence_max.is_given())
    o.heartbeat = std::min(o.heartbeat, duration(std::chrono::nanoseconds(me.options().silence_max.value / 4)));
  o.seed = me.incarnation();
  return o;
}

}  // namespace

std::uint64_t unique_number(runtime& rt) {
  constexpr std::uint64_t kBelow = std::uint64_t{1} << 53;  // JSON of every language reads it
  if (rt.world()) return 1 + rt.world()->random(kBelow - 1);
  std::uint64_t bits = 0;
  if (getrandom(&bits, sizeof bits, 0) != sizeof bits)
    bits = mix(static_cast<std::uint64_t>(rt.time().now().time_since_epoch().count()));
  return 1 + bits % (kBelow - 1);
}

std::string assigned_split::text() const {
  const nlohmann::ordered_json all = {{"dataset", dataset}, {"iteration", iteration}, {"consumer", consumer},
                                      {"split", split},     {"worker", worker},       {"payload", payload},
                                      {"seed", seed},       {"epoch", epoch}};
  return all.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

assigned_split assigned_split::read(std::string_view text) {
  const auto all = nlohmann::ordered_json::parse(text);
  return {all.at("dataset"), all.at("iteration"), all.at("consumer"), all.at("payload"),
          all.at("worker"),  all.at("split"),     all.at("seed"),     all.at("epoch")};
}

/// The core of a consumer that has joined an iteration.
class joined_consumer final : public core_loop<consumer_core, consumer_event, consumer_action> {
 public:
  using next_answer = result<std::optional<next_split_reply>>;

  /// `own`: a run of its own, whose calls do not end with `run`, the stream's.
  joined_consumer(std::shared_ptr<run_context> own, std::shared_ptr<run_context> run,
                  std::shared_ptr<service_link> link, consumer_options o)
      : core_loop(std::move(own), consumer_core(std::move(o))), stream_run_(std::move(run)), link_(std::move(link)) {}

  /// Ends all calls.
  void end_calls() { run_->request_stop(); }
  /// Reports what is finished, and returns the other splits to the pool. The stream's run waits for the dispatcher's
  /// reply, at most kLeaveTime, and not where a call fails.
  void leave() {
    const bool is_complete = open_.load(std::memory_order_relaxed) == 0 && is_all_stored();
    if (is_complete || run_->is_homeless.load(std::memory_order_acquire)) return end_calls();
    std::shared_ptr<run_context> own = run_;
    leave_in(own, std::static_pointer_cast<joined_consumer>(shared_from_this()));
  }

  task<next_answer> next(std::uint64_t ordinal) {
    step({consumer_event::wanted{ordinal}});
    auto receiving = next_.receive();
    std::optional<next_answer> answer = co_await receiving;
    if (!answer) co_return cancelled_error();
    if (answer->ok() && **answer) open_.fetch_add(1, std::memory_order_relaxed);
    co_return *std::move(answer);
  }
  /// The split needs no reply of the dispatcher, which may be away, so that the splits after it are read meanwhile. After
  /// the last split it waits until all reports are stored.
  task<status> finished(std::uint64_t split, bool is_empty) {
    open_.fetch_sub(1, std::memory_order_relaxed);
    bool is_last = false;
    {
      mutex_lock lock(reports_mutex_);
      if (!failure_.ok()) co_return failure_;
      unstored_.insert(split);
      is_last = is_ended_;
    }
    step({consumer_event::finished{split, is_empty}});
    if (!is_last) co_return status();
    auto waiting = all_stored();
    status why = co_await waiting;
    co_return why;
  }
  void was_finished(std::uint64_t split) {
    open_.fetch_sub(1, std::memory_order_relaxed);
    {
      mutex_lock lock(reports_mutex_);
      unstored_.insert(split);
    }
    step({consumer_event::finished{split}});
  }
  void resume_at(std::uint64_t ordinal) {
    {
      mutex_lock lock(reports_mutex_);
      unstored_.insert(kBelow);
    }
    step({consumer_event::resumed{ordinal}});
  }
  /// Waits until the dispatcher has stored all reports.
  task<status> all_stored() {
    auto stored = std::make_shared<channel<status>>(channel_limits{.elements = 1});
    {
      mutex_lock lock(reports_mutex_);
      if (!failure_.ok() || unstored_.empty()) co_return failure_;
      waiting_.push_back(stored);
    }
    auto receiving = stored->receive();
    std::optional<status> why = co_await receiving;
    co_return why ? *std::move(why) : cancelled_error();
  }

 private:
  void perform(consumer_action& a) override {
    if (auto* calling = std::get_if<consumer_action::call>(&a.what))
      call(run_, std::static_pointer_cast<joined_consumer>(shared_from_this()), std::move(*calling));
    else if (auto* getting = std::get_if<consumer_action::got>(&a.what)) answer(std::move(getting->split));
    else if (std::get_if<consumer_action::ended>(&a.what)) end();
    else if (auto* waking = std::get_if<consumer_action::wake_at>(&a.what))
      wake_at<consumer_event::woken>(waking->when);
    else if (auto* failing = std::get_if<consumer_action::fail>(&a.what)) fail_all(failing->why);
    else if (auto* standing = std::get_if<consumer_action::stuck>(&a.what)) warn_of(*standing);
    else if (auto* waiting = std::get_if<consumer_action::waits_for_others>(&a.what)) warn_of(*waiting);
    else if (auto* silent = std::get_if<consumer_action::no_answer>(&a.what))
      stream_run_->warn(absl::StrCat("distribute: dispatcher ", link_->dispatcher(),
                                     " does not answer; it is called again: ", silent->why));
    else if (std::get_if<consumer_action::closed>(&a.what)) left_.try_send(true);
    else if (auto* losing = std::get_if<consumer_action::released>(&a.what))
      stream_run_->warn(
          absl::StrCat("split ", losing->split, " was given to another consumer, because this one was silent"));
  }

  bool is_all_stored() {
    mutex_lock lock(reports_mutex_);
    return unstored_.empty();
  }
  static run_task call(std::shared_ptr<run_context>&, std::shared_ptr<joined_consumer> shared,
                       consumer_action::call what) {
    auto me = std::move(shared);
    std::vector<std::uint64_t> done;
    if (auto* progress = std::get_if<progress_request>(&what.request)) {
      done = progress->done;
      if (progress->done_below != 0) done.push_back(kBelow);
    }
    auto asking = me->link_->ask_any_once(std::move(what.request));
    auto reply = co_await asking.as_result();
    if (!reply.ok() && reply.why().code() == status_code::cancelled) co_return;
    result<service_reply> answer = reply.ok() ? *std::move(reply) : result<service_reply>(reply.why());
    if (answer.ok()) me->stored(done);
    else if (me->is_leaving_.load(std::memory_order_relaxed)) me->left_.try_send(false);
    me->step({consumer_event::replied{what.id, std::move(answer)}});
  }

  void warn_of(const consumer_action::stuck& s) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(s.waited).count();
    stream_run_->warn(absl::StrCat("split ", s.split, " is stuck: element ", s.offset, " has not come for ", seconds,
                                   " s from ", s.worker.empty() ? "any worker" : "worker " + s.worker,
                                   ". sluice status ", link_->dispatcher(), " shows the splits in flight"));
  }
  void warn_of(const consumer_action::waits_for_others& w) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(w.waited).count();
    stream_run_->warn(absl::StrCat("distribute: no split has come for ", seconds, " s: ", w.why, ". sluice status ",
                                   link_->dispatcher(), " shows them"));
  }
  void answer(std::optional<next_split_reply> split) { next_.try_send(next_answer(std::move(split))); }
  void end() {
    {
      mutex_lock lock(reports_mutex_);
      is_ended_ = true;
    }
    answer(std::nullopt);
  }
  void stored(const std::vector<std::uint64_t>& done) {
    mutex_lock lock(reports_mutex_);
    for (std::uint64_t split : done) unstored_.erase(split);
    if (unstored_.empty()) wake_all({});
  }
  task<> has_left() {
    auto receiving = left_.receive();
    (void)co_await receiving;
  }
  static run_task leave_in(std::shared_ptr<run_context>& own, std::shared_ptr<joined_consumer> shared) {
    auto me = std::move(shared);
    const std::shared_ptr<run_context> of = me->stream_run_;
    of->task_started();
    me->is_leaving_.store(true, std::memory_order_relaxed);
    std::shared_ptr<run_context> run = own;
    give_up_leaving(run, me);
    me->step({consumer_event::close{}});
    auto leaving = me->has_left();
    (void)co_await leaving.as_result();
    me->end_calls();
    of->task_ended();
  }
  static run_task give_up_leaving(std::shared_ptr<run_context>&, std::shared_ptr<joined_consumer> shared) {
    auto me = std::move(shared);
    auto resting = sleep_until_time(me->run_->time->now() + kLeaveTime);
    (void)co_await resting.as_result();
    me->left_.try_send(false);
  }

  void fail_all(const status& why) {
    left_.try_send(false);
    next_.try_send(next_answer(why));
    mutex_lock lock(reports_mutex_);
    failure_ = why;
    wake_all(why);
  }
  void wake_all(const status& why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(reports_mutex_) {
    for (auto& each : std::exchange(waiting_, {})) each->try_send(status(why));
  }

  static constexpr duration kLeaveTime = std::chrono::seconds(5);  ///< a busy machine is slow
  static constexpr std::uint64_t kBelow = ~std::uint64_t{0};       ///< in unstored_: all splits before a resume
  const std::shared_ptr<run_context> stream_run_;
  const std::shared_ptr<service_link> link_;
  std::atomic<std::int64_t> open_{0};  ///< splits that were assigned in this run, and are not finished
  std::atomic<bool> is_leaving_{false};
  channel<bool> left_{channel_limits{.elements = 2}};
  channel<next_answer> next_{channel_limits{.elements = 2}};
  mutex reports_mutex_;
  status failure_ ABSL_GUARDED_BY(reports_mutex_);
  std::set<std::uint64_t> unstored_ ABSL_GUARDED_BY(reports_mutex_);  ///< finished splits
  bool is_ended_ ABSL_GUARDED_BY(reports_mutex_) = false;
  std::vector<std::shared_ptr<channel<status>>> waiting_ ABSL_GUARDED_BY(reports_mutex_);
};

consumer::consumer(std::shared_ptr<run_context> run, std::shared_ptr<service_link> link, dataset_info info,
                   distribute_options options, sent_rules rules, std::uint32_t stream, bool leaves)
    : run_(std::move(run)),
      link_(std::move(link)),
      info_(std::move(info)),
      options_(std::move(options)),
      rules_(std::move(rules)),
      stream_(stream),
      incarnation_(unique_number(*run_->rt)),
      leaves_(leaves && options_.consumer.empty()) {}

consumer::~consumer() {
  const std::shared_ptr<joined_consumer> core = joined();
  if (!core) return;
  if (leaves_ && !run_->is_saved.load(std::memory_order_relaxed)) core->leave();
  else core->end_calls();
}

std::size_t consumer::credit_bytes() const {
  const auto all = static_cast<std::size_t>(options_.max_outstanding.value);
  return all / static_cast<std::size_t>(options_.splits_at_once.value);
}

std::shared_ptr<joined_consumer> consumer::joined() const {
  mutex_lock lock(mutex_);
  return joined_;
}

std::optional<std::uint64_t> consumer::start() const {
  mutex_lock lock(mutex_);
  return start_;
}

task<status> consumer::join(membership as) {
  auto registering = link_->ask(register_dataset_request{.dataset = {}, .info = info_});
  result<register_dataset_reply> known = co_await registering;
  if (!known.ok()) co_return known.why();
  open_job_request request;
  request.job = stream_ == 0 || as.job.empty() ? as.job : absl::StrCat(as.job, "#", stream_);
  request.dataset = known->dataset;
  request.iteration = as.pass;
  request.consumer = as.name;
  request.mode = options_.mode;
  if (options_.silence_max.is_given())
    request.silence_max_ms = static_cast<std::uint64_t>(options_.silence_max.value / 1'000'000);
  request.visitation = std::string(to_string(options_.visitation));
  request.seed = stream_ == 0 ? run_->seed : mix(run_->seed + stream_);
  request.epoch = as.pass;
  request.tags = options_.tags;
  request.target = std::string(kTargets[static_cast<std::size_t>(options_.target_workers)]);
  request.host = name_of_machine();
  request.process = name_of_process();
  request.incarnation = incarnation_;
  auto opening = link_->ask(std::move(request));
  result<open_job_reply> opened = co_await opening;
  if (!opened.ok()) co_return opened.why();
  mutex_lock lock(mutex_);
  common_.dataset = known->dataset;
  common_.iteration = opened->iteration;
  common_.consumer = as.name;
  common_.seed = opened->seed;
  common_.epoch = opened->epoch;
  start_ = opened->start;
  joined_ = std::make_shared<joined_consumer>(run_->rt->new_run(run_options()), run_, link_,
                                              options_of_core(*this, opened->iteration, as.name));
  co_return status();
}

task<result<std::optional<assigned_split>>> consumer::next_split(std::uint64_t ordinal) {
  const std::shared_ptr<joined_consumer> core = joined();
  auto asking = core->next(ordinal);
  joined_consumer::next_answer next = co_await asking;
  if (!next.ok()) co_return next.why();
  if (!*next) co_return std::optional<assigned_split>();
  mutex_lock lock(mutex_);
  assigned_split split = common_;
  split.split = (*next)->split;
  split.payload = std::move((*next)->payload);
  split.worker = std::move((*next)->worker);
  co_return std::optional<assigned_split>(std::move(split));
}

task<result<bool>> consumer::knows(std::uint64_t ordinal) {
  next_split_request request;
  {
    mutex_lock lock(mutex_);
    request.iteration = common_.iteration;
    request.consumer = common_.consumer;
  }
  request.ordinal = ordinal;
  request.incarnation = incarnation_;
  auto asking = link_->ask(std::move(request));
  result<next_split_reply> reply = co_await asking;
  if (reply.ok()) co_return reply->kind == split_answer::split;
  if (reply.why().code() == status_code::failed_precondition) co_return false;
  co_return reply.why();
}

void consumer::resume_at(std::uint64_t ordinal) { joined()->resume_at(ordinal); }
void consumer::was_finished(const assigned_split& split) { joined()->was_finished(split.split); }

task<status> consumer::all_stored() {
  const std::shared_ptr<joined_consumer> core = joined();
  auto waiting = core->all_stored();
  status why = co_await waiting;
  co_return why;
}

void consumer::waits(const assigned_split& split, const std::string& worker) {
  joined()->step({consumer_event::waits{split.split, worker}});
}
void consumer::waits_no_more(const assigned_split& split) {
  joined()->step({consumer_event::waits_no_more{split.split}});
}

task<status> consumer::finished(assigned_split split, bool is_empty) {
  const std::shared_ptr<joined_consumer> core = joined();
  auto reporting = core->finished(split.split, is_empty);
  status why = co_await reporting;
  co_return why;
}

void consumer::delivered(const assigned_split& split, std::uint64_t offset) {
  joined()->step({consumer_event::delivered{split.split, offset}});
}

}  // namespace sluice::lib
