// SPDX-License-Identifier: Apache-2.0
#if SLUICE_HAVE_TLS
#include "http/suffered_run.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "sluice/io/asio_network.hpp"
#include "sluice/io/http.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kRecord = 16 << 10;
constexpr std::size_t kSmall = 6 * kRecord, kLarge = 40 << 20;
constexpr std::size_t kMany = 16, kCycle = 8;
/// 8 to 12, as its ranges double from 1 MiB to 8: by when they are wanted. 40 of the smallest would be.
constexpr std::size_t kRequestsOfLarge = 16;
/// How long those wait who are to give up; far beyond what a sound answer takes.
constexpr auto kShortPatience = 500ms;
constexpr std::uint32_t kAttempts = 3;

const std::string kConfig =
    R"(daemon off; master_process off; worker_processes 1; pid FOLDER/nginx.pid; error_log FOLDER/error.log warn;
events { worker_connections 4096; }
http { access_log off; sendfile on; tcp_nodelay on; keepalive_requests 1000000;
  client_body_temp_path FOLDER/tmp; proxy_temp_path FOLDER/tmp; fastcgi_temp_path FOLDER/tmp;
  uwsgi_temp_path FOLDER/tmp; scgi_temp_path FOLDER/tmp;
  server { listen 127.0.0.1:PORT; location /raw/ { alias OBJECTS/; } } }
)";

std::string replaced(std::string text, const std::string& word, const std::string& by) {
  for (std::size_t at; (at = text.find(word)) != std::string::npos;) text.replace(at, word.size(), by);
  return text;
}

class digest {
 public:
  digest() { EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr); }
  void add(std::string_view bytes) { EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()); }
  std::string hex() {
    unsigned char out[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    EVP_DigestFinal_ex(context_.get(), out, &n);
    std::string text;
    for (unsigned i = 0; i != n; ++i)
      for (int half : {out[i] >> 4, out[i] & 15}) text += "0123456789abcdef"[half];
    return text;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context_{EVP_MD_CTX_new(), &EVP_MD_CTX_free};
};

task<> read_all(runtime& rt, std::string names, std::size_t cycle, digest& of, std::uint64_t& bytes, status& why) {
  fixed_length_options records{.record_bytes = kRecord};
  interleave_options turns{.cycle_length = cycle, .parallelism = cycle};
  auto ds = lines(names) | map([](const line& l) { return std::string(l.view()); }) |
            interleave(fixed_length(records), turns);
  auto s = ds.iterate(rt);
  for (;;) {
    auto x = co_await s.try_next();
    if (!x) {
      why = x.why;
      break;
    }
    of.add(x->view());
    bytes += x->size();
  }
  auto end = cleanup(std::move(s));
  co_await end;
}

/// A file with the names of the objects, each behind `place`.
std::string write_names(const temporary_folder& folder, const reading& what, const std::string& place) {
  std::string text;
  for (const std::string& o : what.objects) text += place + o + "\n";
  return folder.write("names", text);
}

void script(fault_proxy& proxy, const reading& what, const suffering& of) {
  if (!of.handshakes.empty()) proxy.script_handshakes(of.handshakes, of.handshakes_go_on);
  std::vector<fault> faults = of.faults;
  if (what.is_large() && !of.later.empty()) faults = of.later;
  else if (what.is_large() && faults.size() == 1 && !of.continues) faults = {faults[0], {}, faults[0]};
  // Every third object: most of them are read beside those that suffer.
  for (std::size_t i = 0; i < what.objects.size(); i += 3)
    proxy.script("/raw/" + what.objects[i], faults, of.continues);
}

}  // namespace

std::size_t suffered::sound() const {
  return static_cast<std::size_t>(std::count_if(log.begin(), log.end(), [](const proxied& p) { return p.was_sound; }));
}

std::uint64_t suffered::bytes_sent() const {
  std::uint64_t n = 0;
  for (const proxied& p : log) n += p.bytes;
  return n;
}

void source_of_objects::write_objects() {
  std::mt19937_64 draw(20261124);
  auto put = [&](const std::string& name, std::size_t n) {
    std::string bytes(n, '\0');
    for (std::size_t i = 0; i < n; i += 8) {
      const std::uint64_t x = draw();
      std::copy_n(reinterpret_cast<const char*>(&x), 8, bytes.begin() + static_cast<std::ptrdiff_t>(i));
    }
    folder_.write("objects/" + name, bytes);
    objects_["/raw/" + name] = std::move(bytes);
  };
  put("small", kSmall);
  put("large", kLarge);
  readings_.push_back({"one small object", {"small"}, 1, kSmall, 1});
  readings_.push_back({"an object of 40 MiB", {"large"}, 1, kLarge, kRequestsOfLarge});
  reading many{"16 objects in turns", {}, kCycle, kMany * kSmall, kMany};
  for (std::size_t i = 0; i != kMany; ++i) {
    many.objects.push_back("part-" + std::to_string(i));
    put(many.objects.back(), kSmall);
  }
  readings_.push_back(std::move(many));
  for (reading& r : readings_) r.sha256 = local_sha256(folder_, r);
}

source_of_objects::source_of_objects(bool with_nginx) {
  write_objects();
  if (with_nginx && nginx_.exists()) {
    std::string config = replaced(kConfig, "OBJECTS", folder_.path("objects"));
    config = replaced(replaced(config, "FOLDER", nginx_.folder().string()), "PORT", nginx_.port());
    const std::string log = (nginx_.folder() / "error.log").string();
    objects_.clear();
    nginx_.start({"-c", folder_.write("nginx.conf", config), "-e", log}, {});
  } else {
    own_ = std::make_unique<object_server>(std::move(objects_));
  }
}

std::string local_sha256(const temporary_folder& folder, const reading& what) {
  runtime rt({.workers = 1, .memory_budget_bytes = 64 << 20, .io = "threads"});
  digest of;
  std::uint64_t bytes = 0;
  status why;
  temporary_folder names;
  sync_wait(rt, read_all(rt, write_names(names, what, folder.path("objects/")), what.cycle, of, bytes, why));
  REQUIRE(why.ok());
  REQUIRE(bytes == what.bytes);
  return of.hex();
}

suffered run_suffering(source_of_objects& from, const reading& what, const suffering& of, const setting& how,
                       const std::shared_ptr<SSL_CTX>& tls, const std::string& ca_file) {
  const auto began = std::chrono::steady_clock::now();
  suffered got;
  fault_proxy proxy(from.port(), how.tls ? tls : nullptr);
  script(proxy, what, of);
  temporary_folder names;
  const std::string place =
      (how.tls ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(proxy.port()) + "/raw/";
  {
    runtime rt({.workers = how.workers, .memory_budget_bytes = 64 << 20, .io = how.io});
    http_options options;
    options.ca_file = ca_file;
    if (of.continues || of.handshakes_go_on) options.attempts_max = kAttempts;
    if (of.needs_patience) options.stall_timeout = options.connect_timeout = kShortPatience;
    add_http(rt, make_asio_network, options);
    digest sum;
    sync_wait(rt, read_all(rt, write_names(names, what, place), what.cycle, sum, got.bytes_given, got.why));
    got.sha256 = sum.hex();
    got.ledger = rt.ledger().used_bytes();
  }
  got.is_idle = proxy.wait_until_idle(10s);
  got.log = proxy.log();
  got.connections = proxy.connections();
  got.took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began);
  return got;
}

}  // namespace sluice::lib::testing
#endif
