// SPDX-License-Identifier: Apache-2.0
#include "io/asio/name_look_up.hpp"

#include <netdb.h>

#include <asio/ip/address.hpp>
#include <asio/post.hpp>
#include <cerrno>
#include <cstring>
#include <map>
#include <thread>
#include <utility>

#include "sluice/base/mutex.hpp"

namespace sluice::lib {
namespace {

asio::error_code error_of(int e) {
  switch (e) {
    case EAI_AGAIN: return asio::error::host_not_found_try_again;
    case EAI_MEMORY: return asio::error::no_memory;
    case EAI_SYSTEM: return asio::error_code(errno, asio::error::get_system_category());
    case EAI_FAIL:
    case EAI_BADFLAGS: return asio::error::no_recovery;
    case EAI_SERVICE: return asio::error::service_not_found;
    default: return asio::error::host_not_found;
  }
}

struct list_deleter {
  void operator()(addrinfo* list) const noexcept { ::freeaddrinfo(list); }
};

}  // namespace

asio::error_code look_up_by_system(const host_and_port& of, endpoints& found) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int wrong = ::getaddrinfo(of.host.c_str(), nullptr, &wanted, &list);
  const std::unique_ptr<addrinfo, list_deleter> owned(wrong == 0 ? list : nullptr);
  if (wrong != 0) return error_of(wrong);
  for (const addrinfo* one = list; one; one = one->ai_next) {
    if (one->ai_family != AF_INET && one->ai_family != AF_INET6) continue;
    asio::ip::tcp::endpoint at;
    if (one->ai_addrlen > at.capacity()) continue;
    at.resize(one->ai_addrlen);
    std::memcpy(at.data(), one->ai_addr, one->ai_addrlen);
    at.port(of.port);
    found.push_back(at);
  }
  return found.empty() ? asio::error_code(asio::error::host_not_found) : asio::error_code();
}

/// The state that the threads share with the waiting task.
struct name_look_ups::waiting {
  lib::mutex mutex;
  asio::io_context* io ABSL_GUARDED_BY(mutex) = nullptr;  ///< null: the object was destroyed
  std::map<std::uint64_t, answer> thens;           ///< handlers of the look-ups in progress; used by the io thread only
  std::uint64_t started = 0;                       ///< used by the io thread only
  std::size_t running ABSL_GUARDED_BY(mutex) = 0;  ///< the number of threads

  void run(const std::shared_ptr<waiting>& self, std::uint64_t number, const host_and_port& of, blocking how) {
    endpoints found;
    const asio::error_code e = how(of, found);
    mutex_lock lock(mutex);
    --running;
    if (!io) return;
    asio::post(*io, [self, number, e, found = std::move(found)]() mutable {
      auto node = self->thens.extract(number);
      node.mapped()(e, std::move(found));
    });
  }
  /// Returns false if no thread is available.
  bool begin(const std::shared_ptr<waiting>& self, std::uint64_t number, const host_and_port& of, blocking how) {
    {
      mutex_lock lock(mutex);
      if (running == kAtOnceMax) return false;
      ++running;
    }
    try {
      std::thread([self, number, of, how] { self->run(self, number, of, how); }).detach();
      return true;
    } catch (const std::system_error&) {
      mutex_lock lock(mutex);
      --running;
      return false;
    }
  }
};

name_look_ups::name_look_ups(asio::io_context& io, blocking how) : waiting_(std::make_shared<waiting>()), how_(how) {
  waiting_->io = &io;
}

name_look_ups::~name_look_ups() {
  mutex_lock lock(waiting_->mutex);
  waiting_->io = nullptr;
  waiting_->thens.clear();
}

void name_look_ups::start(host_and_port of, answer then) {
  asio::error_code is_name;
  const asio::ip::address address = asio::ip::make_address(of.host, is_name);
  if (!is_name) return then({}, {asio::ip::tcp::endpoint(address, of.port)});
  const std::uint64_t number = waiting_->started++;
  auto& kept = waiting_->thens[number];
  kept = std::move(then);
  if (waiting_->begin(waiting_, number, of, how_)) return;
  auto node = waiting_->thens.extract(number);
  node.mapped()(asio::error::try_again, {});
}

}  // namespace sluice::lib
