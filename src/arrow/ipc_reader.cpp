// SPDX-License-Identifier: Apache-2.0
#include "arrow/ipc_reader.hpp"

#include <algorithm>
#include <bit>
#include <climits>
#include <cstring>
#include <utility>

#include "arrow/ipc_formats.hpp"
#include "arrow/ipc_metadata.hpp"

static_assert(std::endian::native == std::endian::little, "IPC streams are read in the byte order of memory");

namespace sluice::lib::arrow {

namespace {

using namespace ipc;

/// Reads the kind of a message, and the length of its body.
ipc_message without_body(std::string_view metadata) {
  ipc_message m;
  m.is = ipc_message::kind::broken;
  checked_metadata checked(metadata);
  message_table t;
  m.why = read_message_table(checked, t);
  if (!m.why.ok()) return m;
  m.metadata = metadata;
  m.size_bytes = static_cast<std::uint64_t>(t.body_bytes);
  switch (t.kind) {
    case ipc::header_kind::schema: m.is = ipc_message::kind::schema; break;
    case ipc::header_kind::record_batch: m.is = ipc_message::kind::batch; break;
    case ipc::header_kind::dictionary_batch: m.is = ipc_message::kind::dictionary; break;
    case ipc::header_kind::tensor:
    case ipc::header_kind::sparse_tensor:
      m.why = unread_stream("the Arrow stream has a tensor, and record batches are read");
      break;
    default: m.why = broken_stream("a message of kind " + std::to_string(static_cast<int>(t.kind))); break;
  }
  return m;
}

}  // namespace

status ipc::read_message_table(checked_metadata& from, message_table& to) {
  const Table* root = from.root();
  std::int16_t version = 0;
  std::uint8_t kind = 0;
  if (!root || !from.value(*root, message::kVersion, version) || !from.value(*root, message::kHeaderKind, kind) ||
      !from.value(*root, message::kBodyBytes, to.body_bytes) || !from.table(*root, message::kHeader, to.header))
    return broken_stream("the metadata of a message is invalid");
  if (version != kVersion4 && version != kVersion5)
    return unread_stream("the Arrow stream is of metadata version " + std::to_string(version + 1) +
                         ", and versions 4 and 5 are read: write it with Arrow 1.0 or newer");
  to.kind = static_cast<header_kind>(kind);
  to.is_version4 = version == kVersion4;
  if (to.body_bytes < 0) return broken_stream("a body of " + std::to_string(to.body_bytes) + " bytes");
  return {};
}

std::size_t ipc_magic_bytes(std::string_view bytes) {
  return bytes.starts_with(std::string_view(ipc::kFileMagic, sizeof ipc::kFileMagic)) ? sizeof ipc::kFileMagic : 0;
}

ipc_message read_ipc_message(std::string_view bytes, std::uint64_t left_bytes, bool with_body) {
  ipc_message m;
  std::uint32_t prefix[2];
  auto asks_for = [&](std::uint64_t wanted, const char* what) {
    if (left_bytes != kIpcUnknown && wanted > left_bytes) {
      m.is = ipc_message::kind::broken;
      m.why = broken_stream(std::string(what) + " would end " + std::to_string(wanted) +
                            " bytes on, and the file has " + std::to_string(left_bytes));
      return;
    }
    // If the end is not known, request at most about twice the bytes already read: the length may be made up.
    if (left_bytes == kIpcUnknown) wanted = std::min<std::uint64_t>(wanted, bytes.size() * 2 + (std::size_t{1} << 16));
    m.needed_bytes = static_cast<std::size_t>(wanted);
  };
  if (bytes.size() < sizeof prefix) {
    asks_for(sizeof prefix, "a message");
    return m;
  }
  std::memcpy(prefix, bytes.data(), sizeof prefix);
  if (prefix[0] != ipc::kContinuation) {
    m.is = ipc_message::kind::broken;
    m.why = prefix[0] < (1u << 24) && prefix[0] != 0
                ? broken_stream("no message begins here (streams of Arrow before 0.15 are not read)")
                : broken_stream("no message begins here");
    return m;
  }
  if (prefix[1] == 0) {
    m.is = ipc_message::kind::end;
    m.size_bytes = sizeof prefix;
    return m;
  }
  const std::uint64_t head = sizeof prefix + std::uint64_t{prefix[1]};
  if (prefix[1] > std::uint32_t{INT32_MAX} || prefix[1] % 8 != 0) {
    m.is = ipc_message::kind::broken;
    m.why = broken_stream("a message with " + std::to_string(prefix[1]) + " bytes of metadata");
    return m;
  }
  if (bytes.size() < head) {
    asks_for(head, "the metadata of a message");
    return m;
  }
  ipc_message whole = without_body(bytes.substr(sizeof prefix, prefix[1]));
  const std::uint64_t body = whole.size_bytes;
  const bool fits = left_bytes == kIpcUnknown || body <= left_bytes - head;
  whole.size_bytes = whole.is != ipc_message::kind::broken || (body != 0 && fits) ? head + body : 0;
  if (whole.is == ipc_message::kind::broken) return whole;
  if (!fits || (with_body && bytes.size() < whole.size_bytes)) {
    asks_for(whole.size_bytes, "the body of a message");
    if (m.is == ipc_message::kind::incomplete) m.size_bytes = whole.size_bytes;
    return m;
  }
  if (with_body) whole.body = bytes.substr(static_cast<std::size_t>(head), static_cast<std::size_t>(body));
  return whole;
}

}  // namespace sluice::lib::arrow
