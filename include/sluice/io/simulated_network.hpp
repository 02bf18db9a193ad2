// SPDX-License-Identifier: Apache-2.0
// A network inside a simulation. The seed decides which delays and failures of a real network happen.
//
//   simulated_network net(world, {.delay_max = std::chrono::milliseconds(50), .break_chance = 0.01});
//   net.unplug("a:1");       // its listener and all its connections are cut; plug() lets new ones in again
//
// Order: bytes of one connection arrive in order, in pieces of any size. Connections are independent of each other.
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
  double refuse_chance = 0;             ///< a connect fails although a listener exists
  double break_chance = 0;              ///< a write finds the connection lost, with the bytes on their way
  std::size_t window_bytes = 64 << 10;  ///< bytes on their way in one direction before the writer must wait
};

class simulated_network final : public network {
 public:
  simulated_network(simulation& world, simulated_network_options options = {});
  ~simulated_network();

  task<std::unique_ptr<listener>> listen(std::string address, time_point deadline = kNever) override;
  task<std::unique_ptr<connection>> connect(std::string address, time_point deadline = kNever) override;

  task<std::vector<std::string>> resolve(std::string address, time_point deadline = kNever) override;

  /// Makes `address` resolve to these addresses from now on; an empty list makes it an unknown name.
  void name(std::string address, std::vector<std::string> means) { names_[std::move(address)] = std::move(means); }
  /// Loses a connection of this network, of which `one` is either end, for both ends, with the bytes on their way.
  void reset(connection& one);
  void unplug(const std::string& address);
  void plug(const std::string& address) { unplugged_.erase(address); }
  /// Leaves connects to this address unanswered from now on, like a firewall that discards packets.
  void silence(std::string address) { silent_.insert(std::move(address)); }
  /// The number of connections lost by chance or by unplug.
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
