// SPDX-License-Identifier: Apache-2.0
// Files of HDFS that are written: whole or not at all, under another name until their end.
#include <catch2/catch.hpp>

#if SLUICE_HAVE_STORES
#include "http/hdfs/hdfs_world.hpp"
#include "sluice/coro/sleep_until.hpp"

namespace sluice::lib::hdfs_write_test {
using namespace sluice::lib::testing;
using namespace std::chrono_literals;

namespace {

bool is_op(const asked_for& a, const std::string& op) { return query_of(a.target)["op"] == op; }

/// Carried out, and the answer is lost: the first time.
void lose_first_answer(scripted_server& of, std::string op, std::function<void(const asked_for&)> carry_out) {
  of.on_request([&of, op = std::move(op), carry_out = std::move(carry_out), n = 0](const asked_for& a) mutable {
    if (!is_op(a, op) || n++ != 0) return;
    carry_out(a);
    of.script({{.reset_before_head = true}});
  });
}

}  // namespace

TEST_CASE("a file of HDFS is written under another name, 8 MiB at a time, and gets its own in the end") {
  for (std::size_t size : {std::size_t{0}, std::size_t{5}, 8 * kMiB, 8 * kMiB + 1, 30 * kMiB}) {
    hdfs_files w;
    INFO(size);
    w.hdfs.put("/dir/a b", "old");
    std::size_t seen_early = 0;
    w.nn1.on_request([&](const asked_for& a) {
      if (!is_op(a, "RENAME")) seen_early += w.hdfs.files.at("/dir/a b").bytes != "old" ? 1 : 0;
    });
    const file_info info = w.run(write_store_file(w.fs(), "hdfs://warehouse/dir/a b", some_bytes(size), 3 * kMiB + 1));
    CHECK(seen_early == 0);
    REQUIRE(w.hdfs.files.size() == 1);
    CHECK((w.hdfs.files.at("/dir/a b").bytes == some_bytes(size)));
    CHECK(info.size_bytes == size);
    CHECK(info == w.run(w.fs().stat("hdfs://warehouse/dir/a b")));
    CHECK(w.asked("CREATE") == 1);
    CHECK(w.asked("APPEND") == (size > 8 * kMiB ? (size - 1) / (8 * kMiB) : 0));
  }
  hdfs_files fresh;  // folders are made
  fresh.run(write_store_file(fresh.fs(), "hdfs://warehouse/new/folder/a", "hello"));
  CHECK(fresh.hdfs.files.at("/new/folder/a").bytes == "hello");
  const std::string create = fresh.nn1.log().at(0).target;
  CHECK_THAT(create,
             Catch::StartsWith("/webhdfs/v1/new/folder/.a.sluice-") && Catch::Contains("?op=CREATE&overwrite=true"));
}

TEST_CASE("a dropped writer removes its file, and the old file keeps its name") {
  hdfs_files w;
  w.hdfs.put("/a", "old");
  auto client = [](hdfs_files& in) -> task<> {
    auto creating = in.fs().create("hdfs://warehouse/a");
    auto to = co_await creating;
    buffer_ref room(buffer::make(kMiB));
    for (int i = 0; i != 20; ++i) {
      auto writing = to->write(room, 0, kMiB);
      co_await writing;
    }
    CHECK(in.hdfs.files.size() == 2);
    CHECK(in.rt.ledger().used_bytes() <= 9 * kMiB);
    to.reset();
    co_await sleep_for(1s);
  };
  CHECK(w.try_run(client(w)).ok());
  REQUIRE(w.hdfs.files.size() == 1);
  CHECK(w.hdfs.files.at("/a").bytes == "old");
  CHECK(w.asked("DELETE") == 1);
}

TEST_CASE("an end of a write that was carried out, and whose answer was lost, is one") {
  hdfs_files w;
  w.hdfs.put("/a", "old");
  lose_first_answer(w.nn1, "RENAME", [&w](const asked_for& a) { (void)w.hdfs.name_node(0, a); });
  const file_info info = w.run(write_store_file(w.fs(), "hdfs://warehouse/a", some_bytes(9 * kMiB)));
  CHECK(info.size_bytes == 9 * kMiB);
  CHECK(w.asked("RENAME") == 2);
  CHECK((w.hdfs.files.at("/a").bytes == some_bytes(9 * kMiB)));

  hdfs_files other;  // somebody else has taken the file away: that is no success
  other.hdfs.put("/a", "old");
  other.nn1.on_request([&](const asked_for& a) {
    if (is_op(a, "RENAME")) std::erase_if(other.hdfs.files, [](auto& f) { return f.first != "/a"; });
  });
  const status why = other.why_of_writing("hdfs://warehouse/a", 5);
  CHECK(why.code() == status_code::not_found);
  CHECK_THAT(why.to_string(), Catch::Contains("hdfs://warehouse/a") && Catch::Contains("end of the write"));
}

TEST_CASE("HttpFS reports that a rename failed, although an earlier attempt whose answer was lost has done it") {
  hdfs_files w;
  w.hdfs.replaces = false;
  w.nn1.answers([&w](const asked_for& a) -> std::optional<reply> {
    auto r = w.hdfs.name_node(0, a);
    if (is_op(a, "RENAME") && r->code == 404) return reply{200, "", "{\"boolean\":false}"};
    return r;
  });
  lose_first_answer(w.nn1, "RENAME", [&w](const asked_for& a) { (void)w.hdfs.name_node(0, a); });
  CHECK(w.run(write_store_file(w.fs(), "hdfs://warehouse/a", some_bytes(9 * kMiB))).size_bytes == 9 * kMiB);
  CHECK(w.asked("RENAME") == 2);
  CHECK((w.hdfs.files.at("/a").bytes == some_bytes(9 * kMiB)));
  // Something that has the name in fact keeps it.
  const status why = w.why_of_writing("hdfs://warehouse/a", 5);
  CHECK(why.code() == status_code::failed_precondition);
  CHECK((w.hdfs.files.at("/a").bytes == some_bytes(9 * kMiB)));
}

TEST_CASE("a piece whose answer was lost continues at the file's present end") {
  for (std::size_t came : {std::size_t{0}, std::size_t{1}, 5 * kMiB, 8 * kMiB}) {
    INFO(came);
    hdfs_files w;
    for (scripted_server* dn : {&w.dn1, &w.dn2})
      lose_first_answer(*dn, "APPEND", [&w, came](const asked_for& a) {
        w.hdfs.takes_of_append = came;
        (void)w.hdfs.data_node(a);
        w.hdfs.takes_of_append = ~std::size_t{0};
      });
    w.run(write_store_file(w.fs(), "hdfs://warehouse/a", some_bytes(30 * kMiB)));
    CHECK((w.hdfs.files.at("/a").bytes == some_bytes(30 * kMiB)));
  }
}

TEST_CASE("pieces are sent again where a node is busy, standby, or still has the file open") {
  hdfs_files w;
  std::size_t n = 0;
  auto busy = [&](const asked_for& a) -> std::optional<reply> {
    if (is_op(a, "APPEND") && ++n <= 2)
      return simulated_hdfs::failed(403, n == 1 ? "AlreadyBeingCreatedException" : "RecoveryInProgressException",
                                    "open");
    return w.hdfs.data_node(a);
  };
  w.dn1.answers(busy);
  w.dn2.answers(busy);
  std::size_t asked = 0;
  w.nn1.on_request([&](const asked_for&) {
    if (++asked == 4) w.hdfs.in_standby = {0};
  });
  w.run(write_store_file(w.fs(), "hdfs://warehouse/a", some_bytes(20 * kMiB)));
  CHECK((w.hdfs.files.at("/a").bytes == some_bytes(20 * kMiB)));
  CHECK(!w.nn2.log().empty());
}

TEST_CASE("a data node sent by a standby name node reports it, and the other name node is asked") {
  hdfs_files w;
  for (scripted_server* dn : {&w.dn1, &w.dn2})
    dn->answers([&w](const asked_for& a) -> std::optional<reply> {
      if (w.nn2.log().empty()) return simulated_hdfs::failed(403, "StandbyException", "WRITE is not supported");
      return w.hdfs.data_node(a);
    });
  w.run(write_store_file(w.fs(), "hdfs://warehouse/a", "hello"));
  CHECK(w.hdfs.files.at("/a").bytes == "hello");
  CHECK(w.asked("CREATE") == 2);
  CHECK(w.world.elapsed() < 100ms);
}

TEST_CASE("the stored length is compared before the rename") {
  for (bool is_more : {false, true}) {
    hdfs_files w;
    w.hdfs.put("/a", "old");
    w.nn1.on_request([&](const asked_for& a) {
      if (!is_op(a, "GETFILESTATUS")) return;
      for (auto& [path, f] : w.hdfs.files)
        if (path != "/a") f.bytes = is_more ? f.bytes + "!" : f.bytes.substr(1);
    });
    const status why = w.why_of_writing("hdfs://warehouse/a", 9 * kMiB);
    CHECK(why.code() == status_code::data_loss);
    CHECK_THAT(why.to_string(), Catch::Contains("hdfs://warehouse/a") && Catch::Contains("other bytes than were sent"));
    CHECK(w.hdfs.files.at("/a").bytes == "old");
  }
}

TEST_CASE("a refused write leaves nothing, and names the server that refuses it") {
  {
    hdfs_files w;
    auto full = [&](const asked_for& a) -> std::optional<reply> {
      if (is_op(a, "APPEND")) return simulated_hdfs::failed(403, "DSQuotaExceededException", "quota");
      return w.hdfs.data_node(a);
    };
    w.dn1.answers(full);
    w.dn2.answers(full);
    auto client = [](hdfs_files& in) -> task<> {
      auto writing = write_store_file(in.fs(), "hdfs://warehouse/a", some_bytes(20 * kMiB));
      auto done = co_await writing.as_result();
      CHECK(done.why().code() == status_code::resource_exhausted);
      CHECK_THAT(done.why().to_string(), Catch::Contains("part 2") && Catch::Contains("the data node dn"));
      co_await sleep_for(1s);
    };
    CHECK(w.try_run(client(w)).ok());
    CHECK(w.hdfs.files.empty());
  }
  hdfs_files w;  // HttpFS replaces nothing
  w.hdfs.put("/a", "old");
  w.hdfs.replaces = false;
  const status why = w.why_of_writing("hdfs://warehouse/a", 5);
  CHECK(why.code() == status_code::failed_precondition);
  CHECK_THAT(why.to_string(), Catch::Contains("does not give the file its name"));
  CHECK(w.hdfs.files.at("/a").bytes == "old");
}
#endif

}  // namespace sluice::lib::hdfs_write_test
