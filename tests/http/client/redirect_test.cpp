// SPDX-License-Identifier: Apache-2.0
// Objects that are elsewhere: where they are is remembered while it holds, and headers stay where they were meant for.
#include <catch2/catch.hpp>

#include "http/http_world.hpp"
#include "http/whole_object.hpp"
#include "io/http/messages/redirect_check.hpp"
#include "io/http/messages/request_secrets.hpp"

namespace sluice::lib::redirect_test {
using namespace sluice::lib::testing;

namespace {

task<> open_into(http_world& w, std::unique_ptr<file>& to) {
  auto opening = w.files->open(kUrl, {});
  to = co_await opening;
  buffer_ref room(buffer::make(kMiB));
  auto reading = to->read_at(0, room, 0, kMiB);
  (void)co_await reading;
}
task<> read_into(file& from, std::uint64_t offset, buffer_ref room, std::size_t& n) {
  auto reading = from.read_at(offset, room, 0, kMiB);
  n = co_await reading;
}

}  // namespace

TEST_CASE("redirects are followed; the headers for one host stay there") {
  http_options options;
  options.headers = {{"Authorization", "Bearer t"}};
  http_world w(3, options);
  scripted_server other(*w.net, "other:8080");
  other.put("/b", some_bytes(2 * kMiB), "\"v1\"");
  w.server.put("/a", "", "");
  w.server.always({.code = 307, .fields = "Location: http://other:8080/b\r\n"});
  std::optional<std::string> got;
  auto client = http_world::keep<std::string>(read_all(*w.files, kUrl, kMiB), got);
  sync_wait(w.rt, while_serving({&w.server, &other}, std::move(client)));
  CHECK((*got == some_bytes(2 * kMiB)));
  CHECK(w.server.log().size() == 1);
  CHECK_THAT(w.server.log()[0].head, Catch::Contains("Bearer"));
  for (auto& r : other.log()) CHECK_THAT(r.head, !Catch::Contains("Bearer"));
  // Where it led holds no longer: the object's own URL knows where it is now.
  std::unique_ptr<file> f;
  sync_wait(w.rt, while_serving({&w.server, &other}, open_into(w, f)));
  other.always({.code = 403, .body = "the link has ended"});
  w.server.always({});
  w.server.put("/a", some_bytes(2 * kMiB), "\"v1\"");
  buffer_ref room(buffer::make(kMiB));
  std::size_t n = 0;
  sync_wait(w.rt, while_serving({&w.server, &other}, read_into(*f, kMiB, room, n)));
  CHECK(n == kMiB);
  CHECK((std::string(room->data(), n) == some_bytes(2 * kMiB).substr(kMiB)));
  // Round and round.
  w.server.always({.code = 302, .fields = "Location: /a\r\n"});
  status why = w.run(http_world::keep<std::string>(read_all(*w.files, kUrl, kMiB), got));
  CHECK_THAT(why.to_string(), Catch::Contains("redirected too often"));
  // Nowhere, and where nobody goes.
  w.server.always({.code = 302});
  why = w.run(http_world::keep<std::string>(read_all(*w.files, kUrl, kMiB), got));
  CHECK_THAT(why.to_string(), Catch::Contains("the server redirects without a Location"));
  w.server.always({.code = 302, .fields = "Location: file:///etc/x\r\n"});
  why = w.run(http_world::keep<std::string>(read_all(*w.files, kUrl, kMiB), got));
  CHECK_THAT(why.to_string(), Catch::Contains("the server redirects to file:///etc/x, which is not accepted") &&
                                  !Catch::Contains("is no URL"));
}

TEST_CASE("addresses of machines, links, private networks and groups are not public") {
  for (const char* address : {"127.0.0.1:80",
                              "10.1.2.3:80",
                              "172.16.0.1:80",
                              "172.31.255.255:80",
                              "192.168.1.1:8080",
                              "169.254.169.254:80",
                              "100.64.0.1:80",
                              "0.0.0.0:80",
                              "224.0.0.1:80",
                              "255.255.255.255:80",
                              "[::1]:80",
                              "[::]:80",
                              "[fc00::1]:80",
                              "[fd12:3456::1]:80",
                              "[fe80::1]:80",
                              "[::ffff:10.0.0.1]:80",
                              "[::ffff:169.254.169.254]:80",
                              "[64:ff9b::7f00:1]:80",
                              "[2002:a00:1::]:80",
                              "[ff02::1]:80",
                              "localhost:80"}) {
    CAPTURE(address);
    CHECK_FALSE(detail::is_public_address(address));
  }
  for (const char* address :
       {"8.8.8.8:443", "172.15.0.1:80", "172.32.0.1:80", "192.167.1.1:80", "100.128.0.1:80", "11.0.0.1:80",
        "[2001:4860:4860::8888]:443", "[::ffff:8.8.8.8]:80", "[2002:808:808::]:80", "objects:80"}) {
    CAPTURE(address);
    CHECK(detail::is_public_address(address));
  }
}

TEST_CASE("a public server cannot redirect to a private address unless that is allowed") {
  for (const bool is_allowed : {false, true}) {
    http_options options;
    options.allow_private_redirects = is_allowed;
    http_world w(3, options);
    scripted_server inner(*w.net, "169.254.169.254:80");
    inner.put("/credentials", "a secret", "\"v1\"");
    w.server.put("/a", "", "");
    w.server.always({.code = 302, .fields = "Location: http://169.254.169.254/credentials\r\n"});
    std::optional<std::string> got;
    auto client = http_world::keep<std::string>(read_all(*w.files, kUrl, kMiB), got);
    status why = sync_wait_result(w.rt.root(), while_serving({&w.server, &inner}, std::move(client)));
    if (is_allowed) {
      CHECK(got == "a secret");
    } else {
      CHECK(inner.log().empty());
      CHECK(why.code() == status_code::failed_precondition);
      CHECK_THAT(why.to_string(),
                 Catch::Contains(kUrl) &&
                     Catch::Contains("redirects to http://169.254.169.254, whose address 169.254.169.254:80") &&
                     Catch::Contains("allow_private_redirects"));
    }
  }
  // From one private address to another nothing is gained.
  http_world w;
  scripted_server outer(*w.net, "10.0.0.1:80"), inner(*w.net, "10.0.0.2:80");
  outer.put("/a", "", "");
  outer.always({.code = 302, .fields = "Location: http://10.0.0.2/b\r\n"});
  inner.put("/b", "some text", "\"v1\"");
  std::optional<std::string> got;
  auto client = http_world::keep<std::string>(read_all(*w.files, "http://10.0.0.1/a", kMiB), got);
  sync_wait(w.rt, while_serving({&outer, &inner}, std::move(client)));
  CHECK(got == "some text");
}

TEST_CASE("credentials that a server sends back are in no message") {
  http_options options;
  options.headers = {
      {"Authorization", "Bearer abcdefghijklmnop.qrstuv=="}, {"X-Api-Key", "0123456789abcdef"}, {"X-Note", "hello"}};
  http_world w(3, options);
  w.server.put("/a", "", "");
  w.server.always(
      {.code = 403,
       .body = "You sent Authorization: Bearer abcdefghijklmnop.qrstuv==, that is (abcdefghijklmnop.qrstuv==), and key "
               "0123456789abcdef of note hello" +
               std::string(300, 'x')});
  std::optional<std::string> got;
  status why = w.run(http_world::keep<std::string>(read_all(*w.files, kUrl, kMiB), got));
  CHECK(why.code() == status_code::permission_denied);
  CHECK_THAT(why.to_string(), Catch::Contains("You sent Authorization: ***, that is (***), and key *** of note hello"));

  detail::http_request sent;
  sent.to.target = "/o?part=abcdefghijkl&X-Amz-Signature=f00df00df00d&sig=a%2Fbcdefghijk";
  sent.set("Authorization",
           "AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE/20261126, SignedHeaders=host;x-amz-date, Signature=feedfacefeed");
  sent.set("X-Amz-Security-Token", "IQoJb3JpZ2luX2VjEXAMPLE");
  CHECK(detail::without_secrets(
            "AWS4-HMAC-SHA256 is needed for host;x-amz-date; IQoJb3JpZ2luX2VjEXAMPLE, feedfacefeed, "
            "AKIAEXAMPLE/20261126, f00df00df00d, a/bcdefghijk, abcdefghijkl",
            sent) == "AWS4-HMAC-SHA256 is needed for host;x-amz-date; ***, ***, ***, ***, ***, abcdefghijkl");
}

}  // namespace sluice::lib::redirect_test
