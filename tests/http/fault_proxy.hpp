// SPDX-License-Identifier: Apache-2.0
// Stands between a reader and a server that does as it should, over real sockets, and does to answers what networks, proxies and
// other servers do: loses, cuts, delays and contradicts them, as a script says, request by request.
//
//   fault_proxy proxy(nginx_port, tls);                              // tls: null: plain
//   proxy.script("/raw/a", {{.reset_at = 1000}, {.code = 503}});      // its first two answers; those after them are sound
//   … read http://127.0.0.1:PORT/raw/a …
//   proxy.log()                                                      // every request that came, and what became of it
//
// Each answer that has a head has a number of its own, which it says: "X-Request-Id: p17".
#pragma once

#include <map>
#include <vector>

#include "http/loopback_server.hpp"

namespace sluice::lib::testing {

/// What becomes of one answer. A place in its body is counted from the end where it is negative.
struct fault {
  static constexpr std::int64_t kNowhere = std::int64_t{1} << 62;

  bool reset_before_head = false;
  bool end_before_head = false;
  bool stall_before_head = false;
  std::chrono::milliseconds late{0};  ///< the head comes so much later
  int code = 0;                       ///< instead of what the server says
  std::string fields = {};            ///< of the head, besides the server's
  std::string instead_of = {};        ///< a field of the server's that is left out
  bool forgets_range = false;         ///< the whole object, with 200
  bool forgets_version = false;       ///< as of a server that knows no If-Match
  std::int64_t reset_at = kNowhere;
  std::int64_t end_at = kNowhere;
  std::int64_t stall_at = kNowhere;
  std::int64_t says_more = 0;    ///< than the body has, in Content-Length
  std::size_t bytes_behind = 0;  ///< the body
  std::size_t by_the_byte = 0;   ///< the head, and so much of the body
  bool is_sound() const { return *this == fault{}; }
  bool operator==(const fault&) const = default;
};

struct proxied {
  std::string target;
  std::string range;
  std::string if_match;
  std::size_t connection = 0;
  int code = 0;             ///< that was answered; 0: no head was
  std::uint64_t bytes = 0;  ///< of a body that went out
  bool was_sound = true;
};

class fault_proxy final : public loopback_server {
 public:
  fault_proxy(int server, std::shared_ptr<SSL_CTX> tls);
  ~fault_proxy() override { stop(); }

  /// Of one target's answers, in the order in which it is asked for. `continues`: the last of them for all that follow, too.
  void script(const std::string& target, std::vector<fault> faults, bool continues = false);
  /// Of the first connections.
  void script_handshakes(std::vector<handshake> first, bool continues = false);
  std::vector<proxied> log() const;
  std::size_t connections() const;

 private:
  struct play {
    std::vector<fault> faults;
    bool continues = false;
    std::size_t asked = 0;
  };
  /// One connection of a reader, and the one to the server that belongs to it.
  struct passage {
    wire& reader;
    std::size_t number;
    std::unique_ptr<wire> server = {};
    std::string server_rest = {};
  };
  void converse(wire& with) override;
  /// Counts the request, and says what becomes of its answer.
  fault begin(const std::string& head, std::size_t connection, std::size_t& index);
  /// False: the connection is over.
  bool answer(passage& through, const std::string& request, const fault& f, std::size_t index);
  bool relay_body(passage& through, std::uint64_t length, const fault& f, std::size_t index);
  void count_code(std::size_t index, int code);
  void count_bytes(std::size_t index, std::uint64_t bytes);

  const int server_;
  const std::shared_ptr<SSL_CTX> tls_;
  mutable std::mutex mutex_;
  std::map<std::string, play> plays_;
  std::vector<handshake> handshakes_;
  bool handshakes_go_on_ = false;
  std::size_t connections_ = 0;
  std::vector<proxied> log_;
};

}  // namespace sluice::lib::testing
