// SPDX-License-Identifier: Apache-2.0
// What the file system of a store of objects asks of it: pages of keys, whole objects, and uploads in parts.
//
// Paths are scheme://bucket/key. A key is any text; only `/` in it means something, to listings.
// Errors: every status names the path. Those of http.hpp, and: unauthenticated: no credentials, or ones that nobody knows.
// Thread: any.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/http/http_client.hpp"
#include "io/http/object_service.hpp"
#include "sluice/base/file_info.hpp"

namespace sluice::lib::detail {

struct store_path {
  std::string text;  ///< all of it, for messages
  std::string bucket, key;
};
/// Errors: invalid_argument: no bucket, or one with a character that no bucket's name has.
result<store_path> parse_store_path(std::string text);

/// How an object is asked for.
struct store_place {
  http_url url;
  std::shared_ptr<object_service> service;
};

struct store_entry {
  std::string key;
  file_info info;
};
struct store_page {
  std::vector<store_entry> objects;
  std::vector<std::string> folders;  ///< with their `/`
  std::string next;                  ///< asks for the next page; empty: this was the last
};

/// An object that is being written in parts.
struct store_upload {
  store_path to;
  std::string id;                 ///< what the store calls it
  std::vector<std::string> tags;  ///< what it says of each part that it has
  std::vector<std::uint64_t> part_bytes;
  std::uint64_t bytes = 0;  ///< in all of these
};

/// What is written to a store: what store_writer asks of it.
class upload_store {
 public:
  virtual ~upload_store() = default;

  /// All of it at once.
  virtual task<file_info> put(store_path path, std::span<const char> bytes, time_point deadline) = 0;
  virtual task<store_upload> begin_upload(store_path path, time_point deadline) = 0;
  /// The part with `number` (from 1 on); returns its tag. Every part but the last has at least part_bytes_min().
  virtual task<std::string> put_part(const store_upload& to, std::size_t number, std::span<const char> bytes,
                                     time_point deadline) = 0;
  /// `last`: the rest; only where parts go one after the other.
  virtual task<file_info> finish_upload(store_upload upload, std::span<const char> last, time_point deadline) = 0;
  /// The parts are of no use any more.
  virtual task<> abort_upload(store_upload upload, time_point deadline) = 0;
  /// So many parts may be on their way at once; 0: one after the other, and finish_upload() takes the last.
  virtual std::size_t parts_at_once() const = 0;
  /// Is there put(), which nothing is left of where it fails? Else objects of any size go by begin_upload() and finish_upload().
  virtual bool puts_whole() const { return true; }
};

class object_store : public upload_store {
 public:
  /// May have to find out where and who we are. Errors: invalid_argument: settings that contradict each other.
  virtual task<store_place> place_of(store_path path, time_point deadline) = 0;
  /// A page of the keys that begin with where.key. `by_folder`: those with another `/` behind it only as their folders.
  virtual task<store_page> list_page(store_path where, bool by_folder, std::string from, time_point deadline) = 0;
  virtual task<file_info> look_up(store_path path, time_point deadline) = 0;

  virtual http_client& client() = 0;
};

}  // namespace sluice::lib::detail
