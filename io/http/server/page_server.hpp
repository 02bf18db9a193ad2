// SPDX-License-Identifier: Apache-2.0
// A small HTTP/1.1 server for pages about this process: GET and HEAD, one request for each connection.
//
//   page_server server("127.0.0.1:0", [](const page_request& r) -> page_reply { … });
//   print(server.url());                                     // http://127.0.0.1:41234/
//
// It answers by itself: 400 to what is no request, 403 to a name that is not this machine's if it listens on a loopback
// address (a page of another site could otherwise read ours, by a name that resolves to 127.0.0.1), 405 to other
// methods, 414 and 431 to requests that are too long, 503 beyond kConnectionsMax connections. A connection ends after 10 s.
// Thread: requests are answered on one thread of the server's own, one after the other.
// Errors: the constructor throws invalid_argument (address), unavailable (the port is in use, or not allowed).
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace sluice::lib {

struct page_request {
  std::string path;    ///< "/metrics", without a query
  std::string accept;  ///< the header Accept
  std::string host;    ///< the header Host
};

struct page_reply {
  unsigned status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body = {};
};

class page_server {
 public:
  static constexpr std::size_t kConnectionsMax = 64;
  static constexpr std::size_t kHeadBytesMax = 8 << 10;
  static constexpr std::size_t kPathBytesMax = 1 << 10;
  using answer = std::function<page_reply(const page_request&)>;

  /// `address`: "HOST:PORT" or ":PORT", which is 127.0.0.1; HOST is an IP address or localhost; port 0 is any free one.
  page_server(const std::string& address, answer a);
  page_server(const page_server&) = delete;
  page_server& operator=(const page_server&) = delete;
  /// Ends the connections and the thread.
  ~page_server();

  std::string url() const;
  /// Returns true if other machines may reach it.
  bool is_public() const;

 private:
  class connection;
  struct state;
  const std::unique_ptr<state> state_;
};

}  // namespace sluice::lib
