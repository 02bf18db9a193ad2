// SPDX-License-Identifier: Apache-2.0
#include "sluice/element/batched.hpp"

#include <algorithm>

#include "element/made_once.hpp"
#include "element/text/print_element.hpp"
#include "sluice/base/assert.hpp"

namespace sluice::lib {

namespace {

batch_storage* storages(void* p) { return static_cast<batch_storage*>(p); }
const batch_storage* storages(const void* p) { return static_cast<const batch_storage*>(p); }

void destroy_batches(const element_type&, void* p, std::size_t n) { std::destroy_n(storages(p), n); }

void construct_batches(const element_type&, void* p, std::size_t n, std::size_t stride) {
  for (auto* at = static_cast<char*>(p); n != 0; --n, at += stride) ::new (static_cast<void*>(at)) batch_storage;
}

void copy_batches(const element_type& t, void* to, const void* from, std::size_t n, std::size_t to_stride,
                  std::size_t from_stride) {
  auto* out = static_cast<char*>(to);
  auto* in = static_cast<const char*>(from);
  for (; n != 0; --n, out += to_stride, in += from_stride) {
    auto* source = storages(in);
    batch_storage copy;
    if (!source->empty()) {
      const column& rows = source->rows_column();
      copy.make_rows(*t.element).append_copies(rows, rows.gone_in_front(), rows.rows() - rows.gone_in_front());
    }
    ::new (static_cast<void*>(out)) batch_storage(std::move(copy));
  }
}

std::size_t batch_footprint(const element_type&, const void* p, std::size_t n) {
  std::size_t bytes = 0;
  for (auto* b = storages(p); n != 0; --n, ++b) bytes += b->memory_bytes();
  return bytes;
}

/// Returns true if columns of this type can be copied. Only columns of objects may fail this.
bool can_copy(const element_type& t) {
  switch (form_of(t)) {
    case column_form::objects: return t.copy != nullptr;
    case column_form::lists:
    case column_form::fixed:
    case column_form::maybe: return can_copy(*t.element);
    case column_form::members:
      return std::all_of(t.members.begin(), t.members.end(), [](const member& m) { return can_copy(*m.type); });
    default: return true;
  }
}

// --- Printing: values in the form of their types, without building them if the columns have everything that is needed.
// ---

void print_rows(const column& c, std::size_t first, std::size_t n, std::string& out);

/// Prints a value that is built for the user's own print function.
void print_made(const column& c, std::size_t row, std::string& out) {
  if (!can_copy(c.type())) return detail::print_opaque(c.type(), nullptr, out);
  slab room(c.type());
  c.make(row, 1, room.reserve(1), c.type().size);
  room.set_live(0, 1);
  print(c.type(), room.begin(), out);
}

void print_batch_rows(const element_type& row, const column* c, std::size_t first, std::size_t n, std::string& out) {
  auto print_column = [&](const column* of) {
    if (n == 0) out += "[]";
    else print_rows(*of, first, n, out);
  };
  if (!row.stacks_by_member()) return print_column(c);
  bool named = row.kind == kind::structure;
  for (std::size_t k = 0; k != row.members.size(); ++k) {
    out += k != 0 ? ',' : named ? '{' : '[';
    if (named) {
      print_json_name(row.members[k].name, out);
      out += ':';
    }
    print_column(n != 0 ? &c->child(k) : nullptr);
  }
  out += named ? '}' : ']';
}

void print_row(const column& c, std::size_t row, std::string& out) {
  using print_kernel = decltype(element_type::print);
  const element_type& t = c.type();
  auto of_lists = [&] {
    auto first = static_cast<std::size_t>(c.offsets()[row]);
    return std::pair(first, static_cast<std::size_t>(c.offsets()[row + 1]) - first);
  };
  switch (c.form()) {
    case column_form::values:
    case column_form::objects: return print(t, c.values() + row * t.size, out);
    case column_form::texts:
      if (t.print == detail::print_text) return print_json_text(c.text(row), out);
      return print_made(c, row, out);
    case column_form::lists: {
      auto [first, n] = of_lists();
      if (t.kind == kind::batch) return print_batch_rows(*t.element, &c.child(0), first, n, out);
      return print_rows(c.child(0), first, n, out);
    }
    case column_form::tensors: return print_made(c, row, out);
    case column_form::fixed: return print_rows(c.child(0), row * t.extent, t.extent, out);
    case column_form::maybe:
      if (c.valid(row)) return print_row(c.child(0), row, out);
      out += "null";
      return;
    case column_form::members:
      if (t.print != static_cast<print_kernel>(detail::print_members)) return print_made(c, row, out);
      return detail::print_members(t, out, [&](const member& m) {
        print_row(c.child(static_cast<std::size_t>(&m - t.members.data())), row, out);
        return true;
      });
  }
}

void print_rows(const column& c, std::size_t first, std::size_t n, std::string& out) {
  out += '[';
  for (std::size_t i = 0; i != n; ++i) {
    if (i != 0) out += ',';
    print_row(c, first + i, out);
  }
  out += ']';
}

void print_batch(const element_type& t, const void* p, std::string& out) {
  auto* b = storages(p);
  auto rows = static_cast<std::size_t>(b->rows());
  const column* c = rows ? &b->rows_column() : nullptr;
  print_batch_rows(*t.element, c, c ? c->gone_in_front() : 0, rows, out);
}

element_type make_batch_type(const element_type* row) {
  element_type t;
  t.name = "batch<" + row->name + ">";
  t.size = sizeof(batch_storage);
  t.align = alignof(batch_storage);
  t.kind = kind::batch;
  t.relocatable = true;
  t.element = row;
  t.destroy = destroy_batches;
  t.construct = construct_batches;
  t.footprint = batch_footprint;
  t.print = print_batch;
  if (can_copy(*row)) t.copy = copy_batches;
  return t;
}

}  // namespace

const element_type* batched_of(const element_type* row) {
  if (!row || !can_stack(*row)) return nullptr;
  return detail::made_once("batch", row, 0, [row] { return make_batch_type(row); });
}

namespace detail {

std::size_t column_at(const element_type& row, std::size_t offset) {
  std::size_t k = 0;
  while (row.members[k].offset != offset) ++k;
  return k;
}

}  // namespace detail

column& batch_storage::make_rows(const element_type& row) {
  if (nodes_) return rows_column();
  buffer* b = buffer::make_recycled(column::nodes(row) * sizeof(column));
  auto* free_nodes = reinterpret_cast<column*>(b->data()) + 1;
  ::new (static_cast<void*>(b->data())) column(row, free_nodes);
  nodes_ = b;
  return rows_column();
}

void batch_storage::free_rows() noexcept {
  rows_column().release();
  nodes_->drop_references(1);
  nodes_ = nullptr;
}

void batch_storage::append(const element_type& row, void* from, std::size_t n) {
  column& rows = make_rows(row);
  rows.growth(from, n, row.size, 0);
  rows.append(from, n, row.size);
}

void batch_storage::take_front(const element_type& row, void* to, std::size_t n) {
  if (n == 0) return;
  SLUICE_REQUIRES(n <= static_cast<std::size_t>(rows()), "more rows are taken than the batch has");
  column& rows = rows_column();
  rows.take(rows.gone_in_front(), n, to, row.size);
  rows.drop_front(n);
}

void batch_storage::drop_front(std::size_t n) noexcept {
  SLUICE_REQUIRES(n <= static_cast<std::size_t>(rows()), "more rows are dropped than the batch has");
  if (n != 0) rows_column().drop_front(n);
}

}  // namespace sluice::lib
