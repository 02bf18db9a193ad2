// SPDX-License-Identifier: Apache-2.0
#include "service/host/local_read.hpp"

#include <utility>

#include "sluice/coro/any_stream.hpp"
#include "sluice/pipeline/iterate.hpp"

namespace sluice::lib {

worker_host::local_read::local_read(std::shared_ptr<worker_host> host, read_request request)
    : host_(std::move(host)), mine_(*host_, std::move(request)) {}
worker_host::local_read::~local_read() { end_hooks(); }

task<result<std::unique_ptr<worker_host::local_read>>> worker_host::local_read::open(std::shared_ptr<worker_host> host,
                                                                                     read_request request) {
  auto read = std::make_unique<local_read>(host, std::move(request));
  open_read& mine = read->mine_;
  auto opening = mine.open();
  status why = co_await opening;
  if (!why.ok()) co_return why;
  auto planning = host->plan_of(mine.request);
  result<split_run> run = co_await planning;
  if (!run.ok()) co_return run.why();
  auto counting = host->dropped_before(mine, *run);
  read->before_ = co_await counting;
  read->in_ = host->open_plan(mine, *run, run->plan, read->before_);
  read->worker_gone_.arm(host->run_->stop, &open_read::on_stop, &mine);
  environment* env = co_await this_environment();
  read->consumer_gone_.arm(env->stop, &open_read::on_stop, &mine);
  co_return std::move(read);
}

std::optional<status> worker_host::local_read::why_closed(const status& why, const stop_signal& consumer) const {
  if (why.code() != status_code::cancelled || consumer.stop_requested()) return std::nullopt;
  const status reason = mine_.why();
  if (!reason.ok() && reason.code() != status_code::cancelled) return reason;
  return unavailable_error("the worker in this process is closed");
}

void worker_host::local_read::end_hooks() {
  worker_gone_.disarm();
  consumer_gone_.disarm();
}

task<> worker_host::local_read::close() {
  end_hooks();
  auto cleaning = cleanup(std::move(in_));
  co_await cleaning;
}

}  // namespace sluice::lib
