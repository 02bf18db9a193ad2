// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/tar.hpp"

#include <new>

#include "engine/by_number/planned_index.hpp"
#include "engine/files/tar_files.hpp"
#include "plan/codecs/index_codec.hpp"
#include "plan/matching_files.hpp"

namespace sluice::lib {

namespace {

class tar_members_format final : public tar_format {
 public:
  found scan(const byte_window& w, buffer& owner, void* to, std::size_t elements_max) const override {
    auto* members = static_cast<tar_member*>(to);
    return find(w, elements_max, true, [&](std::size_t i, tar_entry&& e, std::size_t at) {
      owner.add_references(1);
      const auto bytes = static_cast<std::size_t>(e.data_bytes);
      ::new (static_cast<void*>(members + i)) tar_member{std::move(e.name), record(&owner, w.bytes.data() + at, bytes),
                                                         static_cast<std::int64_t>(w.offset + at)};
    });
  }
  found pass_over(const byte_window& w, std::uint64_t elements_max) const override {
    if (elements_max == 0) return none_in(w);
    return find(w, elements_max, false, [](std::size_t, tar_entry&&, std::size_t) {});
  }
  std::size_t find_next(const byte_window& w, std::size_t from, std::size_t to) const override {
    return find_tar_entry(framed(w), from, to);
  }

  std::string index_kind() const override { return "tar"; }

 private:
  /// Calls `made(index, entry, place of its data)` for each file.
  template <class F> found find(const byte_window& w, std::uint64_t elements_max, bool needs_data, F made) const {
    found f;
    const tar_window archive = framed(w);
    if (is_in_tail_) return behind_end(w);
    while (f.elements != elements_max && f.used_bytes <= w.bytes.size()) {
      tar_step s = read_tar_entry(archive, static_cast<std::size_t>(f.used_bytes), needs_data);
      if (s.is == tar_step::kind::entry) {
        const std::size_t at = s.entry.data_at;
        if (s.entry.is_file) made(f.elements++, std::move(s.entry), at);
        f.used_bytes += s.size_bytes;
        continue;
      }
      if (f.used_bytes != 0) return f;  // elements before it are delivered first
      if (s.is == tar_step::kind::end) return behind_end(w);
      f.needed_bytes = s.needed_bytes;
      f.why = std::move(s.why);
      f.damaged_bytes = s.size_bytes;
      return f;
    }
    return f;
  }
};

erased_stream open_tar(const node& n, open_context& context) {
  return open_file_stage(n, context, reading_with<tar_arguments>(n, context), std::make_shared<tar_members_format>());
}

}  // namespace

const op_info tar_op{
    .name = "tar",
    .doc = "the files in a tar archive",
    .shape = op_info::source,
    .arguments = arguments_of<tar_arguments>,
    .of_matches = plan_of_matching_files,
    .type = [](const node& n, std::string&) { return check_index<tar_arguments>(n), &type_of<tar_member>(); },
    .facts = facts_by_index<tar_arguments>(),
    .splits = {.rule = split_rule::one_file, .skips_in_file = ranges_by_index<tar_arguments>},
    .lowering = {.open = open_tar},
};

}  // namespace sluice::lib
