// SPDX-License-Identifier: Apache-2.0
// Plans to text, and to what a fingerprint is taken of.
#include "absl/strings/str_cat.h"
#include "sluice/base/hash.hpp"
#include "sluice/plan/function.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib {

namespace {

void quote(std::string_view s, std::string& out) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (char c : s) {
    switch (c) {
      case '\n': out += "\\n"; break;
      case '\t': out += "\\t"; break;
      case '\r': out += "\\r"; break;
      case '"':
      case '\\':
        out += '\\';
        out += c;
        break;
      default:
        if (auto u = static_cast<unsigned char>(c); u < 0x20 || u == 0x7F) {
          out += "\\x";
          out += kHex[u >> 4];
          out += kHex[u & 15];
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

class printer {
 public:
  /// `meaning`: everything that the elements depend on, defaults and versions too, and no knobs.
  explicit printer(bool meaning) : meaning_(meaning) {}

  void plan(const node& n, std::string& out) const {
    if (n.op->shape == op_info::stage) {
      plan(*n.inputs[0], out);
      out += " | ";
    }
    call(n, out);
  }

  void call(const node& n, std::string& out) const {
    std::string arguments;
    things(n, arguments);
    fields(n, arguments);
    out += n.op->name;
    bool is_word = arguments.empty() && (n.op->shape != op_info::source || !n.op->text_name.empty());
    if (!is_word) absl::StrAppend(&out, "(", arguments, ")");
  }

 private:
  static void comma(std::string& out) {
    if (!out.empty()) out += ", ";
  }

  /// Path, function, reader and inputs.
  void things(const node& n, std::string& out) const {
    if (n.has_text) quote(n.text, out);
    if (n.function && !n.has_text) {  // beside a text it is the C++ form of what the text says
      comma(out);
      out += n.function->name.empty() ? "<lambda>" : n.function->name;
      if (meaning_) absl::StrAppend(&out, "@", n.function->version);
    }
    if (n.reader) {
      comma(out);
      plan(*n.reader, out);
    }
    if (n.op->shape != op_info::combine) return;
    for (auto& input : n.inputs) {
      comma(out);
      plan(*input, out);
    }
  }

  /// Those that lead without names, as long as none was left out; then the others that are not as by default.
  void fields(const node& n, std::string& out) const {
    bool leading = true;
    std::size_t k = 0;
    for (auto& f : n.fields.list().fields) {
      bool positional = f.required || k < n.op->positional;  // by its place in the list, as the parser counts
      ++k;
      leading = leading && positional;
      bool told = meaning_ ? !f.type->is_knob() : f.required || !n.fields.is_default(f);
      if (!told) {
        leading = false;
        continue;
      }
      comma(out);
      if (!leading) absl::StrAppend(&out, std::string(f.name), "=");
      f.type->print(n.fields.at(f), out);
    }
  }

  bool meaning_;
};

}  // namespace

std::string plan_text(const node& n) {
  std::string out;
  printer(false).plan(n, out);
  return out;
}

std::string stage_text(const node& n) {
  std::string out;
  printer(false).call(n, out);
  return out;
}

std::uint64_t fingerprint(const node& n) {
  std::string meaning;
  printer(true).plan(n, meaning);
  return stable_hash(meaning);
}

status serialisable(const node& n) {
  if (n.function && n.function->name.empty() && !n.has_text)
    return failed_precondition_error(
        absl::StrCat(stage_text(n),
                     " holds a lambda or data of the program, which cannot be written down; "
                     "name the function with SLUICE_FUNCTION"));
  if (n.function && !n.has_text && find_functions(n.function->name).empty())
    return failed_precondition_error(
        absl::StrCat(stage_text(n),
                     " has a function that is named in place, by fn(), and cannot be found by its name; "
                     "register it with SLUICE_FUNCTION"));
  if (n.reader)
    if (auto s = serialisable(*n.reader); !s.ok()) return s;
  for (auto& input : n.inputs)
    if (auto s = serialisable(*input); !s.ok()) return s;
  return {};
}

}  // namespace sluice::lib
