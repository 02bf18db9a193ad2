// SPDX-License-Identifier: Apache-2.0
#include "io/http/server/page_server.hpp"

#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <llhttp.h>

#include <array>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <asio/write.hpp>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "sluice/base/status.hpp"

namespace sluice::lib {
namespace {

using asio::ip::tcp;

constexpr std::chrono::seconds kDeadline{10};
/// After a connection could not be accepted.
constexpr std::chrono::milliseconds kPause{100};
/// After the reply, so much of a request that goes on is read, because the peer may otherwise lose the reply.
constexpr std::size_t kRestBytesMax = 64 << 10;

const char* reason_of(unsigned status) {
  switch (status) {
    case 200: return "OK";
    case 400: return "Bad Request";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 414: return "URI Too Long";
    case 431: return "Request Header Fields Too Large";
    case 503: return "Service Unavailable";
    default: return "Internal Server Error";
  }
}

page_reply failure(unsigned status, const std::string& text) { return {.status = status, .body = text + "\n"}; }

tcp::endpoint endpoint_of(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  std::string host = colon == address.npos ? "" : address.substr(0, colon);
  const std::string port = colon == address.npos ? address : address.substr(colon + 1);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  if (host.empty() || host == "localhost") host = "127.0.0.1";
  std::uint32_t number = 0;
  asio::error_code wrong;
  const asio::ip::address ip = asio::ip::make_address(host, wrong);
  if (wrong || !absl::SimpleAtoi(port, &number) || number > 65535)
    throw_status(
        invalid_argument_error("expects HOST:PORT or :PORT, such as 127.0.0.1:9464 or :0 for any free port, "
                               "with an IP address or localhost, and is " +
                               address));
  return {ip, static_cast<asio::ip::port_type>(number)};
}

/// Returns true if the header Host names this machine: localhost, or an address.
bool is_local_host(std::string host) {
  if (host.empty()) return true;  // HTTP/1.0
  const std::size_t colon = host.rfind(':');
  if (colon != host.npos && host.find(']', colon) == host.npos) host.resize(colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  asio::error_code wrong;
  asio::ip::make_address(host, wrong);
  return !wrong || host == "localhost";
}

/// Collects the head of one request.
class request_parser {
 public:
  enum class step { more, done, broken };

  request_parser() {
    llhttp_settings_init(&calls_);
    calls_.on_url = on_url;
    calls_.on_header_field = on_name;
    calls_.on_header_value = on_value;
    calls_.on_headers_complete = on_head;
    llhttp_init(&parser_, HTTP_REQUEST, &calls_);
    parser_.data = this;
  }
  request_parser(const request_parser&) = delete;

  step take(const char* bytes, std::size_t n) {
    const llhttp_errno_t e = llhttp_execute(&parser_, bytes, n);
    if (is_done_) return step::done;
    return e == HPE_OK ? step::more : step::broken;
  }
  std::string fault() const { return llhttp_get_error_reason(&parser_); }
  bool is_get() const { return parser_.method == HTTP_GET; }
  bool is_head() const { return parser_.method == HTTP_HEAD; }
  bool is_url_too_long() const { return url_.size() > page_server::kPathBytesMax; }
  page_request request() const {
    page_request r{url_.substr(0, url_.find('?')), accept_, host_};
    return r;
  }

 private:
  static request_parser& of(llhttp_t* p) { return *static_cast<request_parser*>(p->data); }
  static int on_url(llhttp_t* p, const char* at, std::size_t n) {
    of(p).url_.append(at, n);
    return 0;
  }
  static int on_name(llhttp_t* p, const char* at, std::size_t n) {
    request_parser& me = of(p);
    if (me.is_in_value_) me.name_.clear();
    me.is_in_value_ = false;
    me.name_.append(at, n);
    return 0;
  }
  static int on_value(llhttp_t* p, const char* at, std::size_t n) {
    request_parser& me = of(p);
    const std::string name = absl::AsciiStrToLower(me.name_);
    if (!me.is_in_value_ && name == "accept" && !me.accept_.empty()) me.accept_ += ", ";
    me.is_in_value_ = true;
    if (name == "accept") me.accept_.append(at, n);
    if (name == "host") me.host_.append(at, n);
    return 0;
  }
  static int on_head(llhttp_t* p) {
    of(p).is_done_ = true;
    return HPE_PAUSED;  // the body, if any, is not parsed
  }

  llhttp_settings_t calls_{};
  llhttp_t parser_{};
  std::string url_, name_, accept_, host_;
  bool is_in_value_ = true, is_done_ = false;
};

const char* advice_for(const asio::error_code& wrong) {
  if (wrong == asio::error::address_in_use) return "; choose another port, or :0 for any free one";
  if (wrong == asio::error::access_denied) return "; choose a port from 1024 on, or :0 for any free one";
  const bool is_elsewhere = wrong == asio::error_code(EADDRNOTAVAIL, asio::error::get_system_category());
  if (is_elsewhere) return "; this machine has no such address; 127.0.0.1 is for programs on it, 0.0.0.0 for all";
  return "";
}

}  // namespace

struct page_server::state {
  state(const std::string& address, answer a) : answers(std::move(a)), acceptor(context) {
    const tcp::endpoint at = endpoint_of(address);
    asio::error_code wrong;
    acceptor.open(at.protocol(), wrong);
    if (!wrong) acceptor.set_option(tcp::acceptor::reuse_address(true), wrong);
    if (!wrong) acceptor.bind(at, wrong);
    if (!wrong) acceptor.listen(asio::socket_base::max_listen_connections, wrong);
    if (wrong)
      throw_status(
          unavailable_error(absl::StrCat("cannot listen on ", address, ": ", wrong.message(), advice_for(wrong))));
    bound = acceptor.local_endpoint();
    accept();
    thread = std::thread([this] { context.run(); });
  }
  ~state() {
    context.stop();
    thread.join();
  }
  void accept();

