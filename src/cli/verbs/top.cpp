// SPDX-License-Identifier: Apache-2.0
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>

#include "cli/messages/exit_status.hpp"
#include "cli/page/top_screen.hpp"
#include "cli/verbs.hpp"
#include "sluice/base/status.hpp"

#if SLUICE_HAVE_HTTP && SLUICE_HAVE_ASIO
#include <asio/ip/tcp.hpp>
#endif

namespace sluice::lib::cli {
namespace {

#if SLUICE_HAVE_HTTP && SLUICE_HAVE_ASIO

constexpr std::chrono::seconds kAnswerTime{10};
constexpr std::size_t kReportBytesMax = 16 << 20;

struct server_place {
  std::string host = "127.0.0.1", port;
};

/// Accepts what --serve prints: http://127.0.0.1:9464/, and HOST:PORT, :PORT, PORT.
server_place place_of(std::string address) {
  const std::string given = address;
  if (address.starts_with("http://")) address = address.substr(7);
  address = address.substr(0, address.find('/'));
  server_place p;
  const std::size_t colon = address.rfind(':');
  p.port = colon == address.npos ? address : address.substr(colon + 1);
  if (colon != address.npos && colon != 0) p.host = address.substr(0, colon);
  if (p.host.size() > 2 && p.host.front() == '[' && p.host.back() == ']') p.host = p.host.substr(1, p.host.size() - 2);
  if (p.port.empty() || p.port.size() > 5 || p.port.find_first_not_of("0123456789") != p.port.npos)
    throw misuse("top expects the address that sluice run --serve has printed, such as 127.0.0.1:9464, and got " +
                 given + "; for the largest elements: sluice run 'PLAN | top(10, by=NUMBER)' --output jsonl");
  return p;
}

/// Requests the report. Errors: throws `error` (unavailable, data_loss).
std::string report_from(const server_place& p) {
  asio::ip::tcp::iostream server;
  server.expires_after(kAnswerTime);
  server.connect(p.host, p.port);
  const bool is_connected = server.good();
  server << "GET /report.json HTTP/1.1\r\nHost: " + p.host + "\r\nAccept: application/json\r\n\r\n" << std::flush;
  if (is_connected) server.clear();  // a server that refuses answers before it has read the whole request
  std::string text;
  for (std::string line; text.size() < kReportBytesMax && std::getline(server, line);) text += line + "\n";
  if (text.empty())
    throw_status(unavailable_error("no answer from " + p.host + ":" + p.port + " (" + server.error().message() +
                                   "): is sluice run --serve still running there?"));
  const std::size_t body = text.find("\r\n\r\n");
  if (text.starts_with("HTTP/1.1 503 "))
    throw_status(unavailable_error(p.host + ":" + p.port + " has too many connections: try again"));
  if (!text.starts_with("HTTP/1.1 200 ") || body == text.npos)
    throw_status(data_loss_error(p.host + ":" + p.port + " is no server of sluice run --serve: it answers " +
                                 text.substr(0, text.find_first_of("\r\n"))));
  return text.substr(body + 4);
}

screen_size terminal_size() {
  screen_size size;
  winsize w{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 0 && w.ws_row > 0) size = {w.ws_col, w.ws_row};
  return size;
}

int show_once(const server_place& p) {
  std::fputs(top_screen(report_from(p), terminal_size()).c_str(), stdout);
  return kOk;
}

/// On a terminal stdout shows control characters as escapes, so this bypasses it. Texts of the plan have none.
void print_screen(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, text.data(), text.size());
    if (n <= 0) return;  // the terminal is gone
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

int follow(const server_place& p) {
  bool has_shown = false;
  for (;;) {
    std::string report;
    try {
      report = report_from(p);
    } catch (const error&) {
      if (!has_shown) throw;
      std::fputs("the run has ended\n", stdout);
      return kOk;
    }
    screen_size size = terminal_size();
    --size.rows;  // the cursor's line
    print_screen("\x1b[H\x1b[2J" + top_screen(report, size));
    has_shown = true;
    if (!is_running(report)) return kOk;
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

#endif

}  // namespace

int top(const std::string& address, bool is_once) {
#if SLUICE_HAVE_HTTP && SLUICE_HAVE_ASIO
  const server_place p = place_of(address);
  return is_once || !::isatty(STDOUT_FILENO) ? show_once(p) : follow(p);
#else
  (void)address, (void)is_once;
  throw misuse("top: this program was built without HTTP (-Dhttp=enabled needs node-llhttp)");
#endif
}

}  // namespace sluice::lib::cli
