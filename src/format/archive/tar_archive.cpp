// SPDX-License-Identifier: Apache-2.0
#include "format/archive/tar_archive.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace sluice::lib {
namespace {

// The offset and length of a header's field (POSIX, ustar).
struct tar_field {
  std::size_t at, size;
};
constexpr tar_field kNameField{0, 100}, kSizeField{124, 12}, kChecksumField{148, 8}, kMagicField{257, 8},
    kPrefixField{345, 155};
constexpr std::size_t kTypeAt = 156;
constexpr std::string_view kPosixMagic("ustar\0", 6);

std::string_view field_of(std::string_view header, tar_field f) { return header.substr(f.at, f.size); }
std::string_view until_nul(std::string_view text) { return text.substr(0, text.find('\0')); }

/// Parses octal digits between blanks or NULs, or a binary number with the first bit set, as GNU writes large ones.
/// Returns nothing if the number is invalid, negative or above 2^63 - 1.
std::optional<std::uint64_t> number_in(std::string_view field) {
  if (static_cast<unsigned char>(field[0]) & 0x80) {
    if (static_cast<unsigned char>(field[0]) != 0x80) return {};
    std::uint64_t n = 0;
    for (char c : field.substr(1)) {
      if (n >> 55) return {};
      n = n << 8 | static_cast<unsigned char>(c);
    }
    return n;
  }
  while (!field.empty() && field.front() == ' ') field.remove_prefix(1);
  std::uint64_t n = 0;
  std::size_t i = 0;
  for (; i != field.size() && field[i] >= '0' && field[i] <= '7'; ++i)
    n = n * 8 + static_cast<std::uint64_t>(field[i] - '0');
  for (; i != field.size(); ++i)
    if (field[i] != ' ' && field[i] != '\0') return {};
  return n;
}

constexpr const char* kIsSparse = " is a sparse file: unpack the archive, and pack it again by tar without --sparse";
constexpr std::uint64_t kTarExtensionsBytesMax = 4 * kTarExtensionBytesMax;  // for all extensions of one entry
constexpr std::uint64_t kTarPassedBytesMax = 16 * kTarExtensionBytesMax;     // of those above the limits

bool is_zero_block(std::string_view header) { return header.find_first_not_of('\0') == header.npos; }

/// Checks the sum over the header, in which its own field counts as blanks. Some old programs added signed bytes.
bool has_sound_checksum(std::string_view header) {
  auto said = number_in(field_of(header, kChecksumField));
  std::int64_t unsigned_sum = 0, signed_sum = 0;
  for (std::size_t i = 0; i != kTarBlockBytes; ++i) {
    const bool is_own = i >= kChecksumField.at && i < kChecksumField.at + kChecksumField.size;
    const char c = is_own ? ' ' : header[i];
    unsigned_sum += static_cast<unsigned char>(c);
    signed_sum += static_cast<signed char>(c);
  }
  return said && (static_cast<std::int64_t>(*said) == unsigned_sum || static_cast<std::int64_t>(*said) == signed_sum);
}

std::uint64_t padded(std::uint64_t bytes) { return (bytes + kTarBlockBytes - 1) / kTarBlockBytes * kTarBlockBytes; }

/// The contents of extended headers, which apply to the entry after them.
struct extension {
  std::optional<std::string> path;
  std::optional<std::uint64_t> size;
  bool is_sparse = false;
  std::string sparse_name{};  ///< the name that the program which wrote the archive saw; `path` is made of it
};

/// Parses "27 path=a/b\n…". Returns false if a record is invalid.
bool read_pax(std::string_view records, extension& to) {
  while (!records.empty()) {
    std::size_t length = 0;
    auto read = std::from_chars(records.data(), records.data() + records.size(), length);
    const auto digits = static_cast<std::size_t>(read.ptr - records.data());
    if (read.ec != std::errc() || length < digits + 3 || length > records.size()) return false;
    if (records[digits] != ' ' || records[length - 1] != '\n') return false;
    std::string_view record = records.substr(digits + 1, length - digits - 2);
    records.remove_prefix(length);
    const std::size_t equals = record.find('=');
    if (equals == record.npos || equals == 0) return false;
    std::string_view key = record.substr(0, equals), value = record.substr(equals + 1);
    if (key == "path") to.path = std::string(value);
    if (key == "GNU.sparse.name") to.sparse_name = std::string(value);
    if (key.starts_with("GNU.sparse.")) to.is_sparse = true;
    if (key != "size") continue;
    std::uint64_t size = 0;
    auto number = std::from_chars(value.data(), value.data() + value.size(), size);
    if (number.ec != std::errc() || number.ptr != value.data() + value.size() || size > INT64_MAX) return false;
    to.size = size;
  }
  return true;
}

std::string name_of_header(std::string_view header) {
  std::string name(until_nul(field_of(header, kNameField)));
  if (!field_of(header, kMagicField).starts_with(kPosixMagic)) return name;
  std::string_view prefix = until_nul(field_of(header, kPrefixField));
  return prefix.empty() ? name : std::string(prefix) + "/" + name;
}

bool is_extension(char type) { return type == 'x' || type == 'g' || type == 'L' || type == 'K'; }
/// Returns true for links, devices and directories. A size in their headers is not a size of data.
bool has_no_data(char type) { return type >= '1' && type <= '6'; }
bool is_regular_file(char type) { return type == '0' || type == '\0' || type == '7'; }

/// Reads one entry, part by part from `at_` on.
class entry_reader {
 public:
  entry_reader(const tar_window& w, std::size_t from) : w_(w), from_(from), at_(from) {}

