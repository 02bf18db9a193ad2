// SPDX-License-Identifier: Apache-2.0
// The file of a store: records are appended, and synced before a commit is answered. Without power it loses what was not synced,
// except for a part of any length, which may end within a record.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "service/core/actions.hpp"
#include "sluice/base/hash.hpp"
#include "sluice/base/random_bits.hpp"

namespace sluice::lib::service_simulation {

class simulated_log {
 public:
  void append(const std::vector<meta_write>& writes) {
    std::string record;
    for (const meta_write& w : writes) {
      add_text(w.key, record);
      record += w.value ? '1' : '0';
      if (w.value) add_text(*w.value, record);
    }
    add_number(record.size(), bytes_);
    add_number(stable_hash(record), bytes_);
    bytes_ += record;
  }
  void sync() { synced_ = bytes_.size(); }
  /// Returns true if the end of the file was torn within a record.
  bool cut_power(random_source& random) {
    const std::uint64_t unsynced = bytes_.size() - synced_;
    if (unsynced != 0) bytes_.resize(synced_ + static_cast<std::size_t>(random.below(unsynced + 1)));
    const std::size_t whole = read([](const std::vector<meta_write>&) {});
    const bool is_torn = whole != bytes_.size();
    bytes_.resize(whole);  // as recovery does
    synced_ = whole;
    return is_torn;
  }
  /// Calls f with the writes of each record. Returns the size of the whole records: a torn one is left out.
  template <class F> std::size_t read(F f) const {
    std::size_t at = 0;
    std::uint64_t size = 0, sum = 0;
    for (std::size_t next = 0;; at = next) {
      if (!take_number(next, size) || !take_number(next, sum) || size > bytes_.size() - next) return at;
      const std::string record = bytes_.substr(next, size);
      if (stable_hash(record) != sum) return at;
      f(writes_in(record));
      next += size;
    }
  }

 private:
  static void add_number(std::uint64_t n, std::string& to) { to.append(reinterpret_cast<const char*>(&n), sizeof n); }
  static void add_text(const std::string& text, std::string& to) {
    add_number(text.size(), to);
    to += text;
  }
  bool take_number(std::size_t& at, std::uint64_t& n) const {
    if (bytes_.size() - at < sizeof n) return false;
    std::memcpy(&n, bytes_.data() + at, sizeof n);
    at += sizeof n;
    return true;
  }
  static std::vector<meta_write> writes_in(const std::string& record) {
    std::vector<meta_write> all;
    std::size_t at = 0;
    const auto text = [&] {
      std::uint64_t size = 0;
      std::memcpy(&size, record.data() + at, sizeof size);
      at += sizeof size + size;
      return record.substr(at - size, size);
    };
    while (at != record.size()) {
      const std::string key = text();
      const bool has_value = record[at++] == '1';
      all.push_back(has_value ? meta_write::put(key, text()) : meta_write::remove(key));
    }
    return all;
  }

  std::string bytes_;
  std::size_t synced_ = 0;
};

}  // namespace sluice::lib::service_simulation
