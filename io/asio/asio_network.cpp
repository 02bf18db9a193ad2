// SPDX-License-Identifier: Apache-2.0
#include "sluice/io/asio_network.hpp"

#include <sys/un.h>
#include <unistd.h>

#include <asio/connect.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/write.hpp>
#include <cstring>
#include <thread>

#include "absl/strings/str_cat.h"
#include "io/asio/name_look_up.hpp"
#include "io/asio/open_socket.hpp"
#include "io/asio/socket_operation.hpp"
#include "io/messages/listening.hpp"
#include "io/paths/late.hpp"
#include "sluice/io/message_transport.hpp"
#include "sluice/io/open_transport.hpp"

namespace sluice::lib {

void socket_state::start(const std::function<void(const std::shared_ptr<socket_state>&)>& begin,
                         const std::shared_ptr<socket_state>& self) {
  started = true;
  if (stopped || late) finish(asio::error::operation_aborted, 0);
  else begin(self);
}

void socket_state::give_up() {
  if (!started || over) return;  // start() checks `stopped` itself
  if (can_be_left) finish(asio::error::operation_aborted, 0);
  else cancel.emit(asio::cancellation_type::terminal);
}

void socket_state::on_deadline(timer_node& node) noexcept {
  auto& timer = static_cast<deadline_timer&>(node);
  asio::io_context& io = *timer.io;
  asio::post(io, [state = std::move(timer.of)] {
    state->timer.time = nullptr;
    state->late = true;
    if (state->over) state->hand_back();
    else state->give_up();
  });
}

void socket_state::finish(asio::error_code e, std::size_t n) {
  if (over) return;  // the operation was abandoned
  over = true;
  outcome = e;
  bytes = n;
  if (timer.time && !timer.time->cancel(timer)) return;  // the timer's message is in flight and resumes the waiter
  timer.of.reset();
  hand_back();
}

void socket_state::hand_back() {
  ended = outcome == asio::error::eof;
  executor* exec = promise->env->exec;
  if (!outcome || ended) return exec->post(handle);
  status why = unavailable_error(absl::StrCat(what, ": ", outcome.message()));
  if (late) why = detail::late(what);
  if (stopped) why = cancelled_error();
  hook->disarm();  // an unwound frame can outlive the asio thread that its hook posts to
  auto next = fail_wait(promise, std::move(why));
  exec->post(next);
}

namespace {

using asio::ip::tcp;
using unix_socket = asio::local::stream_protocol;
using any_socket = asio::generic::stream_protocol;

std::string text_of(const tcp::endpoint& e) {
  std::string host = e.address().to_string();
  return e.address().is_v6() ? absl::StrCat("[", host, "]:", e.port()) : absl::StrCat(host, ":", e.port());
}

bool is_unix(std::string_view address) { return address.substr(0, kUnixPrefix.size()) == kUnixPrefix; }

/// The path of "unix:/path". Errors: invalid_argument.
result<unix_socket::endpoint> unix_endpoint(const std::string& address) {
  const std::string path = address.substr(kUnixPrefix.size());
  constexpr std::size_t kPathBytesMax = sizeof(sockaddr_un::sun_path) - 1;
  if (path.empty() || path.size() > kPathBytesMax)
    return invalid_argument_error(
        absl::StrCat("address \"", address, "\": a Unix socket needs a path of 1 to ", kPathBytesMax, " bytes"));
  return unix_socket::endpoint(path);
}

std::string peer_of(const any_socket::socket& s, const std::string& listens_at) {
  asio::error_code e;
  const any_socket::endpoint any = s.remote_endpoint(e);
  if (is_unix(listens_at)) return absl::StrCat("a client of ", listens_at);
  tcp::endpoint peer;
  if (!e && any.size() <= peer.capacity()) {
    peer.resize(any.size());
    std::memcpy(peer.data(), any.data(), any.size());
  }
  return text_of(peer);
}

class asio_connection final : public connection {
 public:
  asio_connection(asio::io_context& io, std::shared_ptr<open_socket> s, std::string peer)
      : io_(io), socket_(std::move(s)), peer_(std::move(peer)) {}
  ~asio_connection() override { close(); }

