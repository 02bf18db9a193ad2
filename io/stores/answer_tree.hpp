// SPDX-License-Identifier: Apache-2.0
// Parses answers of stores, XML or JSON, into one form of tree: elements and members with names; texts and numbers as
// text.
//
//   auto answer = parse_xml("<Error><Code>NoSuchKey</Code></Error>");
//   answer->at("Code");                                 // "NoSuchKey"
//   for (const answer_tree& item : list.all("Contents")) …
//
// XML: expat parses it, expands no entities of the document, and leaves out attributes. JSON: simdjson parses it; the
// items of a list are children without a name. A tree has at most kDepthMax levels.
// Errors: data_loss, describing the fault.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/result.hpp"

namespace sluice::lib::detail {

struct answer_tree {
  std::string name;
  std::string text;
  std::vector<answer_tree> children;

  /// Returns the first child of that name, or null.
  const answer_tree* find(std::string_view child) const;
  /// Returns that child's text, or "".
  std::string_view at(std::string_view child) const;
  /// Returns all children of that name.
  std::vector<const answer_tree*> all(std::string_view child) const;
};

/// Returns the root element. Namespace prefixes are removed.
result<answer_tree> parse_xml(std::string_view text);
result<answer_tree> parse_json(std::string_view text);
/// Parses JSON, but passes the items of lists of that name to `take` one by one, because an entry of a long listing
/// takes five times its size as a tree. Errors: also those of `take`.
result<answer_tree> parse_json(std::string_view text, std::string_view list,
                               const std::function<status(answer_tree)>& take);

}  // namespace sluice::lib::detail
