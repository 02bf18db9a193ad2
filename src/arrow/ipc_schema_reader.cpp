// SPDX-License-Identifier: Apache-2.0
#include "arrow/ipc_formats.hpp"
#include "arrow/ipc_metadata.hpp"
#include "arrow/ipc_reader.hpp"

namespace sluice::lib::arrow {

using namespace ipc;

struct ipc_schema_reader {
  checked_metadata& from;
  ipc_schema& to;
  std::size_t metadata_bytes;
  std::size_t columns = 0, names_bytes = 0;  ///< of metadata whose tables each occur once, so no more than its bytes

  const char* kept(std::string text) { return to.texts_.emplace_back(std::move(text)).c_str(); }

  status read(const Table& schema) {
    std::int16_t endianness = 0;
    const table_list* fields = nullptr;
    if (!from.value(schema, ipc::schema::kEndianness, endianness) || !from.tables(schema, ipc::schema::kFields, fields))
      return broken_stream("the schema is invalid");
    if (endianness != ipc::kLittleEndian)
      return unread_stream(
          "the Arrow stream is big-endian, which is not read: pyarrow reads it, and writes it little-endian");
    ArrowSchema& root = to.nodes_.emplace_back();
    root.format = "+s";
    root.name = "";
    return read_children(root, fields, 1);
  }

  status read_children(ArrowSchema& parent, const table_list* fields, int depth) {
    const std::size_t n = fields ? fields->size() : 0;
    if (depth > kDepthMax) return unread_stream("the Arrow stream has columns within columns, more than 64 deep");
    columns += n;
    if (columns > metadata_bytes) return broken_stream("a schema with more columns than bytes");
    auto& list = to.lists_.emplace_back(n);
    for (std::size_t k = 0; k != n; ++k) {
      ArrowSchema& child = to.nodes_.emplace_back();
      list[k] = &child;
      status why = read_field(child, *fields->Get(static_cast<flatbuffers::uoffset_t>(k)), depth);
      if (!why.ok()) return why;
    }
    parent.n_children = static_cast<std::int64_t>(n);
    parent.children = list.data();
    return {};
  }

  status read_field(ArrowSchema& s, const Table& field, int depth) {
    std::string name;
    std::uint8_t nullable = 0, kind = 0;
    const Table *type = nullptr, *dictionary = nullptr;
    const table_list* children = nullptr;
    if (!from.text(field, ipc::column_field::kName, name) ||
        !from.value(field, ipc::column_field::kNullable, nullable) ||
        !from.value(field, ipc::column_field::kTypeKind, kind) || !from.table(field, ipc::column_field::kType, type) ||
        !from.table(field, ipc::column_field::kDictionary, dictionary) ||
        !from.tables(field, ipc::column_field::kChildren, children) || !type)
      return broken_stream("a column of the schema is invalid");
    names_bytes += name.size();
    if (names_bytes > metadata_bytes) return broken_stream("a schema whose names are longer than itself");
    const std::string column = "the column \"" + name + "\" of the Arrow stream ";
    s.name = kept(std::move(name));
    s.flags = nullable ? ARROW_FLAG_NULLABLE : 0;
    status why = read_metadata(s, field);
    if (!why.ok()) return why;
    // The type and the children are those of the values; the column itself has indices.
    ArrowSchema& values = dictionary ? to.nodes_.emplace_back() : s;
    why = read_type(values, static_cast<ipc::type_kind>(kind), *type, children, column, depth);
    return why.ok() && dictionary ? read_dictionary(s, values, *dictionary, column) : why;
  }

  status read_type(ArrowSchema& s, ipc::type_kind kind, const Table& type, const table_list* children,
                   const std::string& column, int depth) {
    std::string format;
    status why = format_of(kind, type, column, format);
    if (!why.ok()) return why;
    s.format = kept(std::move(format));
    if (!s.name) s.name = "";
    why = read_children(s, children, depth + 1);
    if (!why.ok()) return why;
    const ipc_layout layout = ipc_form_of(ipc_format_of(s)).layout;
    return has_children_for(layout, s) ? status()
                                       : broken_stream(column + "has " + std::to_string(s.n_children) + " children");
  }

  static bool has_children_for(ipc_layout layout, const ArrowSchema& s) {
    using enum ipc_layout;
    switch (layout) {
      case lists:
      case fixed_lists:
      case list_views: return s.n_children == 1;
      case runs: return s.n_children == 2;
      case members:
      case sparse_union:
      case dense_union: return true;
      default: return s.n_children == 0;
    }
  }

  status read_dictionary(ArrowSchema& s, ArrowSchema& values, const Table& dictionary, const std::string& column) {
    std::int64_t id = 0;
    const Table* index = nullptr;
    const status broken = broken_stream(column + "has a dictionary that is invalid");
    if (!from.value(dictionary, ipc::dictionary_field::kId, id) ||
        !from.table(dictionary, ipc::dictionary_field::kIndexType, index))
      return broken;
    std::string format = "i";  // the default of the specification
    if (status why = index ? integer_format(*index, broken, format) : status(); !why.ok()) return why;
    s.format = kept(std::move(format));
    return to.add_dictionary(id, s, values)
               ? status()
               : broken_stream(column + "shares dictionary " + std::to_string(id) + " with a column of another type");
  }

