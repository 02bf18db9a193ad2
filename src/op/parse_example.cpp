// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/parse_example.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "element/member_finder.hpp"
#include "element/spec_parts.hpp"
#include "element/tensors/padding.hpp"
#include "engine/files/chosen_columns.hpp"
#include "engine/files/parser_pool.hpp"
#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/mapped_stage.hpp"
#include "engine/lowering/types.hpp"
#include "format/example/packed_reader.hpp"
#include "format/example/packed_rows.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/element/batched.hpp"
#include "sluice/element/slab.hpp"
#include "sluice/engine/detail/functions.hpp"
#include "sluice/format/example_layout.hpp"
#include "sluice/format/example_parser.hpp"

namespace sluice::lib {
namespace {

class parsers : public parser_pool<example_parser> {
 public:
  explicit parsers(example_schema s)
      : parser_pool([schema = std::make_shared<const example_schema>(std::move(s))] {
          return std::make_unique<example_parser>(*schema);
        }) {}
};

bool is_slice(const element_type& t) { return &t == &type_of<record>() || &t == &type_of<line>(); }

/// Returns the buffer of a record, if members are slices that share it.
buffer* owner_of(const element_type& in, const char* r) {
  return is_slice(in) ? reinterpret_cast<const slice*>(r)->owner() : nullptr;
}

/// Writes n structures at `to` by write(text, at, owner) → status.
template <class F> applied write_structures(const block_function& f, const block& records, void* to, F write) {
  auto* room = static_cast<char*>(to);
  f.out->construct(*f.out, room, records.size(), f.out->size);
  for (std::uint32_t i = 0; i != records.size(); ++i) {
    const char* r = records.at(i);
    char* at = room + i * f.out->size;
    status why = write(f.in->text(r), at, owner_of(*f.in, r));
    if (why.ok()) continue;
    f.out->destroy(*f.out, at, records.size() - i);
    return {i, std::move(why)};
  }
  return {records.size(), {}};
}

/// Parses a block of records into structures of any layout.
struct example_function final : block_function {
  example_function(const element_type* from, const element_type* to, example_schema s) : parsers_(std::move(s)) {
    in = from;
    out = to;
    appends_rows = true;
  }
  applied append_rows(const block& records, column& rows, const element_place&) const override {
    const parsers::lease parser(parsers_);
    for (std::uint32_t i = 0; i != records.size(); ++i) {
      status why = parser->append_to(rows, in->text(records.at(i)));
      if (!why.ok()) return {i, std::move(why)};
    }
    return {records.size(), {}};
  }
  applied apply(const block& records, void* to, const element_place&) const override {
    const parsers::lease parser(parsers_);
    return write_structures(*this, records, to, [&](std::string_view text, char* at, buffer* owner) {
      return parser->parse(text, at, owner);
    });
  }

 private:
  mutable parsers parsers_;
};

/// Unpacks a block of packed rows into structures of any layout.
struct unpacking_function final : block_function {
  unpacking_function(const element_type* from, const element_type* to, example_schema s)
      : schema_(std::move(s)), reader_(schema_) {
    in = from;
    out = to;
    appends_rows = true;
  }
  applied append_rows(const block& packed, column& rows, const element_place&) const override {
    constexpr std::uint32_t kAtOnce = 256;
    std::string_view texts[kAtOnce];
    for (std::uint32_t done = 0; done != packed.size();) {
      const std::uint32_t n = std::min(kAtOnce, packed.size() - done);
      in->texts(packed.at(done), n, in->size, texts);
      packed_reader::built b = reader_.append_to(rows, {texts, n});
      done += static_cast<std::uint32_t>(b.rows);
      if (!b.why.ok()) return {done, std::move(b.why)};
    }
    return {packed.size(), {}};
  }
  applied apply(const block& packed, void* to, const element_place&) const override {
    return write_structures(*this, packed, to, [&](std::string_view text, char* at, buffer* owner) {
      return reader_.unpack(text, at, owner);
    });
  }

