// SPDX-License-Identifier: Apache-2.0
// A network inside a simulation: what a real one may do to a program, it does, when the seed says so.
//
//   simulated_network net(world, {.delay_max = std::chrono::milliseconds(50), .break_chance = 0.01});
//   net.unplug("a:1");       // its listener and all its connections are cut; plug() lets new ones in again
//
// Order: bytes of one connection arrive in order, in pieces of any size; connections overtake each other freely.
// Thread: the simulation's.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "sluice/io/network.hpp"
#include "sluice/runtime/simulation.hpp"

namespace sluice::lib {

struct simulated_network_options {
  duration delay_min = std::chrono::microseconds(50);
  duration delay_max = std::chrono::milliseconds(5);
  double refuse_chance = 0;             ///< a connect fails though somebody listens
  double break_chance = 0;              ///< a write finds the connection lost, with what was on its way
  std::size_t window_bytes = 64 << 10;  ///< on their way in one direction, before the writer has to wait
};

class simulated_network final : public network {
 public:
  simulated_network(simulation& world, simulated_network_options options = {});
  ~simulated_network();

  task<std::unique_ptr<listener>> listen(std::string address, time_point deadline = kNever) override;
  task<std::unique_ptr<connection>> connect(std::string address, time_point deadline = kNever) override;

  task<std::vector<std::string>> resolve(std::string address, time_point deadline = kNever) override;

  /// From now on `address` resolves to these; to none: it is a name that nobody knows.
  void name(std::string address, std::vector<std::string> means) { names_[std::move(address)] = std::move(means); }
  /// Either end of a connection of this network: it is lost now, for both, with what was on its way.
  void reset(connection& one);
  void unplug(const std::string& address);
  void plug(const std::string& address) { unplugged_.erase(address); }
  /// From now on a connect to it gets no answer, as from behind a firewall that drops what it does not like.
  void silence(std::string address) { silent_.insert(std::move(address)); }
  /// Connections that were lost by chance or by unplug.
  std::uint64_t broken() const noexcept { return broken_; }

 private:
  class wire;
  class end;
  class door;

  duration draw_delay();
  task<std::unique_ptr<connection>> connect_now(std::string address);

  simulation& world_;
  simulated_network_options options_;
  std::map<std::string, door*> doors_;
  std::multimap<std::string, std::weak_ptr<wire>> wires_;
  std::map<std::string, std::vector<std::string>> names_;
  std::set<std::string> unplugged_;
  std::set<std::string> silent_;
  std::uint16_t next_port_ = 1;
  std::uint64_t broken_ = 0;
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::simulated_network;
using lib::simulated_network_options;

}  // namespace sluice
