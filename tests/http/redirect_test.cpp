// SPDX-License-Identifier: Apache-2.0
// Objects that are elsewhere: where they are is remembered while it holds, and headers stay where they were meant for.
#include <catch2/catch.hpp>

#include "http/http_world.hpp"
#include "http/whole_object.hpp"

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
  CHECK_THAT(why.to_string(), Catch::Contains("redirected again and again"));
  // Nowhere, and where nobody goes.
  w.server.always({.code = 302});
  why = w.run(http_world::keep<std::string>(read_all(*w.files, kUrl, kMiB), got));
  CHECK_THAT(why.to_string(), Catch::Contains("the server redirects, and names no place"));
  w.server.always({.code = 302, .fields = "Location: file:///etc/x\r\n"});
  why = w.run(http_world::keep<std::string>(read_all(*w.files, kUrl, kMiB), got));
  CHECK_THAT(why.to_string(), Catch::Contains("the server redirects to file:///etc/x, which is not gone to") &&
                                  !Catch::Contains("is no URL"));
}

}  // namespace sluice::lib::redirect_test
