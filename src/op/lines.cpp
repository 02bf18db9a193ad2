// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/lines.hpp"

#include "engine/by_number/planned_index.hpp"
#include "engine/files/file_stage.hpp"
#include "plan/codecs/index_codec.hpp"
#include "plan/matching_files.hpp"
#include "sluice/format/lines_scan.hpp"

namespace sluice::lib {

namespace {

/// The limit of a line. Without it a file without line ends would be read into memory as a whole.
constexpr std::size_t kLineBytesMax = std::size_t{1} << 30;
/// The number of bytes searched at once for the end of a line, less than a millisecond. Other tasks run in between.
constexpr std::size_t kSearchedAtOnce = std::size_t{4} << 20;

class lines_format final : public element_format {
 public:
  found scan(const byte_window& w, buffer& owner, void* to, std::size_t elements_max) const override {
    const part p = part_of(w);
    return found_in(
        w, p, scan_lines(w.bytes.first(p.bytes), p.last, owner, static_cast<line*>(to), elements_max, w.searched));
  }
  found pass_over(const byte_window& w, std::uint64_t elements_max) const override {
    if (elements_max == 0) return found_in(w, {}, {});
    const part p = part_of(w);
    return found_in(w, p, pass_over_lines(w.view().substr(0, p.bytes), p.last, elements_max, w.searched));
  }

  /// Behind a line that is too long: the next one.
  std::size_t find_next(const byte_window& w, std::size_t from, std::size_t to) const override {
    const std::size_t before = w.view().substr(0, to).find('\n', from == 0 ? 0 : from - 1);
    return before == std::string_view::npos || before + 1 >= to ? std::string_view::npos : before + 1;
  }
  std::size_t overlap_bytes() const override { return 1; }
  std::string index_kind() const override { return "lines"; }
  std::size_t bytes_before() const override { return 1; }
  bool may_begin(const byte_window&, std::string_view before) const override { return before == "\n"; }

 private:
  /// The part that is searched now: the front of the window, up to some bytes after those searched before.
  struct part {
    std::size_t bytes = 0;
    bool last = false;
  };
  static part part_of(const byte_window& w) {
    std::size_t bytes = std::min(w.bytes.size(), w.searched + kSearchedAtOnce);
    return {bytes, w.last && bytes == w.bytes.size()};
  }
  static found found_in(const byte_window& w, part p, lines_scan s) {
    found f;
    f.elements = s.lines;
    f.used_bytes = s.used_bytes;
    if (s.lines) return f;
    f.ended = w.last && w.bytes.empty();
    f.searched_bytes = p.bytes;
    f.needed_bytes = w.bytes.size() * 2 + 1;  // a line longer than the window: doubling keeps the copying linear
    if (p.bytes > kLineBytesMax)
      f.why = element_limit_error("a line is longer than 1 GiB; perhaps this is not a text file");
    return f;
  }
};

erased_stream open_lines(const node& n, open_context& context) {
  return open_file_stage(n, context, reading_with<lines_arguments>(n, context), std::make_shared<lines_format>());
}

}  // namespace

const op_info lines_op{
    .name = "lines",
    .doc = "the lines of a text file",
    .shape = op_info::source,
    .arguments = arguments_of<lines_arguments>,
    .of_matches = plan_of_matching_files,
    .type = [](const node& n, std::string&) { return check_index<lines_arguments>(n), &type_of<line>(); },
    .facts = facts_by_index<lines_arguments>(),
    .splits = {.rule = split_rule::one_file, .skips_in_file = ranges_by_index<lines_arguments>},
    .lowering = {.open = open_lines},
};

}  // namespace sluice::lib
