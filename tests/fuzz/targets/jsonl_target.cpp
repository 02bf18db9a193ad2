// SPDX-License-Identifier: Apache-2.0
// Lines of JSON: what is read prints, and is read again as the same, by both of the library's readers.
#include <optional>
#include <utility>
#include <vector>

#include "format/json/json_rows.hpp"
#include "fuzz/target.hpp"
#include "sluice/element/value.hpp"

namespace sluice::lib::fuzz {

struct json_part {
  float x = 0;
  std::optional<bool> y;
};
struct json_sample {
  std::int64_t a = 0;
  std::string b;
  std::vector<std::optional<std::int8_t>> c;
  std::optional<json_part> d;
  std::pair<double, std::uint64_t> e;
};

namespace {

/// Nothing where it is refused.
std::optional<std::string> read_json(json_row_reader& reader, const element_type& t, std::string_view text,
                                     std::size_t behind) {
  alignas(std::max_align_t) std::byte room[sizeof(json_sample)];
  status why = reader.read(text, behind, room);
  if (!why.ok()) return std::nullopt;
  return value(t, room).print();
}

template <class T> void reads_what_it_prints(std::string_view text) {
  json_row_reader reader(type_of<T>());
  auto first = read_json(reader, type_of<T>(), text, 0);
  const std::string padded = std::string(text) + std::string(64, '"');  // what is behind a text does not matter
  expect(read_json(reader, type_of<T>(), std::string_view(padded).substr(0, text.size()), 64) == first,
         "a text is read otherwise with others behind it");
  alignas(std::max_align_t) std::byte room[sizeof(json_sample)];
  const bool is_document = reader.read_document(text, 0, room).ok();
  expect(is_document == first.has_value() && (!is_document || value(type_of<T>(), room).print() == *first),
         "a document gives another element");
  if (!first) return;
  auto printed = read_json(reader, type_of<T>(), *first, 0);  // -0 is 0 by now
  expect(printed && read_json(reader, type_of<T>(), *printed, 0) == printed, "what was printed is not read again");
  auto other = value_from_json(type_of<T>(), *printed);
  expect(other.ok() && other->print() == *printed, "value_from_json reads something else");
}

}  // namespace

void jsonl(std::string_view bytes) {
  input in(bytes);
  const std::uint8_t how = in.byte();
  const std::string_view text = in.rest();
  switch (how % 4) {
    case 0: return reads_what_it_prints<json_sample>(text);
    case 1: return reads_what_it_prints<std::vector<double>>(text);
    case 2: return reads_what_it_prints<std::vector<std::string>>(text);
    default: return reads_what_it_prints<std::vector<std::vector<std::int64_t>>>(text);
  }
}

}  // namespace sluice::lib::fuzz
