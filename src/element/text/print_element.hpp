// SPDX-License-Identifier: Apache-2.0
// The print functions of element/type.cpp, and the parts that the program's own printing shares with them.
#pragma once

#include "sluice/element/type.hpp"

namespace sluice::lib::detail {

void print_scalar(std::int64_t v, std::string& out);
void print_scalar(std::uint64_t v, std::string& out);
void print_scalar(float v, std::string& out);
void print_scalar(double v, std::string& out);
void print_scalar(bool v, std::string& out);
void print_text(const element_type& t, const void* p, std::string& out);
void print_extent(const element_type& t, const void* p, std::string& out);
/// Prints a structure as an object, a pair or a tuple as an array.
void print_members(const element_type& t, const void* p, std::string& out);
/// Prints with `print_part(member)` for each member: it appends the member's value, and returns false to stop.
template <class F> void print_members(const element_type& t, std::string& out, F print_part) {
  bool named = t.kind == kind::structure;
  out += named ? '{' : '[';
  for (const member& m : t.members) {
    if (&m != &t.members.front()) out += ',';
    if (named) {
      print_json_name(m.name, out);
      out += ':';
    }
    if (!print_part(m)) return;
  }
  out += named ? '}' : ']';
}
void print_opaque(const element_type& t, const void* p, std::string& out);

}  // namespace sluice::lib::detail
