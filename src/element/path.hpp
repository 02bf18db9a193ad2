// SPDX-License-Identifier: Apache-2.0
// The place of a value in a nested element, for errors: "features.image[3]". It lives on the stack during a traversal,
// and its text is built only for an error.
#pragma once

#include <string>
#include <string_view>

#include "element/text/scan_text.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib::detail {

struct path {
  const path* within = nullptr;
  const std::string* name = nullptr;  ///< the member's name; null: item number `index`
  std::size_t index = 0;

  void append_to(std::string& out) const {
    if (within) within->append_to(out);
    if (is_root()) return;
    if (name) {
      if (!out.empty()) out += '.';
      append_name(*name, out);
    } else {
      out.append("[").append(std::to_string(index)).append("]");
    }
  }
  std::string text() const {
    std::string out;
    append_to(out);
    return out;
  }
  /// Returns "features.image[3]: ", or "" at the root.
  std::string prefix() const {
    auto out = text();
    return out.empty() ? out : out + ": ";
  }
  path member(const std::string& of) const { return {this, &of, 0}; }
  path item(std::size_t i) const { return {this, nullptr, i}; }
  /// Returns the path of member k: by its name in a structure, by its number in a pair or tuple.
  path part(const element_type& t, std::size_t k) const {
    return t.kind == kind::structure ? member(t.members[k].name) : item(k);
  }

 private:
  bool is_root() const { return within == nullptr; }
};

}  // namespace sluice::lib::detail
