// SPDX-License-Identifier: Apache-2.0
// A connection with TLS over another connection.
//
// Thread: one call at a time, a read or a write, because HTTP sends a request and then receives.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "sluice/io/network.hpp"

namespace sluice::lib::detail {

class tls_connection final : public connection {
 public:
  tls_connection(SSL_CTX* context, std::unique_ptr<connection> wire);
  ~tls_connection() override;

  /// Connects as a client of `host`, whose certificate must be valid.
  task<> connect(std::string host, time_point deadline);
  /// Accepts as a server, for tests.
  task<> accept(time_point deadline);

  task<std::size_t> read_some(std::span<char> to, time_point deadline) override;
  task<> write(std::span<const char> from, time_point deadline) override;
  task<> finish_writing() override;
  void close() noexcept override { wire_->close(); }

 private:
  task<> shake_hands(time_point deadline);
  /// Sends the bytes that OpenSSL has written.
  task<> flush(time_point deadline);
  /// Reads more bytes for OpenSSL. Returns false if the connection has ended.
  task<bool> refill(time_point deadline);
  status why_no_handshake(int error) const;
  static int on_verified(int holds, X509_STORE_CTX* chain) noexcept;
  /// Returns the method by which OpenSSL reads directly from room_, without a buffer between.
  static const BIO_METHOD* what_has_come();
  static int take(BIO* from, char* to, int n) noexcept;

  std::unique_ptr<connection> wire_;
  SSL* ssl_;
  BIO* in_;   ///< owned by ssl_
  BIO* out_;  ///< owned by ssl_
  std::string host_;
  std::string why_not_trusted_;  ///< the reason why the server's certificate was refused
  std::unique_ptr<char[]> room_;
  std::size_t come_begin_ = 0;  ///< the bytes of room_ that were received and not consumed yet
  std::size_t come_end_ = 0;
};

}  // namespace sluice::lib::detail
