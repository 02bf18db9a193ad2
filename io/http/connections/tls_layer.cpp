// SPDX-License-Identifier: Apache-2.0
#include "io/http/connections/tls_layer.hpp"

#if SLUICE_HAVE_TLS
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <cstdlib>

#include "io/http/connections/tls_connection.hpp"
#include "io/http/messages/http_text.hpp"
#endif

namespace sluice::lib::detail {
namespace {

class no_tls final : public secure_layer {
 public:
  explicit no_tls(status why) : why_(std::move(why)) {}
  task<std::unique_ptr<connection>> over(std::unique_ptr<connection>, std::string, time_point) override {
    co_await fail(why_);
    co_return {};
  }

 private:
  status why_;
};

#if SLUICE_HAVE_TLS

struct context_deleter {
  void operator()(SSL_CTX* c) const noexcept { SSL_CTX_free(c); }
};
using context_ptr = std::unique_ptr<SSL_CTX, context_deleter>;

class openssl_layer final : public secure_layer {
 public:
  explicit openssl_layer(context_ptr context) : context_(std::move(context)) {}
  task<std::unique_ptr<connection>> over(std::unique_ptr<connection> plain, std::string host,
                                         time_point deadline) override {
    auto secured = std::make_unique<tls_connection>(context_.get(), std::move(plain));
    auto shaking = secured->connect(std::move(host), deadline);
    co_await shaking;
    co_return secured;
  }

 private:
  context_ptr context_;
};

/// Returns null if OpenSSL knows where the system's roots are.
const char* roots_file(const std::string& ca_file) {
  if (!ca_file.empty()) return ca_file.c_str();
  const char* named = std::getenv("SSL_CERT_FILE");
  return named && *named ? named : nullptr;
}

#endif

}  // namespace

std::shared_ptr<secure_layer> make_tls_layer([[maybe_unused]] const std::string& ca_file) {
#if SLUICE_HAVE_TLS
  context_ptr context(SSL_CTX_new(TLS_client_method()));
  if (!context) return std::make_shared<no_tls>(internal_error("TLS: OpenSSL cannot be used"));
  static constexpr unsigned char kProtocol[] = "\x08http/1.1";
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_alpn_protos(context.get(), kProtocol, sizeof kProtocol - 1);
  const char* roots = roots_file(ca_file);
  ERR_clear_error();
  const int loaded = roots ? SSL_CTX_load_verify_locations(context.get(), roots, nullptr)
                           : SSL_CTX_set_default_verify_paths(context.get());
  if (loaded != 1) {
    ERR_clear_error();
    const std::string named = ca_file.empty() ? "SSL_CERT_FILE" : "http_options::ca_file";
    return std::make_shared<no_tls>(invalid_argument_error(
        joined("TLS: ", named, " names ", roots ? roots : "nothing", ", which has no certificates that can be read")));
  }
  return std::make_shared<openssl_layer>(std::move(context));
#else
  return std::make_shared<no_tls>(
      unimplemented_error("https:// was not built in: it needs OpenSSL (meson option tls)"));
#endif
}

}  // namespace sluice::lib::detail
