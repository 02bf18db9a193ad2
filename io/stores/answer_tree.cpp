// SPDX-License-Identifier: Apache-2.0
#include "io/stores/answer_tree.hpp"

#include <expat.h>
#include <simdjson.h>

#include <functional>
#include <memory>

#include "io/http/kept_exception.hpp"
#include "io/http/messages/http_text.hpp"

namespace sluice::lib::detail {
namespace {

constexpr std::size_t kDepthMax = 32;

/// The tree that expat's callbacks build.
struct xml_builder {
  answer_tree root;
  std::vector<answer_tree*> open;  ///< the root first
  XML_Parser parser = nullptr;
  const char* refused = nullptr;
  kept_exception thrown;

  void stop(const char* why) noexcept {
    refused = why;
    XML_StopParser(parser, XML_FALSE);
  }
  /// Runs a function that may run out of memory.
  template <class F> void run(F f) noexcept {
    if (!thrown.run(f)) stop("not enough memory is available for it");
  }
  void add(const char* name) {
    std::string_view plain = name;
    if (const std::size_t colon = plain.rfind(':'); colon != std::string_view::npos) plain.remove_prefix(colon + 1);
    answer_tree* made = &root;
    // The children of an element stay in place while one of them is open: only the last one grows.
    if (!open.empty()) made = &open.back()->children.emplace_back();
    made->name = std::string(plain);
    open.push_back(made);
  }
  static void on_start(void* user, const char* name, const char**) noexcept {
    auto& me = *static_cast<xml_builder*>(user);
    if (me.refused) return;  // expat ends an empty element even after it was stopped
    if (me.open.size() == kDepthMax) return me.stop("it is too deep");
    me.run([&me, name] { me.add(name); });
  }
  static void on_end(void* user, const char*) noexcept {
    auto& me = *static_cast<xml_builder*>(user);
    if (!me.refused) me.open.pop_back();
  }
  static void on_text(void* user, const char* at, int n) noexcept {
    auto& me = *static_cast<xml_builder*>(user);
    if (!me.refused && !me.open.empty())
      me.run([&me, at, n] { me.open.back()->text.append(at, static_cast<std::size_t>(n)); });
  }
  static void on_doctype(void* user, const char*, const char*, const char*, int) noexcept {
    static_cast<xml_builder*>(user)->stop("it has a DOCTYPE");
  }
};

struct parser_deleter {
  void operator()(XML_Parser p) const noexcept { XML_ParserFree(p); }
};
using parser_ptr = std::unique_ptr<std::remove_pointer_t<XML_Parser>, parser_deleter>;

status too_deep() { return data_loss_error("the answer is no JSON that can be read: it is too deep"); }

/// Receives the items of a list that is left out of the tree.
struct item_sink {
  std::string_view of;
  const std::function<status(answer_tree)>& take;
};

/// Errors: the nesting is too deep; those of the sink.
status copy_json(simdjson::dom::element from, answer_tree& to, std::size_t depth, const item_sink* sink) {
  if (depth == kDepthMax) return too_deep();
  simdjson::dom::object members;
  simdjson::dom::array items;
  std::string_view text;
  if (from.get(members) == simdjson::SUCCESS) {
    for (auto [name, value] : members) {
      answer_tree& child = to.children.emplace_back();
      child.name = std::string(name);
      status why = copy_json(value, child, depth + 1, sink);
      if (!why.ok()) return why;
    }
  } else if (from.get(items) == simdjson::SUCCESS) {
    const bool is_taken = sink && to.name == sink->of;
    for (simdjson::dom::element value : items) {
      answer_tree apart;
      status why = copy_json(value, is_taken ? apart : to.children.emplace_back(), depth + 1, sink);
      if (why.ok() && is_taken) why = sink->take(std::move(apart));
      if (!why.ok()) return why;
    }
  } else if (from.get(text) == simdjson::SUCCESS) {
    to.text = std::string(text);
  } else if (!from.is_null()) {
    to.text = simdjson::minify(from);
  }
  return {};
}

result<answer_tree> parse_with(std::string_view text, const item_sink* sink) {
  simdjson::dom::parser parser;
  const simdjson::padded_string padded(text);
  simdjson::dom::element root;
  const simdjson::error_code wrong = parser.parse(padded).get(root);
  if (wrong != simdjson::SUCCESS)
    return data_loss_error(joined("the answer is no JSON that can be read: ", simdjson::error_message(wrong)));
  answer_tree tree;
  status why = copy_json(root, tree, 0, sink);
  if (!why.ok()) return why;
  return tree;
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
  builder.thrown.rethrow();
  if (done == XML_STATUS_OK) return std::move(builder.root);
  const std::string why = builder.refused ? builder.refused : XML_ErrorString(XML_GetErrorCode(parser.get()));
  return data_loss_error(joined("the answer is no XML that can be read: ", why, ", line ",
                                static_cast<std::uint64_t>(XML_GetCurrentLineNumber(parser.get()))));
}

result<answer_tree> parse_json(std::string_view text) { return parse_with(text, nullptr); }

result<answer_tree> parse_json(std::string_view text, std::string_view list,
                               const std::function<status(answer_tree)>& take) {
  const item_sink sink{list, take};
  return parse_with(text, &sink);
}

}  // namespace sluice::lib::detail
