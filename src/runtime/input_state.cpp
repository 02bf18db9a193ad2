// SPDX-License-Identifier: Apache-2.0
#include "runtime/input_state.hpp"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <ctime>

#include "base/files/entity_tag.hpp"
#include "sluice/base/hash.hpp"

namespace sluice::lib {
namespace {

// One change of an ETag in 10¹⁴ is not detected. The digests of checkpoints before version 5 have 24 bits.
constexpr std::size_t kVersionBytes = 6;
constexpr std::uint64_t kVersionMask = (std::uint64_t{1} << 48) - 1;
constexpr std::size_t kOldDigestBytes = 3;
constexpr std::uint32_t kOldDigestMask = (1u << 24) - 1;
constexpr std::int64_t kSecond = 1'000'000'000;

std::uint32_t old_digest(std::uint64_t value) { return static_cast<std::uint32_t>(mix(value)) & kOldDigestMask; }
std::uint64_t digest_of(const std::string& version) { return stable_hash(opaque_tag(version)) & kVersionMask; }

template <class T> void put(position_writer& w, const T& value, std::size_t n) { w.raw(&value, n); }
template <class T> void take(position_reader& r, T& value, std::size_t n) {
  value = 0;
  r.raw(&value, n);
}

std::string shown_time(std::int64_t ns) {
  std::time_t seconds = ns / kSecond - (ns % kSecond < 0);
  const std::int64_t rest = ns - seconds * kSecond;
  std::tm t{};
  if (!gmtime_r(&seconds, &t)) return absl::StrCat(ns, " ns");
  return absl::StrFormat("%04d-%02d-%02dT%02d:%02d:%02d.%09dZ", t.tm_year + 1900, t.tm_mon + 1, t.tm_mday, t.tm_hour,
                         t.tm_min, t.tm_sec, rest);
}

/// Some copies keep only the seconds: archives, object stores, older file systems.
bool is_same_time(std::int64_t a, std::int64_t b) {
  return a == b || ((a % kSecond == 0 || b % kSecond == 0) && a / kSecond == b / kSecond);
}

constexpr std::string_view kContinue =
    "start without the checkpoint, or continue with changed_inputs::ignore (sluice run --changed-inputs ignore)";

std::string with_remedy(std::string what, std::string_view remedy) {
  return absl::StrCat(what, "; ", std::string(remedy), std::string(remedy.empty() ? "" : ", or "),
                      std::string(kContinue));
}

/// What accepts a file that differs in its time only.
std::string_view other_time_remedy(const input_state& then) {
  if (then.has(input_state::has_content))
    return "if it is a copy, resume with file_identity::content (--identity content), which compares a digest of the "
           "content";
  return "checkpoints of runs with file_identity::content (--identity content) accept copies with other times";
}

std::string size_difference(const input_state& then, const input_identity& now, const comparison& how) {
  std::string what = absl::StrCat("it had ", then.amount, " bytes then, and has ", now.size_bytes, " now");
  if (how.may_grow) return with_remedy(absl::StrCat(what, ", and a file that only grows has no fewer"), "");
  return with_remedy(what, now.size_bytes > then.amount
                               ? "if it has only grown, resume with changed_inputs::grown (--changed-inputs grown)"
                               : "");
}

std::string time_difference(const input_state& then, const input_identity& now) {
  if (then.has(input_state::has_digests)) {
    if (then.old_time == old_digest(static_cast<std::uint64_t>(now.modified_ns))) return {};
    return with_remedy(absl::StrCat("it is of the same size, but was written to since: its time of modification was "
                                    "another one, and is ",
                                    shown_time(now.modified_ns)),
                       "");
  }
  if (!then.has(input_state::has_time) && now.modified_ns == 0) return {};
  if (then.has(input_state::has_time) && is_same_time(then.modified_ns, now.modified_ns)) return {};
  const std::string before = then.has(input_state::has_time) ? shown_time(then.modified_ns) : "not known";
  const std::string after = now.modified_ns != 0 ? shown_time(now.modified_ns) : "not known";
  return with_remedy(absl::StrCat("it is of the same size, but was written to since: its time of modification was ",
                                  before, ", and is ", after),
                     other_time_remedy(then));
}

std::string place_difference(const input_state& then, const input_identity& now) {
  constexpr std::string_view kCopy =
      "if it is a copy, resume with file_identity::size_and_time (--identity size+mtime)";
  constexpr std::string_view kWhat = "it is of the same size, but another file in the same place: ";
  if (then.has(input_state::has_digests)) {
    const std::uint64_t inode = now.version.empty() ? now.inode : stable_hash(opaque_tag(now.version));
    if (then.old_place == old_digest(mix(inode) ^ now.device)) return {};
    return with_remedy(absl::StrCat(std::string(kWhat), "its inode, device, or ETag was another one"), kCopy);
  }
  if (!then.has(input_state::has_place) || (then.inode == now.inode && then.device == now.device)) return {};
  return with_remedy(absl::StrCat(std::string(kWhat), "its inode and device were ", then.inode, " and ", then.device,
                                  ", and are ", now.inode, " and ", now.device),
                     kCopy);
}

std::string version_difference(const input_state& then, const input_identity& now) {
  if (!then.has(input_state::has_version) || now.version.empty()) return {};
  if (then.version == digest_of(now.version)) return {};
  return with_remedy(
      absl::StrCat("it is of the same size, but was written to since: its ETag was another one, and is ", now.version),
      then.has(input_state::has_content)
          ? "if it is a copy, resume with file_identity::content (--identity content)"
          : "if it is a copy that kept its time, resume with file_identity::size_and_time (--identity size+mtime)");
}

/// Returns the digest of the first `size` bytes, if it was made.
const std::uint64_t* digest_at(const input_identity& now, std::uint64_t size) {
  auto at = std::find_if(now.digests.begin(), now.digests.end(), [size](auto& d) { return d.first == size; });
  return at == now.digests.end() ? nullptr : &at->second;
}

}  // namespace

void input_state::write(position_writer& w) const {
  w.number(amount);
  put(w, flags, sizeof flags);
  if (has(has_time)) put(w, modified_ns, sizeof modified_ns);
  if (has(has_place)) {
    w.number(inode);
    w.number(device);
  }
  if (has(has_version)) put(w, version, kVersionBytes);
  if (has(has_content)) put(w, content, sizeof content);
  if (!has(has_digests)) return;
  put(w, old_time, kOldDigestBytes);
  put(w, old_place, kOldDigestBytes);
}

void input_state::read(position_reader& r) {
  amount = r.number();
  take(r, flags, sizeof flags);
  if (has(has_time)) take(r, modified_ns, sizeof modified_ns);
  if (has(has_place)) {
    inode = r.number();
    device = r.number();
  }
  if (has(has_version)) take(r, version, kVersionBytes);
  if (has(has_content)) take(r, content, sizeof content);
  if (!has(has_digests)) return;
  take(r, old_time, kOldDigestBytes);
  take(r, old_place, kOldDigestBytes);
}

void input_state::read_digests(position_reader& r) {
  amount = r.number();
  flags = has_digests;
  take(r, old_time, kOldDigestBytes);
  take(r, old_place, kOldDigestBytes);
}

input_state state_of(const input_identity& now, file_identity identity) {
  input_state s;
  s.amount = now.size_bytes;
  auto add = [&s](input_state::flag f) { s.flags = static_cast<std::uint8_t>(s.flags | f); };
  if (now.modified_ns != 0) {
    add(input_state::has_time);
    s.modified_ns = now.modified_ns;
  }
  if (identity == file_identity::strict && (now.inode != 0 || now.device != 0)) {
    add(input_state::has_place);
    s.inode = now.inode;
    s.device = now.device;
  }
  if (!now.version.empty()) {
    add(input_state::has_version);
    s.version = digest_of(now.version);
  }
  const std::uint64_t* content = digest_at(now, now.size_bytes);
  if (identity == file_identity::content && content) {
    add(input_state::has_content);
    s.content = *content;
  }
  return s;
}

input_state state_of_names(const std::vector<std::string>& names) {
  std::uint64_t all = names.size();
  for (const std::string& n : names) all = mix(all ^ stable_hash(n));
  input_state s;
  s.amount = names.size();
  s.flags = input_state::is_listing | input_state::has_content;
  s.content = all;
  return s;
}

bool has_same_names(const input_state& then, const std::vector<std::string>& names) {
  const input_state now = state_of_names(names);
  if (then.has(input_state::has_digests))
    return then.amount == now.amount && then.old_time == old_digest(now.content) &&
           then.old_place == old_digest(now.content + 1);
  return then == now;
}

std::string difference_between(const input_state& then, const input_identity& now, const comparison& how) {
  const bool has_grown = how.may_grow && now.size_bytes > then.amount;
  if (then.amount != now.size_bytes && !has_grown) return size_difference(then, now, how);
  std::string difference;
  if (how.identity == file_identity::strict) difference = place_difference(then, now);
  if (!difference.empty()) return difference;
  if (how.identity == file_identity::content && then.has(input_state::has_content)) {
    const std::uint64_t* content = digest_at(now, then.amount);
    if (content && *content == then.content) return {};
    if (content)
      return with_remedy(
          absl::StrCat("the digest of the beginning and the end of its first ", then.amount, " bytes was ",
                       absl::Hex(then.content, absl::kZeroPad16), ", and is ", absl::Hex(*content, absl::kZeroPad16)),
          "");
  }
  if (has_grown) return {};
  const bool has_both_versions = then.has(input_state::has_version) && !now.version.empty();
  const bool has_old_version = then.has(input_state::has_digests) && !now.version.empty();
  if (how.identity == file_identity::etag && has_old_version) return place_difference(then, now);
  if (how.identity == file_identity::etag || how.identity == file_identity::strict)
    difference = version_difference(then, now);
  if (!difference.empty() || (how.identity == file_identity::etag && has_both_versions)) return difference;
  return time_difference(then, now);
}

}  // namespace sluice::lib