 private:
  const example_schema schema_;
  const packed_reader reader_;
};

/// Checks a block of records, and packs their members.
struct packing_function final : size_keeping_function {
  packing_function(const element_type* text, example_schema s) : layout_(s), parsers_(std::move(s)) { in = out = text; }
  applied apply(const block& records, void* to, const element_place&) const override {
    const parsers::lease parser(parsers_);
    packed_rows rows(layout_);
    texts_at at{out, static_cast<char*>(to)};
    status why;
    for (std::uint32_t i = 0; i != records.size() && why.ok(); ++i) {
      const std::string_view text = in->text(records.at(i));
      if (rows.rows() == 0) rows.reserve(std::min(text.size() * (records.size() - i), kTogetherBytes));
      why = parser->pack(text, rows);
      if (rows.bytes() >= kTogetherBytes) at.make(rows);
    }
    at.make(rows);
    return {at.made, std::move(why)};
  }

 private:
  /// Rows are packed into one buffer up to this number of bytes.
  static constexpr std::size_t kTogetherBytes = std::size_t{64} << 10;
  /// A longer row has a buffer of its own.
  static constexpr std::size_t kSharingRowBytesMax = std::size_t{2} << 10;

  /// The place of the next texts.
  struct texts_at {
    const element_type* type;
    char* to;
    std::uint32_t made = 0;

    /// Makes the texts of all rows, and begins new rows. Slices share the buffer of the rows, as records share that of
    /// their file, unless it is much larger than the rows.
    void make(packed_rows& rows) {
      const std::size_t n = rows.rows();
      const bool shares =
          n > 1 && rows.bytes() <= n * kSharingRowBytesMax && rows.owner()->capacity() / 4 <= rows.bytes();
      if (shares) {
        type->make_texts(to + made * type->size, n, type->size, rows.owner(), rows.owner()->data(), rows.offsets());
        made += static_cast<std::uint32_t>(n);
        return rows.leave();
      }
      for (std::size_t i = 0; i != n; ++i, ++made) make_one(rows.row(i), to + made * type->size);
      rows.clear();
    }
    void make_one(std::string_view packed, char* at) const {
      if (is_slice(*type)) return void(::new (static_cast<void*>(at)) slice(slice::copy_of(packed)));
      const std::int32_t offsets[] = {0, static_cast<std::int32_t>(packed.size())};
      const slice bytes = slice::copy_of(packed);
      type->make_texts(at, 1, type->size, bytes.owner(), bytes.data(), offsets);
    }
  };
  const packed_layout layout_;
  mutable parsers parsers_;
};

/// Parses batches of records. Each becomes a batch of structures with the same number of rows.
struct batch_example_function final : block_function {
  batch_example_function(const element_type* from, const element_type* to, const example_schema& s)
      : padded_(padded_tensors(*to->element, s)), parsers_(s) {
    in = from;
    out = to;
  }
  applied apply(const block& batches, void* to, const element_place&) const override {
    const parsers::lease parser(parsers_);
    auto* made = static_cast<batch_storage*>(to);
    for (std::uint32_t i = 0; i != batches.size(); ++i) {
      auto* b = ::new (static_cast<void*>(made + i)) batch_storage;
      status why = parse(*reinterpret_cast<const batch_storage*>(batches.at(i)), parser, *b);
      if (why.ok()) continue;
      b->~batch_storage();
      return {i, std::move(why)};
    }
    return {batches.size(), {}};
  }

