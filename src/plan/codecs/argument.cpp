// SPDX-License-Identifier: Apache-2.0
#include "plan/codecs/argument.hpp"

#include <charconv>

#include "sluice/base/assert.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib {
namespace {

/// Calls visit(spelling) for each number of the list; stops early if visit returns false.
template <class F> bool for_each_number(std::string_view numbers, F visit) {
  while (!numbers.empty()) {
    std::string_view one = numbers.substr(0, numbers.find(','));
    if (!visit(one)) return false;
    numbers.remove_prefix(std::min(one.size() + 1, numbers.size()));
  }
  return true;
}

bool read_byte(std::string_view spelled, unsigned char& byte) {
  const char* end = spelled.data() + spelled.size();
  auto r = std::from_chars(spelled.data(), end, byte);
  return r.ec == std::errc() && r.ptr == end;
}

}  // namespace

const argument* argument::find(std::string_view wanted) const {
  for (const argument& a : items)
    if (a.name == wanted) return &a;
  return nullptr;
}

std::string argument::shown() const {
  switch (kind) {
    case null: return "null";
    case plan: return "a plan";
    case expression: return "an expression";
    case fields: return "fields in braces";
    case object: return "an object";
    case list:
    case numbers: return "a list";
    case quoted: return "\"" + text + "\"";
    case string: {
      std::string out;
      print_json_text(text, out);
      return out;
    }
    default: return text;
  }
}

const std::vector<argument>& items_of(const argument& list, std::vector<argument>& storage) {
  if (list.kind != argument::numbers) return list.items;
  for_each_number(list.text, [&](std::string_view spelled) {
    argument& a = storage.emplace_back();
    a.kind = argument::number;
    a.text = spelled;
    return true;
  });
  return storage;
}

bool is_text_argument(const argument& a) {
  unsigned char byte = 0;
  if (a.kind == argument::numbers)
    return for_each_number(a.text, [&](std::string_view spelled) { return read_byte(spelled, byte); });
  return a.kind == argument::quoted || a.kind == argument::string || (a.kind == argument::list && a.items.empty());
}

std::string text_of(const argument& a) {
  SLUICE_REQUIRES(is_text_argument(a), "the argument is no text");
  if (a.kind != argument::numbers) return a.text;
  std::string bytes;
  for_each_number(a.text, [&](std::string_view spelled) {
    unsigned char byte = 0;
    read_byte(spelled, byte);
    bytes += static_cast<char>(byte);
    return true;
  });
  return bytes;
}

}  // namespace sluice::lib
