// SPDX-License-Identifier: Apache-2.0
#include "cli/sinks/line_sink.hpp"

#include "cli/messages/text_layout.hpp"
#include "element/text/print_element.hpp"
#include "format/example/example_inference.hpp"
#include "sluice/element/slice.hpp"
#include "sluice/format/example.hpp"

namespace sluice::lib::cli {

status line_sink::take(const block& elements) {
  std::string text;
  std::vector<std::size_t> ends;
  status why;
  for (std::uint32_t i = 0; i != elements.size(); ++i, ++records_) {
    std::size_t before = text.size();
    why = print_line(elements.type(), elements.at(i), text);
    if (!why.ok()) {
      text.resize(before);
      if (!file_.empty()) why = why.in_file(file_, provenance::kUnknown, records_);
      break;
    }
    if (receiver_) {
      receiver_->add(elements.type(), elements.at(i), std::string_view(text).substr(before));
      text.resize(before);
      continue;
    }
    if (is_terminal_) text.replace(before, text.npos, without_controls(std::string_view(text).substr(before)));
    text += '\n';
    ends.push_back(text.size());
  }
  if (receiver_) return why;
  std::size_t accepted = 0;
  status written = out_.write(text, ends, accepted);
  return written.ok() ? why : written;
}

/// A tf.Example without features has no contents, like any other empty record. A record that consists only of unknown
/// fields is text.
bool example_sink::is_shown_as_example(std::string_view record, const result<std::string>& json) const {
  if (record.empty()) return !is_raw_ || empty_shown_;
  return !is_raw_ && json.ok() && (has_shown_ || (*json != "{}" && may_be_example(record)));
}

status example_sink::print_part(const element_type& type, const void* part, std::string& text) {
  if (type.has_members() && !is_raw_) return print_members(type, part, text);
  if (&type == &type_of<lib::record>() && (!is_raw_ || empty_shown_)) {
    const std::string_view record = type.text(part);
    auto json = example_to_json(record);
    if (is_shown_as_example(record, json)) {
      has_shown_ |= !record.empty();
      empty_shown_ |= record.empty();
      text += *json;
      return {};
    }
    if (other_ == in_front && has_shown_) return json.why();
    is_raw_ |= !has_shown_;
  }
  print(type, part, text);
  return {};
}

/// Does the same as print(), but calls print_part() for each member.
status example_sink::print_members(const element_type& type, const void* element, std::string& text) {
  status why;
  detail::print_members(type, text, [&](const member& m) {
    why = print_part(*m.type, static_cast<const char*>(element) + m.offset, text);
    return why.ok();
  });
  return why;
}

}  // namespace sluice::lib::cli
