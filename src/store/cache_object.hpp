// SPDX-License-Identifier: Apache-2.0
// The objects of an object_cache: how they are read, written and understood.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/coro/task.hpp"
#include "sluice/runtime/runtime.hpp"
#include "store/block_store.hpp"
#include "store/cache_frame.hpp"

namespace sluice::lib {

inline constexpr std::size_t kObjectsAtOnce = 16;  ///< requests in flight

// Names of objects.
inline constexpr std::string_view kCacheHead = "head", kCacheLease = "lease", kCacheEnd = "end";

struct fetched_object {
  std::string bytes, version;
  std::uint64_t size_bytes = 0;
};
/// Reads the first bytes of an object, at most `bytes_max`.
task<fetched_object> fetch_object(runtime& rt, std::string path, std::uint64_t bytes_max);
/// Returns the paths of all objects that match the pattern.
task<std::vector<std::string>> list_objects(runtime& rt, std::string pattern);
/// Writes the object if it has this version, or with an empty `version` if it does not exist. Returns the new version;
/// empty if the object has another version and other bytes. The same bytes count as written, because an answer may have
/// been lost.
task<std::string> put_object(runtime& rt, std::string path, std::string bytes, std::string version);
/// Returns what the header of a block says; without elements if the object does not exist any more.
task<stored_block> fetch_header(runtime& rt, std::string path, std::uint64_t ordinal);

/// A whole frame. The texts are parts of the object's bytes.
struct object_frame {
  frame_header header;
  std::string_view position, elements;
};
/// Returns false if the bytes are no such frame, or a checksum is wrong.
bool parse_object(std::string_view bytes, frame_kind kind, object_frame& f);
inline constexpr std::size_t kOrdinalDigits = 20;
/// Parses the name of a block.
bool parse_ordinal(std::string_view name, std::uint64_t& ordinal);

std::string index_of(const std::map<std::uint64_t, stored_block>& blocks);
bool parse_index(std::string_view bytes, std::vector<stored_block>& blocks);

struct lease_text {
  bool is_held = false, is_of_this_process = false;
};
/// The bytes of a lease; they differ in each call.
std::string lease_now(bool is_held);
lease_text parse_lease(std::string_view bytes);

/// A text that no other call returns, also of another process.
std::string unique_name();

}  // namespace sluice::lib
