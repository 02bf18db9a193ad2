// SPDX-License-Identifier: Apache-2.0
#include "service/host/local_workers.hpp"

#include <map>
#include <tuple>

#include "service/client/service_link.hpp"
#include "service/host/worker_host.hpp"
#include "sluice/base/mutex.hpp"

namespace sluice::lib {
namespace {

struct known_workers {
  using key = std::tuple<const message_transport*, std::string, std::string>;
  struct entry {
    const worker_host* host;
    std::weak_ptr<worker_host> shared;
  };
  mutex guard;
  std::map<key, entry> all ABSL_GUARDED_BY(guard);
};

known_workers& of_this_process() {
  static auto* const known = new known_workers;  // outlives every runtime
  return *known;
}

known_workers::key key_of(const service_link& link, const std::string& address) {
  return {link.transport().get(), link.dispatcher(), address};
}

}  // namespace

void local_workers::add(const service_link& link, const std::string& address,
                        const std::shared_ptr<worker_host>& host) {
  known_workers& known = of_this_process();
  mutex_lock lock(known.guard);
  known.all[key_of(link, address)] = {host.get(), host};
}

std::shared_ptr<worker_host> local_workers::find(const service_link& link, const std::string& address) {
  known_workers& known = of_this_process();
  mutex_lock lock(known.guard);
  const auto found = known.all.find(key_of(link, address));
  return found == known.all.end() ? nullptr : found->second.shared.lock();
}

void local_workers::remove(const worker_host* host) {
  known_workers& known = of_this_process();
  mutex_lock lock(known.guard);
  std::erase_if(known.all, [&](const auto& each) { return each.second.host == host; });
}

}  // namespace sluice::lib