  task<std::size_t> read_some(std::span<char> to, time_point deadline) override {
    environment* env = co_await this_environment();
    if (!to.empty() && may_try(*env, deadline)) {
      const open_socket::tried got = socket_->try_read(to);
      if (got.wrong) co_await fail(failed("read", got.wrong));
      if (!got.must_wait) co_return got.bytes;
    }
    auto start = [s = socket_, to](const std::shared_ptr<socket_state>& state) {
      s->waits.async_read_some(asio::buffer(to.data(), to.size()), completion_of(state));
    };
    socket_operation read(io_, absl::StrCat(peer_, ": read"), std::move(start), deadline);
    auto n = co_await read;
    co_return n;
  }
  task<> write(std::span<const char> from, time_point deadline) override {
    environment* env = co_await this_environment();
    if (from.empty()) co_return;
    if (may_try(*env, deadline)) {
      const open_socket::tried sent = socket_->try_write(from);
      if (sent.wrong) co_await fail(failed("write", sent.wrong));
      from = from.subspan(sent.bytes);
      if (from.empty()) co_return;
    }
    auto start = [s = socket_, from](const std::shared_ptr<socket_state>& state) {
      asio::async_write(s->waits, asio::buffer(from.data(), from.size()), completion_of(state));
    };
    socket_operation write(io_, absl::StrCat(peer_, ": write"), std::move(start), deadline);
    co_await write;
  }
  task<> finish_writing() override {
    auto start = [s = socket_](const std::shared_ptr<socket_state>& state) {
      asio::error_code e;
      s->waits.shutdown(asio::socket_base::shutdown_send, e);
      state->finish(e, 0);
    };
    socket_operation finish(io_, absl::StrCat(peer_, ": shutdown"), std::move(start), kNever);
    co_await finish;
  }
  void close() noexcept override {
    asio::post(io_, [s = socket_] { s->close(); });
  }

 private:
  status failed(std::string_view what, const asio::error_code& e) const {
    return unavailable_error(absl::StrCat(peer_, ": ", std::string(what), ": ", e.message()));
  }
  /// Returns true if the call may begin. Otherwise the wait fails at once with the reason.
  static bool may_try(const environment& env, time_point deadline) {
    return !env.stop.stop_requested() && (deadline == kNever || env.time->now() < deadline);
  }

  asio::io_context& io_;
  std::shared_ptr<open_socket> socket_;  // shared: a posted close may outlive this object
  std::string peer_;
};

template <class Acceptor> class asio_listener final : public listener {
 public:
  asio_listener(asio::io_context& io, std::shared_ptr<Acceptor> a, std::string address)
      : io_(io), acceptor_(std::move(a)), address_(std::move(address)) {}
  ~asio_listener() override {
    close();
    if (is_unix(address_)) ::unlink(address_.c_str() + kUnixPrefix.size());
  }

  task<std::unique_ptr<connection>> accept(time_point deadline) override {
    auto s = std::make_shared<open_socket>(io_);
    auto start = [a = acceptor_, s](const std::shared_ptr<socket_state>& state) {
      a->async_accept(s->waits, completion_of(state));
    };
    socket_operation accept(io_, absl::StrCat(address_, ": accept"), std::move(start), deadline);
    co_await accept;
    asio::error_code e;
    std::string peer = peer_of(s->waits, address_);
    s->waits.set_option(tcp::no_delay(true), e);
    co_return std::make_unique<asio_connection>(io_, std::move(s), std::move(peer));
  }
  const std::string& address() const noexcept override { return address_; }
  void close() noexcept override {
    asio::post(io_, [a = acceptor_] {
      asio::error_code ignored;
      a->close(ignored);
    });
  }

 private:
  asio::io_context& io_;
  std::shared_ptr<Acceptor> acceptor_;
  std::string address_;
};

class asio_network final : public network {
 public:
  asio_network() : work_(io_.get_executor()), thread_([this] { io_.run(); }) {}
  ~asio_network() override {
    work_.reset();  // posted work, above all closing, is still done
    thread_.join();
  }

  task<std::unique_ptr<listener>> listen(std::string address, time_point deadline) override {
    if (is_unix(address)) {
      auto local = listen_at_path(std::move(address), deadline);
      auto door = co_await local;
      co_return std::move(door);
    }
    auto at = parse_address(address);
    if (!at.ok()) co_await fail(at.why());
    auto looking = look_up(*at, deadline);
    const endpoints found = co_await looking;
    auto a = std::make_shared<tcp::acceptor>(io_);  // still unknown to other threads, so this thread may use it
    asio::error_code e;
    tcp::endpoint first = found.front();
    a->open(first.protocol(), e);
    if (!e) a->set_option(tcp::acceptor::reuse_address(true), e);
    if (!e) a->bind(first, e);
    if (!e) a->listen(asio::socket_base::max_listen_connections, e);
    if (e) co_await fail(unavailable_error(absl::StrCat(address, ": listen: ", e.message())));
    std::string real = text_of(a->local_endpoint(e));
    co_return std::make_unique<asio_listener<tcp::acceptor>>(io_, std::move(a), std::move(real));
  }

