// SPDX-License-Identifier: Apache-2.0
// Compressed frames: their bytes, damage to them, and streams over a slow link and with older peers.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "service/dispatcher_and_worker.hpp"
#include "service/wire/element_frames.hpp"
#include "service/wire/packed_frames.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/coro/sync_wait.hpp"
#include "sluice/io/message_transport.hpp"
#include "sluice/io/open_transport.hpp"
#include "sluice/pipeline/iterate.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/runtime/ledger.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/service/dispatcher.hpp"
#include "sluice/service/worker.hpp"
#include "support/budget.hpp"

namespace sluice::lib::compressed_frames_test {
namespace {

std::string frame_of(std::size_t bytes) {
  std::string frame(1, element_frame::elements);
  while (frame.size() < bytes) frame += "element " + std::to_string(frame.size() / 7) + ", ";
  frame.resize(bytes);
  return frame;
}

task<std::string> packing(frame_codec c, std::string frame) {
  frame_packer packer;
  std::string packed;
  auto work = packer.pack(c, frame, packed);
  const status why = co_await work;
  if (!why.ok()) throw error(why);
  co_return std::move(packed);
}

std::string packed_of(runtime& rt, frame_codec c, std::string_view frame) {
  return sync_wait(rt, packing(c, std::string(frame)));
}

result<std::string> unpack(runtime& rt, std::string_view packed, std::uint64_t bytes_max = 1 << 30) {
  const auto head = packed_frame::read(packed, bytes_max);
  if (!head.ok()) return head.why();
  const result<slice> raw = sync_wait(rt, unpack_frame(*head));
  if (!raw.ok()) return raw.why();
  return std::string(raw->view());
}

}  // namespace

TEST_CASE("a compressed frame is smaller, and is unpacked to the same bytes") {
  runtime rt({.workers = 1});
  for (const frame_codec c : frame_codecs())
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{200}, std::size_t{1} << 18, std::size_t{1} << 20,
                                    (std::size_t{1} << 20) + 1, (std::size_t{3} << 20) + 5}) {
      const std::string frame = frame_of(bytes), packed = packed_of(rt, c, frame);
      CHECK(packed_frame::is_one(packed));
      if (bytes > 1000) CHECK(packed.size() < bytes / 2);
      const result<std::string> back = unpack(rt, packed);
      REQUIRE(back.ok());
      CHECK(*back == frame);
    }
}

TEST_CASE("a damaged compressed frame is an error, and does not allocate what it claims") {
  runtime rt({.workers = 1});
  for (const frame_codec c : frame_codecs()) {
    const std::string frame = frame_of(5000), packed = packed_of(rt, c, frame);
    for (std::size_t i = 0; i != packed.size(); ++i) {
      std::string bad = packed;
      bad[i] = static_cast<char>(bad[i] ^ (1 << i % 8));
      const result<std::string> back = unpack(rt, bad);
      if (back.ok()) CHECK(*back == frame);  // a bit that the codec does not use
      else CHECK((back.why().code() == status_code::data_loss || back.why().code() == status_code::unimplemented));
      if (i > 0) CHECK(!unpack(rt, std::string_view(packed).substr(0, i)).ok());
    }
    CHECK(unpack(rt, packed + "x").why().message().find("bytes follow its last part") != std::string_view::npos);
    std::string wrong = packed;
    wrong[4] = static_cast<char>(wrong[4] + 1);  // of the checksum
    CHECK(unpack(rt, wrong).why().message().find("its checksum is wrong") != std::string_view::npos);
    CHECK(unpack(rt, packed, 4999).why().message().find("its head states 5000 bytes") != std::string_view::npos);
    CHECK(unpack(rt, packed_of(rt, c, packed)).why().message().find("contains another one") != std::string_view::npos);
  }
  std::string huge{element_frame::packed, 1};
  append_frame_number(std::uint64_t{1} << 30, huge);
  huge.append(100, 'x');
  const status why = packed_frame::read(huge, std::uint64_t{1} << 30).why();
  CHECK(why.message().find("its head states 1073741824 bytes, and 96 follow") != std::string_view::npos);
}

