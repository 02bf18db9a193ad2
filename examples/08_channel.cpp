// SPDX-License-Identifier: Apache-2.0
// A TCP server on asio whose clients' lines are the elements of one pipeline, which batches them as a model would want them.
// When the pipeline is slow, its channel is full, and clients are not read from: back-pressure down to their sockets.
//
//   example_08_channel PORT     serves; `nc localhost PORT`, then lines
//   example_08_channel          starts itself on a free port, sends ten lines as a client, prints the batches
#include <cstdio>
#include <cstdlib>
#include <string>

#include <asio.hpp>

#include "sluice/asio.hpp"
#include "sluice/sluice.hpp"

using namespace sluice;
using asio::ip::tcp;

/// Pushes each line of the client. A full channel holds the client back: nothing is read from it meanwhile.
asio::awaitable<void> receive(tcp::socket client, channel_sender<std::string> push) {
  std::string bytes;
  for (;;) {
    std::error_code ended;
    auto until_line = asio::redirect_error(asio::use_awaitable, ended);
    std::size_t length = co_await asio::async_read_until(client, asio::dynamic_buffer(bytes), '\n', until_line);
    if (ended) break;
    std::string text = bytes.substr(0, length - 1);
    bytes.erase(0, length);
    bool there = co_await async_push(push, std::move(text), asio::use_awaitable);
    if (!there) break;  // the pipeline is gone
  }
}

/// One client after the other, `clients` in all; then the channel is closed, and with it the pipeline ends.
asio::awaitable<void> listen(tcp::acceptor& acceptor, channel_sender<std::string> push, int clients) {
  for (int i = 0; i != clients; ++i) {
    tcp::socket client = co_await acceptor.async_accept(asio::use_awaitable);
    co_await receive(std::move(client), push);
  }
  push.close();
}

asio::awaitable<void> print_batches(stream<batched<std::int64_t>> batches) {
  for (;;) {
    auto b = co_await async_next(batches, asio::use_awaitable);
    if (!b) break;
    std::printf("a batch of %zu:", b->size());
    for (std::int64_t bytes : b->values()) std::printf(" %ld", static_cast<long>(bytes));
    std::printf("\n");
  }
}

asio::awaitable<void> send_lines(unsigned short port, int n) {
  tcp::socket socket(co_await asio::this_coro::executor);
  tcp::endpoint server(asio::ip::address_v4::loopback(), port);
  co_await socket.async_connect(server, asio::use_awaitable);
  for (int i = 1; i <= n; ++i) {
    std::string text = std::string(static_cast<std::size_t>(i), 'x') + "\n";
    co_await asio::async_write(socket, asio::buffer(text), asio::use_awaitable);
  }
}

int main(int argc, char** argv) {
  runtime rt;
  asio::io_context io;
  auto wanted = static_cast<unsigned short>(argc > 1 ? std::atoi(argv[1]) : 0);
  tcp::acceptor acceptor(io, tcp::endpoint(asio::ip::address_v4::loopback(), wanted));

  auto [push, lines_of_clients] = from_channel<std::string>({.elements = 8});
  auto batches = lines_of_clients | map([](const std::string& s) { return static_cast<std::int64_t>(s.size()); }) |
                 batch(4) | prefetch(2);
  asio::co_spawn(io, print_batches(batches.iterate(rt)), asio::detached);
  asio::co_spawn(io, listen(acceptor, push, argc > 1 ? 1'000'000 : 1), asio::detached);
  if (argc == 1) asio::co_spawn(io, send_lines(acceptor.local_endpoint().port(), 10), asio::detached);
  io.run();
}
