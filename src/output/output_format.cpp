// SPDX-License-Identifier: Apache-2.0
#include "sluice/output/output_format.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "output/encoders/element_encoder.hpp"

namespace sluice::lib {
namespace {

constexpr std::string_view kFormatNames[] = {"automatic", "jsonl",   "csv",          "raw",          "lines",
                                             "tfrecord",  "example", "arrow",        "arrow-binary", "parquet",
                                             "npy",       "bagz",    "array_record", "mds"};

struct suffix {
  std::string_view text;
  output_format format;
};
// The elements decide the kind of a .tfrecord file.
constexpr suffix kSuffixes[] = {{".jsonl", output_format::jsonl},
                                {".ndjson", output_format::jsonl},
                                {".json", output_format::jsonl},
                                {".csv", output_format::csv},
                                {".arrow", output_format::arrow},
                                {".arrows", output_format::arrow},
                                {".parquet", output_format::parquet},
                                {".npy", output_format::numpy},
                                {".txt", output_format::text_lines},
                                {".tfrecord", output_format::tfrecords},
                                {".bagz", output_format::bagz_records},
                                {".bag", output_format::bagz_records},
                                {".array_record", output_format::array_records},
                                {".tfrecords", output_format::tfrecords}};

status not_texts(output_format f, const element_type& type) {
  std::string way_out = f == output_format::tfrecords && type.has_members()
                            ? ": the format example writes structures as tf.Examples"
                            : "";
  return invalid_argument_error(std::string(to_string(f)) + " takes records, lines or strings, and the plan gives " +
                                type.name + way_out);
}

}  // namespace

std::string_view to_string(output_format f) { return kFormatNames[static_cast<std::size_t>(f)]; }

result<output_format> parse_output_format(std::string_view name) {
  auto known = std::find(std::begin(kFormatNames), std::end(kFormatNames), name);
  if (known != std::end(kFormatNames)) return static_cast<output_format>(known - std::begin(kFormatNames));
  std::string all;
  for (std::string_view n : kFormatNames) all += (all.empty() ? "" : ", ") + std::string(n);
  return invalid_argument_error("\"" + std::string(name) + "\" is no format of an output: these are " + all);
}

named_format format_of_path(std::string_view path) {
  named_format found;
  constexpr std::pair<std::string_view, compression> kPacked[] = {{".gz", compression::gzip},
                                                                  {".gzip", compression::gzip},
                                                                  {".zst", compression::zstd},
                                                                  {".zstd", compression::zstd}};
  for (const auto& [suffix, packed] : kPacked)
    if (path.ends_with(suffix)) {
      found.compression = packed;
      path.remove_suffix(suffix.size());
      break;
    }
  for (const suffix& s : kSuffixes)
    if (path.ends_with(s.text)) found.format = s.format;
  return found;
}

bool compresses_buffers(output_format f, compression c) {
  if (f == output_format::parquet) return c != compression::automatic;
  if (f == output_format::bagz_records || f == output_format::array_records)
    return c == compression::none || c == compression::zstd;
  const bool is_arrow = f == output_format::arrow || f == output_format::arrow_binary;
  return is_arrow && (c == compression::lz4 || c == compression::zstd);
}

compression buffers_of_path(output_format f, std::string_view path, compression given) {
  if (f != output_format::bagz_records || given != compression::automatic) return given;
  return path.ends_with(".bagz") ? compression::zstd : compression::none;
}

status check_output(output_format f, const element_type& type) { return make_encoder(f, type).why(); }

result<std::unique_ptr<element_encoder>> make_encoder(output_format f, const element_type& type, compression buffers,
                                                      std::uint64_t group_bytes) {
  using enum output_format;
  switch (f) {
    case jsonl: return make_jsonl_encoder(type);
    case csv: return make_csv_encoder(type);
    case example: return make_example_encoder(type);
    case arrow: return make_arrow_encoder(type, false, buffers);
    case arrow_binary: return make_arrow_encoder(type, true, buffers);
    case parquet: return make_parquet_encoder(type, buffers, group_bytes);
    case numpy: return make_npy_encoder(type);
    case mds_folder: return make_mds_encoder(type);
    case raw:
      if (type.text) return make_raw_encoder(type);
      break;
    case text_lines:
      if (type.text) return make_lines_encoder(type);
      break;
    case tfrecords:
      if (type.text) return make_tfrecord_encoder(type);
      break;
    case bagz_records:
      if (type.text) return make_bagz_encoder(type, buffers);
      break;
    case array_records:
      if (type.text) return make_array_record_encoder(type, buffers);
      break;
    case automatic: return invalid_argument_error("a format is needed: the name does not determine it");
  }
  return not_texts(f, type);
}

}  // namespace sluice::lib
