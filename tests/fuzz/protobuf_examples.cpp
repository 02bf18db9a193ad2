// SPDX-License-Identifier: Apache-2.0
#include "fuzz/protobuf_examples.hpp"

#include <cstring>

#ifdef SLUICE_HAVE_PROTOBUF
#include "example.pb.h"
#endif

namespace sluice::lib::fuzz {

#ifdef SLUICE_HAVE_PROTOBUF

bool have_protobuf() { return true; }

std::optional<feature_map> read_by_protobuf(std::string_view example) {
  // proto2 only grumbles about names that are not UTF-8.
  [[maybe_unused]] static auto* const grumble = google::protobuf::SetLogHandler(nullptr);
  sluice_test::Example e;
  if (!e.ParseFromArray(example.data(), static_cast<int>(example.size()))) return std::nullopt;
  feature_map features;
  for (auto& [name, f] : e.features().feature()) {
    feature_values& v = features[name];
    v.kind = static_cast<feature_kind>(f.kind_case());
    v.bytes.assign(f.bytes_list().value().begin(), f.bytes_list().value().end());
    v.floats.assign(f.float_list().value().begin(), f.float_list().value().end());
    v.int64s.assign(f.int64_list().value().begin(), f.int64_list().value().end());
  }
  return features;
}

#else

bool have_protobuf() { return false; }
std::optional<feature_map> read_by_protobuf(std::string_view) { return std::nullopt; }

#endif

// By their bits: a NaN is equal to itself here.
bool same(const feature_values& a, const feature_values& b) {
  return a.kind == b.kind && a.bytes == b.bytes && a.int64s == b.int64s && a.floats.size() == b.floats.size() &&
         (a.floats.empty() || std::memcmp(a.floats.data(), b.floats.data(), a.floats.size() * sizeof(float)) == 0);
}

}  // namespace sluice::lib::fuzz
