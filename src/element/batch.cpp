// SPDX-License-Identifier: Apache-2.0
#include "sluice/element/batch.hpp"

#include "element/made_once.hpp"

namespace sluice::lib {

namespace {

bool is_by_member(const element_type& row) { return row.has_members() && !row.members.empty(); }

/// f(column type, offset within the row, column index) for each column of a batch of `row`.
template <class F> void each_column(const element_type& row, F f) {
  if (!is_by_member(row)) return f(row, std::size_t{0}, std::size_t{0});
  for (std::size_t k = 0; k != row.members.size(); ++k) f(*row.members[k].type, row.members[k].offset, k);
}

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
    auto* copy = ::new (static_cast<void*>(out)) batch_storage;
    auto rows = static_cast<std::size_t>(source->rows);
    if (rows == 0) continue;
    copy->reserve(*t.element, rows);
    each_column(*t.element, [&](const element_type& type, std::size_t, std::size_t k) {
      type.copy(type, copy->columns[k].extend(rows), source->columns[k].begin(), rows, type.size, type.size);
      copy->columns[k].add_live(rows);
    });
    copy->rows = source->rows;
  }
}

std::size_t batch_footprint(const element_type&, const void* p, std::size_t n) {
  std::size_t bytes = 0;
  for (auto* b = storages(p); n != 0; --n, ++b) {
    bytes += b->columns.capacity() * sizeof(slab);
    for (auto& c : b->columns)
      bytes += c.capacity() * c.type().size + c.type().footprint(c.type(), c.begin(), c.size());
  }
  return bytes;
}

void compact_batches(const element_type&, void* p, std::size_t n) {
  for (auto* b = storages(p); n != 0; --n, ++b)
    for (auto& c : b->columns)
      if (c.type().compact) c.type().compact(c.type(), c.begin(), c.size());
}

void print_batch(const element_type& t, const void* p, std::string& out) {
  auto* b = storages(p);
  const element_type& row = *t.element;
  auto print_column = [&](const element_type& type, std::size_t k) {
    if (b->rows == 0) out += "[]";
    else detail::print_array(type, b->columns[k].begin(), static_cast<std::size_t>(b->rows), out);
  };
  if (!is_by_member(row)) return print_column(row, 0);
  bool named = row.kind == kind::structure;
  each_column(row, [&](const element_type& type, std::size_t, std::size_t k) {
    out += k != 0 ? ',' : named ? '{' : '[';
    if (named) {
      print_json_name(row.members[k].name, out);
      out += ':';
    }
    print_column(type, k);
  });
  out += named ? '}' : ']';
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
  t.compact = compact_batches;
  t.print = print_batch;
  bool copies = true;
  each_column(*row, [&](const element_type& type, std::size_t, std::size_t) { copies &= type.copy != nullptr; });
  if (copies) t.copy = copy_batches;
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

void batch_storage::reserve(const element_type& row, std::size_t n) {
  if (columns.empty()) {
    columns.reserve(is_by_member(row) ? row.members.size() : 1);
    each_column(row, [&](const element_type& type, std::size_t, std::size_t) { columns.emplace_back(type); });
  }
  for (auto& c : columns) c.extend(n);
}

void batch_storage::append(const element_type& row, void* from, std::size_t n) {
  reserve(row, n);
  each_column(row, [&](const element_type& type, std::size_t offset, std::size_t k) {
    type.relocate(type, columns[k].extend(n), static_cast<char*>(from) + offset, n, type.size, row.size);
    columns[k].add_live(n);
  });
  rows += static_cast<std::int64_t>(n);
}

void batch_storage::take_front(const element_type& row, void* to, std::size_t n) noexcept {
  each_column(row, [&](const element_type&, std::size_t offset, std::size_t k) {
    block b = columns[k].view();
    b.move_front(static_cast<char*>(to) + offset, static_cast<std::uint32_t>(n), row.size);
  });
  rows -= static_cast<std::int64_t>(n);
}

void batch_storage::drop_front(const element_type& row, std::size_t n) noexcept {
  each_column(row, [&](const element_type&, std::size_t, std::size_t k) {
    block b = columns[k].view();
    b.drop_front(static_cast<std::uint32_t>(n));
  });
  rows -= static_cast<std::int64_t>(n);
}

}  // namespace sluice::lib
