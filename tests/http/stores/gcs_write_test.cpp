// SPDX-License-Identifier: Apache-2.0
// Objects of Google's store that are written: whole or not at all, in pieces that go on where the server is.
#include <catch2/catch.hpp>

#if SLUICE_HAVE_STORES
#include "http/stores/gcs_world.hpp"
#include "sluice/coro/sleep_until.hpp"

namespace sluice::lib::gcs_write_test {
using namespace sluice::lib::testing;
using namespace std::chrono_literals;

TEST_CASE("objects of Google's store are written whole or not at all, in pieces where they are long") {
  for (std::size_t size : {std::size_t{0}, std::size_t{5}, 8 * kMiB, 8 * kMiB + 1, 30 * kMiB}) {
    gcs_world w;
    if (size == 30 * kMiB) w.gcs.takes_at_once = 3 * kMiB;
    INFO(size);
    const file_info info = w.run(write_store_file(w.gs(), "gs://bucket/dir/a b", some_bytes(size)));
    CHECK((w.gcs.objects.at("dir/a b").bytes == some_bytes(size)));
    CHECK(info.size_bytes == size);
    CHECK(info.version == std::to_string(w.gcs.objects.at("dir/a b").generation));
    CHECK(info == w.run(w.gs().stat("gs://bucket/dir/a b")));
    CHECK(w.gcs.uploads.empty());
  }
}

TEST_CASE("pieces whose answers are lost are sent again and stored once") {
  gcs_world w;
  std::size_t n = 0;
  w.server.on_request([&](const asked_for& a) {
    // Carried out, and the answer is lost.
    if (a.method != "PUT" || ++n != 2) return;
    (void)w.gcs.answer(a);
    w.server.script({{.reset_before_head = true}});
  });
  w.run(write_store_file(w.gs(), "gs://bucket/a", some_bytes(30 * kMiB)));
  CHECK((w.gcs.objects.at("a").bytes == some_bytes(30 * kMiB)));
}

TEST_CASE("where all answers to a piece are lost the server is asked how much it has") {
  for (std::uint64_t lost : {1, 2, 4}) {
    gcs_world w;
    INFO(lost);
    std::uint64_t n = 0;
    w.server.answers([&](const asked_for& a) -> std::optional<reply> {
      const bool is_question = field_of(a.head, "Content-Range").starts_with("bytes */");
      if (a.method != "PUT" || is_question || ++n < lost || n >= lost + 8) return w.gcs.answer(a);
      if (n == lost) (void)w.gcs.answer(a);  // carried out
      return reply{503, "", "its answer is lost"};
    });
    const file_info info = w.run(write_store_file(w.gs(), "gs://bucket/a", some_bytes(30 * kMiB)));
    CHECK(info.size_bytes == 30 * kMiB);
    CHECK((w.gcs.objects.at("a").bytes == some_bytes(30 * kMiB)));
    CHECK(n == 11);  // eight attempts for one of four pieces
  }
}

TEST_CASE("an upload that has ended, and that the server has forgotten, is looked for by its checksum") {
  for (bool is_ours : {true, false}) {
    gcs_world w;
    w.gcs.forgets_ended = true;
    w.gcs.put("a", "somebody else's");
    bool was_lost = false;
    w.server.on_request([&](const asked_for& a) {
      const std::string range = field_of(a.head, "Content-Range");
      if (a.method != "PUT" || range.empty() || range.ends_with("/*") || was_lost) return;
      was_lost = true;
      (void)w.gcs.answer(a);
      if (!is_ours) w.gcs.put("a", some_bytes(9 * kMiB) + "x");
      w.server.script({{.reset_before_head = true}});
    });
    std::optional<file_info> info;
    const status why =
        w.try_run(http_world::keep<file_info>(write_store_file(w.gs(), "gs://bucket/a", some_bytes(9 * kMiB)), info));
    CHECK(was_lost);
    if (is_ours) {
      REQUIRE(why.ok());
      CHECK(info->version == std::to_string(w.gcs.objects.at("a").generation));
    } else {
      CHECK(why.code() == status_code::not_found);
      CHECK_THAT(why.to_string(), Catch::Contains("gs://bucket/a") && Catch::Contains("end of an upload"));
    }
  }
}

TEST_CASE("an object that Google's store stores wrongly is an error, and a dropped writer leaves nothing") {
  {
    gcs_world w;
    w.gcs.wrong_crc = 5;
    std::optional<file_info> ignored;
    const status why =
        w.try_run(http_world::keep<file_info>(write_store_file(w.gs(), "gs://bucket/a", "hello"), ignored));
    CHECK(why.code() == status_code::data_loss);
    CHECK_THAT(why.to_string(), Catch::Contains("other bytes than were sent"));
  }
  gcs_world w;
  auto client = [](gcs_world& in) -> task<> {
    auto creating = in.gs().create("gs://bucket/a");
    auto to = co_await creating;
    buffer_ref room(buffer::make(kMiB));
    for (int i = 0; i != 20; ++i) {
      auto writing = to->write(room, 0, kMiB);
      co_await writing;
    }
    CHECK(in.gcs.uploads.size() == 1);
    to.reset();
    co_await sleep_for(1s);
    CHECK(in.gcs.aborted == 1);
  };
  CHECK(w.try_run(client(w)).ok());
  CHECK(w.gcs.objects.empty());
}
#endif

}  // namespace sluice::lib::gcs_write_test
