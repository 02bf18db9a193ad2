// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstring>
#include <memory>
#include <vector>

#include "arrow/formats.hpp"
#include "element/temporal.hpp"
#include "sluice/base/utf8.hpp"
#include "sluice/element/tensor.hpp"

namespace sluice::lib {

namespace arrow {
namespace {

// --- Types ---

/// The data that an exported schema owns. Children are released with it unless the consumer has moved them out.
struct kept_schema {
  std::string format;
  std::string name;
  std::string metadata;
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema*> pointers;

  kept_schema() = default;
  kept_schema(const kept_schema&) = delete;
  kept_schema& operator=(const kept_schema&) = delete;
  ~kept_schema() {
    for (ArrowSchema& c : children)
      if (c.release) c.release(&c);
  }
};

void release_schema(ArrowSchema* s) {
  delete static_cast<kept_schema*>(s->private_data);
  s->release = nullptr;
  s->private_data = nullptr;
}

void make_schema(std::unique_ptr<kept_schema> kept, std::string format, std::string_view name, bool nullable,
                 ArrowSchema* out) {
  kept->format = std::move(format);
  kept->name = name;
  for (ArrowSchema& c : kept->children) kept->pointers.push_back(&c);
  *out = ArrowSchema{};
  out->format = kept->format.c_str();
  out->name = kept->name.c_str();
  out->metadata = kept->metadata.empty() ? nullptr : kept->metadata.data();
  out->flags = nullable ? ARROW_FLAG_NULLABLE : 0;
  out->n_children = static_cast<std::int64_t>(kept->children.size());
  out->children = kept->pointers.empty() ? nullptr : kept->pointers.data();
  out->release = release_schema;
  out->private_data = kept.release();
}

/// Returns the format of a dtype; null if Arrow has none.
const char* format_of(dtype d) {
  static constexpr const char* formats[kDtypes] = {"b", "c", "s", "i",     "l", "C", "S",
                                                   "I", "L", "e", nullptr, "f", "g", nullptr};
  return formats[static_cast<std::size_t>(d)];
}

/// Encodes pairs of texts in the layout of the C data interface.
std::string metadata_of(std::initializer_list<std::pair<std::string_view, std::string_view>> pairs) {
  std::string out;
  auto put = [&](std::size_t n) {
    const auto size = static_cast<std::int32_t>(n);
    out.append(reinterpret_cast<const char*>(&size), sizeof size);
  };
  put(pairs.size());
  for (auto& [key, value] : pairs) {
    put(key.size());
    out += key;
    put(value.size());
    out += value;
  }
  return out;
}

const column* child_of(const column* c, std::size_t k) { return c ? &c->child(k) : nullptr; }

/// The shapes of tensors are stored with their rows.
status check_tensors(const column* c, const place& where) {
  const tensor_spec* spec = c ? c->row_spec() : nullptr;
  if (!spec)
    return invalid_argument_error(
        at(where, "the shape of tensors is known with the first row only: export a schema with its batch"));
  if (format_of(spec->dtype) && spec->elements() <= 0x7fffffff) return {};
  return invalid_argument_error(at(where, "Arrow has no tensors of " + spec->text()));
}

/// Returns ok if Arrow can represent the type, or an error with the reason. `c`: a column of this type with rows; or
/// null.
status check_form(const element_type& t, const column* c, const place& where) {
  if (!can_stack(t)) return invalid_argument_error(at(where, t.name + " cannot be a column"));
  switch (form_of(t)) {
    case column_form::tensors: return check_tensors(c, where);
    case column_form::objects:
      return invalid_argument_error(
          at(where, "Arrow has no form for " + t.name + ": map it to numbers, texts, lists or structures"));
    case column_form::maybe:
      if (form_of(*t.element) == column_form::maybe)
        return invalid_argument_error(at(where, "Arrow has no form for an optional of an optional (" + t.name + ")"));
      return check_form(*t.element, child_of(c, 0), where);
    case column_form::lists:
    case column_form::fixed: return check_form(*t.element, child_of(c, 0), {&where, "[]"});
    case column_form::members:
      for (std::size_t k = 0; k != t.members.size(); ++k)
        if (status s = check_form(*t.members[k].type, child_of(c, k), {&where, t.members[k].name}); !s.ok()) return s;
      return {};
    case column_form::values:
      if (!number_format(t)) return invalid_argument_error(at(where, "Arrow has no number as " + t.name));
      return {};
    default: return {};
  }
}

/// The extension type of pyarrow: a fixed-size list with the numbers of all dimensions, and the shape as metadata.
void describe_tensors(const tensor_spec& spec, std::string_view name, bool nullable, ArrowSchema* out) {
  auto kept = std::make_unique<kept_schema>();
  std::string shape;
  for (std::int64_t d : spec.shape.dims()) shape += (shape.empty() ? "" : ",") + std::to_string(d);
  kept->metadata = metadata_of({{"ARROW:extension:name", "arrow.fixed_shape_tensor"},
                                {"ARROW:extension:metadata", "{\"shape\":[" + shape + "]}"}});
  kept->children.resize(1);
  make_schema(std::make_unique<kept_schema>(), format_of(spec.dtype), "item", false, kept->children.data());
  make_schema(std::move(kept), "+w:" + std::to_string(spec.elements()), name, nullable, out);
}

/// `c`: as in check_form, which the caller has called before.
void describe(const element_type& t, const column* c, std::string_view name, bool nullable, const arrow_options& o,
              ArrowSchema* out) {
  auto kept = std::make_unique<kept_schema>();
  switch (form_of(t)) {
    case column_form::tensors: return describe_tensors(*c->row_spec(), name, nullable, out);
    case column_form::maybe: return describe(*t.element, child_of(c, 0), name, true, o, out);
    case column_form::values: return make_schema(std::move(kept), scalar_format(t), name, nullable, out);
    case column_form::texts: return make_schema(std::move(kept), becomes_utf8(t, o) ? "u" : "z", name, nullable, out);
    case column_form::lists:
    case column_form::fixed:
      kept->children.resize(1);
      describe(*t.element, child_of(c, 0), "item", false, o, kept->children.data());
      return make_schema(std::move(kept),
                         form_of(t) == column_form::lists ? std::string("+l") : "+w:" + std::to_string(t.extent), name,
                         nullable, out);
    default:
      kept->children.resize(t.members.size());
      for (std::size_t k = 0; k != t.members.size(); ++k)
        describe(*t.members[k].type, child_of(c, k), t.members[k].name, false, o, &kept->children[k]);
      return make_schema(std::move(kept), "+s", name, nullable, out);
  }
}

// --- Arrays ---

/// The address for buffers without bytes: consumers differ in whether they accept null.
alignas(64) constexpr char kNothing[64] = {};

/// References to the buffers: for validity, for numbers or offsets, and for bytes.
struct kept_array {
  buffer_ref held[3];
  const void* buffers[3] = {};
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> pointers;

