// SPDX-License-Identifier: Apache-2.0
// Zip archives: any bytes are an archive or an error, and what was written as one is read as it was written.
#include "format/archive/zip_archive.hpp"

#include <algorithm>
#include <vector>

#include "fuzz/target.hpp"
#include "support/bytes/zip_bytes.hpp"

namespace sluice::lib::fuzz {

namespace {

constexpr std::uint64_t kMemberMax = 1 << 20;  // of a member that is undone here

struct member {
  std::string name, bytes;
  bool is_sound = false;
};

/// A member's bytes; not sound: an error.
member read_member(std::string_view archive, const zip_directory& d, const zip_entry& e, std::size_t piece) {
  member m{e.name, {}};
  expect(e.header_at <= d.offset && e.packed_bytes <= d.offset - e.header_at, "a member lies after the directory");
  if (!e.refused.ok() || e.plain_bytes > kMemberMax) return m;
  std::size_t needed = 0, have = 0;
  while (have < needed || needed == 0) {
    if (needed > archive.size() - e.header_at) return m;
    have = std::max(needed, std::min<std::size_t>(kZipHeaderBytes, archive.size() - e.header_at));
    const std::string header(
        archive.substr(e.header_at, have));  // its own allocation, so that ASan sees a read beyond it
    if (!read_zip_header(header, e, needed).ok()) return m;
    if (have < kZipHeaderBytes) return m;
  }
  if (e.packed_bytes > archive.size() - e.header_at - needed) return m;
  std::string_view packed = archive.substr(e.header_at + needed, e.packed_bytes);
  if (!e.is_deflated) {
    m.bytes = packed;
  } else {
    zip_inflater undo;
    for (bool ended = false; !ended;) {
      const std::string in(packed.substr(0, piece));
      std::string out(std::min<std::size_t>(piece, e.plain_bytes + 1 - m.bytes.size()), '\0');
      zip_inflater::step s = undo.inflate(in, out.data(), out.size());
      expect(s.consumed <= in.size() && s.produced <= out.size(), "a step took or gave more than there was");
      m.bytes.append(out, 0, s.produced);
      packed.remove_prefix(s.consumed);
      ended = s.ended;
      if (!s.why.ok() || m.bytes.size() > e.plain_bytes || (!ended && s.consumed == 0 && s.produced == 0)) return m;
    }
  }
  m.is_sound = m.bytes.size() == e.plain_bytes && zip_crc(m.bytes) == e.crc;
  return m;
}

/// False: it is no archive.
bool read_archive(std::string_view archive, std::size_t piece, std::vector<member>& to) {
  const std::size_t from = archive.size() - std::min(archive.size(), kZipTailBytes);
  zip_directory d;
  const std::string tail(archive.substr(from));
  if (!find_zip_directory(tail, from, d).ok()) return false;
  expect(d.size_bytes <= archive.size() && d.offset <= archive.size() - d.size_bytes,
         "the directory is not in the file");
  expect(d.shift <= d.offset, "an archive begins behind its directory");
  const std::string directory(archive.substr(d.offset, d.size_bytes));
  for (std::size_t at = 0; at != directory.size();) {
    zip_entry e;
    const std::string rest = directory.substr(at);
    if (!read_zip_entry(rest, d, e).ok()) return false;
    expect(e.size_bytes != 0 && e.size_bytes <= rest.size(), "an entry takes more than there is");
    at += e.size_bytes;
    if (e.is_file) to.push_back(read_member(archive, d, e, piece));
  }
  return true;
}

/// Writes an archive of what the input says, and reads it.
void round_trip(input& in) {
  test::zip_writer writer(in.chance() ? std::string(in.take(in.byte())) : std::string());
  std::vector<member> written, found;
  const bool is_64 = in.chance();
  const std::size_t piece = 1 + in.byte();
  while (!in.done() && written.size() != 20) {
    const std::uint8_t modes = in.byte();
    test::zip_file f;
    f.name = std::string(in.take(in.byte() % 16)) + "x";
    f.bytes = std::string(in.take(in.byte()));
    f.is_deflated = modes & 1;
    f.is_64 = modes & 2;
    f.sizes_behind = modes & 4;
    if (modes & 8) f.bytes += std::string(in.byte() * 64, 'r');
    writer.add(f);
    written.push_back({f.name, f.bytes, true});
  }
  expect(read_archive(writer.bytes("", is_64), piece, found), "an archive that was written is none");
  expect(found.size() == written.size(), "members are missing");
  for (std::size_t i = 0; i != found.size(); ++i)
    expect(found[i].is_sound && found[i].name == written[i].name && found[i].bytes == written[i].bytes,
           "a member is read as another one");
}

}  // namespace

void zip(std::string_view bytes) {
  input in(bytes);
  if (in.chance()) return round_trip(in);
  const std::size_t piece = 1 + in.byte();
  std::vector<member> found, again;
  const std::string_view archive = in.rest();
  const bool is_archive = read_archive(archive, piece, found);
  expect(read_archive(archive, 1000, again) == is_archive && found.size() == again.size(),
         "pieces decide what there is");
  for (std::size_t i = 0; i != found.size(); ++i)
    expect(found[i].is_sound == again[i].is_sound && (!found[i].is_sound || found[i].bytes == again[i].bytes),
           "pieces decide what a member is");
}

}  // namespace sluice::lib::fuzz
