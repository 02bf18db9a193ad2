// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/parse_example.hpp"

#include "engine/open_context.hpp"
#include "engine/types.hpp"
#include "op/open_mapped.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/engine/functions.hpp"
#include "sluice/format/example_layout.hpp"

namespace sluice::lib {
namespace {

/// Parses a block of records into structures of any layout.
struct example_function final : block_function {
  example_schema schema;

  example_function(const element_type* from, const element_type* to, example_schema s) : schema(std::move(s)) {
    in = from;
    out = to;
  }
  applied apply(const block& records, void* to, const element_place&) const override {
    auto* room = static_cast<char*>(to);
    out->construct(*out, room, records.size(), out->size);
    for (std::uint32_t i = 0; i != records.size(); ++i) {
      const char* r = records.at(i);
      status why = schema.parse(in->text(r), room + i * out->size, owner_of(r));
      if (why.ok()) continue;
      out->destroy(*out, room + i * out->size, records.size() - i);
      return {i, std::move(why)};
    }
    return {records.size(), {}};
  }

 private:
  /// Members that are slices share the buffer of a record.
  buffer* owner_of(const char* r) const {
    bool is_slice = in == &type_of<record>() || in == &type_of<line>();
    return is_slice ? reinterpret_cast<const slice*>(r)->owner() : nullptr;
  }
};

const element_type* parsed_type(const node& n, std::string& why) {
  if (!is_parallelism(n.as<map_options>().parallelism, why)) return nullptr;
  const element_type* in = n.inputs[0]->type;
  if (!in->text) {
    why = "expects records that hold tf.Examples, and gets " + in->name;
    return nullptr;
  }
  if (n.function) return n.function->out;
  auto layout = layout_of(n.text);
  if (layout.ok()) return layout->type;
  why = layout.why().message();
  return nullptr;
}

erased_stream open_parse_example(const node& n, open_context& context) {
  function_ptr f = n.function;
  if (!f) f = std::make_shared<example_function>(n.inputs[0]->type, n.type, layout_of(n.text)->schema);
  return open_mapped(n, context, f, n.as<map_options>());
}

}  // namespace

namespace detail {

node_ptr make_parse_example(const node_ptr& in, const map_options& o, const element_type& type,
                            const example_schema& schema) {
  node n;
  n.op = find_op("parse_example");
  n.fields = options::of(o);
  n.inputs.push_back(in);
  n.text = schema_text(schema);
  n.has_text = true;
  n.function = std::make_shared<example_function>(in->type, &type, schema);
  return make_node(std::move(n));
}

}  // namespace detail

extern const op_info parse_example_op{
    .name = "parse_example",
    .doc = "records that hold tf.Examples become structures",
    .fields = fields_of<map_options>,
    .text_name = "schema",
    .accepts = [](const stage_function& f) { return is_a<example_function>(f); },
    .type = parsed_type,
    .open = open_parse_example,
    .size = [](const node& n) { return cardinality_of(*n.inputs[0]); },
};

}  // namespace sluice::lib
