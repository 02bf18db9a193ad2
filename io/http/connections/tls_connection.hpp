// SPDX-License-Identifier: Apache-2.0
// A connection with TLS over another one.
//
// Thread: one call at a time, reading or writing: HTTP asks, and then listens.
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
  /// Sends what OpenSSL has written.
  task<> flush(time_point deadline);
  /// Gives OpenSSL more to read. Returns false: the connection has ended.
  task<bool> refill(time_point deadline);
  status why_no_handshake(int error) const;
  static int on_verified(int holds, X509_STORE_CTX* chain) noexcept;
  /// OpenSSL's reads are of room_ itself: no buffer of its own between.
  static const BIO_METHOD* what_has_come();
  static int take(BIO* from, char* to, int n) noexcept;

  std::unique_ptr<connection> wire_;
  SSL* ssl_;
  BIO* in_;   ///< ssl_'s own
  BIO* out_;  ///< ssl_'s own
  std::string host_;
  std::string why_not_trusted_;  ///< the server's certificate
  std::unique_ptr<char[]> room_;
  std::size_t come_begin_ = 0;  ///< of room_: what has come and was not taken yet
  std::size_t come_end_ = 0;
};

}  // namespace sluice::lib::detail
