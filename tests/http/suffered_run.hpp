// SPDX-License-Identifier: Apache-2.0
// One run of a dataset over a fault proxy, and what it came to.
#pragma once

#include <optional>

#include "http/faults_of_answers.hpp"
#include "http/object_server.hpp"
#include "http/server_process.hpp"
#include "io/temporary_folder.hpp"

namespace sluice::lib::testing {

/// Objects to be read, in the order in which a file of names has them.
struct reading {
  std::string name;
  std::vector<std::string> objects;  ///< each a whole number of records
  std::size_t cycle = 1;
  std::uint64_t bytes = 0;
  std::size_t requests = 0;  ///< that sound answers take, at most
  std::string sha256 = {};   ///< of what local files of the same bytes give, by the same plan
  bool is_large() const { return requests > objects.size(); }
};

struct setting {
  std::string io;
  unsigned workers = 1;
  bool tls = false;
};

struct suffered {
  status why;
  std::string sha256;
  std::uint64_t bytes_given = 0;
  std::uint64_t ledger = 0;  ///< bytes that are charged when all is over
  bool is_idle = false;      ///< nobody is connected any more
  std::vector<proxied> log;
  std::size_t connections = 0;
  std::chrono::milliseconds took{0};
  std::size_t sound() const;
  std::uint64_t bytes_sent() const;
};

/// The objects, where the proxies find them: with nginx, if this machine has one.
class source_of_objects {
 public:
  explicit source_of_objects(bool with_nginx);

  int port() const { return own_ ? own_->port() : std::stoi(nginx_.port()); }
  const char* server() const { return own_ ? "a server of its own" : "nginx"; }
  bool wait_until_idle() { return !own_ || own_->wait_until_idle(std::chrono::seconds(10)); }
  const std::vector<reading>& readings() const { return readings_; }
  const temporary_folder& folder() const { return folder_; }

 private:
  void write_objects();

  temporary_folder folder_;
  server_process nginx_{"nginx"};
  std::map<std::string, std::string> objects_;
  std::unique_ptr<object_server> own_;
  std::vector<reading> readings_;
};

/// SHA-256 of what there is, by a path that begins each name; no network.
std::string local_sha256(const temporary_folder& folder, const reading& what);

/// Of `tls`: what the proxy says that it is, and the root that the reader trusts.
suffered run_suffering(source_of_objects& from, const reading& what, const suffering& of, const setting& how,
                       const std::shared_ptr<SSL_CTX>& tls, const std::string& ca_file);

}  // namespace sluice::lib::testing
