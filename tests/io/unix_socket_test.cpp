// SPDX-License-Identifier: Apache-2.0
// Unix sockets of the network over asio; tests/io/transport_test.cpp runs the suite of transports over them.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <cstdio>
#include <cstring>

#include "sluice/io/asio_network.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib::unix_socket_test {
namespace {

std::string path_of(const char* name) { return "/tmp/sluice-" + std::to_string(getpid()) + name; }

task<std::string> say_hello(network& net, std::string address) {
  auto door = co_await net.listen(address);
  auto c = co_await net.connect(door->address());
  auto accepted = co_await door->accept();
  std::string text = "hello", got(5, ' ');
  co_await c->write(text);
  co_await c->finish_writing();
  co_await read_exactly(*accepted, got);
  char more[1];
  auto n = co_await accepted->read_some(more);
  if (n != 0) got += " and more";
  auto found = co_await net.resolve(door->address());
  if (found != std::vector<std::string>(1, address)) got += " from another address";
  co_return got + " at " + door->address();
}
task<> connect_to(network& net, std::string address) {
  auto c = co_await net.connect(address);
  (void)c;
}
status failure_of(task<std::string> work) {
  runtime rt(runtime_options{.workers = 1});
  return sync_wait_result(rt.root(), std::move(work)).why();
}

/// Binds and does not unlink, as a process that is killed.
void leave_socket(const std::string& path) {
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  std::memcpy(at.sun_path, path.c_str(), path.size() + 1);
  const int s = ::socket(AF_UNIX, SOCK_STREAM, 0);
  REQUIRE(::bind(s, reinterpret_cast<sockaddr*>(&at), sizeof(at)) == 0);
  ::close(s);
}
bool exists(const std::string& path) {
  struct stat found;
  return ::lstat(path.c_str(), &found) == 0;
}

}  // namespace

TEST_CASE("a Unix socket carries bytes, and its file is removed with the listener", "[network]") {
  auto net = make_asio_network();
  runtime rt(runtime_options{.workers = 2});
  const std::string path = path_of(".sock"), address = "unix:" + path;
  CHECK(sync_wait(rt, say_hello(*net, address)) == "hello at " + address);
  CHECK(!exists(path));
  status why = sync_wait_result(rt.root(), connect_to(*net, address));
  CHECK(why.code() == status_code::unavailable);
  CHECK_THAT(why.to_string(), Catch::Contains(address));
}

TEST_CASE("a listener replaces the socket file of a killed process, and no other file", "[network]") {
  auto net = make_asio_network();
  const std::string path = path_of(".left"), address = "unix:" + path;
  leave_socket(path);
  REQUIRE(exists(path));
  CHECK(failure_of(say_hello(*net, address)).ok());
  std::fclose(std::fopen(path.c_str(), "w"));
  CHECK(failure_of(say_hello(*net, address)).code() == status_code::unavailable);
  CHECK(exists(path));
  ::unlink(path.c_str());
}

TEST_CASE("a Unix socket that is in use, and a path that is too long, are refused", "[network]") {
  auto net = make_asio_network();
  const std::string address = "unix:" + path_of(".twice");
  auto twice = [](network& n, std::string at) -> task<std::string> {
    auto first = co_await n.listen(at);
    auto second = co_await n.listen(at);
    co_return at;
  };
  CHECK(failure_of(twice(*net, address)).code() == status_code::unavailable);
  CHECK(failure_of(say_hello(*net, "unix:/tmp/" + std::string(200, 'x'))).code() == status_code::invalid_argument);
  CHECK(failure_of(say_hello(*net, "unix:")).code() == status_code::invalid_argument);
}

}  // namespace sluice::lib::unix_socket_test