  tar_step read(bool needs_data) {
    for (;;) {
      std::string_view header;
      if (!take_header(header)) return std::move(step_);
      const char type = header[kTypeAt];
      auto said = number_in(field_of(header, kSizeField));
      if (!said || *said > INT64_MAX / 2) return broken(data_loss_error("a size in a tar header is no number"));
      if (!is_extension(type)) return entry(header, type, *said, needs_data);
      if (!take_extension(type, *said)) return std::move(step_);
    }
  }

 private:
  std::uint64_t left_in_file(std::size_t at) const {
    if (w_.end != provenance::kUnknown) return w_.end > w_.offset + at ? w_.end - w_.offset - at : 0;
    return w_.last ? w_.bytes.size() - std::min(at, w_.bytes.size()) : provenance::kUnknown;
  }
  void breaks(status why, std::uint64_t size_bytes = 0) {
    step_.is = tar_step::kind::broken;
    step_.why = std::move(why);
    step_.size_bytes = size_bytes;
  }
  tar_step broken(status why, std::uint64_t size_bytes = 0) {
    breaks(std::move(why), size_bytes);
    return std::move(step_);
  }
  void cut_short(const std::string& what) {
    step_.is = tar_step::kind::broken;
    step_.why = data_loss_error("the archive ends inside of " + what);
    step_.size_bytes = left_in_file(from_);
  }
  /// Returns true if n bytes from `at_` on are in the window. Otherwise `step_` has the error or the number of bytes
  /// needed.
  bool has(std::uint64_t n, const std::string& what) {
    if (w_.bytes.size() >= at_ && w_.bytes.size() - at_ >= n) return true;
    if (left_in_file(at_) < n) {
      cut_short(what);
      return false;
    }
    step_.is = tar_step::kind::incomplete;
    step_.needed_bytes = static_cast<std::size_t>(at_ + n - from_);
    return false;
  }
  bool take_header(std::string_view& header) {
    if (left_in_file(at_) == 0 && at_ == from_) {
      step_.is = tar_step::kind::end;
      return false;
    }
    if (!has(kTarBlockBytes, "a header")) return false;
    header = w_.bytes.substr(at_, kTarBlockBytes);
    if (is_zero_block(header)) return take_end();
    if (!has_sound_checksum(header)) {
      broken_here("no tar header begins here: its checksum is wrong");
      return false;
    }
    at_ += kTarBlockBytes;
    return true;
  }
  void broken_here(const char* words) {
    step_.is = tar_step::kind::broken;
    step_.why = data_loss_error(words);
  }
  bool take_end() {
    if (at_ != from_) {
      broken_here("an extended header without a header after it");
      return false;
    }
    if (left_in_file(at_) >= 2 * kTarBlockBytes) {
      if (!has(2 * kTarBlockBytes, "")) return false;
      if (!is_zero_block(w_.bytes.substr(at_ + kTarBlockBytes, kTarBlockBytes))) {
        broken_here("a lone block of zeros: two end an archive");
        step_.size_bytes = kTarBlockBytes;
        return false;
      }
    }
    step_.is = tar_step::kind::end;
    return false;
  }
  /// Passes over an extended header above the limit: without it, nobody knows the name of the member behind it, so that
  /// the member is lost, too. A header that is far above the limit is damage: its member is not looked for.
  bool pass_long_extension(const status& why, std::uint64_t size) {
    if (padded(size) > kTarPassedBytesMax || at_ - from_ + padded(size) > kTarPassedBytesMax) {
      breaks(why, at_ - from_ + padded(size));
      return false;
    }
    if (!has(padded(size) + kTarBlockBytes, "an extended header")) return false;
    at_ += static_cast<std::size_t>(padded(size));
    if (too_long_.ok()) too_long_ = why;
    return true;
  }
  bool take_extension(char type, std::uint64_t size) {
    const std::string what = "an extended header";
    if (size > kTarExtensionBytesMax)
      return pass_long_extension(element_limit_error("an extended header of " + std::to_string(size) +
                                                     " bytes: more than " + std::to_string(kTarExtensionBytesMax)),
                                 size);
    if (at_ - from_ > kTarExtensionsBytesMax)
      return pass_long_extension(
          element_limit_error("extended headers of more than " + std::to_string(kTarExtensionsBytesMax) +
                              " bytes in front of one member"),
          size);
    if (!has(padded(size), what)) return false;
    std::string_view data = w_.bytes.substr(at_, static_cast<std::size_t>(size));
    at_ += static_cast<std::size_t>(padded(size));
    if (type == 'L') said_.path = std::string(until_nul(data));
    if (type == 'L' || type == 'K') return true;
    extension global;
    if (!read_pax(data, type == 'x' ? said_ : global)) {
      broken_here("a pax header has an invalid record");
      step_.size_bytes = at_ - from_;
      return false;
    }
    if (!global.path && !global.size && !global.is_sparse) return true;
    broken_here("");
    step_.why = unimplemented_error("a global pax header that says path, size or sparseness of all members");
    step_.size_bytes = at_ - from_;
    return false;
  }
  tar_step entry(std::string_view header, char type, std::uint64_t size, bool needs_data) {
    step_.entry.name = said_.path ? *said_.path : name_of_header(header);
    if (said_.size) size = *said_.size;
    if (has_no_data(type)) size = 0;
    if (size > INT64_MAX / 2) return broken(data_loss_error("a size in a tar header is no number"));
    const std::uint64_t behind = at_ - from_ + padded(size);
    if (!too_long_.ok()) return broken(std::move(too_long_), behind);
    // Programs before POSIX write directories like this, and POSIX keeps their meaning, whatever size they have.
    const bool is_old_directory = step_.entry.name.ends_with('/');
    const bool is_file = is_regular_file(type) && !is_old_directory;
    const std::string what = "the member " + step_.entry.name;
    if (type == 'S' || said_.is_sparse)
      return broken(
          unimplemented_error((said_.sparse_name.empty() ? what : "the member " + said_.sparse_name) + kIsSparse),
          behind);
    if (left_in_file(at_) < size) {
      cut_short(what);
      return std::move(step_);
    }
    const bool is_held = is_file || w_.end == provenance::kUnknown;  // other data are skipped without being read
    if (is_held && size > kTarMemberBytesMax)
      return broken(element_limit_error(what + " has " + std::to_string(size) + " bytes: more than " +
                                        std::to_string(kTarMemberBytesMax)),
                    behind);
    // An archive may end without the padding of its last member.
    const std::uint64_t data = std::min(padded(size), left_in_file(at_));
    if (((needs_data && is_file) || w_.end == provenance::kUnknown) && !has(data, what)) return std::move(step_);
    step_.is = tar_step::kind::entry;
    step_.entry.is_file = is_file;
    step_.entry.data_at = at_;
    step_.entry.data_bytes = size;
    step_.size_bytes = at_ - from_ + data;
    return std::move(step_);
  }

