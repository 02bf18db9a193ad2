// SPDX-License-Identifier: Apache-2.0
#include "io/messages/listening.hpp"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "sluice/io/network.hpp"

namespace sluice::lib {
namespace {

/// Returns false for a path that no socket can have.
bool read_path(const std::string& path, sockaddr_un& to) noexcept {
  to = {};
  to.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof to.sun_path) return false;
  std::memcpy(to.sun_path, path.c_str(), path.size() + 1);
  return true;
}

/// Listens for a moment. Returns an error number; 0: it is possible.
int try_to_listen(int family, const sockaddr* at, socklen_t size) noexcept {
  const int trial = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (trial < 0) return errno;
  const int yes = 1;
  ::setsockopt(trial, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const bool works = ::bind(trial, at, size) == 0 && ::listen(trial, 1) == 0;
  const int why = works ? 0 : errno;
  ::close(trial);
  return why;
}

}  // namespace

bool remove_abandoned_socket(const std::string& path) noexcept {
  sockaddr_un at;
  if (!read_path(path, at)) return true;  // the attempt to listen reports it
  const int trial = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (trial < 0) return true;
  const int why = ::connect(trial, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0 ? 0 : errno;
  ::close(trial);
  struct stat found;
  if (why == ECONNREFUSED && ::lstat(path.c_str(), &found) == 0 && S_ISSOCK(found.st_mode)) ::unlink(path.c_str());
  return why != 0 && why != EAGAIN;  // EAGAIN: its queue is full
}

status listen_error(const std::string& address, int error_number) {
  return unavailable_error(absl::StrCat(address, ": listen: ", std::generic_category().message(error_number)));
}

status why_not_listening(const std::string& address) {
  int why = 0;
  if (address.starts_with(kUnixPrefix)) {
    const std::string path = address.substr(kUnixPrefix.size());
    sockaddr_un at;
    if (!read_path(path, at)) return listen_error(address, ENAMETOOLONG);
    why = try_to_listen(AF_UNIX, reinterpret_cast<const sockaddr*>(&at), sizeof at);
    if (why == 0) ::unlink(path.c_str());
  } else {
    const result<host_and_port> at = parse_address(address);
    if (!at.ok()) return at.why();
    addrinfo wanted{};
    wanted.ai_flags = AI_PASSIVE;
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int unknown = ::getaddrinfo(at->host.c_str(), std::to_string(at->port).c_str(), &wanted, &found);
    if (unknown != 0) return unavailable_error(absl::StrCat(at->host, ": look up: ", ::gai_strerror(unknown)));
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, ::freeaddrinfo);
    for (const addrinfo* a = found; a && why == 0; a = a->ai_next)
      why = try_to_listen(a->ai_family, a->ai_addr, a->ai_addrlen);
  }
  if (why != 0) return listen_error(address, why);
  return unavailable_error(
      absl::StrCat(address, ": listen: gRPC fails, and the system does not; GRPC_VERBOSITY=error prints its reason"));
}

}  // namespace sluice::lib