 private:
  status parse(const batch_storage& records, const parsers::lease& parser, batch_storage& to) const {
    if (records.empty()) return {};
    if (!padded_.empty()) return parse_padded(records, parser, to);
    const column& texts = records.rows_column();
    const std::size_t first = texts.gone_in_front();
    column& rows = to.make_rows(*out->element);
    rows.reserve(texts.rows() - first);
    for (std::size_t row = first; row != texts.rows(); ++row) {
      status why = parser->append_to(rows, texts.text(row));
      if (!why.ok()) return in_row(std::move(why), row - first);
    }
    return {};
  }
  /// Tensors whose number of values differs get the length of the longest, as in TensorFlow.
  status parse_padded(const batch_storage& records, const parsers::lease& parser, batch_storage& to) const {
    const element_type& row = *out->element;
    const column& texts = records.rows_column();
    const std::size_t first = texts.gone_in_front(), n = texts.rows() - first;
    slab rows(row);
    char* room = rows.reserve(n);
    row.construct(row, room, n, row.size);
    rows.set_live(0, n);
    for (std::size_t i = 0; i != n; ++i) {
      status why = parser->parse(texts.text(first + i), room + i * row.size);
      if (!why.ok()) return in_row(std::move(why), i);
    }
    std::size_t which = 0;
    status why = pad_tensors(padded_, room, row.size, n, which);
    if (!why.ok()) return in_row(std::move(why), which);
    to.append(row, room, n);  // destroys them
    rows.set_live(0, 0);
    return {};
  }
  static std::vector<padded_member> padded_tensors(const element_type& row, const example_schema& schema) {
    std::vector<padded_member> all = padded_members(row);
    std::erase_if(all, [&](const padded_member& m) {
      return std::ranges::none_of(schema.slots(), [&](const feature_slot& slot) {
        return slot.form == field_form::tensor && slot.member_name() == m.path && !slot.shape.empty() &&
               slot.shape[0] == feature_slot::kUnknown;
      });
    });
    return all;
  }
  static status in_row(status why, std::size_t row) {
    return why.with_message(absl::StrCat("row ", row, " of the batch: ", std::string(why.message())));
  }
  std::vector<padded_member> padded_;  ///< tensors of which a length follows from the number of values
  mutable parsers parsers_;
};

example_schema schema_of(const example_schema_arg& a) { return a.schema ? *a.schema : layout_of(a.value)->schema; }

/// Returns the type of the structures of a schema; null if the schema is invalid, with the reason in `why`.
const element_type* structure_of(const example_schema_arg& schema, std::string& why) {
  if (schema.type) return schema.type;
  auto layout = layout_of(schema.value);
  if (layout.ok()) return layout->type;
  why = layout.why().message();
  return nullptr;
}

bool is_batch_of_texts(const element_type& t) { return t.kind == kind::batch && t.element->text; }

const element_type* packed_example_type(const node& n, std::string& why) {
  const element_type* in = n.inputs[0]->type;
  const auto& a = n.as<parse_example_arguments>();
  const element_type* row = structure_of(a.schema, why);
  if (!row) return nullptr;
  if (!a.built.columns.list.empty()) return why = "packing needs all columns, and columns names some", nullptr;
  const example_schema schema = schema_of(a.schema);
  if (schema.has_parts()) return why = "sparse and ragged tensors are not packed", nullptr;
  if (in->text && in->make_texts) return a.packing == example_packing::pack ? in : row;
  why = (a.packing == example_packing::pack ? "with packing=pack it expects records that hold tf.Examples, and gets "
                                            : "with packing=unpack it expects packed rows, and gets ") +
        in->name;
  return nullptr;
}

const element_type* parsed_type(const node& n, std::string& why) {
  const element_type* in = n.inputs[0]->type;
  if (n.as<parse_example_arguments>().packing != example_packing::none) return packed_example_type(n, why);
  if (!in->text && !is_batch_of_texts(*in)) {
    why = "expects records that hold tf.Examples, or batches of them, and gets " + in->name +
          "; tfrecord(\"FILE\") reads records";
    return nullptr;
  }
  const auto& a = n.as<parse_example_arguments>();
  const element_type* row = structure_of(a.schema, why);
  if (row) row = chosen_members(*row, a.built, why);
  return row && !in->text ? batched_of(row) : row;
}

/// Returns the schema for structures `row`. The features of other members are checked only, or left out.
example_schema schema_for(const element_type& row, const parse_example_arguments& a) {
  example_schema all = schema_of(a.schema);
  if (a.built.columns.list.empty()) return all;
  std::vector<feature_slot> slots;
  std::size_t k = 0;
  for (std::size_t i = 0; i != all.members(); ++i) {
    feature_slot slot = all.slots()[i];
    slot.is_built = k != row.members.size() && row.members[k].name == slot.member_name();
    if (slot.is_built) slot.offset = row.members[k++].offset;
    if (slot.is_built || !a.built.trust.is_on()) slots.push_back(std::move(slot));
  }
  return example_schema(std::move(slots));
}

/// Returns true if building the member may fail where its feature is valid.
bool is_checked_by_building(const feature_slot& slot, bool is_batch) {
  const bool is_padded = !slot.shape.empty() && slot.shape[0] == feature_slot::kUnknown;
  return !slot.parts.empty() || (is_batch && slot.form == field_form::tensor && is_padded);
}

arguments example_for_columns(const node& n, const std::vector<std::string>& names, bool trust, std::string& why) {
  parse_example_arguments a = n.as<parse_example_arguments>();
  if (a.packing != example_packing::none) return why = "packed rows have all members", n.arguments;
  std::vector<std::string> built = names;
  const example_schema all = schema_of(a.schema);
  for (std::size_t i = 0; !trust && i != all.members(); ++i)
    if (is_checked_by_building(all.slots()[i], n.type->kind == kind::batch))
      built.push_back(all.slots()[i].member_name());
  return narrow_choice(a.built, n, built, trust, why) ? arguments::of(std::move(a)) : n.arguments;
}

std::string dtype_of_feature(feature_kind kind) {
  return kind == feature_kind::bytes ? "string" : kind == feature_kind::floats ? "float32" : "int64";
}

/// Returns the spec of one structure. The schema describes its tensors more exactly than their type.
spec parsed_row_spec(const element_type& row, const example_schema& schema) {
  spec s = spec_of(row);
  member_finder members(row);
  for (std::size_t i = 0; i != schema.members(); ++i) {
    const feature_slot& slot = schema.slots()[i];
    if (!slot.is_built) continue;
    const std::size_t at = members.find(slot.member_name());
    if (at == s.parts.size()) continue;
    spec& part = s.parts[at];
    if (slot.form == field_form::tensor) {
      part = {.dtype = dtype_of_feature(slot.kind), .shape = slot.shape};
    } else if (slot.form == field_form::sparse) {
      part = spec_of_sparse(dtype_of_feature(slot.kind), slot.shape.size());
    } else if (slot.form == field_form::ragged) {
      part.parts[0] = {.dtype = dtype_of_feature(slot.kind), .shape = {spec::kUnknown}};
      part.parts[1].shape = {static_cast<std::int64_t>(slot.parts.size()), spec::kUnknown};
    }
  }
  return s;
}

spec parsed_spec(const node& n) {
  const auto& a = n.as<parse_example_arguments>();
  if (a.packing == example_packing::pack) return same_spec(n);
  const element_type& row = n.type->kind == kind::batch ? *n.type->element : *n.type;
  const example_schema schema = schema_for(row, a);
  if (n.inputs[0]->type->text) return parsed_row_spec(*n.type, schema);
  const spec batches = same_spec(n);
  return spec_of_batch(parsed_row_spec(*n.type->element, schema),
                       batches.any_shape ? spec::kUnknown : batches.shape.at(0));
}

/// The function for elements that are texts. REQUIRES: it makes structures.
function_ptr structures_of_texts(const node& n) {
  auto& a = n.as<parse_example_arguments>();
  const element_type* in = n.inputs[0]->type;
  if (a.packing == example_packing::unpack)
    return std::make_shared<unpacking_function>(in, n.type, schema_for(*n.type, a));
  return std::make_shared<example_function>(in, n.type, schema_for(*n.type, a));
}

erased_stream open_parse_example(const node& n, open_context& context) {
  auto& a = n.as<parse_example_arguments>();
  const element_type* in = n.inputs[0]->type;
  function_ptr f;
  if (a.packing == example_packing::pack) f = std::make_shared<packing_function>(in, schema_of(a.schema));
  else if (in->text) f = structures_of_texts(n);
  else f = std::make_shared<batch_example_function>(in, n.type, schema_for(*n.type->element, a));
  return open_mapped(n, context, f, a.options);
}

erased_stream open_example_rows(const node& n, open_context& context, const std::shared_ptr<row_landing>& landing) {
  auto& a = n.as<parse_example_arguments>();
  if (!n.inputs[0]->type->text || a.packing == example_packing::pack) return {};
  return open_mapped_rows(n, context, structures_of_texts(n), a.options, landing);
}

/// Prints and reads the schema as text. Structure types of the program distinguish those with equal schemas.
class schema_codec final : public codec {
 public:
  void print(const void* p, printer& to) const override { to.text(get(p).value); }
  void read(void* p, const argument& a, reading& r) const override {
    if (!is_text_argument(a)) r.expected(a, "a text in quotes, such as \"label: int64\"");
    *static_cast<example_schema_arg*>(p) = example_schema_arg(text_of(a));
  }
  bool is_missing(const void* p) const override { return !get(p).is_given; }
  bool equal(const void* a, const void* b) const override {
    return get(a).is_given == get(b).is_given && get(a).value == get(b).value && get(a).type == get(b).type;
  }
  bool takes_text() const override { return true; }
  std::string type_name() const override { return "schema"; }
  std::string wanted(std::string_view name) const override { return "a " + std::string(name); }
  std::string placeholder(std::string_view name) const override { return "\"" + std::string(name) + "\""; }

