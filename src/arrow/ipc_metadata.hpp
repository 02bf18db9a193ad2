// SPDX-License-Identifier: Apache-2.0
// The metadata of IPC messages. Each part is checked before it is read.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "arrow/ipc_tables.hpp"
#include "sluice/base/status.hpp"

namespace sluice::lib::arrow::ipc {

using flatbuffers::Table;
using flatbuffers::Verifier;
template <class T> using vector_of = flatbuffers::Vector<T>;
using table_list = vector_of<flatbuffers::Offset<Table>>;

/// The limit for columns within columns. A reader without it could use up its stack.
inline constexpr int kDepthMax = 64;
inline constexpr std::uint32_t kTablesMax = 1'000'000;

inline status broken_stream(const std::string& what) {
  return data_loss_error("not an Arrow stream, or damaged: " + what);
}
inline status unread_stream(const std::string& what) { return unimplemented_error(what); }

/// Metadata in a form that flatbuffers may read: aligned. Each part is checked before it is read.
class checked_metadata {
 public:
  explicit checked_metadata(std::string_view bytes)
      : copy_(std::make_unique<std::uint64_t[]>(bytes.size() / 8 + 1)),
        size_(bytes.size()),
        verifier_(reinterpret_cast<const std::uint8_t*>(copy_.get()), size_, kDepthMax + 8, kTablesMax) {
    if (!bytes.empty()) std::memcpy(copy_.get(), bytes.data(), bytes.size());
  }

  /// Returns the root table; null if it is missing.
  const Table* root() {
    auto* start = reinterpret_cast<const std::uint8_t*>(copy_.get());
    if (size_ < sizeof(flatbuffers::uoffset_t) || size_ >= FLATBUFFERS_MAX_BUFFER_SIZE) return nullptr;
    auto at = verifier_.VerifyOffset(0);
    if (at == 0) return nullptr;
    auto* table = reinterpret_cast<const Table*>(start + at);
    return is_table(table) ? table : nullptr;
  }
  /// Gets the table that a field points to. Returns false if the table is broken. Sets `to` to null if it is missing.
  bool table(const Table& of, flatbuffers::voffset_t field, const Table*& to) {
    to = nullptr;
    if (!of.VerifyOffset(verifier_, field)) return false;
    to = of.GetPointer<const Table*>(field);
    return !to || is_table(to);
  }
  template <class T> bool value(const Table& of, flatbuffers::voffset_t field, T& to, T otherwise = 0) const {
    if (!of.VerifyField<T>(verifier_, field, alignof(T))) return false;
    to = of.GetField<T>(field, otherwise);
    return true;
  }
  bool text(const Table& of, flatbuffers::voffset_t field, std::string& to) {
    if (!of.VerifyOffset(verifier_, field)) return false;
    auto* s = of.GetPointer<const flatbuffers::String*>(field);
    if (!verifier_.VerifyString(s)) return false;
    if (s) to.assign(s->c_str(), s->size());
    return true;
  }
  bool tables(const Table& of, flatbuffers::voffset_t field, const table_list*& to) {
    if (!of.VerifyOffset(verifier_, field)) return false;
    to = of.GetPointer<const table_list*>(field);
    if (!verifier_.VerifyVector(to)) return false;
    for (flatbuffers::uoffset_t i = 0; to && i != to->size(); ++i) {
      auto offset = static_cast<std::size_t>(reinterpret_cast<const std::uint8_t*>(to->Data()) + i * 4 -
                                             reinterpret_cast<const std::uint8_t*>(copy_.get()));
      if (verifier_.VerifyOffset(offset) == 0 || !is_table(to->Get(i))) return false;
    }
    return true;
  }
  /// A vector of 64-bit numbers.
  bool numbers(const Table& of, flatbuffers::voffset_t field, const vector_of<std::int64_t>*& to) {
    if (!of.VerifyOffset(verifier_, field)) return false;
    to = of.GetPointer<const vector_of<std::int64_t>*>(field);
    if (!verifier_.VerifyVector(to)) return false;
    return !to || to->size() == 0 || reinterpret_cast<std::uintptr_t>(to->Data()) % alignof(std::int64_t) == 0;
  }
  /// A vector of structs without pointers.
  template <class S> bool structs(const Table& of, flatbuffers::voffset_t field, const vector_of<const S*>*& to) {
    if (!of.VerifyOffset(verifier_, field)) return false;
    to = of.GetPointer<const vector_of<const S*>*>(field);
    if (!verifier_.VerifyVector(to)) return false;
    // The length is aligned to 4 bytes. The elements should be aligned to 8, and are read in place.
    return !to || to->size() == 0 || reinterpret_cast<std::uintptr_t>(to->Data()) % alignof(S) == 0;
  }

 private:
  bool is_table(const Table* t) {
    if (!t->VerifyTableStart(verifier_)) return false;
    // Each table is verified separately, not as a tree: the recursion of this reader limits the depth.
    verifier_.EndTable();
    return true;
  }

  std::unique_ptr<std::uint64_t[]> copy_;
  std::size_t size_;
  Verifier verifier_;
};

struct message_table {
  header_kind kind = header_kind::none;
  const Table* header = nullptr;
  std::int64_t body_bytes = 0;
  bool is_version4 = false;
};

/// Reads the fields of every message: its kind, and the length of its body. The header may be null.
status read_message_table(checked_metadata& from, message_table& to);

}  // namespace sluice::lib::arrow::ipc
