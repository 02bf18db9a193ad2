// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/fixed_length.hpp"

#include <absl/strings/str_cat.h>

#include "engine/by_number/planned_index.hpp"
#include "engine/files/file_stage.hpp"
#include "plan/codecs/index_codec.hpp"
#include "plan/matching_files.hpp"
#include "sluice/format/fixed_length_scan.hpp"

namespace sluice::lib {

namespace {

class fixed_length_format final : public element_format {
 public:
  explicit fixed_length_format(fixed_length_layout layout) : layout_(layout) {}
  status check(std::uint64_t end) const override { return end == provenance::kUnknown ? status() : layout_.check(end); }
  bool may_begin(const byte_window& rest, std::string_view) const override {
    const std::uint64_t records_end = rest.end - layout_.footer_bytes;  // check() has verified that it fits
    const bool in_footer = rest.end != provenance::kUnknown && rest.offset > records_end;
    return rest.offset >= layout_.header_bytes && (rest.offset - layout_.header_bytes) % layout_.record_bytes == 0 &&
           !in_footer;
  }
  found scan(const byte_window& w, buffer& owner, void* to, std::size_t elements_max) const override {
    return found_in(w, scan_fixed_length(layout_, framed(w), owner, static_cast<record*>(to), elements_max));
  }
  found pass_over(const byte_window& w, std::uint64_t elements_max) const override {
    found f;
    if (elements_max == 0) {
      f.needed_bytes = layout_.record_bytes;
      f.ended = w.last && w.bytes.empty();
      return f;
    }
    if (w.end == provenance::kUnknown) {  // compressed: skipped bytes are read
      passed_.resize(std::min<std::uint64_t>(elements_max, 1024));
      return found_in(w, scan_fixed_length(layout_, framed(w), passed_.data(), passed_.size()));
    }
    std::uint64_t start = std::max(w.offset, layout_.header_bytes);
    std::uint64_t records_end = w.end - layout_.footer_bytes;
    std::uint64_t left = records_end > start ? records_end - start : 0;
    std::uint64_t n = std::min(elements_max, left / layout_.record_bytes);
    f.elements = n;
    f.used_bytes = n ? start - w.offset + n * layout_.record_bytes : w.end - w.offset;
    f.ended = n == 0;
    return f;
  }
  bool skips_without_index() const override { return true; }
  std::string index_kind() const override {
    return absl::StrCat("fixed_length, ", layout_.record_bytes, " bytes behind ", layout_.header_bytes, " and before ",
                        layout_.footer_bytes);
  }

 private:
  static fixed_length_window framed(const byte_window& w) {
    fixed_length_window f;
    f.bytes = w.view();
    f.offset = w.offset;
    f.end = w.end;
    f.last = w.last;
    return f;
  }
  static found found_in(const byte_window&, fixed_length_scan s) {
    found f;
    f.elements = s.records;
    f.used_bytes = s.used_bytes;
    f.needed_bytes = s.needed_bytes;
    f.why = std::move(s.why);
    f.ended = s.records == 0 && f.why.ok() && s.needed_bytes == 0;
    return f;
  }

  fixed_length_layout layout_;
  mutable std::vector<std::string_view> passed_;  // a stage has a format of its own: one thread at a time
};

erased_stream open_fixed_length(const node& n, open_context& context) {
  auto& a = n.as<fixed_length_arguments>();
  fixed_length_layout layout;
  layout.record_bytes = static_cast<std::uint64_t>(a.options.record_bytes.value);
  layout.header_bytes = static_cast<std::uint64_t>(a.options.header_bytes.value);
  layout.footer_bytes = static_cast<std::uint64_t>(a.options.footer_bytes.value);
  return open_file_stage(n, context, reading_with<fixed_length_arguments>(n, context),
                         std::make_shared<fixed_length_format>(layout));
}

}  // namespace

const op_info fixed_length_op{
    .name = "fixed_length",
    .doc = "records of n bytes each",
    .shape = op_info::source,
    .arguments = arguments_of<fixed_length_arguments>,
    .of_matches = plan_of_matching_files,
    .type = [](const node& n, std::string&) { return check_index<fixed_length_arguments>(n), &type_of<record>(); },
    .facts = {.size = size_by_index<fixed_length_arguments>,
              .seeks =
                  [](const node& n) {
                    return seeks_by_index<fixed_length_arguments>(n) || seeks_in_plain_file<fixed_length_arguments>(n);
                  }},
    .splits = {.rule = split_rule::one_file,
               .skips_in_file =
                   [](const node& n) {
                     return n.as<fixed_length_arguments>().options.compression <= compression::none ||
                            ranges_by_index<fixed_length_arguments>(n);
                   }},
    .lowering = {.open = open_fixed_length},
};

}  // namespace sluice::lib
