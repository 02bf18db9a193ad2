// SPDX-License-Identifier: Apache-2.0
// Parses many tf.Examples, one after the other, into structs or into the columns of a batch.
//
//   example_parser parser(example_schema_of<sample>());
//   column& rows = batch.storage().make_rows(type_of<sample>());
//   for (const record& r : records) why = parser.append_to(rows, r.view());
//
// It expects the features of each record in the order of the previous record, since most writers use one order. Then the
// bytes before the values of a feature are compared at once, whether the schema has it or not, and at any place. Records
// in another order are read as well. Records in the usual form (each message once, lengths below 16 KiB, packed numbers) are read in one short
// pass. All others, including damaged ones, are read by a second, general pass.
// Errors: the same as in format/example_schema.hpp.
// Thread: belongs to one thread at a time.
// Cost:   no allocation after the first record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sluice/format/example_schema.hpp"

namespace sluice::lib {

class column;
class packed_rows;

class example_parser {
 public:
  /// `schema` must outlive it.
  explicit example_parser(const example_schema& schema);
  example_parser(const example_parser&);
  example_parser(example_parser&&) noexcept;
  ~example_parser();

  /// Does what example_schema::parse does.
  status parse(std::string_view example, void* to, buffer* owner = nullptr);
  /// Appends the example as a row to a column of structures whose members are the slots, in order; bytes are copied.
  /// After an error the column is unchanged. Errors: those of parse; resource_exhausted, as in element/column.hpp;
  /// throws std::bad_alloc.
  status append_to(column& rows, std::string_view example);
  /// Checks the example, and adds its members to `to` as a packed row, from which packed_reader builds the row that
  /// append_to() builds. After an error `to` is unchanged. Errors: those of parse. REQUIRES: the schema is that of `to`,
  /// and has no parts.
  status pack(std::string_view example, packed_rows& to);

 private:
  struct known_entry;
  struct skipped_entries {
    const char* end = nullptr;  ///< of the last one
    std::size_t position = 0;   ///< the place of the next one
    std::size_t found = 0;      ///< the number of those that have a slot
    bool is_repeated = false;   ///< a slot had an entry before
  };
  /// The data of a record for one slot.
  struct found_feature {
    std::string_view entry;  ///< the last one of this key
    feature_kind kind = feature_kind::none;
    std::size_t count = 0;
    /// The number of lists, each of another kind than the one before. The last one counts.
    std::size_t lists = 0;
  };

  template <class Row> status read(std::string_view example, Row& row);
  template <class Row> bool read_usual(std::string_view example, Row& row);
  status look_through(std::string_view example);
  template <class Row> void write_found(Row& row) const;
  template <class Row> void write_missing(Row& row, std::size_t i) const;
  template <class Row> void write_parts(Row& row, std::size_t i) const;
  void gather(std::size_t slot, feature_values& to) const;
  skipped_entries skip_unread(const char* p, const char* end, std::size_t position);
  std::size_t slot_of(std::string_view name, const feature_key& key, std::size_t position);

  const example_schema& schema_;
  std::vector<known_entry> order_;  ///< of the previous record
  /// For each slot: the last record that had it, in read_usual.
  std::vector<std::uint64_t> found_in_;
  std::uint64_t record_ = 0;          ///< counts the calls of read_usual
  std::vector<found_feature> found_;  ///< for each slot, in look_through
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::example_parser;

}  // namespace sluice
