// SPDX-License-Identifier: Apache-2.0
// The same against servers that nobody here wrote, over real sockets: versitygw (S3 over a folder; it checks every
// signature), moto (S3 for tests) and fake-gcs-server. Each is started and stopped by its test, which says so where
// it cannot be had (`./dev deps stores` installs them).
#include <catch2/catch.hpp>

#if SLUICE_HAVE_STORES && SLUICE_HAVE_ASIO
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "http/server_process.hpp"
#include "http/stores/store_world.hpp"
#include "io/gcs/gcs_store.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/coro/when_all.hpp"
#include "sluice/io/asio_network.hpp"

namespace sluice::lib::real_stores_test {
using namespace sluice::lib::testing;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kPageKeys = 1000;

detail::surroundings nowhere() {
  detail::surroundings s = detail::surroundings::of_process();
  s.variable = [](const char*) -> std::optional<std::string> { return {}; };
  return s;
}

s3_options options_of(const server_process& server, std::string secret = "a-secret") {
  s3_options o;
  o.endpoint = server.url();
  o.access_key_id = "AKIDEXAMPLE";
  o.secret_access_key = std::move(secret);
  return o;
}

/// A runtime of its own with one store.
struct real_world {
  explicit real_world(s3_options o)
      : store(std::make_shared<detail::s3_store>(rt.time(), make_asio_network, std::move(o), 1, nowhere())) {
    add_files(rt, "s3", std::make_unique<detail::store_file_system>(rt, store));
  }
  explicit real_world(gcs_options o)
      : store(std::make_shared<detail::gcs_store>(rt.time(), make_asio_network, std::move(o), 1, nowhere())) {
    add_files(rt, "gs", std::make_unique<detail::store_file_system>(rt, store));
  }
  file_system& files() { return files_of(rt); }
  template <class T> T run(task<T> work) { return sync_wait(rt, std::move(work)); }
  status why(task<> work) { return sync_wait_result(rt.root(), std::move(work)); }
  status why_of_reading(std::string path, std::optional<file_info> known = {}) {
    auto reading = [](file_system& from, std::string p, std::optional<file_info> k) -> task<> {
      auto one = read_store_file(from, std::move(p), std::move(k));
      (void)co_await one;
    };
    return why(reading(files(), std::move(path), std::move(known)));
  }
  /// A request for the bucket itself.
  std::string ask(std::string method, std::string query) {
    auto asking = [](detail::object_store& of, std::string m, std::string q) -> task<std::string> {
      auto placing = of.place_of({"s3://bucket", "bucket", ""}, kNever);
      detail::store_place place = co_await placing;
      detail::http_request r;
      r.method = std::move(m);
      r.to = place.url;
      r.to.target += q;
      std::shared_ptr<detail::http_servers> servers(std::shared_ptr<void>(), &of.client());
      auto one = detail::http_call(std::move(servers), place.service, std::move(r), {});
      auto answer = co_await one;
      co_return std::move(answer.body);
    };
    return run(asking(*store, std::move(method), std::move(query)));
  }

