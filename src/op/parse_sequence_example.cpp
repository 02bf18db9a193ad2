// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/parse_sequence_example.hpp"

#include <absl/strings/str_cat.h>

#include <memory>
#include <string_view>

#include "engine/files/parser_pool.hpp"
#include "engine/lowering/mapped_stage.hpp"
#include "engine/lowering/types.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/engine/detail/functions.hpp"
#include "sluice/format/example_layout.hpp"
#include "sluice/format/sequence_layout.hpp"
#include "sluice/format/sequence_parser.hpp"

namespace sluice::lib {
namespace {

/// The structure that records become, and the sources of its two members.
struct sequence_example_layout {
  const element_type* type = nullptr;
  std::size_t context_at = 0, sequence_at = 0;
  std::shared_ptr<const example_schema> context{};
  std::shared_ptr<const sequence_schema> sequence{};
};

result<example_layout> context_layout_of(const std::string& text) {
  if (!text.empty()) return layout_of(text);
  return example_layout{struct_of("example", {}), example_schema({})};
}

status in_argument(std::string_view name, const status& why) {
  return why.with_message(absl::StrCat(std::string(name), ": ", std::string(why.message())));
}

/// `both`: a structure of two members.
sequence_example_layout made_of(const element_type* both, std::shared_ptr<const example_schema> context,
                                std::shared_ptr<const sequence_schema> sequence) {
  return {both, both->members[0].offset, both->members[1].offset, std::move(context), std::move(sequence)};
}

result<sequence_example_layout> layout_of(const parse_sequence_example_options& o) {
  if (o.sequence.type) return made_of(o.sequence.type, o.context.schema, o.sequence.schema);
  auto context = context_layout_of(o.context.text);
  if (!context.ok()) return in_argument("context", context.why());
  auto sequence = sequence_layout_of(o.sequence.text);
  if (!sequence.ok()) return in_argument("sequence", sequence.why());
  const element_type* both =
      struct_of("sequence_example", {{"context", 0, context->type}, {"sequence", 0, sequence->type}});
  return made_of(both, std::make_shared<const example_schema>(std::move(context->schema)),
                 std::make_shared<const sequence_schema>(std::move(sequence->schema)));
}

/// Parses a block of records into structures of any layout.
struct sequence_example_function final : block_function {
  sequence_example_function(const element_type* from, sequence_example_layout made)
      : layout_(std::move(made)),
        parsers_([&layout = layout_] { return std::make_unique<sequence_parser>(*layout.context, *layout.sequence); }) {
    in = from;
    out = layout_.type;
  }
  applied apply(const block& records, void* to, const element_place&) const override {
    auto* room = static_cast<char*>(to);
    out->construct(*out, room, records.size(), out->size);
    const parser_pool<sequence_parser>::lease parser(parsers_);
    for (std::uint32_t i = 0; i != records.size(); ++i) {
      const char* r = records.at(i);
      char* made = room + i * out->size;
      status why;
      try {
        why = parser->parse(in->text(r), made + layout_.context_at, made + layout_.sequence_at, owner_of(*in, r));
      } catch (...) {
        out->destroy(*out, room, records.size());
        throw;
      }
      if (why.ok()) continue;
      out->destroy(*out, made, records.size() - i);
      return {i, std::move(why)};
    }
    return {records.size(), {}};
  }

 private:
  /// Returns the buffer of a record, if members are slices that share it.
  static buffer* owner_of(const element_type& type, const char* r) {
    bool is_slice = &type == &type_of<record>() || &type == &type_of<line>();
    return is_slice ? reinterpret_cast<const slice*>(r)->owner() : nullptr;
  }
  const sequence_example_layout layout_;
  mutable parser_pool<sequence_parser> parsers_;
};

const element_type* sequence_example_type(const node& n, std::string& why) {
  const element_type* in = n.inputs[0]->type;
  if (!in->text) {
    why = "expects records that hold tf.SequenceExamples, and gets " + in->name + "; tfrecord(\"FILE\") reads records";
    return nullptr;
  }
  const parse_sequence_example_options& o = n.as<parse_sequence_example_arguments>().options;
  if (o.context.text.empty() && o.sequence.text.empty()) {
    why = "needs a context or a sequence, such as sequence=\"label: int64\"";
    return nullptr;
  }
  auto layout = layout_of(o);
  if (layout.ok()) return layout->type;
  why = layout.why().message();
  return nullptr;
}

erased_stream open_parse_sequence_example(const node& n, open_context& context) {
  const parse_sequence_example_options& o = n.as<parse_sequence_example_arguments>().options;
  auto f = std::make_shared<sequence_example_function>(n.inputs[0]->type, *layout_of(o));
  return open_mapped(n, context, f, o.parallelism, o.order);
}

/// Prints and reads the schema as text. Structure types of the program distinguish those with equal schemas. A part
/// without features was left out.
template <class Arg> class part_codec final : public codec {
 public:
  explicit part_codec(std::string_view example) : example_(example) {}
  void print(const void* p, printer& to) const override { to.text(get(p).text); }
  void read(void* p, const argument& a, reading& r) const override {
    if (!is_text_argument(a)) r.expected(a, absl::StrCat("a text in quotes, such as \"", std::string(example_), "\""));
    *static_cast<Arg*>(p) = Arg(text_of(a));
  }
  bool equal(const void* a, const void* b) const override {
    return get(a).text == get(b).text && (get(a).text.empty() || get(a).type == get(b).type);
  }
  bool takes_text() const override { return true; }
  std::string type_name() const override { return "schema"; }

 private:
  static const Arg& get(const void* p) { return *static_cast<const Arg*>(p); }
  const std::string_view example_;
};

}  // namespace

context_schema_arg::context_schema_arg(const element_type& whole, const example_schema& s)
    : text(schema_text(s)), type(&whole), schema(std::make_shared<const example_schema>(s)) {}

sequence_schema_arg::sequence_schema_arg(const element_type& whole, sequence_schema s)
    : text(sequence_text(s)), type(&whole), schema(std::make_shared<const sequence_schema>(std::move(s))) {}

template <> const codec& codec_of<context_schema_arg>() {
  static const part_codec<context_schema_arg> c("id: int64");
  return c;
}
template <> const codec& codec_of<sequence_schema_arg>() {
  static const part_codec<sequence_schema_arg> c("label: int64");
  return c;
}

const op_info parse_sequence_example_op{
    .name = "parse_sequence_example",
    .doc = "records that hold tf.SequenceExamples become structures",
    .arguments = arguments_of<parse_sequence_example_arguments>,
    .type = sequence_example_type,
    .facts = {.always = {.outputs = output_count::one_per_input,
                         .keeps_order = true,
                         .uses_place = false,
                         .has_record = false},
              .refine = [](const node& n,
                           stage_facts& f) { note_order(f, n.as<parse_sequence_example_arguments>().options.order); },
              .size = [](const node& n) { return cardinality_of(*n.inputs[0]); },
              .seeks =
                  [](const node& n) {
                    return n.as<parse_sequence_example_arguments>().options.order == order::deterministic;
                  }},
    .splits = {.rule = split_rule::each_element},
    .lowering = {.open = open_parse_sequence_example},
};

}  // namespace sluice::lib
