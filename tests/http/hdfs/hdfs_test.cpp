// SPDX-License-Identifier: Apache-2.0
// Files of HDFS, over name nodes and data nodes in virtual time: read in one version, from whom the name node names, by who asks.
#include <catch2/catch.hpp>

#if SLUICE_HAVE_STORES
#include "http/hdfs/hdfs_world.hpp"
#include "sluice/coro/sleep_until.hpp"

namespace sluice::lib::hdfs_test {
using namespace sluice::lib::testing;
using namespace std::chrono_literals;

namespace {

using texts = std::vector<std::string>;

/// All that a server was sent.
std::string heard_by(const scripted_server& s) {
  std::string all;
  for (const asked_for& a : s.log()) all += a.head;
  return all;
}

std::size_t heard_by_both(const hdfs_files& w) { return w.nn1.log().size() + w.nn2.log().size(); }

}  // namespace

TEST_CASE("a file of HDFS has its bytes, range by range from the data nodes that the name node names") {
  for (bool in_json : {true, false})
    for (std::size_t size : {std::size_t{0}, std::size_t{1}, kMiB, 3 * kMiB + 5}) {
      hdfs_files w;
      w.hdfs.answers_in_json = in_json;
      const std::string path = "hdfs://warehouse/dir/a b+%41\xc3\xa9";
      w.hdfs.put("/dir/a b+%41\xc3\xa9", some_bytes(size));
      INFO(size << " " << in_json);
      CHECK((w.read(path) == some_bytes(size)));
      const std::size_t ranges = (size + kMiB - 1) / kMiB;
      CHECK(w.nn1.log().at(0).target == "/webhdfs/v1/dir/a%20b%2B%2541%C3%A9?op=GETFILESTATUS&user.name=trainer");
      CHECK(w.asked("OPEN") == ranges);
      CHECK(w.asked("GETFILESTATUS") == 1 + ranges);  // to open it, and for each range
      CHECK(w.dn1.log().size() + w.dn2.log().size() == ranges);
      CHECK(w.nn2.log().empty());

      const file_info info = w.run(w.fs().stat(path));
      CHECK(info.size_bytes == size);
      CHECK(info.version == "16387-1795514416387");
      CHECK(info.modified_ns == 1795514416'387'000'000);
      const auto listed = w.run(list_all(w.fs(), "hdfs://warehouse/dir/a*"));
      REQUIRE(listed.size() == 1);
      CHECK(listed[0].path == path);
      CHECK(listed[0].info == info);
      const std::size_t before = w.asked("GETFILESTATUS");
      CHECK((w.run(read_store_file(w.fs(), path, listed[0].info)) == some_bytes(size)));
      CHECK(w.asked("GETFILESTATUS") == before + ranges);  // what a listing has told is opened without a request
    }
}

TEST_CASE("data nodes receive only the data in the name node's redirect") {
  hdfs_files w;
  w.hdfs.put("/a", some_bytes(kMiB + 1));
  w.hdfs.known_tokens = {"The-Token_1"};
  hdfs_options own;
  own.delegation_token = "The-Token_1";
  own.http.headers = {{"X-Own", "secret-header"}};
  (void)w.fs(own);
  CHECK((w.read("hdfs://warehouse/a") == some_bytes(kMiB + 1)));
  w.run(write_store_file(w.fs(), "hdfs://warehouse/b", "hello"));
  const std::string asked = heard_by(w.nn1), elsewhere = heard_by(w.dn1) + heard_by(w.dn2);
  CHECK_THAT(asked, Catch::Contains("delegation=The-Token_1") && Catch::Contains("X-Own: secret-header") &&
                        !Catch::Contains("user.name"));
  CHECK_THAT(elsewhere, Catch::Contains("delegation=of-the-data-node") && !Catch::Contains("The-Token_1") &&
                            !Catch::Contains("secret-header") && !Catch::Contains("Range:"));
}

TEST_CASE("refused redirects are errors without secrets") {
  struct refused {
    std::string place;
    status_code code;
    std::string words;
  };
  for (const refused& r :
       {refused{"ftp://dn1.test/a?delegation=hidden", status_code::failed_precondition, "neither http:// nor https://"},
        refused{"file:///etc/passwd", status_code::failed_precondition, "neither http:// nor https://"},
        refused{"http://me:hidden@dn1.test/a", status_code::failed_precondition, "a user or a password"},
        refused{"http://dn1.test:99999/?delegation=hidden", status_code::failed_precondition, "is no port"},
        refused{"http:///a?delegation=hidden", status_code::failed_precondition, "names no host"},
        refused{"none", status_code::data_loss, "names no data node"}})
    for (bool in_json : {true, false}) {
      INFO(r.place << in_json);
      hdfs_files w;
      w.hdfs.put("/a", "hello");
      w.hdfs.place = r.place;
      w.hdfs.answers_in_json = in_json;
      for (const status& why : {w.why_of_reading("hdfs://warehouse/a"), w.why_of_writing("hdfs://warehouse/b", 5)}) {
        CHECK(why.code() == r.code);
        CHECK_THAT(why.to_string(), Catch::Contains(r.words) && Catch::Contains("hdfs://warehouse/") &&
                                        !Catch::Contains("hidden") && !Catch::Contains("trainer"));
      }
      CHECK(w.dn1.log().empty());
    }
  hdfs_files twice;  // a data node sends on
  twice.hdfs.put("/a", "hello");
  for (scripted_server* dn : {&twice.dn1, &twice.dn2})
    dn->answers(
        [](const asked_for&) { return reply{307, "Location: http://nn2.test:9870/a?delegation=hidden\r\n", ""}; });
  const status why = twice.why_of_reading("hdfs://warehouse/a");
  CHECK(why.code() == status_code::failed_precondition);
  CHECK_THAT(why.to_string(),
             Catch::Contains("the data node dn") && Catch::Contains("307") && !Catch::Contains("hidden"));
  CHECK(twice.nn2.log().empty());
  detail::http_url secure;
  secure.tls = true;
  secure.host = "nn";
  detail::response_head head;
  head.code = 307;
  head.location = "http://dn1.test/a?delegation=hidden";
  const auto out_of_tls = detail::parse_hdfs_place(secure, head, "");
  CHECK(out_of_tls.why().code() == status_code::failed_precondition);
  CHECK_THAT(out_of_tls.why().to_string(), Catch::Contains("out of TLS") && !Catch::Contains("hidden"));
}

TEST_CASE("a file that has changed before a range is read is an error, for every kind of change") {
  struct change {
    const char* name;
    std::function<void(simulated_hdfs&)> to;
    status_code code = status_code::failed_precondition;
  };
  for (const change& c : {change{"other bytes", [](simulated_hdfs& h) { h.put("/a", some_bytes(3 * kMiB)); }},
                          change{"shorter", [](simulated_hdfs& h) { h.put("/a", "short"); }},
                          change{"appended to", [](simulated_hdfs& h) { h.files["/a"].bytes += "x"; }},
                          change{"touched", [](simulated_hdfs& h) { h.files["/a"].changed_ms += 1; }},
                          change{"gone", [](simulated_hdfs& h) { h.files.erase("/a"); }, status_code::not_found}})
    for (bool after_the_place : {false, true}) {
      INFO(c.name << after_the_place);
      hdfs_files w;
      w.hdfs.put("/a", some_bytes(3 * kMiB));
      std::size_t n = 0;
      auto change_it = [&](const asked_for& a) {
        const std::string op = query_of(a.target)["op"];
        if (op == "OPEN" && ++n == 2) c.to(w.hdfs);
      };
      if (after_the_place) {  // between the name node's answer and the data node's
        w.dn1.on_request(change_it);
        w.dn2.on_request(change_it);
      } else {
        w.nn1.on_request(change_it);
      }
      const status why = w.why_of_reading("hdfs://warehouse/a");
      INFO(why.to_string());
      const bool is_cut = std::string(c.name) == "shorter";
      CHECK((why.code() == c.code || (is_cut && why.code() == status_code::out_of_range)));
      if (c.code == status_code::failed_precondition && !is_cut)
        CHECK_THAT(why.to_string(), Catch::Contains("has changed since it was opened"));
      CHECK_THAT(why.to_string(), Catch::Contains("bytes 1048576-"));
    }
}

TEST_CASE("a name node in standby, or none at all, has the other asked, which is asked first from then on") {
  {
    hdfs_files w;
    w.hdfs.put("/a", "hello");
    w.hdfs.in_standby = {0};
    CHECK(w.read("hdfs://warehouse/a") == "hello");
    CHECK(w.nn1.log().size() == 1);
    CHECK(w.world.elapsed() < 100ms);  // without a wait
    CHECK(w.read("hdfs://warehouse/a") == "hello");
    CHECK(w.nn1.log().size() == 1);
    w.hdfs.in_standby = {1};  // and back
    CHECK(w.read("hdfs://warehouse/a") == "hello");
    CHECK(w.nn1.log().size() > 1);
  }
  {
    hdfs_files w;
    w.hdfs.put("/a", "hello");
    w.serving = {&w.nn2, &w.dn1, &w.dn2};  // nobody listens at the first
    CHECK(w.read("hdfs://warehouse/a") == "hello");
    const std::size_t asked = w.nn2.log().size();
    const duration took = w.world.elapsed();
    CHECK(w.read("hdfs://warehouse/a") == "hello");
    CHECK(w.nn2.log().size() == 2 * asked);
    CHECK(w.world.elapsed() - took < 50ms);
  }
  {
    hdfs_files w;  // silent
    w.hdfs.put("/a", "hello");
    w.nn1.always({.before = 1h});
    CHECK(w.read("hdfs://warehouse/a") == "hello");
    CHECK(w.nn1.log().size() == 1);
  }
}

TEST_CASE("requests are repeated until a name node is active, and the final error contains the node's name") {
  hdfs_files w;
  w.hdfs.put("/a", "hello");
  w.hdfs.in_standby = {0, 1};
  auto later = [](hdfs_files& in) -> task<> {
    auto reading = read_store_file(in.fs(), "hdfs://warehouse/a");
    const std::string got = co_await reading;
    CHECK(got == "hello");
  };
  std::size_t n = 0;
  w.nn2.on_request([&](const asked_for&) {
    if (++n == 3) w.hdfs.in_standby = {0};
  });
  CHECK(w.try_run(later(w)).ok());
  w.hdfs.in_standby = {0, 1};
  const std::size_t before = heard_by_both(w);
  const status why = w.why_of_reading("hdfs://warehouse/a");
  CHECK(why.code() == status_code::unavailable);
  CHECK_THAT(why.to_string(), Catch::Contains("hdfs://warehouse/a") && Catch::Contains("attempt 8") &&
                                  Catch::Contains("the name node nn") && Catch::Contains("StandbyException") &&
                                  Catch::Contains("not supported in state standby") && !Catch::Contains("\tat"));
  CHECK(heard_by_both(w) - before >= 8);
}

TEST_CASE("exceptions of name nodes are reported by name and mapped to codes") {
  struct thrown {
    int code;
    std::string name;
    status_code meaning;
    std::string words;
    bool again = false;
  };
  for (const thrown& t :
       {thrown{404, "FileNotFoundException", status_code::not_found, "the name node nn1.test:9870 says 404"},
        thrown{403, "AccessControlException", status_code::permission_denied, "made as the user trainer"},
        thrown{403, "SafeModeException", status_code::unavailable, "SafeModeException", true},
        thrown{403, "RetriableException", status_code::unavailable, "RetriableException", true},
        thrown{403, "InvalidToken", status_code::unauthenticated, "get a new one"},
        thrown{401, "SecurityException", status_code::unauthenticated, "SecurityException"},
        thrown{400, "IllegalArgumentException", status_code::invalid_argument, "words of it"},
        thrown{400, "UnsupportedOperationException", status_code::unimplemented, "erasure coding"},
        thrown{403, "DSQuotaExceededException", status_code::resource_exhausted, "DSQuotaExceededException"},
        thrown{403, "ParentNotDirectoryException", status_code::failed_precondition, "ParentNotDirectoryException"},
        thrown{500, "NullPointerException", status_code::unavailable, "NullPointerException", true}}) {
    INFO(t.name);
    hdfs_files w;
    w.nn1.answers([&](const asked_for&) { return simulated_hdfs::failed(t.code, t.name, "words of it\n\tat x.y\n"); });
    w.nn2.answers([&](const asked_for&) { return simulated_hdfs::failed(t.code, t.name, "words of it\n\tat x.y\n"); });
    const status why = w.why_of_reading("hdfs://warehouse/a");
    CHECK(why.code() == t.meaning);
    CHECK_THAT(why.to_string(), Catch::Contains(t.words) && Catch::Contains(t.name) && !Catch::Contains("x.y"));
    CHECK((w.nn1.log().size() == 1) == !t.again);
  }
  hdfs_files w;  // no RemoteException: another server
  w.nn1.answers([](const asked_for&) { return reply{404, "", "<html>nginx</html>"}; });
  const status why = w.why_of_reading("webhdfs://nn1.test/a");
  CHECK(why.code() == status_code::not_found);
  CHECK_THAT(why.to_string(), Catch::Contains("not an answer of WebHDFS") && Catch::Contains("9870"));
}

TEST_CASE("Kerberos is refused with a clear message, and a token that a server repeats is hidden") {
  {
    hdfs_files w;
    w.hdfs.known_tokens = {"right"};
    const status why = w.why_of_reading("hdfs://warehouse/a");
    CHECK(why.code() == status_code::unauthenticated);
    CHECK_THAT(why.to_string(), Catch::Contains("requires Kerberos") && Catch::Contains("WEBHDFS_DELEGATION_TOKEN"));
    CHECK(heard_by_both(w) == 1);
  }
  hdfs_files w;
  w.hdfs.known_tokens = {"right"};
  w.home.variables["WEBHDFS_DELEGATION_TOKEN"] = "wrong-secret";
  const status why = w.why_of_reading("hdfs://warehouse/a");
  CHECK(why.code() == status_code::unauthenticated);
  CHECK_THAT(why.to_string(),
             Catch::Contains("InvalidToken") && Catch::Contains("token (***)") && !Catch::Contains("wrong-secret"));
}

TEST_CASE("invalid answers are data_loss with the reason") {
  struct bad {
    std::string op, body, words;
  };
  const std::string good = "\"modificationTime\":1,\"fileId\":1,\"pathSuffix\":\"x\"";
  for (const bad& b :
       {bad{"GETFILESTATUS", "{", "no JSON"}, bad{"GETFILESTATUS", "{}", "no FileStatus"},
        bad{"GETFILESTATUS", "{\"FileStatus\":{\"type\":\"DOOR\",\"length\":1," + good + "}}", "\"DOOR\""},
        bad{"GETFILESTATUS", "{\"FileStatus\":{\"type\":\"FILE\",\"length\":-1," + good + "}}", "length \"-1\""},
        bad{"GETFILESTATUS", "{\"FileStatus\":{\"type\":\"FILE\",\"length\":1,\"modificationTime\":\"x\"}}",
            "time \"x\""},
        bad{"GETFILESTATUS", "{\"FileStatus\":{\"type\":\"FILE\",\"length\":9999999999999999999," + good + "}}",
            "length"},
        bad{"OPEN", "bytes, not JSON", "no JSON"}, bad{"OPEN", "{\"Location\":7}", "names no data node"},
        bad{"LISTSTATUS_BATCH", "{}", "no FileStatuses"},
        bad{"LISTSTATUS_BATCH", "{\"DirectoryListing\":{}}", "number of remaining entries"},
        bad{"LISTSTATUS_BATCH",
            "{\"FileStatuses\":{\"FileStatus\":[{\"type\":\"FILE\",\"length\":1,\"modificationTime\":1,"
            "\"pathSuffix\":\"../up\"}]}}",
            "a name that no file has"},
        bad{"LISTSTATUS_BATCH",
            "{\"DirectoryListing\":{\"remainingEntries\":5,\"partialListing\":{\"FileStatuses\":{\"FileStatus\":[]}}}}",
            "makes no progress"}}) {
    INFO(b.op << " " << b.body);
    hdfs_files w;
    w.hdfs.put("/a", "hello");
    w.nn1.answers([&](const asked_for& a) -> std::optional<reply> {
      if (query_of(a.target)["op"] == b.op) return reply{200, "", b.body};
      return w.hdfs.name_node(0, a);
    });
    status why;
    if (b.op == "LISTSTATUS_BATCH") {
      std::optional<std::vector<listed_file>> ignored;
      why = w.try_run(http_world::keep<std::vector<listed_file>>(list_all(w.fs(), "hdfs://warehouse/*"), ignored));
    } else {
      why = w.why_of_reading("hdfs://warehouse/a");
    }
    CHECK(why.code() == status_code::data_loss);
    CHECK_THAT(why.to_string(), Catch::Contains(b.words) && Catch::Contains("hdfs://warehouse/"));
  }
}

TEST_CASE("a data node that is not there, breaks off or cannot read its disk is replaced by another") {
  {
    hdfs_files w;
    w.hdfs.put("/a", some_bytes(3 * kMiB));
    w.serving = {&w.nn1, &w.nn2, &w.dn2};
    CHECK((w.read("hdfs://warehouse/a") == some_bytes(3 * kMiB)));
    CHECK(w.dn2.log().size() == 3);
    CHECK_THAT(heard_by(w.nn1), Catch::Contains("excludedatanodes=10.0.0.1%3A9866"));
  }
  {  // two on one host, and one of them is lost: each attempt goes to the other one
    hdfs_files w;
    w.hdfs.put("/a", some_bytes(12 * kMiB));
    w.hdfs.data_nodes = {"dn1.test:9864", "dn1.test:9865"};
    scripted_server other(*w.net, "dn1.test:9865");
    other.answers([&w](const asked_for& a) { return w.hdfs.data_node(a); });
    w.serving = {&w.nn1, &w.nn2, &other};
    CHECK((w.read("hdfs://warehouse/a") == some_bytes(12 * kMiB)));
    CHECK(w.asked("GET_BLOCK_LOCATIONS") == 1);
    CHECK_THAT(heard_by(w.nn1), Catch::Contains("excludedatanodes=10.0.0.1%3A9866"));
  }
  {
    hdfs_files w;
    w.hdfs.put("/a", some_bytes(3 * kMiB));
    w.hdfs.tells_locations = false;
    w.serving = {&w.nn1, &w.nn2, &w.dn2};
    CHECK((w.read("hdfs://warehouse/a") == some_bytes(3 * kMiB)));
    CHECK_THAT(heard_by(w.nn1), Catch::Contains("excludedatanodes=dn1.test"));
  }
  {
    hdfs_files w;
    w.hdfs.put("/a", some_bytes(3 * kMiB));
    w.dn1.script({{.reset_at = 100'000}, {.end_at = 7}});
    w.dn2.script({{.stall_at = 200'000}});
    CHECK((w.read("hdfs://warehouse/a") == some_bytes(3 * kMiB)));
  }
  hdfs_files w;
  w.hdfs.put("/a", "hello");
  w.dn1.answers([](const asked_for&) { return simulated_hdfs::failed(403, "IOException", "Could not obtain block"); });
  CHECK(w.read("hdfs://warehouse/a") == "hello");
  w.dn2.answers([](const asked_for&) { return simulated_hdfs::failed(403, "IOException", "Could not obtain block"); });
  const status why = w.why_of_reading("hdfs://warehouse/a");
  CHECK(why.code() == status_code::unavailable);
  CHECK_THAT(why.to_string(), Catch::Contains("bytes 0-4") && Catch::Contains("the data node dn") &&
                                  Catch::Contains("Could not obtain block") && Catch::Contains("attempt 8"));
}

TEST_CASE("a body of another length than the range is data_loss") {
  for (const char* body : {"hell", "hello!"}) {
    hdfs_files w;
    w.hdfs.put("/a", "hello");
    for (scripted_server* dn : {&w.dn1, &w.dn2}) dn->answers([&](const asked_for&) { return reply{200, "", body}; });
    const status why = w.why_of_reading("hdfs://warehouse/a");
    CHECK(why.code() == status_code::data_loss);
    CHECK_THAT(why.to_string(), Catch::Contains("the range 5"));
  }
}

TEST_CASE("folders are no files, and paths without a host are on fs.defaultFS") {
  hdfs_files w;
  w.hdfs.put("/dir/a", "hello");
  CHECK(w.why_of_reading("hdfs://warehouse/dir").code() == status_code::invalid_argument);
  CHECK(w.why_of_writing("hdfs://warehouse/dir/", 1).code() == status_code::invalid_argument);
  CHECK(w.why_of_reading("hdfs://me@warehouse/dir").code() == status_code::invalid_argument);
  CHECK_THAT(w.why_of_reading("webhdfs:///dir/a").to_string(), Catch::Contains("fs.defaultFS"));
}
#endif

}  // namespace sluice::lib::hdfs_test
