// SPDX-License-Identifier: Apache-2.0
// Operations that do not end: their deadlines do, in virtual time, and what the kernel has stays its own.
#include <catch2/catch.hpp>

#include <cstring>
#include <vector>

#include "io/local/operation.hpp"
#include "io/local/posix_file_system.hpp"
#include "sluice/coro/scope.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/io/files.hpp"
#include "sluice/io/simulated_file_system.hpp"

namespace sluice::lib::deadline_test {
using detail::operation;

namespace {

/// Keeps what it is given until it is told to end it.
class hanging_backend final : public detail::backend {
 public:
  void submit(operation* op) noexcept override { kept.push_back(op); }
  void cancel(operation*) noexcept override { ++cancels; }
  std::string description() const override { return "hanging"; }

  int cancels = 0;
  std::vector<operation*> kept;
};

struct hanging_world {
  simulation world{1};
  hanging_backend* io = new hanging_backend;
  detail::posix_file_system files{std::unique_ptr<detail::backend>(io)};
  /// The kernel's answer to everything it has.
  void answer_all() {
    for (operation* op : io->kept) {
      if (op->to) std::memset(op->to->data() + op->at, 'y', op->length);
      op->complete(op->to ? static_cast<std::int64_t>(op->length) : -ECANCELED);
    }
    io->kept.clear();
  }
  task<> answer_in(duration d) {
    co_await sleep_for(d);
    answer_all();
  }
};

constexpr duration kSecond = std::chrono::seconds(1);

open_options until(time_point deadline) {
  open_options o;
  o.deadline = deadline;
  return o;
}

std::string failure(auto work) {
  try {
    work();
  } catch (const error& e) { return e.why().to_string(); }
  return "ok";
}

}  // namespace

TEST_CASE("an open, a stat, a listing and a write that hang end at their deadline with an error") {
  hanging_world w;
  auto at = w.world.now() + kSecond;
  CHECK(failure([&] { sync_wait(w.world, w.files.open("a", until(at))); }) ==
        "deadline_exceeded: a: could not be opened until the deadline");
  CHECK(failure([&] { sync_wait(w.world, w.files.stat("a", at)); }) ==
        "deadline_exceeded: a: could not be opened until the deadline");
  auto names = w.files.list("a*", {});
  CHECK(failure([&] { sync_wait(w.world, names->next(at)); }) ==
        "deadline_exceeded: a*: could not be listed until the deadline");
  CHECK(failure([&] { sync_wait(w.world, w.files.create("a", at)); }) ==
        "deadline_exceeded: a: could not be written until the deadline");
  CHECK(w.world.elapsed() == kSecond);
  CHECK(w.io->kept.size() == 4);
  CHECK(w.io->cancels == 4);
  w.answer_all();
}

namespace {

task<std::int64_t> perform_read(detail::backend& io, buffer_ref to, time_point deadline) {
  auto* op = new operation(operation::kind::read);
  op->length = to->capacity();
  op->to = std::move(to);
  std::int64_t got = co_await detail::perform(io, op, deadline);
  co_return got;
}

task<std::int64_t> read_answered_half_way(hanging_world& w, buffer_ref to, time_point deadline) {
  environment* env = co_await this_environment();
  scope s(*env);
  s.spawn(w.answer_in(kSecond / 2));
  auto reading = perform_read(*w.io, std::move(to), deadline);
  std::int64_t got = co_await reading;
  co_await s.join();
  co_return got;
}

}  // namespace

TEST_CASE("a read that hangs ends at its deadline; when the kernel answers later, the buffer is still there") {
  hanging_world w;
  for (bool answers_in_time : {false, true}) {
    buffer_ref to(buffer::make(4096));
    buffer* watched = to.get();
    buffer_ref ours = to;
    auto at = w.world.now() + kSecond;
    std::int64_t got = 0;
    if (answers_in_time) {
      got = sync_wait(w.world, read_answered_half_way(w, to, at));
      CHECK(got == 4096);
    } else {
      got = sync_wait(w.world, perform_read(*w.io, to, at));
      CHECK(got == operation::kTimedOut);
      CHECK(w.io->kept.size() == 1);
      CHECK(w.io->cancels == 1);
      to = {};
      CHECK_FALSE(watched->unshared());  // the operation's
      w.answer_all();
    }
    to = {};
    CHECK(ours->unshared());
    CHECK(ours->data()[4095] == 'y');
  }
  CHECK(w.world.elapsed() == kSecond + kSecond / 2);
}

TEST_CASE("a runtime's I/O timeout ends a run whose file does not answer, naming the file and the place") {
  simulation world(2);
  runtime rt(world, {.io_timeout = std::chrono::seconds(5)});
  auto made = std::make_unique<simulated_file_system>(world, simulated_io{.page_cache_hits = 0});
  made->put("a", std::string(100, 'x'));
  made->hang("a");
  set_files(rt, std::move(made));
  auto f = sync_wait(rt, files_of(rt).open("a"));
  buffer_ref to(buffer::make(100));
  std::shared_ptr<run_context> run = rt.new_run();
  auto before = world.elapsed();
  CHECK(failure([&] { sync_wait(rt, f->read_at(10, to, 0, 50, io_deadline(*run))); }) ==
        "deadline_exceeded: a at byte 10: no answer until the deadline");
  CHECK(world.elapsed() == before + std::chrono::seconds(5));
}

}  // namespace sluice::lib::deadline_test
