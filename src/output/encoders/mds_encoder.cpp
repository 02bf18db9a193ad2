// SPDX-License-Identifier: Apache-2.0
#include "output/encoders/mds_encoder.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/files/whole_file.hpp"
#include "format/codec/file_digests.hpp"
#include "sluice/base/utf8.hpp"
#include "sluice/element/slice.hpp"
#include "sluice/element/tensor.hpp"
#include "sluice/element/type_of.hpp"

namespace sluice::lib {
namespace {

constexpr const char* kWrittenDigest = "xxh64";

struct written_column {
  enum kind_type : std::uint8_t { number, utf8, binary, array } kind = binary;
  const member* from = nullptr;
  std::string_view encoding{};
};

std::string_view encoding_of(const element_type& type, written_column::kind_type& kind) {
  const std::pair<const element_type*, std::string_view> numbers[] = {
      {&type_of<std::int64_t>(), "int"},     {&type_of<std::int32_t>(), "int32"},
      {&type_of<std::int16_t>(), "int16"},   {&type_of<std::int8_t>(), "int8"},
      {&type_of<std::uint64_t>(), "uint64"}, {&type_of<std::uint32_t>(), "uint32"},
      {&type_of<std::uint16_t>(), "uint16"}, {&type_of<std::uint8_t>(), "uint8"},
      {&type_of<float>(), "float32"},        {&type_of<double>(), "float64"}};
  kind = written_column::number;
  for (const auto& [known, name] : numbers)
    if (&type == known) return name;
  if (&type == &type_of<std::string>()) return kind = written_column::utf8, "str";
  if (&type == &type_of<record>()) return kind = written_column::binary, "bytes";
  if (&type == &type_of<tensor>()) return kind = written_column::array, "ndarray";
  return {};
}

result<std::vector<written_column>> written_columns(const element_type& type) {
  if (type.kind != kind::structure || type.members.empty())
    return invalid_argument_error(
        absl::StrCat("mds takes structures, whose members are its columns, and the plan gives ", type.name,
                     "; map them to structures, as in map({value: it})"));
  std::vector<written_column> columns;
  for (const member& m : type.members) {
    written_column c;
    c.from = &m;
    c.encoding = encoding_of(*m.type, c.kind);
    if (c.encoding.empty())
      return invalid_argument_error(absl::StrCat(
          "the column \"", m.name, "\" is ", m.type->name,
          ", and MDS has columns of integers, floats, strings, bytes and tensors: map it to one of these"));
    columns.push_back(c);
  }
  return columns;
}

/// The number by which arrays name the type of their values; 0: MDS has none.
char mds_array_type(dtype d) {
  switch (d) {
    case dtype::uint8: return 8;
    case dtype::int8: return 9;
    case dtype::uint16: return 16;
    case dtype::int16: return 17;
    case dtype::float16: return 18;
    case dtype::uint32: return 32;
    case dtype::int32: return 33;
    case dtype::float32: return 34;
    case dtype::uint64: return 64;
    case dtype::int64: return 65;
    case dtype::float64: return 66;
    default: return 0;
  }
}

void append_little(std::uint64_t value, std::size_t bytes, std::string& to) {
  for (; bytes != 0; --bytes, value >>= 8) to.push_back(static_cast<char>(value & 255));
}

/// Returns false if MDS has no array of this type or without values.
bool append_array(const tensor& t, std::string& to) {
  const char type = mds_array_type(t.dtype());
  if (type == 0 || t.size() == 0) return false;
  std::int64_t largest = 0;
  for (const std::int64_t d : t.shape()) largest = std::max(largest, d);
  std::size_t log_bytes = 0;  // of each dimension
  while (log_bytes != 3 && static_cast<std::uint64_t>(largest) >> (8u << log_bytes) != 0) ++log_bytes;
  to.push_back(type);
  to.push_back(static_cast<char>(t.shape().size() << 2 | log_bytes));
  for (const std::int64_t d : t.shape()) append_little(static_cast<std::uint64_t>(d), std::size_t{1} << log_bytes, to);
  to.append(t.data(), t.size_bytes());
  return true;
}

class mds_encoder final : public element_encoder {
 public:
  mds_encoder(const element_type& type, std::vector<written_column> columns)
      : type_(type), columns_(std::move(columns)) {
    for (const written_column& c : columns_) sized_ += c.kind == written_column::number ? 0 : 1;
  }

  bool is_immediate() const override { return false; }
  status append(const char* elements, std::size_t n, encoded&) override {
    for (std::size_t i = 0; i != n; ++i) {
      const std::size_t before = samples_.size();
      status why = append_sample(elements + i * type_.size);
      if (why.ok() && head_bytes(ends_.size() + 1) + samples_.size() > std::numeric_limits<std::uint32_t>::max())
        why = invalid_argument_error("a shard of MDS has less than 4 GiB: set a smaller size of shards (--shard-size)");
      if (!why.ok()) {
        samples_.resize(before);
        return why;
      }
      ends_.push_back(static_cast<std::uint32_t>(samples_.size()));
    }
    return {};
  }
  /// The head first, and then the samples, which are not copied.
  status end(encoded& to) override {
    if (has_head_) {
      to.bytes = std::exchange(samples_, {});
    } else {
      has_head_ = true;
      const std::uint64_t head = head_bytes(ends_.size());
      append_little(ends_.size(), 4, to.bytes);
      append_little(head, 4, to.bytes);
      for (const std::uint32_t end : ends_) append_little(head + end, 4, to.bytes);
      ends_ = {};
    }
    to.ends.push_back(to.bytes.size());
    digest_->add(to.bytes);
    return {};
  }
  std::string digest() override { return digest_->finish(); }
  bool has_ended() const override { return samples_.empty(); }
  std::uint64_t gathered_bytes() const override {
    return has_head_ ? samples_.size() : head_bytes(ends_.size()) + samples_.size();
  }
  std::size_t kept_bytes() const override { return samples_.capacity() + ends_.capacity() * sizeof ends_[0]; }