  task<std::unique_ptr<connection>> connect(std::string address, time_point deadline) override {
    auto finding = endpoints_of(address, deadline);
    const std::vector<any_socket::endpoint> all = co_await finding;
    auto s = std::make_shared<open_socket>(io_);
    auto start = [s, all](const std::shared_ptr<socket_state>& state) {
      asio::async_connect(s->waits, all, completion_of(state));
    };
    socket_operation connect(io_, absl::StrCat(address, ": connect"), std::move(start), deadline);
    co_await connect;
    asio::error_code ignored;
    s->waits.set_option(tcp::no_delay(true), ignored);  // requests are whole messages, so delaying them gains nothing
    co_return std::make_unique<asio_connection>(io_, std::move(s), std::move(address));
  }

  task<std::vector<std::string>> resolve(std::string address, time_point deadline) override {
    if (is_unix(address)) co_return std::vector<std::string>(1, address);
    auto at = parse_address(address);
    if (!at.ok()) co_await fail(at.why());
    auto looking = look_up(*at, deadline);
    const endpoints all = co_await looking;
    std::vector<std::string> found;
    for (const tcp::endpoint& e : all) found.push_back(text_of(e));
    co_return found;
  }

 private:
  task<std::unique_ptr<listener>> listen_at_path(std::string address, time_point deadline) {
    auto at = unix_endpoint(address);
    if (!at.ok()) co_await fail(at.why());
    environment* env = co_await this_environment();
    if (deadline != kNever && deadline <= env->time->now())
      co_await fail(detail::late(absl::StrCat(address, ": listen")));
    (void)remove_abandoned_socket(at->path());  // bind() reports that a process listens
    auto a = std::make_shared<unix_socket::acceptor>(io_);
    asio::error_code e;
    a->open(at->protocol(), e);
    if (!e) a->bind(*at, e);
    if (!e) a->listen(asio::socket_base::max_listen_connections, e);
    if (e) co_await fail(unavailable_error(absl::StrCat(address, ": listen: ", e.message())));
    co_return std::make_unique<asio_listener<unix_socket::acceptor>>(io_, std::move(a), std::move(address));
  }

  task<std::vector<any_socket::endpoint>> endpoints_of(std::string address, time_point deadline) {
    std::vector<any_socket::endpoint> all;
    if (is_unix(address)) {
      auto path = unix_endpoint(address);
      if (!path.ok()) co_await fail(path.why());
      all.emplace_back(*path);
      co_return all;
    }
    auto at = parse_address(address);
    if (!at.ok()) co_await fail(at.why());
    auto looking = look_up(*at, deadline);
    const endpoints found = co_await looking;
    for (const tcp::endpoint& e : found) all.emplace_back(e);
    co_return all;
  }

  task<endpoints> look_up(host_and_port at, time_point deadline) {
    auto found = std::make_shared<endpoints>();
    auto start = [this, found, at](const std::shared_ptr<socket_state>& state) {
      auto keep = [found, state](asio::error_code e, endpoints all) {
        *found = std::move(all);
        state->finish(e, 0);
      };
      names_.start(at, keep);
    };
    socket_operation asking(io_, absl::StrCat(at.host, ": look up"), std::move(start), deadline);
    asking.can_be_left();  // the look-up blocks a thread until the name servers answer
    co_await asking;
    co_return std::move(*found);
  }

  asio::io_context io_{1};
  name_look_ups names_{io_};
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<network> make_asio_network() { return std::make_unique<asio_network>(); }

void register_asio_transport() {
  use_transport([](runtime&) -> std::shared_ptr<message_transport> {
    struct over_tcp {
      std::unique_ptr<network> net = make_asio_network();
      std::unique_ptr<message_transport> transport = make_message_transport(*net);
    };
    auto made = std::make_shared<over_tcp>();
    return {made, made->transport.get()};
  });
}

}  // namespace sluice::lib
