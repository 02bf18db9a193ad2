// SPDX-License-Identifier: Apache-2.0
#include "sluice/io/simulated_network.hpp"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "io/simulated/before.hpp"
#include "sluice/base/assert.hpp"
#include "sluice/coro/channel.hpp"
#include "sluice/coro/sleep_until.hpp"

namespace sluice::lib {
namespace {

status lost() { return unavailable_error("connection lost"); }
status closed_here() { return unavailable_error("the connection was closed"); }

struct packet {
  packet(std::string b, time_point d) : bytes(std::move(b)), due(d) {}
  std::string bytes;
  time_point due;
};

/// One direction of a connection.
struct pipe {
  explicit pipe(std::size_t window_bytes) : packets({.elements = 1024, .bytes = window_bytes}) {}
  channel<packet> packets;
  time_point last_due{};  // a later packet never arrives before an earlier one
};

}  // namespace

/// Both directions; shared by the two ends.
class simulated_network::wire {
 public:
  explicit wire(std::size_t window_bytes) : there(window_bytes), back(window_bytes) {}
  void cut(const status& why) {
    there.packets.discard_with(why);
    back.packets.discard_with(why);
  }
  pipe there, back;
};

class simulated_network::end final : public connection {
 public:
  end(simulated_network& net, std::shared_ptr<wire> w, std::string peer, bool caller)
      : net_(net), wire_(std::move(w)), peer_(std::move(peer)), caller_(caller) {}
  ~end() override {
    out().packets.close();
    in().packets.discard();
  }

  task<std::size_t> read_some(std::span<char> to, time_point deadline) override {
    return detail::before(deadline, detail::late(absl::StrCat(peer_, ": read")), read_now(to));
  }
  task<> write(std::span<const char> from, time_point deadline) override {
    return detail::before(deadline, detail::late(absl::StrCat(peer_, ": write")), write_now(from));
  }
  task<> finish_writing() override {
    out().packets.close();
    co_return;
  }
  void reset() { wire_->cut(lost()); }
  void close() noexcept override {
    closed_ = true;
    out().packets.close();
    in().packets.discard_with(closed_here());
  }

 private:
  task<std::size_t> read_now(std::span<char> to) {
    if (at_ == current_.size()) {
      auto p = co_await in().packets.receive();
      if (!p) co_return std::size_t{0};
      current_ = std::move(p->bytes);
      at_ = 0;
      due_ = p->due;
    }
    if (due_ > net_.world_.now()) {  // also a packet that an earlier call had no time to wait for
      co_await sleep_until(due_);
      if (closed_) co_await fail(closed_here());
    }
    std::size_t n = std::min(to.size(), current_.size() - at_);
    if (n > 1) n = 1 + net_.world_.random(n);  // short reads find errors of readers
    std::memcpy(to.data(), current_.data() + at_, n);
    at_ += n;
    co_return n;
  }

  task<> write_now(std::span<const char> from) {
    while (!from.empty()) {
      if (net_.world_.chance(net_.options_.break_chance)) {
        ++net_.broken_;
        wire_->cut(lost());
      }
      std::size_t n = 1 + net_.world_.random(std::min(from.size(), net_.options_.window_bytes));
      pipe& p = out();
      p.last_due = std::max(p.last_due, net_.world_.now() + net_.draw_delay());
      packet next(std::string(from.data(), n), p.last_due);
      bool sent = co_await p.packets.send(std::move(next), n);
      status why = closed_ ? closed_here() : lost();
      if (!sent) co_await fail(std::move(why));
      from = from.subspan(n);
    }
  }
  pipe& out() { return caller_ ? wire_->there : wire_->back; }
  pipe& in() { return caller_ ? wire_->back : wire_->there; }

