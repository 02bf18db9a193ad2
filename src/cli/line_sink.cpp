// SPDX-License-Identifier: Apache-2.0
#include "cli/line_sink.hpp"

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
    text += '\n';
    ends.push_back(text.size());
  }
  std::size_t accepted = 0;
  status written = out_.write(text, ends, accepted);
  return written.ok() ? why : written;
}

status example_sink::print_line(const element_type& type, const void* element, std::string& text) {
  if (!is_raw_ && type.text) {
    auto json = example_to_json(type.text(element));
    if (json.ok()) {
      text += *json;
      return {};
    }
    if (!or_raw_ || record() != 0) return json.why();
    is_raw_ = true;
  }
  print(type, element, text);
  return {};
}

}  // namespace sluice::lib::cli
