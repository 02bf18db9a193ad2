// SPDX-License-Identifier: Apache-2.0
// Parses many tf.Examples, one after the other: into structs, or into the columns of a batch.
//
//   example_parser parser(example_schema_of<sample>());
//   column& rows = batch.storage().make_rows(type_of<sample>());
//   for (const record& r : records) why = parser.append_to(rows, r.view());
//
// It expects the features of each record in the order of the record before: writers keep to one. Then a feature costs one
// comparison, whether it is asked for or not, and wherever it stands; records in another order are read all the same.
// Records as nearly all writers make them (each message once, lengths below 16 KiB, numbers packed) are read in one short
// walk; all others, the damaged too, by a second, general one.
// Errors: as format/example_schema.hpp.
// Thread: belongs to one at a time.
// Cost:   no allocation, once it has seen a record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sluice/format/example_schema.hpp"

namespace sluice::lib {

class column;

class example_parser {
 public:
  /// `schema` must outlive it.
  explicit example_parser(const example_schema& schema);

  /// As example_schema::parse.
  status parse(std::string_view example, void* to, buffer* owner = nullptr);
  /// Appends the example as a row to a column of structures that have the slots as members, in their order; bytes are
  /// copied. After an error the column is as before. Errors: those of parse; resource_exhausted, as column says
  /// (element/column.hpp); throws std::bad_alloc.
  status append_to(column& rows, std::string_view example);

 private:
  struct known_entry {
    feature_key key;
    std::size_t slot = 0;  ///< slots().size(): nobody asks for it
  };
  /// What a record has for a slot.
  struct found_feature {
    std::string_view entry;  ///< the last of this key
    feature_kind kind = feature_kind::none;
    std::size_t count = 0;
    std::size_t lists = 0;  ///< each of another kind than the one before; the last counts
  };
  class field_row;
  class column_row;
  template <class Row> class last_list;

  template <class Row> status read(std::string_view example, Row row);
  template <class Row> bool read_usual(std::string_view example, Row& row);
  status look_through(std::string_view example);
  template <class Row> void write_found(Row& row) const;
  template <class Row> void write_missing(Row& row, std::size_t i) const;
  template <class Row> void write_parts(Row& row, std::size_t i) const;
  void gather(std::size_t slot, feature_values& to) const;
  std::size_t slot_of(std::string_view name, const feature_key& key, std::size_t position);

  const example_schema& schema_;
  std::vector<known_entry> order_;       ///< of the record before
  std::vector<std::uint64_t> found_in_;  ///< of each slot: the last record that had it, in read_usual
  std::uint64_t record_ = 0;             ///< counts the calls of read_usual
  std::vector<found_feature> found_;     ///< of each slot, in look_through
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::example_parser;

}  // namespace sluice
