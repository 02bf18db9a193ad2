// SPDX-License-Identifier: Apache-2.0
// Over real sockets, what can happen to an answer between a server and a reader: the bytes are those of the source, or the error
// says which object, range, attempt and request; there are no more requests than that takes, and nothing is left behind.
// SLUICE_TEST_LOUD=1 prints a line for each case.
#include <catch2/catch.hpp>

#if SLUICE_HAVE_TLS
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <thread>

#include "http/suffered_run.hpp"
#include "sluice/io/open_file_system.hpp"

namespace sluice::lib::fault_proxy_test {
using namespace sluice::lib::testing;
using namespace std::chrono_literals;

namespace {

/// At once: most of a case is waiting. Those that read 40 MiB have buffers of that size.
constexpr std::size_t kAtOnce = 24, kLargeAtOnce = 12;
/// A case that takes longer hangs. Sanitizers make things slow.
constexpr auto kHangs = 120s;

std::size_t descriptors_open() {
  std::size_t n = 0;
  for (auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) n += !entry.path().empty();
  return n;
}

bool is_loud() { return std::getenv("SLUICE_TEST_LOUD") != nullptr; }
bool is_quick() {
  const char* budget = std::getenv("SLUICE_TEST_BUDGET");
  return budget && std::string_view(budget) == "small";
}

/// Ends the process, saying what hangs, where a case is not over in time: else nobody would know which.
class watchdog {
 public:
  watchdog() : thread_([this] { watch(); }) {}
  ~watchdog() {
    {
      std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  void begin(std::size_t n, std::string name) {
    std::lock_guard lock(mutex_);
    running_[n] = {std::move(name), std::chrono::steady_clock::now()};
  }
  void end(std::size_t n) {
    std::lock_guard lock(mutex_);
    running_.erase(n);
  }

 private:
  void watch() {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, 1s, [this] { return is_over_; }))
      for (const auto& [n, what] : running_)
        if (std::chrono::steady_clock::now() - what.second > kHangs) {
          std::fprintf(stderr, "hangs: %s\n", what.first.c_str());
          std::abort();
        }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::size_t, std::pair<std::string, std::chrono::steady_clock::time_point>> running_;
  bool is_over_ = false;
  std::thread thread_;
};

/// A root of the tests' own, and certificates of it.
class certificates {
 public:
  certificates() {
    const std::string make = "python3 tests/http/servers/certificates.py " + folder_.path("") + " >/dev/null 2>&1";
    are_there_ = std::system(make.c_str()) == 0;
    if (!are_there_) WARN("skipped, as far as it is TLS: certificates are made by openssl and python3");
  }
  bool are_there() const { return are_there_; }
  std::string root() const { return folder_.path("root.pem"); }
  std::shared_ptr<SSL_CTX> of(const std::string& name) const {
    return server_context(folder_.path(name + ".pem"), folder_.path(name + ".key"));
  }