 private:
  static const example_schema_arg& get(const void* p) { return *static_cast<const example_schema_arg*>(p); }
};

/// Fingerprints omit `none`, so that those of plans without packing stay valid.
class packing_codec final : public codec {
 public:
  void print(const void* p, printer& to) const override { names().print(p, to); }
  void read(void* p, const argument& a, reading& r) const override { names().read(p, a, r); }
  std::string check(const void* p) const override { return names().check(p); }
  bool equal(const void* a, const void* b) const override { return names().equal(a, b); }
  bool is_meant_when_given() const override { return true; }
  std::string type_name() const override { return names().type_name(); }

 private:
  static const codec& names() { return detail::codec_of_enum<example_packing>(); }
};

}  // namespace

template <> const codec& codec_of<example_packing>() {
  static const packing_codec c;
  return c;
}

example_schema_arg::example_schema_arg(const element_type& t, example_schema s)
    : required_text(schema_text(s)), type(&t), schema(std::make_shared<const example_schema>(std::move(s))) {}

shared_ref<const example_schema> detail::of_text(const element_type& type, const example_schema& own,
                                                 std::string_view schema) {
  auto made = schema_of(type, own, schema);
  if (!made.ok()) throw error(made.why().with_message("parse_example: " + std::string(made.why().message())));
  return std::make_shared<const example_schema>(std::move(*made));
}

template <> const codec& codec_of<example_schema_arg>() {
  static const schema_codec c;
  return c;
}

const op_info parse_example_op{
    .name = "parse_example",
    .doc = "records that hold tf.Examples become structures",
    .arguments = arguments_of<parse_example_arguments>,
    .for_columns = example_for_columns,
    .type = parsed_type,
    .spec = parsed_spec,
    .facts = {
        .always =
            {.outputs = output_count::one_per_input, .keeps_order = true, .uses_place = false, .has_record = false},
        .refine = [](const node& n, stage_facts& f) { note_order(f, n.as<parse_example_arguments>().options.order); },
        .size = [](const node& n) { return cardinality_of(*n.inputs[0]); },
        .seeks = [](const node& n) { return n.as<parse_example_arguments>().options.order == order::deterministic; }},
    .splits = {.rule = split_rule::each_element},
    .lowering = {.open = open_parse_example, .open_rows = open_example_rows},
};

}  // namespace sluice::lib
