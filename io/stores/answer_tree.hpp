// SPDX-License-Identifier: Apache-2.0
// Answers of stores, XML or JSON, as one tree: elements and members with names, texts and numbers as their text.
//
//   auto answer = parse_xml("<Error><Code>NoSuchKey</Code></Error>");
//   answer->at("Code");                                 // "NoSuchKey"
//   for (const answer_tree& item : list.all("Contents")) …
//
// XML: by expat, which expands no entities of a document's own; attributes are left out. JSON: by simdjson; the items
// of a list are children without a name. Neither is more than kDepthMax deep.
// Errors: data_loss, saying what is wrong.
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

  /// The first child of that name; null: there is none.
  const answer_tree* find(std::string_view child) const;
  /// Its text; "" where there is none.
  std::string_view at(std::string_view child) const;
  /// All children of that name.
  std::vector<const answer_tree*> all(std::string_view child) const;
};

/// The root element. Prefixes of namespaces are cut off.
result<answer_tree> parse_xml(std::string_view text);
result<answer_tree> parse_json(std::string_view text);
/// The same, but for the items of lists of that name, which are given to `take` one by one: an entry of a long
/// listing takes five times the room as a tree. Errors: those of `take`, too.
result<answer_tree> parse_json(std::string_view text, std::string_view list,
                               const std::function<status(answer_tree)>& take);

}  // namespace sluice::lib::detail
