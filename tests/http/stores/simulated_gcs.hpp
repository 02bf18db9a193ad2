// SPDX-License-Identifier: Apache-2.0
// What Google's store says in its JSON protocol, as far as tests want it: objects of one bucket, listings in pages,
// resumable uploads.
//
//   simulated_gcs gcs("bucket");
//   server.answers([&](const asked_for& a) { return gcs.answer(a); });
#pragma once

#include <map>
#include <set>
#include <string>

#include "http/stores/simulated_s3.hpp"

namespace sluice::lib::testing {

struct simulated_gcs {
  explicit simulated_gcs(std::string of) : bucket(std::move(of)) {}

  struct object {
    std::string bytes;
    std::uint64_t generation = 0;
    std::string content_encoding = {};
  };
  struct upload {
    std::string key, bytes;
  };

  void put(const std::string& key, std::string bytes) { objects[key] = {std::move(bytes), ++generations}; }
  std::optional<reply> answer(const asked_for& request);

  static reply failed(int code, const std::string& reason, const std::string& message);

  std::string bucket;
  std::size_t page_keys = 1000;
  std::set<std::string> known_tokens;           ///< empty: any, also none
  std::uint32_t wrong_crc = 0;                  ///< is told instead of the right one, where it is not 0
  std::size_t takes_at_once = ~std::size_t{0};  ///< of a piece of an upload
  std::map<std::string, object> objects;
  std::map<std::string, upload> uploads;
  std::map<std::string, std::string> ended;  ///< uploads, and the keys that they have become
  bool forgets_ended = false;                ///< as some emulators
  std::size_t aborted = 0;
  std::uint64_t generations = 1000;

 private:
  reply list(std::map<std::string, std::string> query) const;
  reply get(const asked_for& request, const std::string& key, std::map<std::string, std::string> query) const;
  reply write(const asked_for& request, std::map<std::string, std::string> query);
  std::string about(const std::string& key) const;
};

}  // namespace sluice::lib::testing
