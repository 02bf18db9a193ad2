// SPDX-License-Identifier: Apache-2.0
#if SLUICE_HAVE_TLS
#include "io/http/connections/tls_connection.hpp"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "io/http/kept_exception.hpp"
#include "io/http/messages/http_text.hpp"

namespace sluice::lib::detail {
namespace {

/// The size of a read: several records of 16 KiB.
constexpr std::size_t kRoomBytes = 64 << 10;

status refused(std::string_view what) { return status(status_code::unauthenticated, what); }

bool is_address(const std::string& host) {
  ASN1_OCTET_STRING* parsed = a2i_IPADDRESS(host.c_str());
  ASN1_OCTET_STRING_free(parsed);
  return parsed != nullptr;
}

/// Returns the oldest error of this thread's queue, for example "wrong version number", and empties the queue.
std::string last_error() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* text = code ? ERR_reason_error_string(code) : nullptr;
  return text ? text : "no reason is known";
}

/// Returns the names that a certificate is valid for.
std::string names_of(const X509* certificate) {
  std::string all;
  auto* names = static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; names && i != sk_GENERAL_NAME_num(names); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names, i);
    if (name->type != GEN_DNS) continue;
    const auto* text = reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName));
    all += (all.empty() ? "" : ", ") + std::string(text, static_cast<std::size_t>(ASN1_STRING_length(name->d.dNSName)));
  }
  GENERAL_NAMES_free(names);
  return all.empty() ? "no host" : all;
}

std::string end_of(const X509* certificate) {
  std::string text(64, '\0');
  BIO* to = BIO_new(BIO_s_mem());
  int n = 0;
  if (to && certificate && ASN1_TIME_print(to, X509_get0_notAfter(certificate)))
    n = BIO_read(to, text.data(), static_cast<int>(text.size()));
  BIO_free(to);
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return text;
}

std::string why_not_trusted(long result, const X509* certificate) {
  switch (result) {
    case X509_V_ERR_CERT_HAS_EXPIRED: return joined("it has expired (", end_of(certificate), ")");
    case X509_V_ERR_CERT_NOT_YET_VALID: return "it is not valid yet";
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return joined("it is for another host (", certificate ? names_of(certificate) : std::string("unknown"), ")");
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      return joined("its root is not trusted (", X509_verify_cert_error_string(result),
                    "; SSL_CERT_FILE or http_options::ca_file names a file of trusted roots)");
    default: return X509_verify_cert_error_string(result);
  }
}

}  // namespace

tls_connection::tls_connection(SSL_CTX* context, std::unique_ptr<connection> wire)
    : wire_(std::move(wire)),
      ssl_(SSL_new(context)),
      in_(BIO_new(what_has_come())),
      out_(BIO_new(BIO_s_mem())),
      room_(std::make_unique<char[]>(kRoomBytes)) {
  if (!ssl_ || !in_ || !out_) {
    BIO_free(in_);
    BIO_free(out_);
    SSL_free(ssl_);
    throw std::bad_alloc();
  }
  BIO_set_data(in_, this);
  BIO_set_init(in_, 1);
  SSL_set_bio(ssl_, in_, out_);
}

const BIO_METHOD* tls_connection::what_has_come() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* m = BIO_meth_new(BIO_TYPE_SOURCE_SINK | BIO_get_new_index(), "what has come");
    if (!m) throw std::bad_alloc();
    BIO_meth_set_read(m, &tls_connection::take);
    BIO_meth_set_ctrl(m, [](BIO*, int what, long, void*) -> long { return what == BIO_CTRL_FLUSH; });
    return m;
  }();
  return method;
}

int tls_connection::take(BIO* from, char* to, int n) noexcept {
  auto& me = *static_cast<tls_connection*>(BIO_get_data(from));
  BIO_clear_retry_flags(from);
  const std::size_t given = std::min(static_cast<std::size_t>(std::max(n, 0)), me.come_end_ - me.come_begin_);
  if (given == 0) {
    BIO_set_retry_read(from);
    return -1;
  }
  std::memcpy(to, me.room_.get() + me.come_begin_, given);
  me.come_begin_ += given;
  return static_cast<int>(given);
}

tls_connection::~tls_connection() { SSL_free(ssl_); }

task<> tls_connection::connect(std::string host, time_point deadline) {
  host_ = std::move(host);
  SSL_set_connect_state(ssl_);
  SSL_set_app_data(ssl_, this);
  SSL_set_verify(ssl_, SSL_VERIFY_PEER, &tls_connection::on_verified);
  const bool numbered = is_address(host_);
  const bool named =
      numbered ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_), host_.c_str()) == 1
               : SSL_set1_host(ssl_, host_.c_str()) == 1 && SSL_set_tlsext_host_name(ssl_, host_.c_str()) == 1;
  if (!named) co_await fail(refused(joined("TLS: ", host_, " is no name of a host: ", last_error())));
  auto shaking = shake_hands(deadline);
  co_await shaking;
}

