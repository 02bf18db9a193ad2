// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/webdataset.hpp"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <new>

#include "engine/by_number/planned_index.hpp"
#include "engine/files/tar_files.hpp"
#include "plan/codecs/index_codec.hpp"
#include "plan/matching_files.hpp"

namespace sluice::lib {

namespace {

/// Splits "000/17.seg.png" into "000/17" and "seg.png". Returns false if the file belongs to no sample.
bool split_name(std::string_view name, std::string_view& key, std::string_view& extension) {
  const std::size_t slash = name.rfind('/');
  const std::size_t begin = slash == name.npos ? 0 : slash + 1;
  const std::size_t dot = name.find('.', begin);
  if (dot == name.npos || dot == begin) return false;
  key = name.substr(0, dot);
  extension = name.substr(dot + 1);
  return true;
}

struct sample_part {
  std::string extension;
  std::size_t at, bytes;
};

/// The files of one key, and the end of the sample: the header of the first file with another key.
struct sample_step {
  tar_step::kind is = tar_step::kind::incomplete;
  std::string key;
  std::vector<sample_part> parts;
  std::uint64_t size_bytes = 0;
  std::size_t needed_bytes = 0;
  std::uint64_t broken_at = 0;  ///< in the window
  status why;
};

status check_parts(const sample_step& s) {
  for (std::size_t i = 0; i != s.parts.size(); ++i)
    for (std::size_t j = 0; j != i; ++j)
      if (s.parts[i].extension == s.parts[j].extension)
        return invalid_argument_error("the sample " + s.key + " has two parts called " + s.parts[i].extension);
  return {};
}

constexpr std::size_t kPartsMax = 4096;  // of a sample: more are an error, and comparing their names would take long

sample_step read_sample(const tar_window& w, std::size_t from, bool needs_data) {
  sample_step sample;
  std::size_t at = from;
  auto ends = [&](tar_step::kind is) {
    sample.is = is;
    sample.size_bytes = at - from;
  };
  auto breaks = [&](status why) {
    ends(tar_step::kind::broken);
    sample.why = std::move(why);
  };
  for (;;) {
    tar_step s = read_tar_entry(w, at, needs_data);
    if (s.is == tar_step::kind::incomplete) {
      sample.needed_bytes = at - from + s.needed_bytes;
      return sample;
    }
    if (s.is == tar_step::kind::broken) {
      // The end of the damage if its length is known; else the search begins at the damage.
      sample.broken_at = s.size_bytes == 0 ? at : 0;
      at += static_cast<std::size_t>(s.size_bytes);
      breaks(s.why);
      return sample;
    }
    std::string_view key, extension;
    const bool is_part = s.is == tar_step::kind::entry && s.entry.is_file && split_name(s.entry.name, key, extension);
    const bool begins_next = is_part && !sample.parts.empty() && key != sample.key;
    if (s.is == tar_step::kind::end || begins_next) {
      ends(sample.parts.empty() ? tar_step::kind::end : tar_step::kind::entry);
      if (status why = check_parts(sample); !why.ok()) breaks(std::move(why));
      return sample;
    }
    at += static_cast<std::size_t>(s.size_bytes);
    if (!is_part) continue;
    sample.key = key;
    std::string small(extension);
    absl::AsciiStrToLower(&small);
    sample.parts.push_back({std::move(small), s.entry.data_at, static_cast<std::size_t>(s.entry.data_bytes)});
    if (at - from <= kTarMemberBytesMax && sample.parts.size() <= kPartsMax) continue;
    breaks(element_limit_error("the sample " + sample.key + " has more than 2 GiB, or than " +
                               std::to_string(kPartsMax) + " parts"));
    return sample;
  }
}

class webdataset_format final : public tar_format {
 public:
  found scan(const byte_window& w, buffer& owner, void* to, std::size_t elements_max) const override {
    auto* samples = static_cast<webdataset_sample*>(to);
    return find(w, elements_max, true, [&](std::size_t i, sample_step&& s) {
      webdataset_sample made{std::move(s.key), {}};
      made.parts.reserve(s.parts.size());
      for (sample_part& p : s.parts) {
        owner.add_references(1);
        made.parts.push_back({std::move(p.extension), record(&owner, w.bytes.data() + p.at, p.bytes)});
      }
      ::new (static_cast<void*>(samples + i)) webdataset_sample(std::move(made));
    });
  }
  found pass_over(const byte_window& w, std::uint64_t elements_max) const override {
    if (elements_max == 0) return none_in(w);
    return find(w, elements_max, false, [](std::size_t, sample_step&&) {});
  }
  /// Finds the next sample after the damage, and not after the first file of the damaged sample.
  std::size_t find_next(const byte_window& w, std::size_t from, std::size_t to) const override {
    const std::uint64_t behind = damage_at_ + 1 > w.offset ? damage_at_ + 1 - w.offset : 0;
    if (behind >= to) return std::string_view::npos;
    return find_tar_entry(framed(w), std::max(from, static_cast<std::size_t>(behind)), to);
  }

