// SPDX-License-Identifier: Apache-2.0
#include "op/mds/mds_index.hpp"

#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "sluice/element/slice.hpp"
#include "sluice/element/type_of.hpp"
#include "sluice/format/inflate.hpp"

namespace sluice::lib {
namespace {

using nlohmann::json;

struct scalar_encoding {
  std::string_view name;
  const element_type& (*type)();
  std::uint32_t bytes;
  dtype values;
};
template <class T> constexpr scalar_encoding scalar(std::string_view name, dtype values) {
  return {name, []() -> const element_type& { return type_of<T>(); }, sizeof(T), values};
}
constexpr std::array kScalars = {
    scalar<std::int64_t>("int", dtype::int64),      scalar<std::uint8_t>("uint8", dtype::uint8),
    scalar<std::uint16_t>("uint16", dtype::uint16), scalar<std::uint32_t>("uint32", dtype::uint32),
    scalar<std::uint64_t>("uint64", dtype::uint64), scalar<std::int8_t>("int8", dtype::int8),
    scalar<std::int16_t>("int16", dtype::int16),    scalar<std::int32_t>("int32", dtype::int32),
    scalar<std::int64_t>("int64", dtype::int64),    scalar<float>("float32", dtype::float32),
    scalar<double>("float64", dtype::float64)};

const scalar_encoding* find_scalar(std::string_view name) {
  for (const scalar_encoding& s : kScalars)
    if (s.name == name) return &s;
  return nullptr;
}

status no_index(std::string_view what) {
  return data_loss_error(absl::StrCat("no index of MDS, or damaged: ", std::string(what)));
}

/// Throws data_loss for a number that is no size.
std::uint64_t whole(const json& number, std::string_view what) {
  if (number.is_number_unsigned()) return number.get<std::uint64_t>();
  throw_status(no_index(absl::StrCat(std::string(what), " must be a whole number from 0 on, and is ", number.dump())));
}

/// "ndarray", "ndarray:int16", "ndarray:int16:2,2".
status read_array(const std::string& encoding, mds_column& to) {
  const std::vector<std::string> parts = absl::StrSplit(encoding, ':');
  to.kind = mds_column::array;
  to.type = &type_of<tensor>();
  if (parts.size() > 3) return no_index(absl::StrCat("the encoding ", encoding));
  if (parts.size() > 1) {
    const scalar_encoding* s = parts[1] == "int" ? nullptr : find_scalar(parts[1]);
    if (!s && parts[1] != "float16") return no_index(absl::StrCat("the encoding ", encoding));
    to.values = s ? s->values : dtype::float16;
    to.has_dtype = true;
  }
  if (parts.size() < 3) return {};
  std::vector<std::int64_t> dims;
  std::uint64_t bytes = parts[1] == "float16" ? 2 : find_scalar(parts[1])->bytes;
  for (const auto dim : absl::StrSplit(parts[2], ',')) {
    std::int64_t n = 0;
    if (!absl::SimpleAtoi(dim, &n) || n < 1 || n > (std::int64_t{1} << 31) || dims.size() == tensor_shape::kRankMax)
      return no_index(absl::StrCat("the encoding ", encoding));
    dims.push_back(n);
    bytes *= static_cast<std::uint64_t>(n);
    if (bytes >= (std::uint64_t{1} << 32)) return no_index(absl::StrCat("the encoding ", encoding));
  }
  to.shape = tensor_shape(dims);
  to.bytes = static_cast<std::uint32_t>(bytes);
  return {};
}

status read_encoding(const std::string& encoding, mds_column& to) {
  if (const scalar_encoding* s = find_scalar(encoding)) {
    to.kind = mds_column::number;
    to.type = &s->type();
    to.bytes = s->bytes;
    return {};
  }
  if (encoding == "float16") {
    to.kind = mds_column::half;
    to.type = &type_of<float>();
    to.bytes = 2;
    return {};
  }
  if (encoding.starts_with("ndarray")) return read_array(encoding, to);
  for (const char* text : {"str", "json", "str_int", "str_float", "str_decimal"})
    if (encoding == text) {
      to.kind = mds_column::utf8;
      to.type = &type_of<std::string>();
      return {};
    }
  for (const char* bytes : {"bytes", "jpeg", "png"})
    if (encoding == bytes) {
      to.kind = mds_column::binary;
      to.type = &type_of<record>();
      return {};
    }
  const std::string reason = encoding == "pkl"
                                 ? "objects of Python, whose decoding runs code of the file: write the column as json, "
                                   "bytes or ndarray"
                                 : "not read: write the column as bytes, jpeg, png or ndarray";
  return unimplemented_error(absl::StrCat("the column \"", to.name, "\" has the encoding ", encoding, ", which is ",
                                          reason, "; or leave it out by writing the other columns again"));
}

status read_columns_of(const json& shard, std::vector<mds_column>& to) {
  const auto &names = shard.at("column_names"), &encodings = shard.at("column_encodings"),
             &sizes = shard.at("column_sizes");
  if (names.empty() || names.size() != encodings.size() || names.size() != sizes.size())
    return no_index("columns without names, encodings or sizes");
  for (std::size_t i = 0; i != names.size(); ++i) {
    mds_column column;
    column.name = names[i].get<std::string>();
    status why = read_encoding(encodings[i].get<std::string>(), column);
    if (!why.ok()) return why;
    const std::uint64_t size = sizes[i].is_null() ? 0 : whole(sizes[i], "a size of a column");
    if (size != column.bytes)
      return no_index(absl::StrCat("the column \"", column.name, "\" has values of ", size,
                                   " bytes, which is not the size of its encoding"));
    for (const mds_column& other : to)
      if (other.name == column.name) return no_index(absl::StrCat("the column \"", column.name, "\" twice"));
    to.push_back(std::move(column));
  }
  return {};
}

/// "zstd:7" is zstd. Errors: unimplemented.
status read_packing(const json& shard, mds_shard& to) {
  const json& named = shard.value("compression", json());
  if (named.is_null()) return {};
  std::string name = named.get<std::string>();
  name = name.substr(0, name.find(':'));
  constexpr std::pair<std::string_view, compression> kKnown[] = {
      {"zstd", compression::zstd}, {"gz", compression::gzip}, {"bz2", compression::bzip2}};
  for (const auto& [known, c] : kKnown)
    if (name == known) {
      to.packed = c;
      if (is_built_in(c)) return {};
      return unimplemented_error(absl::StrCat("shards are compressed by ", name, ", which this build lacks"));
    }
  if (name == "br") to.whole = whole_codec::brotli;
  if (name == "snappy") to.whole = whole_codec::snappy_block;
  if (to.whole == whole_codec::none)
    return unimplemented_error(
        absl::StrCat("shards are compressed by ", name,
                     ", which is not read: write them with zstd, gz, bz2, br or snappy, or without compression"));
  if (is_built_in(to.whole)) return {};
  return unimplemented_error(absl::StrCat("shards are compressed by ", name, ", which this build lacks"));
}

/// Names of shards are within the folder: an index must not lead elsewhere.
status read_file(const json& file, std::string& name, std::uint64_t& bytes) {
  if (file.is_null()) return {};
  name = file.at("basename").get<std::string>();
  bytes = whole(file.at("bytes"), "the bytes of a shard");
  const bool is_outside = name.empty() || name.front() == '/' || ("/" + name + "/").find("/../") != std::string::npos ||
                          name.find("://") != std::string::npos || name.find('\0') != std::string::npos;
  return is_outside ? no_index(absl::StrCat("the name of a shard, \"", name, "\", is not one within the folder"))
                    : status();
}

/// Reads the digests of a file: the one that is computed fastest counts.
status read_hashes(const json& file, mds_hash& to, std::string& unknown) {
  const json stated = file.is_null() ? json() : file.value("hashes", json());
  if (stated.is_null() || stated.empty()) return {};
  if (!stated.is_object()) return no_index("the hashes of a shard have no names");
  for (const char* known : {"xxh64", "sha1"})
    if (stated.contains(known)) {
      to = {known, absl::AsciiStrToLower(stated.at(known).get<std::string>())};
      return {};
    }
  std::vector<std::string> names;
  for (const auto& [name, value] : stated.items()) names.push_back(name);
  unknown = absl::StrJoin(names, ", ");
  return {};
}

status read_shard(const json& shard, mds_index& to) {
  if (shard.at("version") != 2)
    return unimplemented_error(absl::StrCat("MDS of version ", shard.at("version").dump(), "; version 2 is read"));
  if (const auto format = shard.at("format").get<std::string>(); format != "mds")
    return unimplemented_error(absl::StrCat("a folder of streaming in the format ", format, "; mds is read"));
  std::vector<mds_column> columns;
  status why = read_columns_of(shard, columns);
  if (!why.ok()) return why;
  if (to.columns.empty()) {
    to.columns = std::move(columns);
  } else {
    bool is_same = columns.size() == to.columns.size();
    for (std::size_t i = 0; is_same && i != columns.size(); ++i) {
      const mds_column &a = columns[i], &b = to.columns[i];
      is_same = a.name == b.name && a.kind == b.kind && a.type == b.type && a.bytes == b.bytes && a.shape == b.shape &&
                a.has_dtype == b.has_dtype && a.values == b.values;
    }
    if (!is_same) return unimplemented_error("its shards have different columns: write them into folders of their own");
  }
  mds_shard made;
  made.samples = whole(shard.at("samples"), "the samples of a shard");
  why = read_file(shard.at("raw_data"), made.raw_name, made.raw_bytes);
  if (why.ok() && shard.contains("zip_data")) why = read_file(shard.at("zip_data"), made.zip_name, made.zip_bytes);
  if (why.ok() && !made.zip_name.empty()) why = read_packing(shard, made);
  if (why.ok()) why = read_hashes(shard.at("raw_data"), made.raw_hash, made.unknown_hashes);
  if (why.ok() && shard.contains("zip_data"))
    why = read_hashes(shard.at("zip_data"), made.zip_hash, made.unknown_hashes);
  if (why.ok() && made.raw_name.empty()) why = no_index("a shard without raw_data");
  if (why.ok() && (made.raw_bytes >= (std::uint64_t{1} << 32) || made.samples >= (std::uint64_t{1} << 32)))
    why = no_index("a shard of 4 GiB or more, which its offsets cannot have");
  // Such a shard is never opened: 8 bytes are its number of samples and the offset of their end.
  if (why.ok() && made.samples == 0 && made.raw_bytes != 8)
    why = no_index(absl::StrCat("a shard of ", made.raw_bytes, " bytes without samples"));
  if (why.ok()) to.shards.push_back(std::move(made));
  return why;
}

}  // namespace

result<mds_index> parse_mds_index(std::string_view text) {
  mds_index made;
  try {
    const json all = json::parse(text);
    if (all.at("version") != 2)
      return unimplemented_error(absl::StrCat("an index of version ", all.at("version").dump(), "; version 2 is read"));
    for (const json& shard : all.at("shards"))
      if (status why = read_shard(shard, made); !why.ok())
        return why.with_message(absl::StrCat("shard ", made.shards.size(), ": ", std::string(why.message())));
  } catch (const json::exception& e) { return no_index(e.what()); } catch (const error& e) {
    return e.why();
  }
  if (made.shards.empty()) return no_index("it has no shards, so that its columns are unknown");
  std::vector<member> members;
  for (const mds_column& c : made.columns) members.push_back({c.name, 0, c.type});
  made.row = struct_of({}, std::move(members));
  return made;
}

}  // namespace sluice::lib