  const tar_window& w_;
  const std::size_t from_;
  std::size_t at_;
  extension said_;
  status too_long_{};  ///< an extended header of this entry is above a limit
  tar_step step_;
};

}  // namespace

tar_step read_tar_entry(const tar_window& w, std::size_t from, bool needs_data) {
  return entry_reader(w, from).read(needs_data);
}

tar_tail read_tar_tail(const tar_window& w) {
  tar_tail tail;
  const std::size_t zeros = std::min(w.bytes.find_first_not_of('\0'), w.bytes.size());
  if (zeros == w.bytes.size() && w.last) {
    tail.has_ended = true;
    return tail;
  }
  // One block of zeros stays, behind which find_tar_entry() finds the first header of another archive.
  const std::size_t blocks = zeros / kTarBlockBytes;
  if (blocks > 1) {
    tail.used_bytes = (blocks - 1) * kTarBlockBytes;
  } else if (zeros == w.bytes.size()) {
    tail.needed_bytes = w.bytes.size() + kTarBlockBytes;
  } else {
    const std::string size = w.end == provenance::kUnknown || w.end < w.offset + zeros
                                 ? std::string("bytes")
                                 : std::to_string(w.end - w.offset - zeros) + " bytes";
    tail.why = data_loss_error("the archive ends here, and " + size +
                               " follow its end, which are not read: another archive may have been appended "
                               "(`tar --ignore-zeros` unpacks both)");
  }
  return tail;
}

std::size_t find_tar_entry(const tar_window& w, std::size_t from, std::size_t to) {
  const auto first = static_cast<std::size_t>((kTarBlockBytes - (w.offset + from) % kTarBlockBytes) % kTarBlockBytes);
  for (std::size_t at = from + first; at < to && at + kTarBlockBytes <= w.bytes.size(); at += kTarBlockBytes) {
    std::string_view header = w.bytes.substr(at, kTarBlockBytes);
    if (!is_zero_block(header) && has_sound_checksum(header)) return at;
  }
  return std::string_view::npos;
}

}  // namespace sluice::lib
