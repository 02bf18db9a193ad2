// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/tfrecord.hpp"

#include "engine/by_number/planned_index.hpp"
#include "engine/files/file_stage.hpp"
#include "plan/codecs/index_codec.hpp"
#include "plan/matching_files.hpp"
#include "sluice/format/tfrecord_frames.hpp"

namespace sluice::lib {

namespace {

class tfrecord_format final : public element_format {
 public:
  explicit tfrecord_format(after_damage then) : then_(then) {}
  bool searches_behind_damage() const override { return then_ == after_damage::search; }
  found scan(const byte_window& w, buffer& owner, void* to, std::size_t elements_max) const override {
    return found_in(w, scan_tfrecords(framed(w), owner, static_cast<record*>(to), elements_max));
  }
  found pass_over(const byte_window& w, std::uint64_t elements_max) const override {
    return found_in(w, pass_over_tfrecords(framed(w), elements_max ? elements_max : 1), elements_max);
  }
  std::size_t find_next(const byte_window& w, std::size_t from, std::size_t to) const override {
    return find_tfrecord(framed(w), from, to);
  }
  bool skips_unchecked() const override { return true; }
  std::string index_kind() const override { return "tfrecord"; }
  std::size_t overlap_bytes() const override { return kTfrecordHeaderBytes - 1; }

 private:
  static tfrecord_window framed(const byte_window& w) {
    tfrecord_window t;
    t.bytes = w.view();
    t.offset = w.offset;
    t.end = w.end;
    t.last = w.last;
    return t;
  }
  static found found_in(const byte_window& w, tfrecord_scan s, std::uint64_t elements_max = 1) {
    found f;
    f.damaged_bytes = s.damaged_bytes;
    if (elements_max == 0) return at_window_end(w, f);  // the call only checks whether any element is left
    f.elements = s.records;
    f.used_bytes = s.used_bytes;
    f.needed_bytes = s.needed_bytes;
    f.why = std::move(s.why);
    f.ended = s.records == 0 && f.why.ok() && s.needed_bytes == 0 && w.last;
    return f;
  }
  static found at_window_end(const byte_window& w, found f) {
    f.needed_bytes = kTfrecordHeaderBytes;
    f.ended = w.last && w.bytes.empty();
    return f;
  }

  after_damage then_;
};

erased_stream open_tfrecord(const node& n, open_context& context) {
  return open_file_stage(n, context, reading_with<tfrecord_arguments>(n, context),
                         std::make_shared<tfrecord_format>(n.as<tfrecord_arguments>().options.after_damage));
}

}  // namespace

const op_info tfrecord_op{
    .name = "tfrecord",
    .doc = "the records of a TFRecord file",
    .shape = op_info::source,
    .arguments = arguments_of<tfrecord_arguments>,
    .of_matches = plan_of_matching_files,
    .type = [](const node& n, std::string&) { return check_index<tfrecord_arguments>(n), &type_of<record>(); },
    .facts = facts_by_index<tfrecord_arguments>(),
    .splits = {.rule = split_rule::one_file, .skips_in_file = ranges_by_index<tfrecord_arguments>},
    .lowering = {.open = open_tfrecord},
};

}  // namespace sluice::lib
