// SPDX-License-Identifier: Apache-2.0
// TLS over a simulated network: the same bytes, whatever the network does; and certificates that do not hold.
#include <catch2/catch.hpp>

#if SLUICE_HAVE_TLS
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>

#include "http/http_world.hpp"
#include "io/http/connections/tls_connection.hpp"
#include "io/temporary_folder.hpp"
#include "sluice/io/read_file.hpp"

namespace sluice::lib::tls_test {
using namespace sluice::lib::testing;

namespace {

struct identity {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = X509_new();
  identity() = default;
  identity(const identity&) = delete;
  ~identity() {
    X509_free(certificate);
    EVP_PKEY_free(key);
  }
};

/// Signed by itself, for `names` ("DNS:objects"), until so many seconds from now.
void sign(identity& who, const char* names, long seconds) {
  X509* c = who.certificate;
  X509_set_version(c, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(c), 1);
  X509_gmtime_adj(X509_getm_notBefore(c), -3600);
  X509_gmtime_adj(X509_getm_notAfter(c), seconds);
  X509_set_pubkey(c, who.key);
  X509_NAME* name = X509_get_subject_name(c);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("test"), -1, -1, 0);
  X509_set_issuer_name(c, name);
  X509_EXTENSION* alternatives = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names);
  X509_add_ext(c, alternatives, -1);
  X509_EXTENSION_free(alternatives);
  REQUIRE(X509_sign(c, who.key, EVP_sha256()) != 0);
}

std::string write_certificate(const temporary_folder& folder, const identity& who) {
  std::string path = folder.path("root.pem");
  std::FILE* to = std::fopen(path.c_str(), "w");
  REQUIRE(to);
  PEM_write_X509(to, who.certificate);
  std::fclose(to);
  return path;
}

SSL_CTX* server_context(const identity& who) {
  SSL_CTX* context = SSL_CTX_new(TLS_server_method());
  SSL_CTX_use_certificate(context, who.certificate);
  SSL_CTX_use_PrivateKey(context, who.key);
  return context;
}

class tls_listener final : public listener {
 public:
  tls_listener(SSL_CTX* context, std::unique_ptr<listener> below) : context_(context), below_(std::move(below)) {}
  task<std::unique_ptr<connection>> accept(time_point deadline) override {
    for (;;) {
      auto accepting = below_->accept(deadline);
      std::unique_ptr<connection> plain = co_await accepting;
      auto secured = std::make_unique<detail::tls_connection>(context_, std::move(plain));
      auto shaking = secured->accept(deadline);
      status why = co_await shaking.as_result();
      if (why.code() == status_code::cancelled) co_await fail(why);
      if (why.ok()) co_return secured;
    }
  }
  const std::string& address() const noexcept override { return below_->address(); }
  void close() noexcept override { below_->close(); }

 private:
  SSL_CTX* context_;
  std::unique_ptr<listener> below_;
};

/// What listens there speaks TLS.
class tls_network final : public network {
 public:
  tls_network(SSL_CTX* context, network& below) : context_(context), below_(below) {}
  task<std::unique_ptr<listener>> listen(std::string address, time_point deadline) override {
    auto listening = below_.listen(std::move(address), deadline);
    std::unique_ptr<listener> door = co_await listening;
    co_return std::make_unique<tls_listener>(context_, std::move(door));
  }
  task<std::unique_ptr<connection>> connect(std::string address, time_point deadline) override {
    return below_.connect(std::move(address), deadline);
  }

 private:
  SSL_CTX* context_;
  network& below_;
};

struct tls_world {
  tls_world(std::uint64_t seed, const char* names, long seconds, bool trusts = true,
            simulated_network_options cables = {})
      : world(seed), cable(std::make_shared<simulated_network>(world, cables)) {
    sign(who, names, seconds);
    context = server_context(who);
    secured = std::make_unique<tls_network>(context, *cable);
    server = std::make_unique<scripted_server>(*secured, "objects:443");
    http_options options;
    options.stall_timeout = std::chrono::seconds(5);
    identity other;
    sign(other, "DNS:objects", 3600);
    options.ca_file = write_certificate(folder, trusts ? who : other);
    auto lend = [shared = cable]() -> std::shared_ptr<network> { return shared; };
    files = std::make_shared<detail::http_file_system>(world, lend, std::move(options), seed);
    add_files(rt, "https", std::make_unique<lent_files>(*files));
  }
  ~tls_world() { SSL_CTX_free(context); }
  result<std::string> read(std::string path) {
    std::optional<std::string> got;
    auto client = http_world::keep<std::string>(read_file(rt, std::move(path)), got);
    status why = sync_wait_result(rt.root(), while_serving({server.get()}, std::move(client)));
    if (!why.ok()) return why;
    return *std::move(got);
  }

  temporary_folder folder;
  identity who;
  simulation world;
  std::shared_ptr<simulated_network> cable;
  SSL_CTX* context = nullptr;
  std::unique_ptr<tls_network> secured;
  std::unique_ptr<scripted_server> server;
  std::shared_ptr<detail::http_file_system> files;
  runtime rt{world};
};

const std::string kUrl = "https://objects/a";

}  // namespace

TEST_CASE("objects over TLS have their bytes, in a good network and in a bad one") {
  const std::string bytes = some_bytes(3'000'000);
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    INFO("seed " << seed);
    tls_world w(seed, "DNS:objects", 3600, true, {.break_chance = seed == 1 ? 0.0 : 0.01});
    w.server->put("/a", bytes, "\"v\"");
    if (seed == 3) w.server->script({{.end_at = 1000}, {.end_at = 0}});
    if (seed == 4) w.server->script({{.stall_at = 100'000}});
    if (seed == 5) w.server->always({.chunked = true, .piece = 20'000});
    auto got = w.read(kUrl);
    const std::string said = got.ok() ? std::string() : got.why().to_string();
    INFO(said);
    REQUIRE(got.ok());
    CHECK((*got == bytes));
    CHECK(w.server->connections_open() == 0);
  }
}

TEST_CASE("an invalid certificate ends the first attempt, with the reason") {
  auto refused = [](tls_world&& w, const char* words) {
    w.server->put("/a", "x", "\"v\"");
    auto got = w.read(kUrl);
    REQUIRE_FALSE(got.ok());
    INFO(got.why().to_string());
    CHECK(got.why().code() == status_code::unauthenticated);
    CHECK_THAT(got.why().to_string(), Catch::Contains("https://objects/a") &&
                                          Catch::Contains("attempt 1: TLS: the certificate of objects") &&
                                          Catch::Contains(words));
    CHECK(w.server->log().empty());
  };
  refused(tls_world(1, "DNS:objects", -60), "it has expired (");
  refused(tls_world(2, "DNS:elsewhere.example", 3600), "it is for another host (elsewhere.example)");
  refused(tls_world(3, "DNS:objects", 3600, false), "its root is not trusted");
}

TEST_CASE("a server without TLS is reported as such") {
  tls_world w(1, "DNS:objects", 3600);
  scripted_server plain(*w.cable, "plain:443");
  plain.put("/a", "x", "\"v\"");
  std::optional<std::string> got;
  auto client = http_world::keep<std::string>(read_file(w.rt, "https://plain/a"), got);
  // It waits for the end of a head, and so does the client for its hello: that is a stall.
  status why = sync_wait_result(w.rt.root(), while_serving({&plain}, std::move(client)));
  CHECK(why.code() == status_code::unavailable);
  CHECK_THAT(why.to_string(), Catch::Contains("attempt 8"));
}
#endif

}  // namespace sluice::lib::tls_test
