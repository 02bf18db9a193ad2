// SPDX-License-Identifier: Apache-2.0
#include "service/host/local_read.hpp"

#include <utility>

#include "sluice/coro/any_stream.hpp"
#include "sluice/pipeline/iterate.hpp"

namespace sluice::lib {

worker_host::local_read::local_read(std::shared_ptr<worker_host> host, read_request request)
    : host_(std::move(host)), mine_(*host_, std::move(request)) {}
worker_host::local_read::~local_read() { worker_gone_.disarm(); }

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
  read->in_ = host->open_plan(mine, *run);
  read->worker_gone_.arm(host->run_->stop, &open_read::on_stop, &mine);
  co_return std::move(read);
}

task<erased_stream::attempt> worker_host::local_read::next(demand d) {
  environment* env = co_await this_environment();
  detail::stop_hook consumer_gone;
  consumer_gone.arm(env->stop, &open_read::on_stop, &mine_);
  erased_stream::attempt some = co_await in_.try_next_block(d);
  consumer_gone.disarm();
  if (some.why.code() != status_code::cancelled || env->stop.stop_requested()) co_return some;
  is_closed_ = true;
  some.why = mine_.why();
  if (some.why.ok() || some.why.code() == status_code::cancelled)
    some.why = unavailable_error("the worker in this process is closed");
  co_return some;
}

task<> worker_host::local_read::close() {
  worker_gone_.disarm();
  auto cleaning = cleanup(std::move(in_));
  co_await cleaning;
}

}  // namespace sluice::lib
