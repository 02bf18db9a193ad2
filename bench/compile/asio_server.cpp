// SPDX-License-Identifier: Apache-2.0
// A server on asio that sends numbered lines, with a stream of sluice for each client (-DWITH_SLUICE) or a plain loop:
// timed while it is compiled.
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include <asio.hpp>

#ifdef WITH_SLUICE
#include "sluice/asio.hpp"
#include "sluice/sluice.hpp"
#endif

using asio::ip::tcp;

std::string numbered(std::int64_t i) { return "line " + std::to_string(i) + "\n"; }

#ifdef WITH_SLUICE
sluice::lib::runtime rt;
#endif

asio::awaitable<void> serve(tcp::socket client) {
  std::string request;
  std::size_t length =
      co_await asio::async_read_until(client, asio::dynamic_buffer(request, 32), '\n', asio::use_awaitable);
  std::int64_t count = std::atoll(request.substr(0, length).c_str());
#ifdef WITH_SLUICE
  auto s = (sluice::lib::range(count) | sluice::lib::map(numbered, {.parallelism = 2}) | sluice::lib::prefetch(16))
               .iterate(rt);
  for (;;) {
    std::optional<std::string> line = co_await sluice::lib::async_next(s, asio::use_awaitable);
    if (!line) break;
    co_await asio::async_write(client, asio::buffer(*line), asio::use_awaitable);
  }
#else
  for (std::int64_t i = 0; i != count; ++i) {
    std::string line = numbered(i);
    co_await asio::async_write(client, asio::buffer(line), asio::use_awaitable);
  }
#endif
}

asio::awaitable<void> listen(tcp::acceptor acceptor) {
  for (;;) {
    tcp::socket client = co_await acceptor.async_accept(asio::use_awaitable);
    asio::co_spawn(acceptor.get_executor(), serve(std::move(client)), asio::detached);
  }
}

int main() {
  asio::io_context io;
  asio::co_spawn(io, listen(tcp::acceptor(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0))), asio::detached);
  io.run();
}