 private:
  static std::uint64_t head_bytes(std::size_t samples) { return 4 * (std::uint64_t{samples} + 2); }

  status append_sample(const char* element) {
    std::size_t size_at = samples_.size();
    samples_.append(4 * sized_, '\0');
    for (const written_column& c : columns_) {
      const char* const value = element + c.from->offset;
      const std::size_t before = samples_.size();
      if (c.kind == written_column::number) {
        samples_.append(value, c.from->type->size);
        continue;
      }
      if (c.kind == written_column::array) {
        if (!append_array(*reinterpret_cast<const tensor*>(value), samples_))
          return bad_value(c, "an array without values, or of a type that MDS lacks (bool, bfloat16, string)");
      } else {
        const std::string_view text = c.from->type->text(value);
        if (c.kind == written_column::utf8 && !is_utf8(text))
          return bad_value(c, "a text that is not UTF-8: map it to bytes(…)");
        samples_.append(text);
      }
      const std::size_t bytes = samples_.size() - before;
      if (bytes > std::numeric_limits<std::uint32_t>::max()) return bad_value(c, "a value of 4 GiB or more");
      const auto size = static_cast<std::uint32_t>(bytes);
      std::memcpy(samples_.data() + size_at, &size, sizeof size);
      size_at += sizeof size;
    }
    return {};
  }
  static status bad_value(const written_column& c, std::string_view what) {
    return invalid_argument_error(
        absl::StrCat("the column \"", c.from->name, "\" has ", std::string(what), ", which has no form in MDS"));
  }

  const element_type& type_;
  const std::vector<written_column> columns_;
  std::size_t sized_ = 0;  ///< columns whose values have a size of their own
  std::string samples_;
  std::vector<std::uint32_t> ends_;  ///< in `samples_`
  bool has_head_ = false;
  const std::unique_ptr<file_digest> digest_ = file_digest::make(kWrittenDigest);
};

/// Returns the size of a shard, its number of samples, and its digest unless that is known.
status measure_shard(const std::string& path, std::uint64_t& bytes, std::uint32_t& samples, std::string& digest) {
  std::error_code why;
  bytes = std::filesystem::file_size(path, why);
  if (why) return errno_error(why.value(), "cannot read the size of a shard").in_file(path);
  std::ifstream from(path, std::ios::binary);
  if (!from.read(reinterpret_cast<char*>(&samples), sizeof samples))
    return data_loss_error("a shard that was written before cannot be read: write the folder again").in_file(path);
  if (!digest.empty()) return {};
  from.seekg(0);
  std::string piece(std::size_t{1} << 20, '\0');
  const auto made = file_digest::make(kWrittenDigest);
  while (from.read(piece.data(), static_cast<std::streamsize>(piece.size())) || from.gcount() != 0)
    made->add(std::string_view(piece.data(), static_cast<std::size_t>(from.gcount())));
  digest = made->finish();
  return {};
}

}  // namespace

result<std::unique_ptr<element_encoder>> make_mds_encoder(const element_type& type) {
  auto columns = written_columns(type);
  if (!columns.ok()) return columns.why();
  return std::unique_ptr<element_encoder>(std::make_unique<mds_encoder>(type, *std::move(columns)));
}

status write_mds_index(const std::string& folder, const element_type& type, const std::vector<written_shard>& shards,
                       std::uint64_t shard_bytes) {
  using nlohmann::json;
  auto columns = written_columns(type);
  if (!columns.ok()) return columns.why();
  json names = json::array(), encodings = json::array(), sizes = json::array();
  for (const written_column& c : *columns) {
    names.push_back(c.from->name);
    encodings.push_back(std::string(c.encoding));
    sizes.push_back(c.kind == written_column::number ? json(c.from->type->size) : json());
  }
  json listed = json::array();
  for (const auto& [name, known_digest] : shards) {
    std::string digest = known_digest;
    std::uint64_t bytes = 0;
    std::uint32_t samples = 0;
    if (status why = measure_shard(folder + name, bytes, samples, digest); !why.ok()) return why;
    listed.push_back({{"column_encodings", encodings},
                      {"column_names", names},
                      {"column_sizes", sizes},
                      {"compression", nullptr},
                      {"format", "mds"},
                      {"hashes", json::array({kWrittenDigest})},
                      {"raw_data", {{"basename", name}, {"bytes", bytes}, {"hashes", {{kWrittenDigest, digest}}}}},
                      {"samples", samples},
                      {"size_limit", shard_bytes},
                      {"version", 2},
                      {"zip_data", nullptr}});
  }
  const json index = {{"shards", std::move(listed)}, {"version", 2}};
  whole_file out;
  status why = out.begin(folder + kMdsIndexName);
  if (why.ok()) why = out.write(index.dump());
  return why.ok() ? out.finish() : why;
}

}  // namespace sluice::lib