task<> tls_connection::accept(time_point deadline) {
  SSL_set_accept_state(ssl_);
  auto shaking = shake_hands(deadline);
  co_await shaking;
}

int tls_connection::on_verified(int holds, X509_STORE_CTX* chain) noexcept {
  if (holds) return holds;
  // The certificate is not available after the handshake.
  auto* ssl = static_cast<SSL*>(X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto* me = static_cast<tls_connection*>(SSL_get_app_data(ssl));
  // If memory is too short for the message, the handshake fails without it.
  kept_exception ignored;
  ignored.run([me, chain] {
    me->why_not_trusted_ = why_not_trusted(X509_STORE_CTX_get_error(chain), X509_STORE_CTX_get_current_cert(chain));
  });
  return holds;
}

status tls_connection::why_no_handshake(int error) const {
  if (!why_not_trusted_.empty()) {
    ERR_clear_error();
    return refused(joined("TLS: the certificate of ", host_, " is not valid: ", why_not_trusted_));
  }
  if (error == SSL_ERROR_SYSCALL || error == SSL_ERROR_ZERO_RETURN)
    return unavailable_error("TLS: the connection ended during the handshake");
  return refused(joined("TLS: the handshake failed with ", host_, ": ", last_error()));
}

task<> tls_connection::shake_hands(time_point deadline) {
  for (;;) {
    ERR_clear_error();
    const int done = SSL_do_handshake(ssl_);
    const int error = done == 1 ? SSL_ERROR_NONE : SSL_get_error(ssl_, done);
    status why;
    if (error != SSL_ERROR_NONE && error != SSL_ERROR_WANT_READ) why = why_no_handshake(error);
    auto flushing = flush(deadline);  // sends the alert, so that the other side knows the error
    status sent = co_await flushing.as_result();
    if (!why.ok()) co_await fail(std::move(why));
    if (!sent.ok()) co_await fail(std::move(sent));
    if (done == 1) co_return;
    auto reading = refill(deadline);
    const bool continues = co_await reading;
    if (!continues) co_await fail(unavailable_error("TLS: the connection ended during the handshake"));
  }
}

task<> tls_connection::flush(time_point deadline) {
  for (;;) {
    char* bytes = nullptr;
    const long n = BIO_get_mem_data(out_, &bytes);
    if (n <= 0) co_return;
    const std::string text(bytes, static_cast<std::size_t>(n));
    (void)BIO_reset(out_);
    auto writing = wire_->write(text, deadline);
    co_await writing;
  }
}

task<bool> tls_connection::refill(time_point deadline) {
  // OpenSSL asks for more only after it has consumed everything.
  auto reading = wire_->read_some(std::span<char>(room_.get(), kRoomBytes), deadline);
  const std::size_t n = co_await reading;
  come_begin_ = 0;
  come_end_ = n;
  co_return n != 0;
}

task<std::size_t> tls_connection::read_some(std::span<char> to, time_point deadline) {
  std::size_t got = 0;
  for (;;) {
    ERR_clear_error();
    std::size_t n = 0;
    const int done = SSL_read_ex(ssl_, to.data() + got, to.size() - got, &n);
    got += n;
    if (done == 1 && got != to.size()) continue;  // the next record may be available as well
    if (got != 0) co_return got;
    const int error = SSL_get_error(ssl_, done);
    if (error == SSL_ERROR_ZERO_RETURN) co_return std::size_t{0};
    if (error != SSL_ERROR_WANT_READ) co_await fail(unavailable_error(joined("TLS: ", last_error())));
    auto flushing = flush(deadline);  // for example a key update
    co_await flushing;
    auto reading = refill(deadline);
    const bool continues = co_await reading;
    if (!continues) co_await fail(unavailable_error("TLS: the connection ended without TLS's own end"));
  }
}

task<> tls_connection::write(std::span<const char> from, time_point deadline) {
  if (from.empty()) co_return;
  ERR_clear_error();
  std::size_t n = 0;
  // The target is memory, which accepts all bytes or none.
  if (SSL_write_ex(ssl_, from.data(), from.size(), &n) != 1)
    co_await fail(unavailable_error(joined("TLS: ", last_error())));
  auto flushing = flush(deadline);
  co_await flushing;
}

task<> tls_connection::finish_writing() {
  ERR_clear_error();
  (void)SSL_shutdown(ssl_);
  auto flushing = flush(kNever);
  co_await flushing;
  auto finishing = wire_->finish_writing();
  co_await finishing;
}

}  // namespace sluice::lib::detail

#endif  // SLUICE_HAVE_TLS
