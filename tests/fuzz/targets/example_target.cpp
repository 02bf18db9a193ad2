// SPDX-License-Identifier: Apache-2.0
// tf.Example on the wire against protobuf: as a map of features, and as the members of structures.
#include <array>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "fuzz/protobuf_examples.hpp"
#include "fuzz/target.hpp"
#include "sluice/element/batched.hpp"
#include "sluice/element/column.hpp"
#include "sluice/format/example.hpp"
#include "sluice/format/example_parser.hpp"

namespace sluice::lib::fuzz {
namespace {

struct lists {
  std::vector<std::string> a;
  std::vector<std::int64_t> b;
  std::vector<float> c;
  std::optional<std::int64_t> d;
};
struct singles {
  std::string a;
  std::int64_t b = 0;
  std::array<float, 2> c{};
  slice e;
};

const feature_values& feature(const feature_map& all, std::string_view name) {
  static const feature_values none;
  auto found = all.find(name);
  return found == all.end() ? none : found->second;
}

void check_lists(std::string_view bytes, const feature_map& want) {
  lists l;
  l.b = {1, 2, 3};  // what was there before goes
  status why = example_schema_of<lists>().parse(bytes, &l);
  auto &a = feature(want, "a"), &b = feature(want, "b"), &c = feature(want, "c"), &d = feature(want, "d");
  bool fits = a.kind == feature_kind::bytes && b.kind == feature_kind::int64s && c.kind == feature_kind::floats &&
              (d.kind == feature_kind::none || (d.kind == feature_kind::int64s && d.int64s.size() == 1));
  expect(why.ok() == fits, "lists: " + why.to_string());
  if (!fits) return expect(why.code() == status_code::invalid_argument, "lists: " + why.to_string());
  expect(l.a == a.bytes && l.b == b.int64s, "lists: other values");
  expect(same({feature_kind::floats, {}, l.c, {}}, {feature_kind::floats, {}, c.floats, {}}), "lists: other floats");
  expect(l.d.has_value() == (d.kind != feature_kind::none) && (!l.d || *l.d == d.int64s[0]), "lists: other optional");
}

void check_singles(std::string_view bytes, const feature_map& want) {
  buffer_ref owner(buffer::make(bytes.size() + 1));
  bytes.copy(owner->data(), bytes.size());
  singles s;
  status why = example_schema_of<singles>().parse({owner->data(), bytes.size()}, &s, owner.get());
  auto &a = feature(want, "a"), &b = feature(want, "b"), &c = feature(want, "c"), &e = feature(want, "e");
  bool fits = a.bytes.size() == 1 && b.int64s.size() == 1 && c.floats.size() == 2 && e.bytes.size() == 1;
  expect(why.ok() == fits, "singles: " + why.to_string());
  if (!fits) return;
  expect(s.a == a.bytes[0] && s.b == b.int64s[0] && s.e.view() == e.bytes[0], "singles: other values");
  expect(same({feature_kind::floats, {}, {s.c[0], s.c[1]}, {}}, {feature_kind::floats, {}, c.floats, {}}),
         "singles: other floats");
}

/// Rows of a batch are what the structs are: in the first row, where no column has room yet, and in the second.
void check_rows(std::string_view bytes) {
  example_parser parser(example_schema_of<lists>());
  lists want;
  status parsed = parser.parse(bytes, &want);
  batch_storage batch;
  column& rows = batch.make_rows(type_of<lists>());
  for (std::size_t row = 0; row != 2; ++row) {
    status why = parser.append_to(rows, bytes);
    expect(why.to_string() == parsed.to_string(), "rows: " + why.to_string() + " instead of " + parsed.to_string());
    expect(rows.rows() == (parsed.ok() ? row + 1 : 0) && rows.is_whole(), "rows: there are too many, or parts of one");
  }
  if (!parsed.ok()) return;
  alignas(lists) char room[2 * sizeof(lists)];
  rows.make(0, 2, room, sizeof(lists));
  auto* got = std::launder(reinterpret_cast<lists*>(room));
  for (std::size_t row = 0; row != 2; ++row) {
    expect(got[row].a == want.a && got[row].b == want.b && got[row].d == want.d, "rows: other values");
    expect(same({feature_kind::floats, {}, got[row].c, {}}, {feature_kind::floats, {}, want.c, {}}),
           "rows: other floats");
  }
  std::destroy_n(got, 2);
}

}  // namespace

void example(std::string_view bytes) {
  check_rows(bytes);
  auto want = read_by_protobuf(bytes);
  auto got = read_example(bytes);
  if (have_protobuf()) {
    expect(got.ok() == want.has_value(), want ? "a sound example is refused" : "a damaged example passes");
    if (want) {
      expect(got->size() == want->size(), "there are other features");
      for (auto& [name, values] : *want) expect(same(feature(*got, name), values), "a feature has other values");
    }
  }
  if (got.ok()) {
    check_lists(bytes, *got);
    check_singles(bytes, *got);
    return;
  }
  expect(got.why().code() == status_code::data_loss, "damage is told as " + got.why().to_string());
  lists l;
  (void)example_schema_of<lists>().parse(bytes, &l);  // may be ok: features nobody asks for are passed over unread
}

}  // namespace sluice::lib::fuzz
