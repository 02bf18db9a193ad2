// SPDX-License-Identifier: Apache-2.0
// A TCP server on asio: each client gets a stream of its own, awaited on the server's executor.
//
//   example_05_server PORT      serves; `nc localhost PORT`, then type a number: so many lines of the stream come back
//   example_05_server           starts itself on a free port, asks as three clients, prints what they got
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <asio.hpp>

#include "sluice/asio.hpp"
#include "sluice/sluice.hpp"

using namespace sluice;
using asio::ip::tcp;

std::string greeting(std::int64_t i) { return "line " + std::to_string(i) + "\n"; }

/// Reads a count and answers with as many lines; the stream dies with the client.
asio::awaitable<void> serve(runtime& rt, tcp::socket client) {
  std::string request;
  std::size_t length =
      co_await asio::async_read_until(client, asio::dynamic_buffer(request, 32), '\n', asio::use_awaitable);
  std::int64_t count = std::atoll(request.substr(0, length).c_str());
  auto s = (range(count) | map(greeting, {.parallelism = 2}) | prefetch(16)).iterate(rt);
  for (;;) {
    std::optional<std::string> line = co_await async_next(s, asio::use_awaitable);
    if (!line) break;
    co_await asio::async_write(client, asio::buffer(*line), asio::use_awaitable);
  }
}

asio::awaitable<void> listen(runtime& rt, tcp::acceptor acceptor) {
  for (;;) {
    tcp::socket client = co_await acceptor.async_accept(asio::use_awaitable);
    auto session = serve(rt, std::move(client));
    asio::co_spawn(acceptor.get_executor(), std::move(session), asio::detached);
  }
}

asio::awaitable<void> ask(unsigned short port, std::string count, std::string& answer) {
  tcp::socket socket(co_await asio::this_coro::executor);
  tcp::endpoint server(asio::ip::address_v4::loopback(), port);
  co_await socket.async_connect(server, asio::use_awaitable);
  count += '\n';
  co_await asio::async_write(socket, asio::buffer(count), asio::use_awaitable);
  std::error_code ended;
  auto until_closed = asio::redirect_error(asio::use_awaitable, ended);
  co_await asio::async_read(socket, asio::dynamic_buffer(answer), until_closed);
}

int main(int argc, char** argv) {
  runtime rt;
  asio::io_context io;
  auto wanted = static_cast<unsigned short>(argc > 1 ? std::atoi(argv[1]) : 0);
  tcp::acceptor acceptor(io, tcp::endpoint(asio::ip::address_v4::loopback(), wanted));
  unsigned short port = acceptor.local_endpoint().port();
  asio::co_spawn(io, listen(rt, std::move(acceptor)), asio::detached);
  if (argc > 1) {
    std::printf("serving on port %u\n", port);
    io.run();
    return 0;
  }

  std::vector<std::string> answers(3);
  std::size_t done = 0;
  for (std::size_t i = 0; i != answers.size(); ++i) {
    auto client = ask(port, std::to_string(1000 * (i + 1)), answers[i]);
    asio::co_spawn(io, std::move(client), [&](std::exception_ptr) {
      if (++done == answers.size()) io.stop();
    });
  }
  io.run();
  for (const std::string& a : answers) {
    std::size_t last = a.rfind("line ");
    std::printf("%zu bytes, the last line is %s", a.size(), last == a.npos ? "missing\n" : a.substr(last).c_str());
  }
}
