// SPDX-License-Identifier: Apache-2.0
#include "http/server_process.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "http/loopback.hpp"

extern char** environ;

namespace sluice::lib::testing {
namespace {

constexpr int kTriesToConnect = 600;
constexpr int kMillisecondsBetween = 50;

int free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at = loopback(0);
  socklen_t size = sizeof at;
  const bool bound = ::bind(fd, reinterpret_cast<sockaddr*>(&at), size) == 0 &&
                     ::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size) == 0;
  ::close(fd);
  return bound ? ntohs(at.sin_port) : 0;
}

bool listens(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at = loopback(port);
  const bool yes = ::connect(fd, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0;
  ::close(fd);
  return yes;
}

/// Empty: it is not there.
std::string find_program(const std::string& name) {
  std::vector<std::string> folders;
  const char* home = std::getenv("HOME");
  const std::string at_home = home ? home : "";
  const char* gopath = std::getenv("GOPATH");
  folders.push_back((gopath ? std::string(gopath) : at_home + "/go") + "/bin");
  folders.push_back(at_home + "/.cache/sluice-servers/bin");
  std::istringstream path(std::getenv("PATH") ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(path, folder, ':');) folders.push_back(folder);
  folders.emplace_back("/usr/sbin");
  for (const std::string& folder : folders)
    if (::access((folder + "/" + name).c_str(), X_OK) == 0) return folder + "/" + name;
  return {};
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& t : texts) all.push_back(t.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

server_process::server_process(std::string program) : program_(std::move(program)), port_(free_port()) {
  std::string name = (std::filesystem::temp_directory_path() / "sluice-server-XXXXXX").string();
  REQUIRE(::mkdtemp(name.data()) != nullptr);
  folder_ = name;
}

server_process::~server_process() {
  if (child_ > 0) {
    ::kill(child_, SIGKILL);  // what it keeps is in our folder
    ::waitpid(child_, nullptr, 0);
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

bool server_process::exists() const { return !find_program(program_).empty(); }

bool server_process::start(const std::vector<std::string>& arguments, const std::vector<std::string>& environment) {
  const std::string path = find_program(program_);
  if (path.empty()) {
    WARN("skipped: this machine has no " << program_ << " (./dev deps servers installs it)");
    return false;
  }
  std::vector<std::string> words{path}, variables;
  words.insert(words.end(), arguments.begin(), arguments.end());
  for (char** v = environ; *v; ++v) variables.emplace_back(*v);
  variables.insert(variables.end(), environment.begin(), environment.end());
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  const std::string log = (folder_ / "log").string();
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  auto argv = pointers(words), envp = pointers(variables);
  const int failed = ::posix_spawn(&child_, path.c_str(), &files, nullptr, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&files);
  REQUIRE(failed == 0);
  // Until it listens, or has ended: nothing else tells that it does.
  pollfd end{static_cast<int>(::syscall(SYS_pidfd_open, child_, 0)), POLLIN, 0};
  for (int i = 0; i != kTriesToConnect; ++i) {
    if (listens(port_)) break;
    if (::poll(&end, 1, kMillisecondsBetween) == 0) continue;
    ::waitpid(child_, nullptr, 0);
    child_ = -1;
    break;
  }
  ::close(end.fd);
  if (child_ > 0 && listens(port_)) return true;
  std::ifstream in(log);
  std::stringstream said;
  said << in.rdbuf();
  FAIL(program_ << " does not start: " << said.str());
  return false;
}

}  // namespace sluice::lib::testing