  std::string index_kind() const override { return "webdataset"; }

 private:
  /// Calls `made(index, sample)` for each sample.
  template <class F> found find(const byte_window& w, std::uint64_t elements_max, bool needs_data, F made) const {
    found f;
    const tar_window archive = framed(w);
    if (is_in_tail_) return behind_files(w);
    while (f.elements != elements_max) {
      sample_step s = read_sample(archive, static_cast<std::size_t>(f.used_bytes), needs_data);
      if (s.is == tar_step::kind::entry) {
        made(f.elements++, std::move(s));
        f.used_bytes += s.size_bytes;
        continue;
      }
      if (f.elements != 0) return f;  // elements before it are delivered first
      if (s.is == tar_step::kind::end) return to_end(w, s);
      f.needed_bytes = s.needed_bytes;
      f.why = std::move(s.why);
      f.damaged_bytes = s.broken_at != 0 ? 0 : s.size_bytes;
      damage_at_ = w.offset + s.broken_at;
      return f;
    }
    return f;
  }

  /// Goes to the block of zeros that ends the archive, past directories and other entries that are no files.
  found to_end(const byte_window& w, const sample_step& s) const {
    is_in_tail_ = true;
    found f;
    f.used_bytes = s.size_bytes;
    return f.used_bytes != 0 ? f : behind_files(w);
  }
  found behind_files(const byte_window& w) const {
    damage_at_ = w.offset;
    return behind_end(w);
  }

  mutable std::uint64_t damage_at_ = 0;  // a stage has a format of its own: one thread at a time
};

erased_stream open_webdataset(const node& n, open_context& context) {
  return open_file_stage(n, context, reading_with<webdataset_arguments>(n, context),
                         std::make_shared<webdataset_format>());
}

}  // namespace

const record* webdataset_sample::find(std::string_view extension) const noexcept {
  for (const webdataset_part& p : parts)
    if (p.extension == extension) return &p.bytes;
  return nullptr;
}

const record& webdataset_sample::at(std::string_view extension) const {
  if (const record* bytes = find(extension)) return *bytes;
  std::string there;
  for (const webdataset_part& p : parts) there += (there.empty() ? "" : ", ") + p.extension;
  throw_status(
      invalid_argument_error("the sample " + key + " has no part " + std::string(extension) + ", but " + there));
}

const op_info webdataset_op{
    .name = "webdataset",
    .doc = "the samples of a tar archive: files grouped by name",
    .shape = op_info::source,
    .arguments = arguments_of<webdataset_arguments>,
    .of_matches = plan_of_matching_files,
    .type = [](const node& n,
               std::string&) { return check_index<webdataset_arguments>(n), &type_of<webdataset_sample>(); },
    .facts = facts_by_index<webdataset_arguments>(),
    .splits = {.rule = split_rule::one_file, .skips_in_file = ranges_by_index<webdataset_arguments>},
    .lowering = {.open = open_webdataset},
};

}  // namespace sluice::lib
