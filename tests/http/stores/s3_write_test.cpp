// SPDX-License-Identifier: Apache-2.0
// Objects of S3 that are written: whole or not at all, in parts where they are long.
#include <catch2/catch.hpp>

#if SLUICE_HAVE_STORES
#include "http/stores/store_world.hpp"
#include "io/stores/digest.hpp"
#include "sluice/coro/sleep_until.hpp"

namespace sluice::lib::s3_write_test {
using namespace sluice::lib::testing;
using namespace std::chrono_literals;

namespace {

std::size_t requests_of(const store_world& w, std::string_view method) {
  std::size_t n = 0;
  for (const asked_for& a : w.server.log()) n += a.method == method ? 1 : 0;
  return n;
}

status why_of_writing(store_world& w, const std::string& path, std::size_t bytes) {
  std::optional<file_info> ignored;
  return w.try_run(http_world::keep<file_info>(write_store_file(w.files(), path, some_bytes(bytes)), ignored));
}

}  // namespace

TEST_CASE("a short object is one request, invisible before its commit") {
  for (std::size_t size : {std::size_t{0}, std::size_t{5}, 8 * kMiB}) {
    store_world w;
    const file_info info = w.run(write_store_file(w.files(), "s3://bucket/dir/a b", some_bytes(size)));
    CHECK((w.s3.objects.at("dir/a b").bytes == some_bytes(size)));
    CHECK(info.size_bytes == size);
    CHECK(info.version == w.s3.objects.at("dir/a b").etag);
    CHECK(requests_of(w, "PUT") == 1);
    CHECK(requests_of(w, "POST") == 0);
  }
  store_world w;
  auto client = [](store_world& in) -> task<> {
    auto creating = in.files().create("s3://bucket/a");
    auto to = co_await creating;
    buffer_ref room(buffer::make(100));
    auto writing = to->write(room, 0, 100);
    co_await writing;
    CHECK(in.s3.objects.empty());
  };
  CHECK(w.try_run(client(w)).ok());
  CHECK(w.s3.objects.empty());
  CHECK(w.server.log().empty());
}

TEST_CASE("a long object goes in parts, four at a time") {
  for (std::size_t size : {8 * kMiB + 1, 32 * kMiB, 32 * kMiB + 1, 70 * kMiB + 3}) {
    store_world w;
    INFO(size);
    const file_info info = w.run(write_store_file(w.files(), "s3://bucket/a", some_bytes(size), 3 * kMiB + 1));
    CHECK((w.s3.objects.at("a").bytes == some_bytes(size)));
    CHECK(info.size_bytes == size);
    CHECK(requests_of(w, "PUT") == (size + 8 * kMiB - 1) / (8 * kMiB));
    CHECK(w.s3.uploads.empty());
  }
}

TEST_CASE("parts are sent again where the server is busy or the connection is lost") {
  store_world w;
  const deed busy{.code = 503, .body = "<Error><Code>SlowDown</Code></Error>"};
  w.server.script({{.reset_before_head = true}, busy, {}, busy, {.reset_before_head = true}, {}, {}, {.reset_at = 0}});
  w.run(write_store_file(w.files(), "s3://bucket/a", some_bytes(20 * kMiB)));
  CHECK((w.s3.objects.at("a").bytes == some_bytes(20 * kMiB)));
}

TEST_CASE("each body has its MD5, and a body that was changed in transit is sent again") {
  for (std::size_t size : {std::size_t{0}, 3 * kMiB, 20 * kMiB}) {
    store_world w;
    int refused = 0;
    w.server.answers([&](const asked_for& a) -> std::optional<reply> {
      asked_for arrived = a;
      if (a.method == "PUT" && ++refused == 1) arrived.body += "x";
      return w.s3.answer(arrived);
    });
    CHECK(w.run(write_store_file(w.files(), "s3://bucket/a", some_bytes(size))).size_bytes == size);
    CHECK((w.s3.objects.at("a").bytes == some_bytes(size)));
    CHECK(requests_of(w, "PUT") == std::max<std::size_t>(1, (size + 8 * kMiB - 1) / (8 * kMiB)) + 1);
    for (const asked_for& a : w.server.log())
      if (a.method == "PUT") CHECK(field_of(a.head, "Content-MD5") == detail::base64(detail::md5(a.body)));
  }
  store_world w;
  w.server.answers([](const asked_for& a) -> std::optional<reply> {
    if (a.method == "PUT") return simulated_s3::failed(400, "BadDigest");
    return {};
  });
  const status why = why_of_writing(w, "s3://bucket/a", 100);
  CHECK(why.code() == status_code::data_loss);
  CHECK_THAT(why.to_string(), Catch::Contains("BadDigest") && Catch::Contains("s3://bucket/a"));
}

TEST_CASE("a server that stores something else than was sent is noticed, and nothing is completed") {
  for (std::size_t size : {3 * kMiB, 20 * kMiB}) {
    store_world w;
    std::size_t puts = 0;
    const std::size_t last = (size + 8 * kMiB - 1) / (8 * kMiB);
    w.s3.stored = [&](std::string bytes) {
      if (++puts == last) bytes.back() = static_cast<char>(bytes.back() ^ 1);
      return bytes;
    };
    auto client = [](store_world& in, std::size_t n) -> task<> {
      auto writing = write_store_file(in.files(), "s3://bucket/a", some_bytes(n));
      auto done = co_await writing.as_result();
      CHECK(done.why().code() == status_code::data_loss);
      CHECK_THAT(done.why().to_string(), Catch::Contains("s3://bucket/a") && Catch::Contains("ETag"));
      co_await sleep_for(1s);
    };
    CHECK(w.try_run(client(w, size)).ok());
    CHECK(w.s3.uploads.empty());
    if (size > 8 * kMiB) CHECK(w.s3.objects.empty());
  }
}

TEST_CASE("parts that are put together in another way than was asked for are noticed") {
  store_world w;
  w.server.answers([&](const asked_for& a) -> std::optional<reply> {
    const bool is_end = a.method == "POST" && a.target.find("uploadId") != std::string::npos;
    if (is_end) w.s3.uploads.begin()->second.parts[2] = some_bytes(8 * kMiB);  // the first once more
    return w.s3.answer(a);
  });
  const status why = why_of_writing(w, "s3://bucket/a", 20 * kMiB);
  CHECK(why.code() == status_code::data_loss);
  CHECK_THAT(why.to_string(), Catch::Contains("ETag"));
}

TEST_CASE("tags that are no MD5 are compared with none") {
  for (std::size_t size : {3 * kMiB, 20 * kMiB}) {
    store_world w;
    w.s3.encryption = "aws:kms";
    CHECK(w.run(write_store_file(w.files(), "s3://bucket/a", some_bytes(size))).size_bytes == size);
    store_world encrypted;
    encrypted.s3.encryption = "AES256";
    encrypted.run(write_store_file(encrypted.files(), "s3://bucket/a", some_bytes(size)));
    store_world other;  // tags of another form
    other.server.answers([&](const asked_for& a) {
      auto r = other.s3.answer(a);
      if (a.method == "PUT") r->fields = "ETag: \"0x8DCAFE\"\r\n";
      return r;
    });
    other.run(write_store_file(other.files(), "s3://bucket/a", some_bytes(size)));
  }
  store_world w;
  w.s3.stored = [](std::string bytes) { return bytes + "and more"; };
  s3_options own;
  own.tags_are_md5 = false;
  w.run(write_store_file(w.files(own), "s3://bucket/a", some_bytes(100)));
}

TEST_CASE("an end that was carried out, and whose answer was lost, is one") {
  store_world w;
  w.server.on_request([&w](const asked_for& a) {
    if (a.method != "POST" || a.target.find("uploadId") == std::string::npos || !w.s3.objects.empty()) return;
    (void)w.s3.answer(a);
    w.server.script({{.reset_before_head = true}});
  });
  const file_info info = w.run(write_store_file(w.files(), "s3://bucket/a", some_bytes(20 * kMiB)));
  CHECK(info.size_bytes == 20 * kMiB);
  CHECK((w.s3.objects.at("a").bytes == some_bytes(20 * kMiB)));
}

TEST_CASE("a failure in the body of a good answer is a failure, or is retried") {
  store_world w;
  int ends = 0;
  w.server.answers([&](const asked_for& a) -> std::optional<reply> {
    const bool is_end = a.method == "POST" && a.target.find("uploadId") != std::string::npos;
    if (is_end && ++ends == 1) return reply{200, "", "<Error><Code>InternalError</Code><Message>m</Message></Error>"};
    return w.s3.answer(a);
  });
  CHECK(w.run(write_store_file(w.files(), "s3://bucket/a", some_bytes(9 * kMiB))).size_bytes == 9 * kMiB);
  CHECK(ends == 2);
  w.server.answers([&](const asked_for& a) -> std::optional<reply> {
    const bool is_end = a.method == "POST" && a.target.find("uploadId") != std::string::npos;
    if (is_end) return reply{200, "", "<Error><Code>InvalidPart</Code><Message>m</Message></Error>"};
    return w.s3.answer(a);
  });
  const status why = why_of_writing(w, "s3://bucket/b", 9 * kMiB);
  CHECK(why.code() == status_code::failed_precondition);
  CHECK_THAT(why.to_string(), Catch::Contains("s3://bucket/b") && Catch::Contains("InvalidPart"));
}

TEST_CASE("a writer dropped without a commit deletes its parts, and the runtime's end does not wait forever") {
  for (bool answers : {true, false}) {
    store_world w;
    auto client = [](store_world& in, bool waits) -> task<> {
      auto creating = in.files().create("s3://bucket/a");
      auto to = co_await creating;
      buffer_ref room(buffer::make(kMiB));
      for (int i = 0; i != 40; ++i) {
        auto writing = to->write(room, 0, kMiB);
        co_await writing;
      }
      CHECK(in.s3.uploads.size() == 1);
      CHECK(in.rt.ledger().used_bytes() >= 8 * kMiB);
      to.reset();
      if (waits) co_await sleep_for(1s);
    };
    CHECK(w.try_run(client(w, answers)).ok());
    CHECK(w.s3.objects.empty());
    CHECK(w.s3.uploads.size() == (answers ? 0 : 1));  // the server is gone before it was told
    CHECK(w.s3.aborted == (answers ? 1 : 0));
  }
}

TEST_CASE("an upload that fails leaves no parts either") {
  store_world w;
  w.server.answers([&](const asked_for& a) -> std::optional<reply> {
    if (a.target.find("partNumber=3") != std::string::npos) return simulated_s3::failed(403, "AccessDenied");
    return w.s3.answer(a);
  });
  auto client = [](store_world& in) -> task<> {
    auto writing = write_store_file(in.files(), "s3://bucket/a", some_bytes(40 * kMiB));
    auto done = co_await writing.as_result();
    CHECK(done.why().code() == status_code::permission_denied);
    CHECK_THAT(done.why().to_string(), Catch::Contains("part 3") && Catch::Contains("s3://bucket/a"));
    co_await sleep_for(1s);
  };
  CHECK(w.try_run(client(w)).ok());
  CHECK(w.s3.uploads.empty());
  CHECK(w.s3.aborted == 1);
}

TEST_CASE("a server that refuses a body before it has read all of it is understood") {
  simulation world(5);
  auto net = std::make_shared<simulated_network>(world);
  runtime rt(world);
  simulated_surroundings home(world);
  home.variables = {{"HOME", "/home"},
                    {"AWS_ENDPOINT_URL", "http://s3.test"},
                    {"AWS_ACCESS_KEY_ID", "A"},
                    {"AWS_SECRET_ACCESS_KEY", "s"}};
  auto lend = [net]() -> std::shared_ptr<network> { return net; };
  auto store = std::make_shared<detail::s3_store>(world, lend, s3_options(), 1, home.around());
  add_files(rt, "s3", std::make_unique<detail::store_file_system>(rt, store));
  auto refuse = [](network& at) -> task<> {
    auto door = co_await at.listen("s3.test:80");
    auto accepting = door->accept();
    auto c = co_await accepting;
    std::vector<char> room(1000);
    auto reading = c->read_some(room);  // the head, and some of the body at most
    co_await reading;
    const reply no = simulated_s3::failed(403, "AccessDenied");
    const std::string text =
        "HTTP/1.1 403 Forbidden\r\nContent-Length: " + std::to_string(no.body.size()) + "\r\n\r\n" + no.body;
    auto writing = c->write(text);
    co_await writing;
    co_await sleep_for(1s);  // its connection ends while the body is on its way
  };
  auto write = [](runtime& in, status& why) -> task<> {
    auto writing = write_store_file(files_of(in), "s3://bucket/a", some_bytes(4 * kMiB));
    auto done = co_await writing.as_result();
    why = done.why();
  };
  status why;
  auto both = [](scope& s, std::vector<task<>> parts) -> task<> {
    for (task<>& part : parts) s.spawn(std::move(part));
    co_await s.join();
  };
  std::vector<task<>> parts;
  parts.push_back(refuse(*net));
  parts.push_back(write(rt, why));
  scope all(rt.root());
  sync_wait(rt, both(all, std::move(parts)));
  INFO(why.to_string());
  CHECK(why.code() == status_code::permission_denied);
}

TEST_CASE("folders and buckets are not written") {
  store_world w;
  CHECK(why_of_writing(w, "s3://bucket", 1).code() == status_code::invalid_argument);
  CHECK(why_of_writing(w, "s3://bucket/dir/", 1).code() == status_code::invalid_argument);
}
#endif

}  // namespace sluice::lib::s3_write_test
