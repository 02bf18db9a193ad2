// SPDX-License-Identifier: Apache-2.0
#include "io/stores/answer_tree.hpp"

#include <expat.h>
#include <simdjson.h>

#include <memory>

#include "io/http/text.hpp"

namespace sluice::lib::detail {
namespace {

constexpr std::size_t kDepthMax = 32;

/// What expat's calls make.
struct xml_builder {
  answer_tree root;
  std::vector<answer_tree*> open;  ///< the root first
  XML_Parser parser = nullptr;
  const char* refused = nullptr;

  void stop(const char* why) {
    refused = why;
    XML_StopParser(parser, XML_FALSE);
  }
  static void on_start(void* user, const char* name, const char**) {
    auto& me = *static_cast<xml_builder*>(user);
    if (me.open.size() == kDepthMax) return me.stop("it is too deep");
    std::string_view plain = name;
    if (const std::size_t colon = plain.rfind(':'); colon != std::string_view::npos) plain.remove_prefix(colon + 1);
    answer_tree* made = &me.root;
    // The children of an element do not move while one of them is open: only the last one grows.
    if (!me.open.empty()) made = &me.open.back()->children.emplace_back();
    made->name = std::string(plain);
    me.open.push_back(made);
  }
  static void on_end(void* user, const char*) { static_cast<xml_builder*>(user)->open.pop_back(); }
  static void on_text(void* user, const char* at, int n) {
    auto& me = *static_cast<xml_builder*>(user);
    if (!me.open.empty()) me.open.back()->text.append(at, static_cast<std::size_t>(n));
  }
  static void on_doctype(void* user, const char*, const char*, const char*, int) {
    static_cast<xml_builder*>(user)->stop("it has a DOCTYPE");
  }
};

struct parser_deleter {
  void operator()(XML_Parser p) const noexcept { XML_ParserFree(p); }
};
using parser_ptr = std::unique_ptr<std::remove_pointer_t<XML_Parser>, parser_deleter>;

/// Returns false where it is too deep.
bool copy_json(simdjson::dom::element from, answer_tree& to, std::size_t depth) {
  if (depth == kDepthMax) return false;
  simdjson::dom::object members;
  simdjson::dom::array items;
  std::string_view text;
  if (from.get(members) == simdjson::SUCCESS) {
    for (auto [name, value] : members) {
      answer_tree& child = to.children.emplace_back();
      child.name = std::string(name);
      if (!copy_json(value, child, depth + 1)) return false;
    }
  } else if (from.get(items) == simdjson::SUCCESS) {
    for (simdjson::dom::element value : items)
      if (!copy_json(value, to.children.emplace_back(), depth + 1)) return false;
  } else if (from.get(text) == simdjson::SUCCESS) {
    to.text = std::string(text);
  } else if (!from.is_null()) {
    to.text = simdjson::minify(from);
  }
  return true;
}

}  // namespace

const answer_tree* answer_tree::find(std::string_view child) const {
  for (const answer_tree& c : children)
    if (c.name == child) return &c;
  return nullptr;
}

std::string_view answer_tree::at(std::string_view child) const {
  const answer_tree* found = find(child);
  return found ? std::string_view(found->text) : std::string_view();
}

std::vector<const answer_tree*> answer_tree::all(std::string_view child) const {
  std::vector<const answer_tree*> found;
  for (const answer_tree& c : children)
    if (c.name == child) found.push_back(&c);
  return found;
}

result<answer_tree> parse_xml(std::string_view text) {
  xml_builder builder;
  parser_ptr parser(XML_ParserCreate(nullptr));
  if (!parser) return status::out_of_memory();
  builder.parser = parser.get();
  XML_SetUserData(parser.get(), &builder);
  XML_SetElementHandler(parser.get(), &xml_builder::on_start, &xml_builder::on_end);
  XML_SetCharacterDataHandler(parser.get(), &xml_builder::on_text);
  XML_SetStartDoctypeDeclHandler(parser.get(), &xml_builder::on_doctype);
  const XML_Status done = XML_Parse(parser.get(), text.data(), static_cast<int>(text.size()), XML_TRUE);
  if (done == XML_STATUS_OK) return std::move(builder.root);
  const std::string why = builder.refused ? builder.refused : XML_ErrorString(XML_GetErrorCode(parser.get()));
  return data_loss_error(joined("the answer is no XML that can be read: ", why, ", line ",
                                static_cast<std::uint64_t>(XML_GetCurrentLineNumber(parser.get()))));
}

result<answer_tree> parse_json(std::string_view text) {
  simdjson::dom::parser parser;
  const simdjson::padded_string padded(text);
  simdjson::dom::element root;
  const simdjson::error_code wrong = parser.parse(padded).get(root);
  if (wrong != simdjson::SUCCESS)
    return data_loss_error(joined("the answer is no JSON that can be read: ", simdjson::error_message(wrong)));
  answer_tree tree;
  if (!copy_json(root, tree, 0)) return data_loss_error("the answer is no JSON that can be read: it is too deep");
  return tree;
}

}  // namespace sluice::lib::detail
