// SPDX-License-Identifier: Apache-2.0
// The functions of an object store that its file system needs: pages of keys, whole objects, and uploads in parts.
//
// Paths are scheme://bucket/key. A key is any text; only listings give `/` a meaning.
// Errors: every status names the path. Those of http.hpp, and unauthenticated: no credentials, or unknown ones.
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
  std::string text;  ///< the whole path, for messages
  std::string bucket, key;
};
/// Errors: invalid_argument: no bucket, or a bucket with an invalid character.
result<store_path> parse_store_path(std::string text);

/// The server and URL of an object.
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
  std::string next;                  ///< requests the next page; empty: this is the last one
};

/// An object that is being written in parts.
struct store_upload {
  store_path to;
  std::string id;                 ///< the store's identifier
  std::vector<std::string> tags;  ///< the tags that the store has returned for the parts
  std::vector<std::uint64_t> part_bytes;
  std::uint64_t bytes = 0;  ///< the size of all these parts
};

/// The functions of a store that store_writer needs.
class upload_store {
 public:
  virtual ~upload_store() = default;

  /// Writes a whole object.
  virtual task<file_info> put(store_path path, std::span<const char> bytes, time_point deadline) = 0;
  virtual task<store_upload> begin_upload(store_path path, time_point deadline) = 0;
  /// Writes part `number`, from 1 on, and returns its tag. Every part but the last has at least part_bytes_min() bytes.
  virtual task<std::string> put_part(const store_upload& to, std::size_t number, std::span<const char> bytes,
                                     time_point deadline) = 0;
  /// `last`: the rest, if parts are sent one after another; else empty.
  virtual task<file_info> finish_upload(store_upload upload, std::span<const char> last, time_point deadline) = 0;
  /// Deletes the parts.
  virtual task<> abort_upload(store_upload upload, time_point deadline) = 0;
  /// Returns the number of parts that may be in flight at once; 0: parts are sent one after another, and
  /// finish_upload() sends the last.
  virtual std::size_t parts_at_once() const = 0;
  /// Returns true if put() is available and leaves nothing behind after a failure. Otherwise objects of any size are
  /// written by begin_upload() and finish_upload().
  virtual bool puts_whole() const { return true; }
};

class object_store : public upload_store {
 public:
  /// May ask for the region and the credentials first. Errors: invalid_argument: settings contradict each other.
  virtual task<store_place> place_of(store_path path, time_point deadline) = 0;
  /// Returns a page of the keys that begin with where.key. `by_folder`: keys with another `/` after it are listed only
  /// as their folders.
  virtual task<store_page> list_page(store_path where, bool by_folder, std::string from, time_point deadline) = 0;
  virtual task<file_info> look_up(store_path path, time_point deadline) = 0;
  /// As conditional_files::put_if and remove.
  virtual task<file_info> put_if(store_path path, std::span<const char> bytes, std::string version,
                                 time_point deadline) = 0;
  virtual task<> remove(store_path path, time_point deadline) = 0;

  virtual http_client& client() = 0;
};

}  // namespace sluice::lib::detail
