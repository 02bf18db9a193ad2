// SPDX-License-Identifier: Apache-2.0
#include "arrow/ipc_dictionaries.hpp"

#include <string>
#include <utility>

#include "arrow/import.hpp"
#include "arrow/ipc_formats.hpp"
#include "arrow/ipc_metadata.hpp"
#include "arrow/row_type.hpp"
#include "sluice/arrow/columns.hpp"

namespace sluice::lib::arrow {

namespace {

bool is_same(const ArrowSchema& a, const ArrowSchema& b) {
  if (ipc_format_of(a) != ipc_format_of(b) || a.n_children != b.n_children || a.private_data != b.private_data)
    return false;
  for (std::int64_t k = 0; k != a.n_children; ++k)
    if (ipc_name_of(*a.children[k]) != ipc_name_of(*b.children[k]) || !is_same(*a.children[k], *b.children[k]))
      return false;
  return true;
}

std::size_t bytes_of(const batch_storage& b) { return b.has_column() ? b.rows_column().memory_bytes() : 0; }

}  // namespace

// --- In schemas ---

ipc_schema::~ipc_schema() {
  for (ipc_dictionary_field& d : dictionaries_)
    if (d.decoded.release) d.decoded.release(&d.decoded);
}

const ipc_dictionary_field* ipc_schema::dictionary(std::int64_t id) const noexcept {
  for (const ipc_dictionary_field& d : dictionaries_)
    if (d.id == id) return &d;
  return nullptr;
}

bool ipc_schema::add_dictionary(std::int64_t id, ArrowSchema& s, ArrowSchema& values) {
  auto* field = const_cast<ipc_dictionary_field*>(dictionary(id));
  if (field && !is_same(*field->values, values)) return false;
  if (!field) field = &dictionaries_.emplace_back(ipc_dictionary_field{.id = id, .values = &values});
  field->users.push_back(&s);
  s.dictionary = &values;
  s.private_data = field;
  return true;
}

status ipc_schema::decode_dictionaries() {
  for (ipc_dictionary_field& d : dictionaries_) {
    auto type = column_type_of(*d.values);
    if (!type.ok()) continue;  // the columns keep the stream's type, for which messages have words
    d.type = (*type)->kind == kind::maybe ? *type : maybe_of(*type);
    if (!d.type) continue;
    status why = export_type(*d.type, "", &d.decoded);
    if (!why.ok()) return why;
    for (ArrowSchema* user : d.users) user->dictionary = &d.decoded;
  }
  return {};
}

// --- In streams ---

status ipc_dictionaries::read(std::string_view metadata, std::string_view body, const ipc_schema& schema,
                              const ipc_reading& how) {
  ipc_batch batch;
  std::int64_t id = 0;
  bool is_delta = false, is_known = false;
  ipc_reading reading = how;
  reading.dictionaries = this;
  reading.wanted = nullptr;
  status why;
  try {
    std::int64_t unknown = -1;
    why = ipc::read_dictionary_batch(metadata, body, schema, batch, reading, unknown, is_delta);
    const ipc_dictionary_field* field = schema.dictionary(unknown);
    is_known = field != nullptr;
    id = unknown;
    if (why.ok() && field && field->type) why = add(*field, *batch.array().children[0], is_delta, how.bytes_max);
  } catch (...) { why = current_exception_status(); }
  if (why.ok()) return why;
  if (is_known) all_[id].is_broken = true;
  else all_broken_ = true;
  return why;
}

status ipc_dictionaries::add(const ipc_dictionary_field& field, const ArrowArray& values, bool is_delta,
                             std::size_t bytes_max) {
  auto [at, is_new] = all_.try_emplace(field.id);
  dictionary& d = at->second;
  if (is_delta && (is_new || d.is_broken))
    return ipc::broken_stream("values are added to the dictionary " + std::to_string(field.id) +
                              ", which does not exist");
  release(d);
  memory_bytes_ -= bytes_of(d.values);
  if (!is_delta) d.values = {};
  column& to = d.values.has_column() ? d.values.rows_column() : d.values.make_rows(*field.type);
  const std::size_t before = to.memory_bytes();
  std::size_t room = bytes_max;
  status why = append_within(to, *field.values, values, static_cast<std::size_t>(values.length), room);
  if (why.ok() && to.memory_bytes() > before && to.memory_bytes() - before > bytes_max)
    why = element_limit_error("the dictionary " + std::to_string(field.id) + " takes more than " +
                              std::to_string(bytes_max) + " bytes, all that may be held: raise the memory budget");
  if (!why.ok() && !is_delta) d.values = {};
  memory_bytes_ += bytes_of(d.values);
  if (why.ok()) why = export_column(d.values.rows_column(), 0, d.values.rows_column().rows(), &d.array);
  d.is_broken = !why.ok();
  return why;
}

const ArrowArray* ipc_dictionaries::find(std::int64_t id) const {
  auto found = all_.find(id);
  return found == all_.end() || !found->second.array.release ? nullptr : &found->second.array;
}

bool ipc_dictionaries::is_broken(std::int64_t id) const {
  auto found = all_.find(id);
  return found == all_.end() ? all_broken_ : found->second.is_broken;
}

void ipc_dictionaries::release(dictionary& d) {
  if (d.array.release) d.array.release(&d.array);
  d.array = {};
}

void ipc_dictionaries::clear() {
  for (auto& [id, d] : all_) release(d);
  all_.clear();
  all_broken_ = false;
  memory_bytes_ = 0;
}

}  // namespace sluice::lib::arrow