namespace {

/// A transport between other processes, over a link of a rate, that may change requests and frames.
struct slow_link {
  double bytes_per_second = 0;  ///< 0: without end
  bool is_old_consumer = false, is_old_worker = false;
  std::size_t damaged_frame = 0;  ///< counts the frames from 1
  std::uint64_t bytes = 0, frames = 0, packed = 0, measurements = 0;
};

class linked_reader final : public frame_reader {
 public:
  linked_reader(std::unique_ptr<frame_reader> of, slow_link& l) : of_(std::move(of)), link_(l) {}
  task<result<std::optional<slice>>> next(time_point deadline) override {
    auto reading = of_->next(deadline);
    result<std::optional<slice>> frame = co_await reading;
    if (!frame.ok() || !*frame) co_return std::move(frame);
    slice& bytes = **frame;
    link_.bytes += bytes.size();
    ++link_.frames;
    link_.packed += packed_frame::is_one(bytes.view());
    if (link_.frames == link_.damaged_frame) {
      std::string bad(bytes.view());
      bad[bad.size() / 2] = static_cast<char>(bad[bad.size() / 2] + 1);
      bytes = slice::copy_of(bad);
    }
    if (link_.bytes_per_second > 0) {
      const auto time = static_cast<std::int64_t>(1e9 * static_cast<double>(bytes.size()) / link_.bytes_per_second);
      sleep_for passing{std::chrono::nanoseconds(time)};
      co_await passing;
    }
    co_return std::move(frame);
  }
  void cancel() noexcept override { of_->cancel(); }

 private:
  const std::unique_ptr<frame_reader> of_;
  slow_link& link_;
};

class linked_channel final : public message_channel {
 public:
  linked_channel(std::unique_ptr<message_channel> of, slow_link& l) : of_(std::move(of)), link_(l) {}
  task<result<std::string>> call(std::string method, std::string request, time_point deadline) override {
    link_.measurements += method == "measured";
    if (method == "measured" && link_.is_old_worker) co_return unimplemented_error("a worker has no call measured");
    auto calling = of_->call(std::move(method), std::move(request), deadline);
    result<std::string> answer = co_await calling;
    co_return std::move(answer);
  }
  task<std::unique_ptr<frame_reader>> open(std::string method, std::string request, stream_options options,
                                           time_point deadline) override {
    auto all = nlohmann::json::parse(request);
    if (link_.is_old_consumer || link_.is_old_worker) all.erase("codecs"), all.erase("is_compressed_always");
    auto opening = of_->open(std::move(method), all.dump(), options, deadline);
    std::unique_ptr<frame_reader> reader = co_await opening;
    co_return std::make_unique<linked_reader>(std::move(reader), link_);
  }
  const std::string& address() const noexcept override { return of_->address(); }

 private:
  const std::unique_ptr<message_channel> of_;
  slow_link& link_;
};

class linked_transport final : public message_transport {
 public:
  linked_transport(std::shared_ptr<message_transport> of, slow_link& l) : of_(std::move(of)), link_(l) {}
  task<std::unique_ptr<message_server>> listen(std::string address, message_handler& handler) override {
    return of_->listen(std::move(address), handler);
  }
  std::unique_ptr<message_channel> connect(std::string address) override {
    return std::make_unique<linked_channel>(of_->connect(std::move(address)), link_);
  }

 private:
  const std::shared_ptr<message_transport> of_;
  slow_link& link_;
};

struct seen {
  std::uint64_t elements = 0, read_bytes = 0;
  std::int64_t sum = 0;
  std::string status, error;
};

task<> read_to_end(any_stream& s, seen* got) {
  for (;;) {
    auto b = co_await s.next_block({0, 4096});
    if (!b) break;
    for (std::uint32_t i = 0; i != b.size(); ++i) got->sum += b.as<std::int64_t>()[i];
    got->elements += b.size();
  }
}

task<> read_numbers(runtime* rt, slow_link* link, std::string plan, std::string options, seen* got) {
  const std::shared_ptr<message_transport> there = make_local_transport();
  set_transport(*rt, there);
  auto starting = test::start_pair(*rt, "", "");
  test::dispatcher_and_worker pair = co_await starting;
  set_transport(*rt, std::make_shared<linked_transport>(there, *link));
  any_stream s = open_run(*rt, parse_plan(plan + " | distribute(\"" + pair.d.address() + "\", " + options + ")"), {});
  auto reading = read_to_end(s, got);
  const status why = co_await reading.as_result();
  if (!why.ok()) got->error = why.to_string();
  for (const site_report& site : s.report().sites) got->read_bytes += site.read_bytes;
  sleep_for beats(std::chrono::seconds(2));
  co_await beats;
  got->status = pair.d.status_json();
  auto closing = cleanup(std::move(s));
  (void)co_await closing.as_result();
  auto closing_pair = test::close_pair(pair);
  co_await closing_pair;
}

constexpr std::int64_t kNumbers = 3'000'000;

seen read_over(slow_link& link, std::string options, std::string plan = "range(3000000) | filter(it >= 0)") {
  simulation world(3);
  runtime rt(world);
  seen got;
  sync_wait(rt, read_numbers(&rt, &link, std::move(plan), std::move(options), &got));
  set_transport(rt, nullptr);
  return got;
}

void check_all(const seen& got) {
  CHECK(got.error == "");
  CHECK(got.elements == kNumbers);
  CHECK(got.sum == kNumbers * (kNumbers - 1) / 2);
}

}  // namespace

