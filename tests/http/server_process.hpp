// SPDX-License-Identifier: Apache-2.0
// A server that nobody here wrote, on the loopback, for as long as a test takes.
//
//   server_process server("versitygw");
//   if (!server.start({"--port", server.address(), …}, {"NAME=value"})) return;      // it has said that it is skipped
//
// It is looked for where `./dev deps servers` puts it, and on the PATH.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace sluice::lib::testing {

class server_process {
 public:
  explicit server_process(std::string program);
  server_process(const server_process&) = delete;
  /// Stops it, and removes its folder.
  ~server_process();

  bool exists() const;
  /// Returns false where the program is not there. Fails the test where it does not listen.
  bool start(const std::vector<std::string>& arguments, const std::vector<std::string>& environment);

  const std::filesystem::path& folder() const { return folder_; }
  std::string port() const { return std::to_string(port_); }
  std::string address() const { return "127.0.0.1:" + port(); }
  std::string url() const { return "http://" + address(); }

 private:
  std::string program_;
  std::filesystem::path folder_;
  int port_ = 0;
  pid_t child_ = -1;
};

}  // namespace sluice::lib::testing