  status read_metadata(ArrowSchema& s, const Table& field) {
    const table_list* list = nullptr;
    const status broken = broken_stream("the metadata of a column is not what it should be");
    if (!from.tables(field, ipc::column_field::kMetadata, list)) return broken;
    if (!list || list->size() == 0) return {};
    ipc_pairs pairs;
    for (flatbuffers::uoffset_t i = 0; i != list->size(); ++i) {
      std::string key, value;
      if (!from.text(*list->Get(i), ipc::key_value::kKey, key) ||
          !from.text(*list->Get(i), ipc::key_value::kValue, value))
        return broken;
      names_bytes += key.size() + value.size();
      if (names_bytes > metadata_bytes) return broken_stream("a schema whose names are longer than itself");
      pairs.emplace_back(std::move(key), std::move(value));
    }
    s.metadata = kept(ipc_metadata_of(pairs));
    return {};
  }

  status format_of(ipc::type_kind kind, const Table& t, const std::string& column, std::string& format) {
    using enum ipc::type_kind;
    std::int16_t unit = 0;
    std::int32_t number = 0;
    const status broken = broken_stream(column + "has a type that is invalid");
    auto read_unit = [&](const char* prefix, std::string_view letters, std::int16_t otherwise) {
      if (!from.value(t, ipc::type::kFirst, unit, otherwise) || unit < 0 ||
          static_cast<std::size_t>(unit) >= letters.size())
        return broken;
      format = prefix;
      format += letters[static_cast<std::size_t>(unit)];
      return status();
    };
    auto read_width = [&](const char* prefix) {
      if (!from.value(t, ipc::type::kFirst, number) || number < 0) return broken;
      format = prefix + std::to_string(number);
      return status();
    };
    switch (kind) {
      case null: format = "n"; return {};
      case integer: return integer_format(t, broken, format);
      case floating_point: return read_unit("", "efg", 0);
      case binary: format = "z"; return {};
      case utf8: format = "u"; return {};
      case boolean: format = "b"; return {};
      case decimal: return decimal_format(t, broken, format);
      case date: return read_unit("td", "Dm", 1);
      case time: return read_unit("tt", "smun", 1);
      case timestamp: {
        status why = read_unit("ts", "smun", 0);
        std::string zone;
        if (why.ok() && !from.text(t, ipc::type::kSecond, zone)) return broken;
        names_bytes += zone.size();  // the next column's name check includes it
        format += ':' + zone;
        return why;
      }
      case interval: return read_unit("ti", "MDn", 0);
      case duration: return read_unit("tD", "smun", 1);
      case list: format = "+l"; return {};
      case large_list: format = "+L"; return {};
      case map: format = "+m"; return {};
      case structure: format = "+s"; return {};
      case fixed_size_binary: return read_width("w:");
      case fixed_size_list: return read_width("+w:");
      case large_binary: format = "Z"; return {};
      case large_utf8: format = "U"; return {};
      case union_of:
        if (!from.value(t, ipc::type::kFirst, unit)) return broken;
        format = unit == 0 ? "+us:" : "+ud:";
        return {};
      case run_end_encoded: format = "+r"; return {};
      case binary_view: format = "vz"; return {};
      case utf8_view: format = "vu"; return {};
      case list_view: format = "+vl"; return {};
      case large_list_view: format = "+vL"; return {};
      default:
        return unread_stream(column + "is of type " + std::to_string(static_cast<int>(kind)) + ", which is not known");
    }
  }

  status integer_format(const Table& t, const status& broken, std::string& format) const {
    std::int32_t bits = 0;
    std::uint8_t is_signed = 0;
    if (!from.value(t, ipc::type::kFirst, bits) || !from.value(t, ipc::type::kSecond, is_signed)) return broken;
    switch (bits) {
      case 8: format = is_signed ? "c" : "C"; return {};
      case 16: format = is_signed ? "s" : "S"; return {};
      case 32: format = is_signed ? "i" : "I"; return {};
      case 64: format = is_signed ? "l" : "L"; return {};
      default: return broken;
    }
  }
  status decimal_format(const Table& t, const status& broken, std::string& format) const {
    std::int32_t precision = 0, scale = 0, bits = 0;
    if (!from.value(t, ipc::type::kFirst, precision) || !from.value(t, ipc::type::kSecond, scale) ||
        !from.value(t, ipc::type::kThird, bits, 128) || bits < 32 || bits > 256 || bits % 32 != 0)
      return broken;
    format = "d:" + std::to_string(precision) + "," + std::to_string(scale) + "," + std::to_string(bits);
    return {};
  }
};

status read_ipc_schema(std::string_view metadata, ipc_schema& to) {
  checked_metadata checked(metadata);
  message_table t;
  status why = read_message_table(checked, t);
  if (!why.ok()) return why;
  if (t.kind != ipc::header_kind::schema || !t.header) return broken_stream("the first message is not the schema");
  why = ipc_schema_reader{checked, to, metadata.size()}.read(*t.header);
  return why.ok() ? to.decode_dictionaries() : why;
}

}  // namespace sluice::lib::arrow