TEST_CASE("over a slow link the worker begins to compress, and its status and the report show it") {
  slow_link slow{.bytes_per_second = 2e6};
  const seen got = read_over(slow, "splits=4, splits_at_once=1, max_outstanding=1MiB");
  check_all(got);
  CHECK(slow.packed > slow.frames / 4);
  CHECK(slow.measurements > 2);
  CHECK(slow.bytes < 8 * kNumbers * 3 / 4);
  CHECK(got.read_bytes >= slow.bytes - 4 * 64);
  CHECK(got.read_bytes <= slow.bytes);
  CHECK(got.status.find("\"codec\":\"zstd\"") != std::string::npos);
  CHECK(got.status.find("\"switches\":1") != std::string::npos);
  const auto shown = nlohmann::json::parse(got.status)["workers"][0]["compression"][0];
  CHECK(std::abs(shown["link_bytes_per_second"].get<double>() / slow.bytes_per_second - 1) < 0.1);
}

TEST_CASE("over a fast link, and with compression=none, frames are sent as they are") {
  for (const bool is_slow : {false, true}) {
    slow_link link{.bytes_per_second = is_slow ? 2e6 : 0};
    const seen got = read_over(link, is_slow ? "splits=4, compression=none" : "splits=4");
    check_all(got);
    CHECK(link.packed == 0);
    CHECK(link.bytes >= 8 * kNumbers);
    if (is_slow) CHECK(got.status.find("compression") == std::string::npos);
  }
}

TEST_CASE("a worker that makes its elements slowly does not compress them") {
  slow_link link;
  const seen got = read_over(link, "splits=1, max_outstanding=1MiB", "range(400000) | filter(it >= 0) | sleep(6us)");
  CHECK(got.elements == 400'000);
  CHECK(link.measurements > 2);
  CHECK(link.packed == 0);
}

TEST_CASE("compression=zstd and lz4 compress every frame of elements") {
  for (const char* codec : {"zstd", "lz4"}) {
    slow_link link;
    check_all(read_over(link, std::string("splits=4, compression=") + codec));
    CHECK(link.packed >= link.frames - 4 - 1);  // the ends of the splits
    CHECK(link.bytes < 8 * kNumbers * 7 / 10);
    CHECK(link.measurements == 0);
  }
}

TEST_CASE("an older consumer and an older worker read and send frames as they are") {
  for (const bool is_old_consumer : {true, false}) {
    slow_link link{.bytes_per_second = 2e6, .is_old_consumer = is_old_consumer, .is_old_worker = !is_old_consumer};
    check_all(read_over(link, "splits=4, splits_at_once=1, max_outstanding=1MiB"));
    CHECK(link.packed == 0);
  }
}

TEST_CASE("a frame that is damaged on its way is an error with the worker and the split") {
  slow_link link{.damaged_frame = 3};
  const seen got = read_over(link, "splits=4, splits_at_once=1, compression=zstd");
  CHECK_THAT(got.error, Catch::Contains("data_loss") && Catch::Contains("worker local:") &&
                            Catch::Contains(", split 0 (elements 0 to ") &&
                            Catch::Contains("a compressed frame of elements is damaged"));
  CHECK(got.elements < kNumbers);
}

TEST_CASE("decompressed bytes are charged") {
  simulation world(3);
  runtime rt(world);
  slow_link link;
  seen got;
  sync_wait(rt, read_numbers(&rt, &link, "range(400000) | map(it * 0)", "splits=1, compression=zstd", &got));
  set_transport(rt, nullptr);
  CHECK(got.elements == 400'000);
  CHECK(link.bytes < 100'000);  // so a charge of what has arrived would not show
  std::size_t peak = 0, used = 0;
  for (const ledger_line_report& l : rt.ledger().report().lines)
    if (l.stage == "distribute" && l.held_for == purpose::read_ahead) peak = l.peak_bytes, used = l.used_bytes;
  CHECK(used == 0);
  CHECK(peak >= (std::size_t{4} << 20) + (std::size_t{128} << 10));  // the credit, and a frame
}

}  // namespace sluice::lib::compressed_frames_test