 private:
  temporary_folder folder_;
  bool are_there_ = false;
};

std::vector<setting> settings(bool tls) {
  std::vector<setting> all;
  for (const char* io : {"uring", "threads"})
    for (unsigned workers : {1u, 2u}) all.push_back({io, workers, tls});
  if (!open_file_system({.backend = io_backend::uring}).ok()) {
    WARN("skipped: this machine has no io_uring");
    all.erase(all.begin(), all.begin() + 2);
  }
  return all;
}

struct wanted {
  const reading* what;
  const suffering* of;
  setting how;
  suffered got = {};
  std::string name() const {
    return what->name + ", " + of->name + (how.tls ? ", TLS, " : ", ") + how.io + ", " + std::to_string(how.workers) +
           (how.workers == 1 ? " worker" : " workers");
  }
  status_code expected() const { return what->is_large() ? of->large : of->small; }
  /// Of requests that were not sound, at most: those that the script has, or all attempts of all objects that suffer.
  std::size_t unsound_max() const;
  std::size_t requests_max() const;
};

std::size_t wanted::unsound_max() const {
  const std::size_t objects = (what->objects.size() + 2) / 3;
  const std::size_t scripted = what->is_large() && of->later.empty() && of->faults.size() == 1 ? 2 : of->faults.size();
  if (!of->continues) return objects * std::max(scripted, of->later.size());
  // Each dirties a connection, or ends before its range does, once.
  if (expected() == status_code::ok) return what->requests * 2;
  // Each range that is in flight (the first, and four ahead of it) has three attempts; on a connection that served
  // another object before, one is free.
  return what->is_large() ? 5 * 3 : objects * 3 + (objects == 1 ? 0 : got.connections);
}

/// Hedges are one in twenty; who gives up early may do so once more than there is reason to, on a machine that is busy.
std::size_t wanted::requests_max() const {
  const bool is_all_unsound = of->continues && what->objects.size() == 1;
  const std::size_t n = (is_all_unsound ? 0 : what->requests) + unsound_max();
  return n + n / 20 + (n >= 32) + (of->needs_patience && !of->continues ? 8 : 0);
}

void run_all(source_of_objects& from, std::vector<wanted>& all, const certificates& trusted) {
  const auto tls = trusted.are_there() ? trusted.of("good") : nullptr;
  watchdog watching;
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i != (all.front().what->is_large() ? kLargeAtOnce : kAtOnce); ++i)
    threads.emplace_back([&] {
      for (std::size_t n; (n = next.fetch_add(1)) < all.size();) {
        wanted& w = all[n];
        watching.begin(n, w.name());
        w.got = run_suffering(from, *w.what, *w.of, w.how, tls, w.how.tls ? trusted.root() : std::string());
        watching.end(n);
      }
    });
  for (std::thread& t : threads) t.join();
}

void check_error(const wanted& w) {
  const std::string said = w.got.why.to_string();
  CHECK_THAT(said, Catch::Contains("://127.0.0.1:") && Catch::Contains("/raw/" + w.what->objects[0].substr(0, 4)));
  CHECK_THAT(said, Catch::Contains(": bytes ") && Catch::Contains(", attempt "));
  CHECK_THAT(said, Catch::Contains(w.of->words));
  if (w.of->tells_number) CHECK_THAT(said, Catch::Contains("request id p"));
}

void check(const wanted& w) {
  const suffered& got = w.got;
  INFO(w.name() << ": " << got.why.to_string());
  CHECK(got.why.code() == w.expected());
  if (got.why.ok()) {
    CHECK(got.bytes_given == w.what->bytes);
    CHECK(got.sha256 == w.what->sha256);
  } else {
    check_error(w);
  }
  CHECK(got.log.size() <= w.requests_max());
  CHECK(got.ledger == 0);
  CHECK(got.is_idle);
  CHECK(got.took >= w.of->takes);
  // What is sent twice was in flight when an answer was cut off.
  if (got.why.ok()) CHECK(got.bytes_sent() <= w.what->bytes + (got.log.size() - got.sound() + 1) * (8u << 20));
}

void show(const wanted& w) {
  const suffered& got = w.got;
  std::printf("%-20s %-31s %-5s %-7s %u  %-20s %3zu requests (<= %3zu)  %3zu connections  %5.2f x bytes  %5lld ms\n",
              w.what->name.c_str(), w.of->name.c_str(), w.how.tls ? "TLS" : "plain", w.how.io.c_str(), w.how.workers,
              got.why.ok() ? "SHA-256 equal" : std::string(to_string(got.why.code())).c_str(), got.log.size(),
              w.requests_max(), got.connections,
              static_cast<double>(got.bytes_sent()) / static_cast<double>(w.what->bytes),
              static_cast<long long>(got.took.count()));
}

void show_sums(const source_of_objects& from, const std::vector<wanted>& all, std::size_t before) {
  std::size_t equal = 0, typed = 0, requests = 0, most = 0;
  std::chrono::milliseconds longest{0};
  for (const wanted& w : all) {
    show(w);
    ++(w.got.why.ok() ? equal : typed);
    requests += w.got.log.size();
    most += w.requests_max();
    longest = std::max(longest, w.got.took);
  }
  std::printf(
      "%zu cases behind %s: %zu SHA-256 equal, %zu typed errors; %zu requests, %zu allowed; longest %lld ms; "
      "descriptors %zu before, %zu after; ledgers 0\n",
      all.size(), from.server(), equal, typed, requests, most, static_cast<long long>(longest.count()), before,
      descriptors_open());
}

void suffer(source_of_objects& from, std::vector<wanted> all) {
  certificates trusted;
  if (!trusted.are_there()) std::erase_if(all, [](const wanted& w) { return w.how.tls; });
  std::vector<wanted> first{all.front()};  // libraries open files of their own when they are first used
  run_all(from, first, trusted);
  REQUIRE(from.wait_until_idle());
  const std::size_t before = descriptors_open();
  run_all(from, all, trusted);
  CHECK(from.wait_until_idle());
  CHECK(descriptors_open() == before);
  for (const wanted& w : all) check(w);
  if (is_loud()) show_sums(from, all, before);
}

/// Every suffering that this transport has, of one kind of reading, with every back end and on one and two workers.
std::vector<wanted> cases(const source_of_objects& from, std::size_t which, bool tls) {
  std::vector<wanted> all;
  std::vector<setting> with = settings(tls);
  if (is_quick()) with.erase(with.begin(), with.end() - 1);
  for (const suffering& s : all_sufferings()) {
    if (!s.handshakes.empty() && !tls) continue;
    for (const setting& how : with) all.push_back({&from.readings()[which], &s, how});
  }
  return all;
}

}  // namespace

TEST_CASE("a small object is read in spite of faulty answers, or the error explains all of them") {
  source_of_objects from(true);
  for (bool tls : {false, true}) suffer(from, cases(from, 0, tls));
}

TEST_CASE("an object of many ranges is read in spite of faulty answers, or the error explains all of them") {
  source_of_objects from(true);
  suffer(from, cases(from, 1, false));
}

TEST_CASE("an object of many ranges is read in spite of faults over TLS, or the error explains all of them") {
  source_of_objects from(true);
  // 40 MiB are much to encrypt, and nothing of TLS depends on how local files are read.
  std::vector<wanted> all = cases(from, 1, true);
  std::erase_if(all, [](const wanted& w) { return (w.how.io == "uring") != (w.how.workers == 2); });
  suffer(from, std::move(all));
}

TEST_CASE("many objects are read in spite of faulty answers, or the error explains all of them") {
  source_of_objects from(true);
  for (bool tls : {false, true}) suffer(from, cases(from, 2, tls));
}

TEST_CASE("the results are the same behind another server") {
  source_of_objects from(false);
  for (std::size_t which : {0u, 1u, 2u}) {
    std::vector<wanted> all = cases(from, which, false);
    std::erase_if(all,
                  [](const wanted& w) { return w.how.workers == 1 || w.how.io == "uring" || w.of->needs_patience; });
    suffer(from, std::move(all));
  }
}

TEST_CASE("certificates that do not hold are refused over real sockets, once, and nothing is asked for") {
  source_of_objects from(true);
  certificates trusted;
  if (!trusted.are_there()) return;
  const suffering none{.name = "none"};
  struct refusal {
    const char *name, *words;
  };
  for (auto [name, words] :
       {refusal{"expired", "it has expired ("}, refusal{"other", "it is for another host (elsewhere.example)"},
        refusal{"unknown", "its root is not trusted"}})
    for (const setting& how : settings(true)) {
      const suffered got = run_suffering(from, from.readings()[0], none, how, trusted.of(name), trusted.root());
      const std::string said = got.why.to_string();
      INFO(said);
      CHECK(got.why.code() == status_code::unauthenticated);
      CHECK_THAT(said, Catch::Contains("https://127.0.0.1:") && Catch::Contains("bytes 0-1048575, attempt 1"));
      CHECK_THAT(said, Catch::Contains(words));
      CHECK(got.log.empty());
      CHECK(got.connections == 1);
      CHECK(got.ledger == 0);
      CHECK(got.is_idle);
      if (is_loud())
        std::printf("%-8s %-7s %u  refused: %zu handshake, %zu requests\n", name, how.io.c_str(), how.workers,
                    got.connections, got.log.size());
    }
}

#endif

}  // namespace sluice::lib::fault_proxy_test