  runtime rt{{.workers = 2}};
  std::shared_ptr<detail::object_store> store;
};

std::vector<std::string> paths_of(const std::vector<listed_file>& files) {
  std::vector<std::string> all;
  for (const listed_file& f : files) all.push_back(f.path);
  return all;
}

/// Written, looked up, read and listed: the bytes and what is known of them are the same in all of these.
void check_objects(real_world& w, const std::string& root) {
  const std::vector<std::pair<std::string, std::size_t>> objects{
      {"dir/empty", 0}, {"dir/one byte+&=%20\xc3\xa9[1]", 1}, {"dir/small", 100'000}, {"dir/sub/large", 20 * kMiB + 5}};
  for (const auto& [key, size] : objects) {
    INFO(key);
    const file_info info = w.run(write_store_file(w.files(), root + key, some_bytes(size)));
    CHECK(info.size_bytes == size);
    CHECK(w.run(w.files().stat(root + key)) == info);
    CHECK((w.run(read_store_file(w.files(), root + key)) == some_bytes(size)));
    const auto listed = w.run(list_all(w.files(), root + "**"));
    auto found = std::find_if(listed.begin(), listed.end(), [&](const listed_file& f) { return f.path == root + key; });
    REQUIRE(found != listed.end());
    CHECK(found->info == info);
    CHECK((w.run(read_store_file(w.files(), root + key, found->info)) == some_bytes(size)));
  }
  CHECK(paths_of(w.run(list_all(w.files(), root + "dir/*m*"))) == std::vector{root + "dir/empty", root + "dir/small"});
  CHECK(paths_of(w.run(list_all(w.files(), root + "*/*/l?rg[a-e]"))) == std::vector{root + "dir/sub/large"});
  CHECK(paths_of(w.run(list_all(w.files(), root + "dir/*/"))) == std::vector{root + "dir/sub/"});

  const status missing = w.why_of_reading(root + "none");
  CHECK(missing.code() == status_code::not_found);
  CHECK_THAT(missing.to_string(), Catch::Contains(root + "none"));

  const file_info before = w.run(w.files().stat(root + "dir/small"));
  w.run(write_store_file(w.files(), root + "dir/small", some_bytes(100'001)));
  const status changed = w.why_of_reading(root + "dir/small", before);
  CHECK(changed.code() == status_code::failed_precondition);
}

task<> write_many(file_system& to, std::string root, std::size_t from, std::size_t until) {
  for (std::size_t i = from; i != until; ++i) {
    auto one = write_store_file(to, root + "many/" + std::to_string(10'000 + i), "x");
    co_await one;
  }
}

/// More keys than a page has.
void check_pages(real_world& w, const std::string& root) {
  auto all = [](file_system& to, std::string at) -> task<> {
    std::vector<task<>> lanes;
    constexpr std::size_t kLanes = 16;
    for (std::size_t i = 0; i != kLanes; ++i)
      lanes.push_back(write_many(to, at, i * (kPageKeys + 24) / kLanes, (i + 1) * (kPageKeys + 24) / kLanes));
    co_await when_all(std::move(lanes));
  };
  const status written = w.why(all(w.files(), root));
  INFO(written.to_string());
  REQUIRE(written.ok());
  const auto paths = paths_of(w.run(list_all(w.files(), root + "many/*")));
  CHECK(paths.size() == kPageKeys + 24);
  CHECK(std::is_sorted(paths.begin(), paths.end()));
  CHECK(std::adjacent_find(paths.begin(), paths.end()) == paths.end());
}

task<> a_moment() { co_await sleep_for(50ms); }

task<> begin_and_drop(file_system& files, std::string path) {
  auto creating = files.create(std::move(path));
  auto to = co_await creating;
  buffer_ref room(buffer::make(kMiB));
  for (int i = 0; i != 40; ++i) {
    auto writing = to->write(room, 0, kMiB);
    co_await writing;
  }
}

}  // namespace

TEST_CASE("versitygw: objects are written, read and listed, with signatures that it checks") {
  server_process server("versitygw");
  const std::filesystem::path root = server.folder() / "root";
  std::filesystem::create_directories(root / "bucket");
  if (!server.start({"--port", server.address(), "--region", "us-east-1", "posix", root.string()},
                    {"ROOT_ACCESS_KEY=AKIDEXAMPLE", "ROOT_SECRET_KEY=a-secret"}))
    return;
  real_world w(options_of(server));
  check_objects(w, "s3://bucket/");
  check_pages(w, "s3://bucket/");
  {
    real_world brief(options_of(server));  // its end waits until the parts are thrown away
    CHECK(brief.why(begin_and_drop(brief.files(), "s3://bucket/dropped")).ok());
  }
  CHECK_THAT(w.ask("GET", "?uploads="), !Catch::Contains("<UploadId>"));
  CHECK(w.why(begin_and_drop(w.files(), "s3://bucket/dropped")).ok());
  std::string uploads;
  for (int i = 0; i != 100 && (uploads.empty() || uploads.find("<UploadId>") != std::string::npos); ++i) {
    if (i != 0) CHECK(w.why(a_moment()).ok());
    uploads = w.ask("GET", "?uploads=");
  }
  CHECK_THAT(uploads, Catch::Contains("ListMultipartUploadsResult") && !Catch::Contains("<UploadId>"));
  CHECK(w.why_of_reading("s3://bucket/dropped").code() == status_code::not_found);

  real_world stranger(options_of(server, "another-secret"));
  const status refused = stranger.why_of_reading("s3://bucket/dir/small");
  CHECK(refused.code() == status_code::unauthenticated);
  CHECK_THAT(refused.to_string(), Catch::Contains("SignatureDoesNotMatch") && !Catch::Contains("another-secret"));
  s3_options nobody;
  nobody.endpoint = server.url();
  nobody.anonymous = true;
  real_world anonymous(nobody);
  CHECK(anonymous.why_of_reading("s3://bucket/dir/small").code() == status_code::permission_denied);
  s3_options elsewhere = options_of(server);
  elsewhere.region = "eu-west-1";  // the server says which region is its own
  real_world traveller(elsewhere);
  const status moved = traveller.why_of_reading("s3://bucket/dir/small");
  INFO(moved.to_string());
  CHECK(moved.ok());
}

TEST_CASE("versitygw over TLS: bodies are not signed, and the server takes them") {
  server_process server("versitygw");
  const std::filesystem::path root = server.folder() / "root", key = server.folder() / "key.pem",
                              certificate = server.folder() / "certificate.pem";
  std::filesystem::create_directories(root / "bucket");
  const std::string make =
      "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=test -addext " +
      ("subjectAltName=IP:127.0.0.1 -keyout " + key.string() + " -out " + certificate.string()) + " 2>/dev/null";
  if (std::system(make.c_str()) != 0) {
    WARN("skipped: this machine has no openssl");
    return;
  }
  if (!server.start({"--port", server.address(), "--region", "us-east-1", "--cert", certificate.string(), "--key",
                     key.string(), "posix", root.string()},
                    {"ROOT_ACCESS_KEY=AKIDEXAMPLE", "ROOT_SECRET_KEY=a-secret"}))
    return;
  s3_options o = options_of(server);
  o.endpoint = "https://" + server.address();
  o.http.ca_file = certificate.string();
  real_world w(o);
  check_objects(w, "s3://bucket/");
}

TEST_CASE("moto: objects are written, read and listed") {
  server_process server("moto_server");
  if (!server.start({"-H", "127.0.0.1", "-p", server.port()}, {})) return;
  real_world w(options_of(server));
  w.ask("PUT", "");
  check_objects(w, "s3://bucket/");
  CHECK(w.why(begin_and_drop(w.files(), "s3://bucket/dropped")).ok());
  CHECK(w.why_of_reading("s3://bucket/dropped").code() == status_code::not_found);
}

TEST_CASE("fake-gcs-server: objects are written, read and listed") {
  server_process server("fake-gcs-server");
  std::filesystem::create_directories(server.folder() / "data" / "bucket");
  if (!server.start({"-scheme", "http", "-host", "127.0.0.1", "-port", server.port(), "-backend", "memory", "-data",
                     (server.folder() / "data").string(), "-public-host", server.address()},
                    {}))
    return;
  gcs_options o;
  o.endpoint = server.url();
  real_world w(o);
  check_objects(w, "gs://bucket/");
  check_pages(w, "gs://bucket/");
  CHECK(w.why(begin_and_drop(w.files(), "gs://bucket/dropped")).ok());
  CHECK(w.why_of_reading("gs://bucket/dropped").code() == status_code::not_found);
}
#endif

}  // namespace sluice::lib::real_stores_test
