// SPDX-License-Identifier: Apache-2.0
// Objects of S3, read and listed, over a server in virtual time; what it says is told to the user.
#include <catch2/catch.hpp>

#if SLUICE_HAVE_STORES
#include "http/stores/store_world.hpp"

namespace sluice::lib::s3_test {
using namespace sluice::lib::testing;
using namespace std::chrono_literals;

namespace {

std::vector<std::string> paths_of(const std::vector<listed_file>& files) {
  std::vector<std::string> all;
  for (const listed_file& f : files) all.push_back(f.path);
  return all;
}
using texts = std::vector<std::string>;

status why_of_reading(store_world& w, const std::string& path, s3_options options = {}) {
  std::optional<std::string> ignored;
  return w.try_run(http_world::keep<std::string>(read_store_file(w.files(std::move(options)), path), ignored));
}
status why_of_listing(store_world& w, const std::string& pattern) {
  std::optional<std::vector<listed_file>> ignored;
  return w.try_run(http_world::keep<std::vector<listed_file>>(list_all(w.files(), pattern), ignored));
}

}  // namespace

TEST_CASE("an object of S3 has its bytes, of one version, and an empty one none") {
  for (bool tells : {false, true})
    for (std::size_t size : {std::size_t{0}, std::size_t{1}, kMiB, 3 * kMiB + 5}) {
      store_world w;
      w.s3.tells_range_of_empty = tells;
      w.s3.put("dir/a", some_bytes(size));
      INFO(size);
      CHECK((w.run(read_store_file(w.files(), "s3://bucket/dir/a")) == some_bytes(size)));
      CHECK(w.server.log().at(0).target == "/bucket/dir/a");
      for (std::size_t i = 1; i < w.server.log().size(); ++i)
        if (size > kMiB) CHECK(w.server.log()[i].if_match == "\"v1\"");
      const file_info info = w.run(w.files().stat("s3://bucket/dir/a"));
      CHECK(info.size_bytes == size);
      CHECK(info.version == "\"v1\"");
      CHECK(info.modified_ns == 1795514400'000'000'000);
    }
}

TEST_CASE("keys may have any characters") {
  const texts keys{"a b+c&d=e?f#g%20", "\xc3\xa9/\"<>'", "a//b", "./..", "tab\there", "[1]*?\\"};
  store_world w;
  for (const std::string& k : keys) w.s3.put(k, "of " + k);
  for (const std::string& k : keys) {
    INFO(k);
    CHECK(w.run(read_store_file(w.files(), "s3://bucket/" + k)) == "of " + k);
  }
  std::vector<listed_file> all = w.run(list_all(w.files(), "s3://bucket/[a-zA-Z\xc3]*"));
  CHECK(paths_of(all) == texts{"s3://bucket/a b+c&d=e?f#g%20", "s3://bucket/tab\there"});
}

TEST_CASE("listings arrive in sorted pages, with the facts that opening needs") {
  store_world w;
  w.s3.page_keys = 3;
  texts expected;
  for (int i = 0; i != 20; ++i) {
    const std::string key = "train/part-" + std::to_string(100 + i);
    w.s3.put(key, std::string(static_cast<std::size_t>(i), 'x'));
    expected.push_back("s3://bucket/" + key);
  }
  w.s3.put("train/deeper/part-1", "no");
  w.s3.put("train/other", "no");
  w.s3.put("train/", "");
  auto listed = w.run(list_all(w.files(), "s3://bucket/train/part-*"));
  CHECK(paths_of(listed) == expected);
  CHECK(w.server.log().size() == 7);
  REQUIRE(listed.at(7).info.has_value());
  CHECK(listed[7].info->size_bytes == 7);
  // No request for what the listing has said; the version is asked for.
  const std::size_t before = w.server.log().size();
  CHECK(w.run(read_store_file(w.files(), listed[7].path, listed[7].info)) == "xxxxxxx");
  CHECK(w.server.log().size() == before + 1);
  CHECK(w.server.log().back().if_match == listed[7].info->version);
  CHECK(w.run(w.files().stat(listed[7].path)) == *listed[7].info);
}

TEST_CASE("a listing without progress is an error") {
  store_world w;
  w.server.answers([](const asked_for&) {
    return reply{200, "",
                 "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken></"
                 "ListBucketResult>"};
  });
  CHECK_THAT(why_of_listing(w, "s3://bucket/*").to_string(),
             Catch::Contains("data_loss") && Catch::Contains("makes no progress"));
}

TEST_CASE("patterns match as in folders") {
  store_world w;
  for (const char* key : {"a/x.csv", "a/b/x.csv", "a/b/c/y.csv", "a/b/c/z.txt", "a/.hidden", "b.csv", "a/empty/"})
    w.s3.put(key, key);
  auto listed = [&w](const std::string& pattern) { return paths_of(w.run(list_all(w.files(), pattern))); };
  CHECK(listed("s3://bucket/*.csv") == texts{"s3://bucket/b.csv"});
  CHECK(listed("s3://bucket/a/*") == texts{"s3://bucket/a/x.csv"});
  CHECK(listed("s3://bucket/**/*.csv") ==
        texts{"s3://bucket/a/b/c/y.csv", "s3://bucket/a/b/x.csv", "s3://bucket/a/x.csv", "s3://bucket/b.csv"});
  CHECK(listed("s3://bucket/a/*/x.csv") == texts{"s3://bucket/a/b/x.csv"});
  CHECK(listed("s3://bucket/a/b/?/[yz].*") == texts{"s3://bucket/a/b/c/y.csv", "s3://bucket/a/b/c/z.txt"});
  CHECK(listed("s3://bucket/a/x.csv") == texts{"s3://bucket/a/x.csv"});
  CHECK(listed("s3://bucket/a/*/") == texts{"s3://bucket/a/b/", "s3://bucket/a/empty/"});
  CHECK(listed("s3://bucket/a/") == texts{"s3://bucket/a/"});
  CHECK(why_of_listing(w, "s3://bucket/**/").code() == status_code::unimplemented);
  CHECK(why_of_listing(w, "s3://bucket/*/b/").code() == status_code::unimplemented);
  const status none = why_of_listing(w, "s3://bucket/none-*");
  CHECK(none.code() == status_code::not_found);
  CHECK_THAT(none.to_string(), Catch::Contains("no file matches the pattern \"s3://bucket/none-*\""));
  CHECK(why_of_listing(w, "s3://bucket/none").code() == status_code::not_found);
  CHECK(why_of_listing(w, "s3://b*/x").code() == status_code::invalid_argument);
  CHECK(why_of_listing(w, "s3:///x").code() == status_code::invalid_argument);
  CHECK_THAT(why_of_listing(w, "s3://bucket").to_string(), Catch::Contains("a pattern is scheme://bucket/*"));
  CHECK(why_of_listing(w, "s3://bucket/").code() == status_code::invalid_argument);
}

TEST_CASE("folders are listed beside objects if they are requested") {
  store_world w;
  for (const char* key : {"a/x.csv", "b.csv", "c/d/x.csv", "c/e.csv"}) w.s3.put(key, key);
  auto listed = [&w](const std::string& pattern) {
    return paths_of(w.run(list_all(w.files(), pattern, {.with_folders = true})));
  };
  CHECK(listed("s3://bucket/*") == texts{"s3://bucket/a/", "s3://bucket/b.csv", "s3://bucket/c/"});
  CHECK(listed("s3://bucket/c/*") == texts{"s3://bucket/c/d/", "s3://bucket/c/e.csv"});
  CHECK(listed("s3://bucket/[b-c]*") == texts{"s3://bucket/b.csv", "s3://bucket/c/"});
  CHECK(listed("s3://bucket/*/") == texts{"s3://bucket/a/", "s3://bucket/c/"});
}

TEST_CASE("a bucket of another region is asked for there, with a signature for it") {
  store_world w;
  w.s3.region = "eu-west-1";
  w.s3.put("a", "hello");
  CHECK(w.run(read_store_file(w.files(), "s3://bucket/a")) == "hello");
  CHECK(w.server.log().size() == 2);
  CHECK_THAT(field_of(w.server.log().back().head, "Authorization"), Catch::Contains("/eu-west-1/s3/"));
  CHECK(w.run(list_all(w.files(), "s3://bucket/*")).size() == 1);
  CHECK(w.server.log().size() == 3);  // known by now

  // Amazon's own way: 301, of which a HEAD has nothing but a field.
  store_world moved;
  moved.s3.region = "eu-west-1";
  moved.s3.put("a", "hello");
  moved.server.answers([&moved](const asked_for& a) -> std::optional<reply> {
    if (field_of(a.head, "Authorization").find("/eu-west-1/") != std::string::npos) return moved.s3.answer(a);
    reply r = simulated_s3::failed(301, "PermanentRedirect");
    r.fields += "x-amz-bucket-region: eu-west-1\r\nLocation: http://elsewhere.test/\r\n";
    return r;
  });
  CHECK(moved.run(moved.files().stat("s3://bucket/a")).size_bytes == 5);
  CHECK(moved.run(read_store_file(moved.files(), "s3://bucket/a")) == "hello");
  CHECK(moved.server.log().size() == 3);

  store_world lost;  // a redirect that says no region
  lost.server.always({.code = 301, .fields = "Location: http://elsewhere.test/\r\n"});
  const status why = why_of_reading(lost, "s3://bucket/a");
  CHECK(why.code() == status_code::failed_precondition);
  CHECK_THAT(why.to_string(), Catch::Contains("set AWS_REGION"));
}

TEST_CASE("Amazon's own servers are found by bucket and region; the answer 301 leads to the right one") {
  store_world w;
  w.home.variables.erase("AWS_ENDPOINT_URL");
  detail::s3_settings settings = detail::settings_of({}, w.home.around()).value();
  CHECK(settings.url_of("bucket", "a%20b", "us-east-1").text() == "https://bucket.s3.us-east-1.amazonaws.com/a%20b");
  CHECK(settings.url_of("my.bucket", "k", "cn-north-1").text() == "https://s3.cn-north-1.amazonaws.com.cn/my.bucket/k");
  w.home.variables["AWS_DEFAULT_REGION"] = "eu-central-1";
  CHECK(detail::settings_of({}, w.home.around())->region == "eu-central-1");
  w.home.variables["AWS_REGION"] = "ap-south-1";
  CHECK(detail::settings_of({}, w.home.around())->region == "ap-south-1");
  w.home.variables["AWS_ENDPOINT_URL"] = "http://any:1";
  w.home.variables["AWS_ENDPOINT_URL_S3"] = "https://store.test";
  settings = detail::settings_of({}, w.home.around()).value();
  CHECK(settings.url_of("bucket", "k", "x").text() == "https://store.test/bucket/k");
  s3_options by_host;
  by_host.path_style = false;
  CHECK(detail::settings_of(by_host, w.home.around())->url_of("bucket", "k", "x").text() ==
        "https://bucket.store.test/k");
  w.home.variables["AWS_REGION"] = "../x";
  CHECK(!detail::settings_of({}, w.home.around()).ok());

  // A bucket's host of the first region says where it is.
  detail::http_client servers(w.world, w.lend(), http_options(), 1);
  detail::s3_settings of_amazon;
  of_amazon.region = "us-east-1";
  auto account = std::make_shared<detail::s3_account>(servers, w.home.around(), s3_options(), of_amazon);
  detail::s3_bucket bucket(account, "bucket");
  detail::http_request sent;
  sent.to = bucket.url_of("k");
  detail::response_head head;
  head.code = 301;
  REQUIRE(head.take("x-amz-bucket-region", "eu-west-3").ok());
  CHECK(bucket.explain(sent, head, "")->at_once);
  CHECK(bucket.url_of("k").host == "bucket.s3.eu-west-3.amazonaws.com");
  CHECK(!bucket.explain(sent, head, "")->at_once);  // nothing new
}

TEST_CASE("an error of S3 is reported with its code, the request's number, and advice") {
  {
    store_world w;
    const status why = why_of_reading(w, "s3://bucket/none");
    CHECK(why.code() == status_code::not_found);
    CHECK_THAT(why.to_string(), Catch::Contains("s3://bucket/none") &&
                                    Catch::Contains("404 Some Words: NoSuchKey: Words & NoSuchKey") &&
                                    Catch::EndsWith("(request id r0)"));
  }
  {
    store_world w;
    const status why = why_of_reading(w, "s3://other/none");
    CHECK(why.code() == status_code::not_found);
    CHECK_THAT(why.to_string(), Catch::Contains("NoSuchBucket") && Catch::Contains("the endpoint is http://s3.test"));
  }
  {
    store_world w;
    w.s3.known_keys = {"AKIDOTHER"};
    w.s3.put("a", "x");
    const status why = why_of_reading(w, "s3://bucket/a");
    CHECK(why.code() == status_code::unauthenticated);
    CHECK_THAT(why.to_string(), Catch::Contains("InvalidAccessKeyId") && Catch::Contains("AWS_ACCESS_KEY_ID") &&
                                    !Catch::Contains("env-secret"));
    CHECK(w.server.log().size() == 1);
  }
  {
    store_world w;
    w.s3.known_keys = {"AKIDOTHER"};
    w.home.variables["AWS_NO_SIGN_REQUEST"] = "true";
    const status why = why_of_listing(w, "s3://bucket/*");
    CHECK(why.code() == status_code::permission_denied);
    CHECK_THAT(why.to_string(), Catch::Contains("AccessDenied") && Catch::Contains("the bucket is not public"));
  }
  {
    store_world w;  // a redirect is not followed: what proves who asks goes to the store only
    w.server.script({{.code = 307, .fields = "Location: http://elsewhere.test/bucket/a\r\n"}});
    const status why = why_of_reading(w, "s3://bucket/a");
    CHECK(why.code() == status_code::failed_precondition);
    CHECK_THAT(why.to_string(), Catch::Contains("307"));
  }
}

TEST_CASE("a server that is busy is asked again, of ranges as of listings") {
  store_world w;
  w.s3.put("a", "hello");
  const deed busy{.code = 503, .body = "<Error><Code>SlowDown</Code><Message>Please</Message></Error>"};
  const deed late{.code = 400, .body = "<Error><Code>RequestTimeout</Code></Error>"};
  w.server.script({busy, late});
  CHECK(w.run(read_store_file(w.files(), "s3://bucket/a")) == "hello");
  CHECK(w.server.log().size() == 3);
  w.server.script({busy, {.reset_before_head = true}, busy, {.reset_at = 20}});
  CHECK(w.run(list_all(w.files(), "s3://bucket/*")).size() == 1);
  CHECK(w.server.log().size() == 8);
  w.server.always(busy);
  const status why = why_of_listing(w, "s3://bucket/*");
  CHECK(why.code() == status_code::unavailable);
  CHECK_THAT(why.to_string(), Catch::Contains("SlowDown: Please") && Catch::Contains("that was the last attempt"));
}

TEST_CASE("an object that is another one than was listed is not mixed with it") {
  store_world w;
  w.s3.put("a", some_bytes(3 * kMiB));
  auto listed = w.run(list_all(w.files(), "s3://bucket/*"));
  w.s3.put("a", some_bytes(3 * kMiB));
  std::optional<std::string> got;
  const status why =
      w.try_run(http_world::keep<std::string>(read_store_file(w.files(), listed[0].path, listed[0].info), got));
  CHECK(why.code() == status_code::failed_precondition);
  CHECK_THAT(why.to_string(), Catch::Contains("has changed since it was opened"));
}

TEST_CASE("a clock that is wrong is put right by the server's") {
  store_world w;
  w.s3.put("a", "hello");
  w.home.began_ns -= 3600 * std::int64_t{1'000'000'000};
  w.server.answers([&w](const asked_for& a) -> std::optional<reply> {
    if (field_of(a.head, "X-Amz-Date").starts_with("20261124T10")) return w.s3.answer(a);
    reply r = simulated_s3::failed(403, "RequestTimeTooSkewed");
    r.fields += "Date: Tue, 24 Nov 2026 10:00:00 GMT\r\n";
    return r;
  });
  CHECK(w.run(read_store_file(w.files(), "s3://bucket/a")) == "hello");
  CHECK(w.server.log().size() == 2);
}

TEST_CASE("options of S3 that contradict each other are refused") {
  runtime rt;
  auto none = []() -> std::shared_ptr<network> { return {}; };
  s3_options o;
  o.endpoint = "store.test";
  CHECK_THROWS_WITH(add_s3(rt, none, o), Catch::Contains("s3_options::endpoint"));
  o.endpoint = "http://store.test/path";
  CHECK_THROWS_WITH(add_s3(rt, none, o), Catch::Contains("has a path"));
  o.endpoint.clear();
  o.access_key_id = "AKID";
  CHECK_THROWS_WITH(add_s3(rt, none, o), Catch::Contains("go together"));
  o.secret_access_key = "hidden";
  o.anonymous = true;
  CHECK_THROWS_WITH(add_s3(rt, none, o), Catch::Contains("only one of them") && !Catch::Contains("hidden"));
  o.anonymous = false;
  add_s3(rt, none, o);
  CHECK_THROWS_WITH(add_s3(rt, none, o), Catch::Contains("a file system for s3:// was added before"));
}

TEST_CASE("a listing whose bytes only trickle has stalled, and is asked for again") {
  store_world w;
  for (int i = 0; i != 50; ++i) w.s3.put("dir/" + std::to_string(100 + i), "x");
  s3_options own;
  own.http.stall_timeout = 2s;
  own.http.stall_bytes = 1000;
  w.server.script({{.piece = 150, .between = 900ms}});
  CHECK(w.run(list_all(w.files(own), "s3://bucket/dir/*")).size() == 50);
  CHECK(w.server.log().size() == 2);
  CHECK(w.world.elapsed() < 10s);
  w.server.script({{.piece = 1000, .between = 1s}});  // slow is not dead
  CHECK(w.run(list_all(w.files(own), "s3://bucket/dir/*")).size() == 50);
  CHECK(w.server.log().size() == 3);
}
#endif

}  // namespace sluice::lib::s3_test
