// SPDX-License-Identifier: Apache-2.0
// tf.SequenceExample on the wire against protobuf: as structs, and as structures made from texts.
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "fuzz/protobuf_examples.hpp"
#include "fuzz/target.hpp"
#include "sluice/format/sequence_parser.hpp"
#include "support/bytes/sequence_layouts.hpp"

namespace sluice::lib::fuzz {
namespace {

struct context_part {
  std::optional<std::int64_t> a;
  std::vector<std::string> b;
};
/// One of each shape and kind; the names are short, so that mutations reach them.
struct steps_part {
  std::vector<std::int64_t> a;
  std::vector<std::array<float, 2>> b;
  std::vector<std::vector<std::int64_t>> c;
  std::vector<std::vector<std::string>> d;
};
struct other_part {
  std::vector<slice> a;
  std::vector<std::vector<float>> b;
  std::vector<std::array<std::int64_t, 3>> c;
  std::vector<std::array<std::string, 1>> d;
};

const feature_values& feature(const feature_map& all, std::string_view name) {
  static const feature_values none;
  auto found = all.find(name);
  return found == all.end() ? none : found->second;
}

bool context_fits(const feature_map& context) {
  auto &a = feature(context, "a"), &b = feature(context, "b");
  return (a.kind == feature_kind::none || (a.kind == feature_kind::int64s && a.int64s.size() == 1)) &&
         b.kind == feature_kind::bytes;
}

bool steps_fit(const sequence_slot& slot, const sequence_features& want) {
  auto found = want.lists.find(slot.name);
  if (found == want.lists.end()) return !slot.required;
  for (auto& v : found->second) {
    const std::size_t count = v.bytes.size() + v.floats.size() + v.int64s.size();
    if (v.kind != slot.kind && v.kind != feature_kind::none) return false;
    if (slot.length != sequence_slot::kAny && slot.length != count) return false;
  }
  return true;
}

// The values of a step, whatever its type.
void add(feature_values& to, std::int64_t v) { to.int64s.push_back(v); }
void add(feature_values& to, float v) { to.floats.push_back(v); }
void add(feature_values& to, const std::string& v) { to.bytes.push_back(v); }
void add(feature_values& to, const slice& v) { to.bytes.emplace_back(v.view()); }
template <class V> void add(feature_values& to, const std::vector<V>& all) {
  for (auto& v : all) add(to, v);
}
template <class V, std::size_t N> void add(feature_values& to, const std::array<V, N>& all) {
  for (auto& v : all) add(to, v);
}

template <class Step>
void compare(const std::vector<Step>& got, const std::vector<feature_values>& want, const std::string& name) {
  expect(got.size() == want.size(), name + ": another number of steps");
  for (std::size_t i = 0; i != got.size(); ++i) {
    feature_values v;
    v.kind = want[i].kind;
    add(v, got[i]);
    expect(same(v, want[i]), name + ": a step has other values");
  }
}

/// The buffer is as long as the record, so that a byte too many is seen.
template <class Sequence> void check(std::string_view bytes, const std::optional<sequence_features>& want) {
  buffer_ref owner(buffer::make(bytes.size() + 1));
  bytes.copy(owner->data(), bytes.size());
  sequence_example<context_part, Sequence> e;
  e.sequence.a.resize(3);  // what was there before goes
  const sequence_schema schema = sequence_schema_of<Sequence>().with_missing({"d"});
  sequence_parser parser(example_schema_of<context_part>(), schema);
  for (int round = 0; round != 2; ++round) {
    status why = parser.parse({owner->data(), bytes.size()}, &e.context, &e.sequence, owner.get());
    if (!want) {  // it may be ok all the same: features nobody asks for are passed over unread
      expect(why.ok() || !have_protobuf() || why.code() == status_code::data_loss ||
                 why.code() == status_code::invalid_argument,
             why.to_string());
      continue;
    }
    bool fits = context_fits(want->context);
    for (const sequence_slot& slot : schema.slots()) fits = fits && steps_fit(slot, *want);
    expect(why.ok() == fits,
           "a record " + std::string(fits ? "that fits is refused: " : "passes that does not fit") + why.to_string());
    if (!fits) {
      expect(why.code() == status_code::invalid_argument, "a sound record: " + why.to_string());
      continue;
    }
    auto& a = feature(want->context, "a");
    expect(e.context.a.has_value() == (a.kind != feature_kind::none) && (!e.context.a || *e.context.a == a.int64s[0]) &&
               e.context.b == feature(want->context, "b").bytes,
           "the context has other values");
    with_members(e.sequence, [&](auto&... members) {
      std::size_t i = 0;
      auto compare_next = [&](auto& member) {
        const std::string& name = schema.slots()[i++].name;
        auto found = want->lists.find(name);
        compare(member, found == want->lists.end() ? std::vector<feature_values>() : found->second, name);
      };
      (compare_next(members), ...);
    });
  }
}

/// A structure made from texts is the struct.
void check_layouts(std::string_view bytes) {
  static test::sequence_layouts layouts("a: int64?, b: bytes[]", "a: int64, b: float[2], c: int64[], d: bytes[]?");
  static const sequence_schema schema = sequence_schema_of<steps_part>().with_missing({"d"});
  sequence_example<context_part, steps_part> e;
  status why = sequence_parser(example_schema_of<context_part>(), schema).parse(bytes, &e.context, &e.sequence);
  std::string json, typed;
  status again = layouts.parse(bytes, json);
  expect(again.to_string() == why.to_string(), "by texts: " + again.to_string() + " instead of " + why.to_string());
  print(type_of<sequence_example<context_part, steps_part>>(), &e, typed);  // valid after an error, too
  expect(!why.ok() || json == typed, "by texts: " + json + " instead of " + typed);
}

}  // namespace

void sequence_example(std::string_view bytes) {
  auto want = read_sequence_by_protobuf(bytes);
  check<steps_part>(bytes, want);
  check<other_part>(bytes, want);
  check_layouts(bytes);
}

}  // namespace sluice::lib::fuzz