  simulated_network& net_;
  std::shared_ptr<wire> wire_;
  std::string peer_;
  bool caller_;
  bool closed_ = false;
  std::string current_;  ///< the packet that is being read, from at_ on
  std::size_t at_ = 0;
  time_point due_{};  ///< its arrival
};

class simulated_network::door final : public listener {
 public:
  door(simulated_network& net, std::string address) : net_(net), address_(std::move(address)) {
    net_.doors_[address_] = this;
  }
  ~door() override { close(); }
  task<std::unique_ptr<connection>> accept(time_point deadline) override {
    return detail::before(deadline, detail::late(absl::StrCat(address_, ": accept")), accept_now());
  }
  task<std::unique_ptr<connection>> accept_now() {
    auto c = co_await callers.receive();
    if (!c) co_await fail(unavailable_error(absl::StrCat("the listener at ", address_, " was closed")));
    co_return std::move(*c);
  }
  const std::string& address() const noexcept override { return address_; }
  void close() noexcept override {
    if (auto i = net_.doors_.find(address_); i != net_.doors_.end() && i->second == this) net_.doors_.erase(i);
    callers.discard();
  }

  channel<std::unique_ptr<connection>> callers{{.elements = 128}};

 private:
  simulated_network& net_;
  std::string address_;
};

simulated_network::simulated_network(simulation& world, simulated_network_options options)
    : world_(world), options_(options) {}
simulated_network::~simulated_network() { SLUICE_ASSERT(doors_.empty(), "a listener outlives its network"); }

duration simulated_network::draw_delay() {
  auto spread = static_cast<std::uint64_t>((options_.delay_max - options_.delay_min).count());
  return options_.delay_min + duration(world_.random(spread + 1));
}

void simulated_network::reset(connection& one) {
  ++broken_;
  static_cast<end&>(one).reset();
}

task<std::vector<std::string>> simulated_network::resolve(std::string address, time_point) {
  auto at = parse_address(address);
  if (!at.ok()) co_await fail(at.why());
  const duration delay = draw_delay();
  co_await sleep_for(delay);
  std::vector<std::string> found;
  auto i = names_.find(address);
  if (i == names_.end()) found.push_back(address);
  else found = i->second;
  if (found.empty()) co_await fail(unavailable_error(absl::StrCat(at->host, ": look up: no such host")));
  co_return found;
}

task<std::unique_ptr<listener>> simulated_network::listen(std::string address, time_point deadline) {
  auto at = parse_address(address);
  if (!at.ok()) co_await fail(at.why());
  if (deadline <= world_.now()) co_await fail(detail::late(absl::StrCat(address, ": listen")));
  while (at->port == 0) {
    address = absl::StrCat(at->host, ":", next_port_++);
    if (!doors_.count(address)) break;
  }
  if (doors_.count(address)) co_await fail(unavailable_error(absl::StrCat(address, " is taken")));
  co_return std::make_unique<door>(*this, std::move(address));
}

task<std::unique_ptr<connection>> simulated_network::connect(std::string address, time_point deadline) {
  status too_late = detail::late(absl::StrCat(address, ": connect"));
  return detail::before(deadline, std::move(too_late), connect_now(std::move(address)));
}

task<std::unique_ptr<connection>> simulated_network::connect_now(std::string address) {
  auto at = parse_address(address);
  if (!at.ok()) co_await fail(at.why());
  const duration delay = silent_.count(address) ? detail::kSilence : draw_delay();
  co_await sleep_for(delay);
  auto i = doors_.find(address);
  bool refused = i == doors_.end() || unplugged_.count(address) || world_.chance(options_.refuse_chance);
  if (refused) co_await fail(unavailable_error(absl::StrCat(address, ": connection refused")));
  auto w = std::make_shared<wire>(options_.window_bytes);
  wires_.emplace(address, w);
  std::unique_ptr<connection> theirs = std::make_unique<end>(*this, w, "a caller of " + address, false);
  bool taken = i->second->callers.try_send(std::move(theirs));
  if (!taken) co_await fail(unavailable_error(absl::StrCat(address, ": too many wait to be accepted")));
  co_return std::make_unique<end>(*this, w, std::move(address), true);
}

void simulated_network::unplug(const std::string& address) {
  unplugged_.insert(address);
  auto [first, last] = wires_.equal_range(address);
  for (auto i = first; i != last; ++i)
    if (auto w = i->second.lock()) {
      ++broken_;
      w->cut(lost());
    }
  wires_.erase(first, last);
}

}  // namespace sluice::lib
