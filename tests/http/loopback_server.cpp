// SPDX-License-Identifier: Apache-2.0
#if SLUICE_HAVE_TLS
#include "http/loopback_server.hpp"

#include <arpa/inet.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "http/loopback.hpp"

namespace sluice::lib::testing {
namespace {

constexpr int kNobodyYet = 128;
/// What the other side has not read after so long, it will not read.
constexpr int kMillisecondsToBeRead = 5000;

void send_at_once(int fd) {
  const int yes = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

}  // namespace

// OpenSSL's own way to a socket raises SIGPIPE, and cannot be slow.
struct wire_bio {
  static int write(BIO* bio, const char* bytes, int n) {
    auto* to = static_cast<wire*>(BIO_get_data(bio));
    return to->send({bytes, static_cast<std::size_t>(n)}) ? n : -1;
  }
  static int read(BIO* bio, char* to, int n) {
    auto* from = static_cast<wire*>(BIO_get_data(bio));
    return static_cast<int>(from->receive({to, static_cast<std::size_t>(n)}));
  }
  static long control(BIO*, int what, long, void*) { return what == BIO_CTRL_FLUSH; }
  static int begin(BIO* bio) {
    BIO_set_init(bio, 1);
    return 1;
  }
  static BIO_METHOD* make_method() {
    BIO_METHOD* m = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "wire");
    BIO_meth_set_write(m, &wire_bio::write);
    BIO_meth_set_read(m, &wire_bio::read);
    BIO_meth_set_ctrl(m, &wire_bio::control);
    BIO_meth_set_create(m, &wire_bio::begin);
    return m;
  }
  static BIO* make(wire* of) {
    static const std::unique_ptr<BIO_METHOD, void (*)(BIO_METHOD*)> method(make_method(), &BIO_meth_free);
    BIO* bio = BIO_new(method.get());
    BIO_set_data(bio, of);
    return bio;
  }
};

wire::wire(int fd) : fd_(fd) { send_at_once(fd); }

wire::~wire() {
  SSL_free(tls_);
  close();
}

void wire::close() {
  std::lock_guard lock(mutex_);
  if (!is_closed_) ::close(fd_);
  is_closed_ = true;
}

std::size_t wire::receive(std::span<char> to) {
  const ssize_t n = ::recv(fd_, to.data(), to.size(), 0);
  return n > 0 ? static_cast<std::size_t>(n) : 0;
}

bool wire::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd_, bytes.data(), is_slow_ ? 1 : bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

bool wire::secure(SSL_CTX* context, handshake how) {
  char hello[64];
  switch (how) {
    case handshake::stalls: stall(); return false;
    case handshake::resets:
      if (receive(hello) != 0) reset();
      return false;
    case handshake::ends:
      if (receive(hello) != 0) end();
      return false;
    case handshake::sound:
    case handshake::by_the_byte: break;
  }
  tls_ = SSL_new(context);
  BIO* bio = wire_bio::make(this);
  SSL_set_bio(tls_, bio, bio);
  is_slow_ = how == handshake::by_the_byte;
  const bool done = SSL_accept(tls_) == 1;
  is_slow_ = false;
  return done;
}

std::size_t wire::read(std::span<char> to) {
  if (!tls_) return receive(to);
  std::size_t n = 0;
  return SSL_read_ex(tls_, to.data(), to.size(), &n) == 1 ? n : 0;
}

bool wire::write(std::string_view bytes) {
  if (bytes.empty()) return true;
  if (!tls_) return send(bytes);
  std::size_t n = 0;
  return SSL_write_ex(tls_, bytes.data(), bytes.size(), &n) == 1;
}

bool wire::is_left_within(std::chrono::milliseconds time) {
  pollfd end{fd_, POLLIN | POLLRDHUP, 0};
  return ::poll(&end, 1, static_cast<int>(time.count())) != 0;
}

bool wire::write_by_the_byte(std::string_view bytes) {
  for (; !bytes.empty(); bytes.remove_prefix(1))
    if (!write(bytes.substr(0, 1))) return false;
  return true;
}

void wire::reset() {
  // Else what the other side has of it, and so what it asks for next, would be luck.
  int unsent = 1;
  for (int i = 0; i != kMillisecondsToBeRead && ::ioctl(fd_, SIOCOUTQ, &unsent) == 0 && unsent != 0; ++i)
    if (is_left_within(std::chrono::milliseconds(1))) break;
  const linger at_once{1, 0};
  std::lock_guard lock(mutex_);
  if (is_closed_) return;
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  ::close(fd_);
  is_closed_ = true;
}

void wire::end() {
  ::shutdown(fd_, SHUT_WR);
  stall();
}

void wire::stall() {
  char ignored[4096];
  while (receive(ignored) != 0) {}
}

void wire::cut() {
  std::lock_guard lock(mutex_);
  if (!is_closed_) ::shutdown(fd_, SHUT_RDWR);
}

std::shared_ptr<SSL_CTX> server_context(const std::string& certificate, const std::string& key) {
  std::shared_ptr<SSL_CTX> made(SSL_CTX_new(TLS_server_method()), &SSL_CTX_free);
  const bool good = SSL_CTX_use_certificate_file(made.get(), certificate.c_str(), SSL_FILETYPE_PEM) == 1 &&
                    SSL_CTX_use_PrivateKey_file(made.get(), key.c_str(), SSL_FILETYPE_PEM) == 1;
  return good ? made : nullptr;
}

std::unique_ptr<wire> connect_to(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in at = loopback(port);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0) return std::make_unique<wire>(fd);
  ::close(fd);
  return {};
}

loopback_server::loopback_server() : door_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in at = loopback(0);
  socklen_t size = sizeof at;
  if (::bind(door_, reinterpret_cast<sockaddr*>(&at), size) != 0 || ::listen(door_, kNobodyYet) != 0 ||
      ::getsockname(door_, reinterpret_cast<sockaddr*>(&at), &size) != 0)
    std::abort();
  port_ = ntohs(at.sin_port);
}

void loopback_server::start() {
  accepting_ = std::thread([this] { accept_all(); });
}

void loopback_server::accept_all() {
  for (;;) {
    const int fd = ::accept4(door_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    std::lock_guard lock(mutex_);
    if (stops_) {
      ::close(fd);
      return;
    }
    // Those that have left: their threads end, or have ended.
    for (auto v = within_.begin(); v != within_.end();)
      if (v->gone) {
        v->thread.join();
        v = within_.erase(v);
      } else {
        ++v;
      }
    visitor& v = within_.emplace_back(fd);
    v.thread = std::thread([this, &v] {
      converse(v.with);
      v.with.close();
      std::lock_guard leaving(mutex_);
      v.gone = true;
      left_.notify_all();
    });
  }
}

bool loopback_server::wait_until_idle(std::chrono::seconds longest) {
  auto idle = [this] { return std::all_of(within_.begin(), within_.end(), [](visitor& v) { return v.gone; }); };
  std::unique_lock lock(mutex_);
  return left_.wait_for(lock, longest, idle);
}

void loopback_server::stop() {
  {
    std::lock_guard lock(mutex_);
    stops_ = true;
    for (visitor& v : within_) v.with.cut();
  }
  ::shutdown(door_, SHUT_RDWR);
  accepting_.join();
  for (visitor& v : within_) v.thread.join();
  within_.clear();
  ::close(door_);
}

}  // namespace sluice::lib::testing
#endif