  kept_array() = default;
  kept_array(const kept_array&) = delete;
  kept_array& operator=(const kept_array&) = delete;
  ~kept_array() {
    for (ArrowArray& c : children)
      if (c.release) c.release(&c);
  }
  void hold(std::size_t i, buffer* b) {
    if (b) b->add_references(1);
    held[i] = buffer_ref(b);
  }
};

void release_array(ArrowArray* a) {
  delete static_cast<kept_array*>(a->private_data);
  a->release = nullptr;
  a->private_data = nullptr;
}

void make_array(std::unique_ptr<kept_array> kept, std::size_t length, std::size_t nulls, std::size_t offset,
                std::int64_t buffers, ArrowArray* out) {
  for (ArrowArray& c : kept->children) kept->pointers.push_back(&c);
  *out = ArrowArray{};
  out->length = static_cast<std::int64_t>(length);
  out->null_count = static_cast<std::int64_t>(nulls);
  out->offset = static_cast<std::int64_t>(offset);
  out->n_buffers = buffers;
  out->buffers = kept->buffers;
  out->n_children = static_cast<std::int64_t>(kept->children.size());
  out->children = kept->pointers.empty() ? nullptr : kept->pointers.data();
  out->release = release_array;
  out->private_data = kept.release();
}

buffer_ref packed(const char* from, std::size_t n) {
  buffer_ref bits(buffer::make_recycled(n / 8 + 1));
  auto* to = reinterpret_cast<unsigned char*>(bits->data());
  for (std::size_t i = 0; i < n; i += 8) {
    unsigned byte = 0;
    for (std::size_t k = 0; k != 8 && i + k != n; ++k) byte |= (from[i + k] != 0 ? 1u : 0u) << k;
    to[i / 8] = static_cast<unsigned char>(byte);
  }
  return bits;
}

/// Dates and times of 32 bits are columns of int64.
bool is_narrow(const element_type& t) {
  temporal_unit u;
  return temporal_of(t, u) && (u.is == temporal_unit::form::date32 || u.is == temporal_unit::form::time32);
}

std::int64_t number_at(const char* values, std::size_t i) {
  std::int64_t v;
  std::memcpy(&v, values + i * sizeof v, sizeof v);
  return v;
}

/// Returns n numbers as int32. Those of absent values may be anything.
buffer_ref narrowed(const char* values, std::size_t first, std::size_t n) {
  buffer_ref narrow(buffer::make_recycled((n + 1) * sizeof(std::int32_t)));
  for (std::size_t i = 0; i != n; ++i) {
    const auto v = static_cast<std::int32_t>(number_at(values, first + i));
    std::memcpy(narrow->data() + i * sizeof v, &v, sizeof v);
  }
  return narrow;
}

std::size_t absent_in(const column& c, std::size_t first, std::size_t n) {
  if (first == 0 && n == c.rows()) return c.absent();
  std::size_t absent = 0;
  for (std::size_t i = first; i != first + n; ++i) absent += c.valid(i) ? 0 : 1;
  return absent;
}

/// Exports the numbers of tensors.
void fill_numbers(const column& tensors, std::size_t first, std::size_t n, ArrowArray* out) {
  auto kept = std::make_unique<kept_array>();
  const tensor_spec* spec = tensors.row_spec();
  const std::size_t each = n ? spec->elements() : 0;
  if (n && spec->dtype == dtype::boolean && each) {
    kept->held[1] = packed(tensors.values() + first * each, n * each);
    kept->buffers[1] = kept->held[1]->data();
    return make_array(std::move(kept), n * each, 0, 0, 2, out);
  }
  kept->hold(1, tensors.main_buffer());
  kept->buffers[1] = n != 0 && each != 0 ? static_cast<const void*>(tensors.values()) : kNothing;
  make_array(std::move(kept), n * each, 0, first * each, 2, out);
}

/// Exports the rows [first, first + n). `maybe`: the column that has their validity; null: no row is absent.
///
/// An offset applies to a node's own buffers, including the validity, and to the rows of its children. So a struct or
/// fixed-size list with a validity counts from row 0 of its children. One without a validity has no buffer, and passes
/// its first row to the children. The root of a record batch must be of the second kind: readers refuse an offset
/// there.
void fill(const column& c, std::size_t first, std::size_t n, const column* maybe, ArrowArray* out) {
  if (c.form() == column_form::maybe) return fill(c.child(0), first, n, &c, out);
  if (n == 0) first = 0;  // pyarrow treats the buffers of an empty array as empty, and fails on an offset into them
  auto kept = std::make_unique<kept_array>();
  std::size_t nulls = 0;
  if (maybe) {
    nulls = absent_in(*maybe, first, n);
    kept->buffers[0] = nulls ? maybe->validity() : nullptr;
    kept->hold(0, maybe->main_buffer());
  }
  auto pointer = [](const void* p) { return p ? p : static_cast<const void*>(kNothing); };
  switch (c.form()) {
    case column_form::values:
      if (is_bool(c.type())) {
        std::size_t skipped = maybe ? 0 : first;
        kept->held[1] = packed(c.values() + skipped, first + n - skipped);
        kept->buffers[1] = kept->held[1]->data();
        return make_array(std::move(kept), n, nulls, first - skipped, 2, out);
      }
      if (is_narrow(c.type())) {
        std::size_t skipped = maybe ? 0 : first;
        kept->held[1] = narrowed(c.values(), skipped, first + n - skipped);
        kept->buffers[1] = kept->held[1]->data();
        return make_array(std::move(kept), n, nulls, first - skipped, 2, out);
      }
      kept->hold(1, c.main_buffer());
      kept->buffers[1] = pointer(c.values());
      return make_array(std::move(kept), n, nulls, first, 2, out);
    case column_form::texts:
      kept->hold(1, c.main_buffer());
      kept->buffers[1] = c.main_buffer() ? static_cast<const void*>(c.offsets()) : kNothing;
      kept->buffers[2] = pointer(c.bytes());
      kept->hold(2, c.bytes_buffer());
      return make_array(std::move(kept), n, nulls, first, 3, out);
    case column_form::tensors: {
      const std::size_t skipped = maybe ? 0 : first;
      kept->children.resize(1);
      fill_numbers(c, skipped, first + n - skipped, kept->children.data());
      return make_array(std::move(kept), n, nulls, first - skipped, 1, out);
    }
    case column_form::lists:
      kept->hold(1, c.main_buffer());
      kept->buffers[1] = c.main_buffer() ? static_cast<const void*>(c.offsets()) : kNothing;
      kept->children.resize(1);
      fill(c.child(0), 0, c.child(0).rows(), nullptr, kept->children.data());
      return make_array(std::move(kept), n, nulls, first, 2, out);
    default: {
      std::size_t each = c.form() == column_form::fixed ? c.type().extent : 1;
      std::size_t skipped = maybe ? 0 : first;
      kept->children.resize(c.children());
      for (std::size_t k = 0; k != c.children(); ++k)
        fill(c.child(k), skipped * each, (first + n - skipped) * each, nullptr, &kept->children[k]);
      return make_array(std::move(kept), n, nulls, first - skipped, 1, out);
    }
  }
}

// --- Values that might not fit: texts that must be UTF-8, and dates of 32 bits ---

status check_narrow(const column& c, std::size_t first, std::size_t n, const place& where) {
  if (!is_narrow(c.type())) return {};
  for (std::size_t i = first; i != first + n; ++i)
    if (const std::int64_t v = number_at(c.values(), i); v != static_cast<std::int32_t>(v))
      return invalid_argument_error(at(where, "value " + std::to_string(i - first) + ", " + std::to_string(v) +
                                                  ", is no " + c.type().name +
                                                  ", which has 32 bits: write int64(…) of it"));
  return {};
}

status check_texts(const column& c, std::size_t first, std::size_t n, const arrow_options& o, const place& where) {
  if (n == 0) return {};
  switch (c.form()) {
    case column_form::values: return check_narrow(c, first, n, where);
    case column_form::texts: {
      if (!becomes_utf8(c.type(), o)) return {};
      auto begin = static_cast<std::size_t>(c.offsets()[first]), end = static_cast<std::size_t>(c.offsets()[first + n]);
      auto starts_within = [&](std::size_t i) {
        auto at = static_cast<std::size_t>(c.offsets()[i]);
        return at != end && (static_cast<unsigned char>(c.bytes()[at]) & 0xC0) == 0x80;
      };
      bool good = begin == end || is_utf8({c.bytes() + begin, end - begin});
      for (std::size_t i = first; good && i != first + n; ++i) good = !starts_within(i);
      if (good) return {};
      std::size_t bad = first;
      while (is_utf8(c.text(bad))) ++bad;
      return invalid_argument_error(
          at(where, "value " + std::to_string(bad - first) + " is not UTF-8: export texts as arrow_texts::binary"));
    }
    case column_form::lists: {
      auto begin = static_cast<std::size_t>(c.offsets()[first]);
      return check_texts(c.child(0), begin, static_cast<std::size_t>(c.offsets()[first + n]) - begin, o,
                         {&where, "[]"});
    }
    case column_form::fixed:
      return check_texts(c.child(0), first * c.type().extent, n * c.type().extent, o, {&where, "[]"});
    case column_form::maybe: return check_texts(c.child(0), first, n, o, where);
    case column_form::members:
      for (std::size_t k = 0; k != c.children(); ++k)
        if (status s = check_texts(c.child(k), first, n, o, {&where, c.type().members[k].name}); !s.ok()) return s;
      return {};
    default: return {};
  }
}

status described(const element_type& t, const column* c, std::string_view name, const arrow_options& o,
                 ArrowSchema* out) {
  status s = check_form(t, c, {nullptr, name});
  if (s.ok()) describe(t, c, name, false, o, out);
  return s;
}

status described_rows(const element_type& row, const column* c, const arrow_options& o, ArrowSchema* out) {
  if (row.stacks_by_member()) return described(row, c, "", o, out);
  auto kept = std::make_unique<kept_schema>();
  kept->children.resize(1);
  status s = described(row, c, kValueName, o, kept->children.data());
  if (s.ok()) make_schema(std::move(kept), "+s", "", false, out);
  return s;
}

/// The only exceptions are failed allocations and the library's own errors.
template <class F> status caught(F f) {
  try {
    return f();
  } catch (...) { return current_exception_status(); }
}

}  // namespace
}  // namespace arrow

status export_type(const element_type& type, std::string_view name, ArrowSchema* out, const arrow_options& o) {
  return arrow::caught([&] { return arrow::described(type, nullptr, name, o, out); });
}

status export_column(const column& c, std::size_t first, std::size_t n, ArrowArray* out, const arrow_options& o) {
  return arrow::caught([&] {
    status s = arrow::check_form(c.type(), &c, {});
    if (s.ok()) s = arrow::check_texts(c, first, n, o, {});
    if (s.ok()) arrow::fill(c, first, n, nullptr, out);
    return s;
  });
}

status export_schema(const element_type& row, ArrowSchema* out, const arrow_options& o) {
  return arrow::caught([&] { return arrow::described_rows(row, nullptr, o, out); });
}
status export_schema(const batch_storage& b, const element_type& row, ArrowSchema* out, const arrow_options& o) {
  return arrow::caught([&] { return arrow::described_rows(row, b.has_column() ? &b.rows_column() : nullptr, o, out); });
}

status export_rows(const batch_storage& b, const element_type& row, ArrowArray* out, const arrow_options& o) {
  return arrow::caught([&] {
    batch_storage none;
    const column& c = b.has_column() ? b.rows_column() : none.make_rows(row);
    std::size_t first = c.gone_in_front(), n = c.rows() - first;
    arrow::place where{nullptr, row.stacks_by_member() ? "" : arrow::kValueName};
    status s = arrow::check_form(row, &c, where);
    if (s.ok()) s = arrow::check_texts(c, first, n, o, where);
    if (!s.ok()) return s;
    if (row.stacks_by_member()) {
      arrow::fill(c, first, n, nullptr, out);
    } else {
      auto kept = std::make_unique<arrow::kept_array>();
      kept->children.resize(1);
      arrow::fill(c, first, n, nullptr, kept->children.data());
      arrow::make_array(std::move(kept), n, 0, 0, 1, out);
    }
    return s;
  });
}

}  // namespace sluice::lib
