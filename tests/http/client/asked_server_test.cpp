// SPDX-License-Identifier: Apache-2.0
// How many requests are in flight is a matter of the server that is asked, wherever a name node or a redirect has led.
#include <catch2/catch.hpp>

#if SLUICE_HAVE_STORES
#include "http/hdfs/hdfs_world.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/coro/when_all.hpp"

namespace sluice::lib::asked_server_test {
using namespace sluice::lib::testing;
using namespace std::chrono_literals;

namespace {

struct two_data_nodes : hdfs_files {
  two_data_nodes() {
    // Which of them has a file says its name.
    nn1.on_request([this](const asked_for& a) {
      const bool of_first = a.target.find("/first") != std::string::npos;
      hdfs.data_nodes = {of_first ? "dn1.test:9864" : "dn2.test:9864"};
    });
  }
  std::uint32_t limit_of(const std::string& server) {
    return shared->client.at(detail::parse_http_url("http://" + server).value()).limit.limit();
  }
};

task<duration> read_until(two_data_nodes& w, std::string path, duration after) {
  co_await sleep_for(after);
  auto reading = read_store_file(w.fs(), std::move(path));
  const std::string bytes = co_await reading;
  CHECK((bytes == some_bytes(1000)));
  co_return w.world.elapsed();
}

/// When each of them had come: four of the first data node, and then one of the second.
task<std::vector<duration>> read_at_once(two_data_nodes& w) {
  std::vector<task<duration>> all;
  for (const char* name : {"first1", "first2", "first3", "first4"})
    all.push_back(read_until(w, std::string("hdfs://warehouse/") + name, 0s));
  all.push_back(read_until(w, "hdfs://warehouse/second", 1s));
  co_return co_await when_all(std::move(all));
}

}  // namespace

TEST_CASE("a slow data node delays only its own requests") {
  two_data_nodes w;
  for (const char* name : {"/first1", "/first2", "/first3", "/first4", "/second"}) w.hdfs.put(name, some_bytes(1000));
  w.dn1.always({.before = 10s});
  hdfs_options own;
  own.http.requests_first = own.http.requests_max = 2;
  own.http.hedge = false;
  w.fs(own);
  const std::vector<duration> ended = w.run(read_at_once(w));
  CHECK(ended[4] < 2s);
  CHECK(*std::min_element(ended.begin(), ended.begin() + 4) >= 10s);
  CHECK(*std::max_element(ended.begin(), ended.begin() + 4) >= 20s);  // two at a time
}

TEST_CASE("an overloaded data node gets fewer requests, and no other does") {
  two_data_nodes w;
  for (const char* name : {"/first1", "/first2", "/second"}) w.hdfs.put(name, some_bytes(1000));
  w.dn1.always({.code = 503, .body = "too much"});
  CHECK(w.why_of_reading("hdfs://warehouse/first1").code() == status_code::unavailable);
  CHECK(w.why_of_reading("hdfs://warehouse/first2").code() == status_code::unavailable);
  CHECK(w.read("hdfs://warehouse/second") == some_bytes(1000));
  CHECK(w.limit_of("dn1.test:9864") < 64);
  CHECK(w.limit_of("dn2.test:9864") == 64);
  CHECK(w.limit_of("nn1.test:9870") == 64);
}

TEST_CASE("where a redirect has led it is the server there that is asked less") {
  http_world w;
  scripted_server mirror(*w.net, "mirror:80");
  w.server.always({.code = 302, .fields = "Location: http://mirror/a\r\n"});
  mirror.always({.code = 503, .body = "too much"});
  auto client = [](http_world& in) -> task<> {
    for (int i = 0; i != 2; ++i) {
      auto opening = in.files->open("http://objects/a", {});
      auto opened = co_await opening.as_result();
      CHECK(opened.why().code() == status_code::unavailable);
    }
  };
  CHECK(sync_wait_result(w.rt.root(), while_serving({&w.server, &mirror}, client(w))).ok());
  auto limit_of = [&w](const char* url) { return w.files->at(detail::parse_http_url(url).value()).limit.limit(); };
  CHECK(limit_of("http://mirror/") < 64);
  CHECK(limit_of("http://objects/") == 64);
}
#endif

}  // namespace sluice::lib::asked_server_test
