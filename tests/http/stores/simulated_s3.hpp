// SPDX-License-Identifier: Apache-2.0
// What a server of S3 says, as far as tests want it: objects of one bucket in the path, listings in pages, uploads in parts.
//
//   simulated_s3 s3("bucket");
//   s3.put("a/b", "bytes");
//   server.answers([&](const asked_for& a) { return s3.answer(a); });
//
// It does not check signatures, only whose they are: servers of others do that (tests/http/servers/stores_test.py).
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "http/scripted_server.hpp"

namespace sluice::lib::testing {

struct simulated_s3 {
  explicit simulated_s3(std::string of) : bucket(std::move(of)) {}

  struct object {
    std::string bytes, etag;
  };
  struct upload {
    std::string key;
    std::map<int, std::string> parts;
  };

  void put(const std::string& key, std::string bytes);
  std::optional<reply> answer(const asked_for& request);

  static reply failed(int code, const std::string& name, const std::string& more = {});

  std::string bucket;
  std::string region = "us-east-1";
  std::size_t page_keys = 1000;
  bool tells_range_of_empty = false;  ///< S3 does not
  std::set<std::string> known_keys;   ///< access keys; empty: any
  std::set<std::string> expired_keys;
  std::map<std::string, object> objects;
  std::map<std::string, upload> uploads;
  std::size_t aborted = 0;
  int versions = 0;
  /// What becomes of the bytes of a PUT on their way to the disk, behind the check of their MD5.
  std::function<std::string(std::string)> stored = [](std::string bytes) { return bytes; };
  std::string encryption;  ///< "aws:kms": tags are no MD5 then; empty: none is told

 private:
  std::optional<reply> refused(const asked_for& request) const;
  reply list(const std::map<std::string, std::string>& query) const;
  reply get(const asked_for& request, const std::string& key) const;
  std::string tag_of(const std::string& bytes) const;
  reply write(const asked_for& request, const std::string& key, std::map<std::string, std::string> query);
};

/// "a=b&c" of a target, decoded.
std::map<std::string, std::string> query_of(const std::string& target);

}  // namespace sluice::lib::testing
