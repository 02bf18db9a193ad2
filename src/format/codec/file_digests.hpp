// SPDX-License-Identifier: Apache-2.0
// Digests of whole files that the index of a format states: SHA-1 and XXH64. They find damage; they do not prove who wrote
// the file.
//
//   auto digest = file_digest::make("xxh64");                   // null: another algorithm
//   digest->add(bytes);
//   digest->add(more);
//   if (digest->finish() != stated) …
//
// Cost: SHA-1 computes some 500 MB a second, XXH64 several GB.
// Thread: one caller.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace sluice::lib {

class file_digest {
 public:
  file_digest() = default;
  file_digest(const file_digest&) = delete;
  virtual ~file_digest() = default;

  /// `name`: "sha1" or "xxh64". Returns null for other algorithms.
  static std::unique_ptr<file_digest> make(std::string_view name);

  virtual void add(std::string_view bytes) = 0;
  /// Returns the hexadecimal digits, in lower case. Nothing may be added afterwards.
  virtual std::string finish() = 0;
};

}  // namespace sluice::lib
