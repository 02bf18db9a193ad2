// SPDX-License-Identifier: Apache-2.0
// An HTTP server of tests: serves objects by ranges, and does what it must not do where a script says so.
//
//   scripted_server server(net, "objects:80");
//   server.put("/a", bytes, "\"v1\"");
//   server.script({{}, {.reset_at = 100}, {.code = 503, .fields = "Retry-After: 1\r\n"}});   // the first requests, in their order
//   sync_wait(rt, while_serving(server, client()));
//
// Over a simulated network everything takes virtual time.
// Thread: one.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sluice/coro/scope.hpp"
#include "sluice/io/simulated_network.hpp"

namespace sluice::lib::testing {

/// How one request is answered; as it should be where nothing is said.
struct deed {
  static constexpr std::size_t kNever = ~std::size_t{0};

  duration before{};               ///< the head comes so much later
  int code = 0;                    ///< instead of the object
  std::string fields = {};         ///< of the head, besides the usual ones
  std::string body = {};           ///< with `code`
  std::string range = {};          ///< the Content-Range it names; "none": no such field
  std::string etag = {};           ///< instead of the object's; "none": no such field
  bool whole = false;              ///< 200 and all of it, whatever was asked for
  bool chunked = false;            ///< the body in chunks of seven bytes and more
  std::int64_t more = 0;           ///< so many bytes more than the head says, or than the range has in chunks
  std::size_t reset_at = kNever;   ///< of the body: the connection is lost
  std::size_t end_at = kNever;     ///< of the body: the connection ends
  std::size_t stall_at = kNever;   ///< of the body: nothing comes any more
  std::size_t piece = 64 << 10;    ///< bytes that are written at once
  duration between{};              ///< two pieces
  bool reset_before_head = false;  ///< the request is read, and the connection is lost
  bool end_after = false;          ///< the connection, though the head does not say so
  std::string raw = {};            ///< instead of a response
};

struct asked_for {
  std::string method;
  std::string target;
  std::string range;     ///< as the request had it: "bytes=0-99"
  std::string if_match;  ///< empty: it had none
  std::string head;
  std::string body = {};
  std::size_t connection = 0;  ///< which one, counted from 0
  time_point when{};
};

/// The field of a request; "" where it has none.
std::string field_of(const std::string& head, std::string_view name);

/// Instead of an object.
struct reply {
  int code = 200;
  std::string fields = {};  ///< "Name: value\r\n", but for the length
  std::string body = {};
};

class scripted_server {
 public:
  scripted_server(network& net, std::string address) : net_(net), address_(std::move(address)) {}

  void put(std::string target, std::string bytes, std::string etag) {
    objects_[std::move(target)] = {std::move(bytes), std::move(etag)};
  }
  /// The next requests, whichever they are.
  void script(std::vector<deed> next) { script_.assign(next.begin(), next.end()); }
  /// All that no script is for.
  void always(deed d) { always_ = std::move(d); }
  /// Called with each request, once it has come: may put() other bytes.
  void on_request(std::function<void(const asked_for&)> f) { on_request_ = std::move(f); }

  /// Answers what no script is for; where it gives nothing, the objects do.
  void answers(std::function<std::optional<reply>(const asked_for&)> f) { answers_ = std::move(f); }

  /// Called when it listens, with the address that it has then.
  void on_listening(std::function<void(const std::string&)> f) { on_listening_ = std::move(f); }

  const std::vector<asked_for>& log() const { return log_; }
  std::size_t connections() const { return connections_; }
  std::size_t connections_open() const { return open_; }
  const std::string& address() const { return address_; }

  /// Until it is stopped.
  task<> serve();

 private:
  struct object {
    std::string bytes, etag;
  };
  struct response {
    std::string head, body;
  };
  task<> converse(std::unique_ptr<connection> c, std::size_t number);
  task<bool> answer(connection& c, asked_for request);
  task<bool> write_response(connection& c, response r, deed d);
  response response_to(const asked_for& request, const deed& d) const;

  network& net_;
  std::string address_;
  std::map<std::string, object> objects_;
  std::deque<deed> script_;
  deed always_;
  std::function<void(const asked_for&)> on_request_;
  std::function<std::optional<reply>(const asked_for&)> answers_;
  std::function<void(const std::string&)> on_listening_;
  std::vector<asked_for> log_;
  std::size_t connections_ = 0, open_ = 0;
};

/// Runs the client while the servers serve; fails with what the client fails with.
task<> while_serving(std::vector<scripted_server*> servers, task<> client);

}  // namespace sluice::lib::testing