  const answer answers;
  std::size_t connections = 0;  ///< used by the thread, and by the connections that the context destroys
  asio::io_context context{1};
  tcp::acceptor acceptor;
  asio::steady_timer pause{context};
  tcp::endpoint bound;
  std::thread thread;
};

class page_server::connection : public std::enable_shared_from_this<page_server::connection> {
 public:
  connection(tcp::socket s, page_server::state& home) : home_(home), socket_(std::move(s)), deadline_(home.context) {
    ++home_.connections;
  }
  ~connection() { --home_.connections; }

  void start() {
    deadline_.expires_after(kDeadline);
    deadline_.async_wait([weak = weak_from_this()](asio::error_code cancelled) {
      auto me = weak.lock();
      if (!cancelled && me) me->close();
    });
    if (home_.connections > kConnectionsMax) return reply(failure(503, "too many connections"));
    read();
  }

 private:
  void read() {
    socket_.async_read_some(asio::buffer(bytes_), [me = shared_from_this()](asio::error_code wrong, std::size_t n) {
      if (!wrong) me->take(n);
    });
  }
  void take(std::size_t n) {
    head_bytes_ += n;
    const request_parser::step step = parser_.take(bytes_.data(), n);
    if (parser_.is_url_too_long()) return reply(failure(414, "the path is too long"));
    if (step == request_parser::step::broken) return reply(failure(400, "no HTTP request: " + parser_.fault()));
    if (step == request_parser::step::done) return reply(answer_to_request());
    if (head_bytes_ > kHeadBytesMax) return reply(failure(431, "the header fields are too long"));
    read();
  }
  page_reply answer_to_request() {
    if (!parser_.is_get() && !parser_.is_head()) return failure(405, "only GET and HEAD are answered");
    const page_request r = parser_.request();
    if (home_.bound.address().is_loopback() && !is_local_host(r.host))
      return failure(403, "this server answers by the names localhost and 127.0.0.1");
    try {
      return home_.answers(r);
    } catch (const std::exception& e) { return failure(500, e.what()); }
  }
  void reply(const page_reply& r) {
    text_ = absl::StrCat("HTTP/1.1 ", r.status, " ", reason_of(r.status), "\r\nContent-Type: ", r.type,
                         "\r\nContent-Length: ", r.body.size(), "\r\nCache-Control: no-store\r\n",
                         "X-Content-Type-Options: nosniff\r\nConnection: close\r\n",
                         r.status == 405 ? "Allow: GET, HEAD\r\n" : "", "\r\n");
    if (!parser_.is_head()) text_ += r.body;
    asio::async_write(socket_, asio::buffer(text_), [me = shared_from_this()](asio::error_code wrong, std::size_t) {
      if (wrong) return;
      me->socket_.shutdown(tcp::socket::shutdown_send, wrong);
      if (!wrong) me->drop_rest();
    });
  }
  void drop_rest() {
    socket_.async_read_some(asio::buffer(bytes_), [me = shared_from_this()](asio::error_code wrong, std::size_t n) {
      me->rest_bytes_ += n;
      if (!wrong && me->rest_bytes_ < kRestBytesMax) me->drop_rest();
    });
  }
  void close() {
    asio::error_code unused;
    socket_.close(unused);
  }

  page_server::state& home_;
  tcp::socket socket_;
  asio::steady_timer deadline_;
  request_parser parser_;
  std::array<char, 4096> bytes_{};
  std::size_t head_bytes_ = 0, rest_bytes_ = 0;
  std::string text_;
};

void page_server::state::accept() {
  acceptor.async_accept([this](asio::error_code wrong, tcp::socket s) {
    if (!wrong) std::make_shared<connection>(std::move(s), *this)->start();
    if (!wrong) return accept();
    if (wrong == asio::error::operation_aborted) return;
    pause.expires_after(kPause);  // the process has no descriptor left, for example
    pause.async_wait([this](asio::error_code cancelled) {
      if (!cancelled) accept();
    });
  });
}

page_server::page_server(const std::string& address, answer a)
    : state_(std::make_unique<state>(address, std::move(a))) {}

page_server::~page_server() = default;

std::string page_server::url() const {
  const asio::ip::address ip = state_->bound.address();
  const std::string host = ip.is_v6() ? "[" + ip.to_string() + "]" : ip.to_string();
  return absl::StrCat("http://", host, ":", state_->bound.port(), "/");
}

bool page_server::is_public() const { return !state_->bound.address().is_loopback(); }

}  // namespace sluice::lib
