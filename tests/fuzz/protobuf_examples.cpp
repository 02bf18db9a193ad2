// SPDX-License-Identifier: Apache-2.0
#include "fuzz/protobuf_examples.hpp"

#include <cstring>

#ifdef SLUICE_HAVE_PROTOBUF
#include "example.pb.h"
#endif

namespace sluice::lib::fuzz {

#ifdef SLUICE_HAVE_PROTOBUF

bool have_protobuf() { return true; }

namespace {

/// proto2 only grumbles about names that are not UTF-8.
template <class Message> bool read_message(std::string_view bytes, Message& m) {
  [[maybe_unused]] static auto* const grumble = google::protobuf::SetLogHandler(nullptr);
  return m.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

feature_values values_of(const sluice_test::Feature& f) {
  feature_values v;
  v.kind = static_cast<feature_kind>(f.kind_case());
  v.bytes.assign(f.bytes_list().value().begin(), f.bytes_list().value().end());
  v.floats.assign(f.float_list().value().begin(), f.float_list().value().end());
  v.int64s.assign(f.int64_list().value().begin(), f.int64_list().value().end());
  return v;
}

feature_map values_of(const sluice_test::Features& all) {
  feature_map features;
  for (auto& [name, f] : all.feature()) features[name] = values_of(f);
  return features;
}

}  // namespace

std::optional<feature_map> read_by_protobuf(std::string_view example) {
  sluice_test::Example e;
  if (!read_message(example, e)) return std::nullopt;
  return values_of(e.features());
}

std::optional<sequence_features> read_sequence_by_protobuf(std::string_view record) {
  sluice_test::SequenceExample e;
  if (!read_message(record, e)) return std::nullopt;
  sequence_features all{values_of(e.context()), {}};
  for (auto& [name, list] : e.feature_lists().feature_list()) {
    auto& steps = all.lists[name];
    for (auto& f : list.feature()) steps.push_back(values_of(f));
  }
  return all;
}

#else

bool have_protobuf() { return false; }
std::optional<feature_map> read_by_protobuf(std::string_view) { return std::nullopt; }
std::optional<sequence_features> read_sequence_by_protobuf(std::string_view) { return std::nullopt; }

#endif

// By their bits: a NaN is equal to itself here.
bool same(const feature_values& a, const feature_values& b) {
  return a.kind == b.kind && a.bytes == b.bytes && a.int64s == b.int64s && a.floats.size() == b.floats.size() &&
         (a.floats.empty() || std::memcmp(a.floats.data(), b.floats.data(), a.floats.size() * sizeof(float)) == 0);
}

}  // namespace sluice::lib::fuzz
