// SPDX-License-Identifier: Apache-2.0
// sluice/format/sequence_schema.hpp, sequence_layout.hpp, sequence_parser.hpp
#include <catch2/catch.hpp>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "sluice/format/sequence_layout.hpp"
#include "sluice/format/sequence_parser.hpp"
#include "support/bytes/sequence_bytes.hpp"
#include "support/bytes/sequence_layouts.hpp"

#ifdef SLUICE_HAVE_PROTOBUF
#include "example.pb.h"
#endif

namespace sluice::lib::sequence_example_test {
using namespace sluice::lib::test;

namespace {

struct clip {
  std::int64_t id = -1;
  std::string name;
};
struct frames {
  std::vector<std::int64_t> label;
  std::vector<std::array<float, 2>> audio;
  std::vector<std::vector<std::int64_t>> tokens;
  std::vector<std::vector<std::string>> notes;
};
using example = sequence_example<clip, frames>;

/// What the tests change a part of.
struct written {
  std::vector<std::string> label{int64_step({4}), int64_step({-5})};
  std::vector<std::string> audio{float_step({0.5f, 1}), float_step({2, 3})};
  std::vector<std::string> tokens{int64_step({1, 2, 300}), int64_step({}), int64_step({7})};
  std::vector<std::string> notes{bytes_step({"a", ""}), bytes_step({})};
  std::string finish() const {
    sequence_bytes w;
    w.context.int64("id", 7).bytes("name", "seven");
    return w.list("tokens", tokens).list("label", label).list("notes", notes).list("audio", audio).finish();
  }
};

status parse(const std::string& bytes, example& to) { return parse_sequence_example_into(slice::copy_of(bytes), to); }
std::string error_of(const std::string& bytes) {
  example e;
  return parse(bytes, e).to_string();
}
void check_written(const example& e) {
  CHECK(e.context.id == 7);
  CHECK(e.context.name == "seven");
  CHECK(e.sequence.label == std::vector<std::int64_t>{4, -5});
  CHECK(e.sequence.audio == std::vector<std::array<float, 2>>{{0.5f, 1}, {2, 3}});
  CHECK(e.sequence.tokens == std::vector<std::vector<std::int64_t>>{{1, 2, 300}, {}, {7}});
  CHECK(e.sequence.notes == std::vector<std::vector<std::string>>{{"a", ""}, {}});
}

constexpr auto kContext = "id: int64, name: bytes";
constexpr auto kSequence = "label: int64, audio: float[2], tokens: int64[], notes: bytes[]";

std::string refusal(const std::string& text) {
  auto layout = sequence_layout_of(text);
  return layout.ok() ? "" : std::string(layout.why().message());
}

}  // namespace

TEST_CASE("a sequence example fills two structs, and they can be filled again") {
  example e;
  REQUIRE(parse(written().finish(), e).ok());
  check_written(e);
  written longer;
  longer.label.assign(9, int64_step({1}));
  longer.tokens.assign(5, int64_step({9, 9, 9, 9}));
  longer.notes.assign(3, bytes_step({"x", "y", "z"}));
  REQUIRE(parse(longer.finish(), e).ok());
  CHECK(e.sequence.label.size() == 9);
  REQUIRE(parse(written().finish(), e).ok());
  check_written(e);
  written empty{{}, {}, {}, {}};
  REQUIRE(parse(empty.finish(), e).ok());
  CHECK((e.sequence.label.empty() && e.sequence.audio.empty() && e.sequence.tokens.empty()));
}

TEST_CASE("texts give the same structures as structs") {
  example e;
  REQUIRE(parse(written().finish(), e).ok());
  std::string typed, json;
  print(type_of<example>(), &e, typed);
  sequence_layouts layouts(kContext, kSequence);
  for (int round = 0; round != 2; ++round) {
    REQUIRE(layouts.parse(written().finish(), json).ok());
    CHECK(json == typed);
  }
  CHECK(sequence_text(sequence_schema_of<frames>()) == kSequence);
}

TEST_CASE("a name may be in the context and in the sequence; structs may have no members") {
  struct both {
    std::int64_t label = 0;
  };
  struct steps {
    std::vector<std::int64_t> label;
  };
  sequence_bytes w;
  w.context.int64("label", 1);
  const record r(slice::copy_of(w.list("label", {int64_step({2})}).finish()));
  auto e = sequence_example_as<both, steps>(r);
  CHECK(e.context.label == 1);
  CHECK(e.sequence.label == std::vector<std::int64_t>{2});
  CHECK(sequence_example_as<no_features, steps>(r).sequence.label.size() == 1);
  CHECK(sequence_example_as<both, no_features>(r).context.label == 1);
  CHECK_THROWS_WITH((sequence_example_as<both, frames>(r)),
                    Catch::Contains("feature list \"label\"") || Catch::Contains("feature list \"audio\" is missing"));
}

TEST_CASE("errors name the feature list and the step") {
  auto with = [](auto change) {
    written w;
    change(w);
    return error_of(w.finish());
  };
  CHECK(with([](written& w) { w.label[1] = int64_step({1, 2}); }) ==
        "invalid_argument: feature list \"label\", step 1: has 2 values, expected 1");
  CHECK(with([](written& w) { w.label[0] = int64_step({}); }) ==
        "invalid_argument: feature list \"label\", step 0: has 0 values, expected 1");
  CHECK(with([](written& w) { w.label[0] = ""; }) ==
        "invalid_argument: feature list \"label\", step 0: has 0 values, expected 1");
  CHECK(with([](written& w) { w.audio[1] = float_step({1}); }) ==
        "invalid_argument: feature list \"audio\", step 1: has 1 value, expected 2");
  CHECK(with([](written& w) { w.audio.assign(40, ""); }) ==
        "invalid_argument: feature list \"audio\", step 0: has 0 values, expected 2");
  CHECK(with([](written& w) { w.tokens[2] = float_step({1}); }) ==
        "invalid_argument: feature list \"tokens\", step 2: holds float values, expected int64: the type float reads "
        "them");
  CHECK(with([](written& w) { w.notes[0] = int64_step({}); }) ==
        "invalid_argument: feature list \"notes\", step 0: holds int64 values, expected bytes: the type int64 reads "
        "them");
  CHECK(with([](written& w) { w.tokens[1] = std::string("\x1a\x02\x0a\x01", 4); }) ==
        "data_loss: the bytes are no tf.SequenceExample: its wire format is damaged");
  sequence_bytes lacks;
  lacks.context.int64("id", 1).bytes("name", "");
  CHECK(error_of(lacks.list("label", {}).finish()) == "invalid_argument: feature list \"audio\" is missing");
  CHECK(error_of(lacks.finish()) == "invalid_argument: context feature \"id\" is missing");
  lacks.context.bytes("id", "1");
  CHECK(error_of(lacks.finish()) ==
        "invalid_argument: context feature \"id\" holds bytes values, expected int64: the type string reads them");
  CHECK(error_of("") == "invalid_argument: context feature \"id\" is missing");
  CHECK(error_of("no example") == "data_loss: the bytes are no tf.SequenceExample: its wire format is damaged");
}

TEST_CASE("a step without a kind has no values, and a list that may be missing no steps") {
  sequence_layouts layouts("", "tokens: int64[]?, label: int64?, audio: float[3]?, notes: bytes[2]?");
  sequence_bytes w;
  std::string json;
  REQUIRE(layouts
              .parse(w.list("tokens", {"", int64_step({1})})
                         .list("label", {int64_step({1})})
                         .list("audio", {float_step({1, 2, 3}), float_step({4, 5, 6})})
                         .list("notes", {bytes_step({"a", "b"})})
                         .finish(),
                     json)
              .ok());
  CHECK(
      json ==
      R"({"context":{},"sequence":{"tokens":[[],[1]],"label":[1],"audio":[[1.0,2.0,3.0],[4.0,5.0,6.0]],"notes":[["a","b"]]}})");
  for (const std::string& bytes : {std::string(), w.finish()}) {
    REQUIRE(layouts.parse(bytes, json).ok());
    CHECK(json == R"({"context":{},"sequence":{"tokens":[],"label":[],"audio":[],"notes":[]}})");
  }
  auto some = sequence_schema_of<frames>().with_missing({"audio"});
  CHECK(sequence_text(some) == "label: int64, audio: float[2]?, tokens: int64[], notes: bytes[]");
  CHECK_THROWS_WITH(some.with_missing({"frames"}), Catch::Contains("there is no feature list \"frames\""));
}

TEST_CASE("the last entry of a feature list's key counts, and its parts merge") {
  sequence_layouts layouts("", "tokens: int64[]");
  std::string json;
  sequence_bytes w;
  auto sequence = [&](const std::string& bytes) {
    status why = layouts.parse(bytes, json);
    return why.ok() ? json : why.to_string();
  };
  auto steps = [](const std::string& step) { return wire_field(2, wire_field(1, step)); };
  std::string one = w.list("tokens", {int64_step({1})}).finish(), two = w.list("tokens", {int64_step({2})}).finish();
  CHECK(sequence(one + two) == R"({"context":{},"sequence":{"tokens":[[2]]}})");
  w.list("tokens", {float_step({1})});  // replaced, so that it may be of another kind
  CHECK(sequence(w.list("tokens", {int64_step({3})}).finish()) == R"({"context":{},"sequence":{"tokens":[[3]]}})");
  w.entry(wire_field(1, "tokens") + steps("\x1a\x05"));  // replaced, and damaged all the same
  CHECK(sequence(w.list("tokens", {}).finish()).starts_with("data_loss"));
  w.entry(steps(int64_step({1})) + wire_field(1, "tokens") + steps(int64_step({2})));  // one list in two pieces
  CHECK(sequence(w.finish()) == R"({"context":{},"sequence":{"tokens":[[1],[2]]}})");
  w.entry(wire_field(1, "tokens"));  // no list: no steps
  CHECK(sequence(w.finish()) == R"({"context":{},"sequence":{"tokens":[]}})");
  // Of a step the last kind counts, and pieces of one list append.
  w.list("tokens",
         {float_step({1}) + int64_step({1}) + int64_step({2, 3}), int64_step({4}) + float_step({}) + int64_step({5})});
  CHECK(sequence(w.finish()) == R"({"context":{},"sequence":{"tokens":[[1,2,3],[5]]}})");
  w.list("tokens", {wire_field(3, std::string("\x08\x06\x0a\x02\x07\x08", 6))});  // numbers that are not packed
  CHECK(sequence(w.finish()) == R"({"context":{},"sequence":{"tokens":[[6,7,8]]}})");
}

TEST_CASE("contexts are merged at any place") {
  sequence_layouts layouts("a: int64, b: int64", "tokens: int64[]");
  sequence_bytes w;
  w.context.int64("a", 1);
  std::string first = w.list("tokens", {int64_step({1})}).finish();
  w.context.int64("b", 2).int64("a", 3);
  std::string json;
  REQUIRE(layouts.parse(first + w.finish(), json).ok());
  CHECK(json == R"({"context":{"a":3,"b":2},"sequence":{"tokens":[[1]]}})");
}

TEST_CASE("slices of steps share the record's buffer") {
  struct views {
    std::vector<slice> text;
    std::vector<std::vector<slice>> more;
  };
  sequence_bytes w;
  const record r(slice::copy_of(
      w.list("text", {bytes_step({"shared"})}).list("more", {bytes_step({"a", "b"}), bytes_step({})}).finish()));
  auto e = sequence_example_as<no_features, views>(r);
  CHECK(e.sequence.text[0].view() == "shared");
  CHECK(e.sequence.text[0].owner() == r.owner());
  CHECK(e.sequence.more[0][1].view() == "b");
  CHECK(e.sequence.more[1].empty());
}

TEST_CASE("a record cut short or damaged never gives values it does not hold") {
  const std::string bytes = written().finish();
  example expected;
  REQUIRE(parse(bytes, expected).ok());
  for (std::size_t n = 0; n != bytes.size(); ++n) {
    example e;
    CAPTURE(n);
    REQUIRE_FALSE(parse(bytes.substr(0, n), e).ok());
  }
}

TEST_CASE("lengths that the bytes do not hold take no memory") {
  // A megabyte of steps without values, each of which would take 4 MiB or 8 MiB.
  const std::string empty(1 << 20, '\0');
  std::string forged;
  for (std::size_t i = 0; i != empty.size() / 2; ++i) forged.append("\x0a\x00", 2);
  sequence_bytes w;
  const std::string bytes = w.entry(wire_field(1, "x") + wire_field(2, forged)).finish();
  std::string json;
  for (const char* kind : {"float", "int64", "bytes"}) {
    sequence_layouts layouts("", std::string("x: ") + kind + "[100000]");
    CHECK(layouts.parse(bytes, json).to_string() ==
          "invalid_argument: feature list \"x\", step 0: has 0 values, expected 100000");
  }
  // A packed list that says it is longer than all the bytes.
  std::string promise("\x1a\xff\xff\xff\x7f\x0a\xff\xff\xff\x7f\x01", 11);
  sequence_layouts any("", "x: int64[]");
  CHECK(any.parse(w.list("x", {promise}).finish(), json).code() == status_code::data_loss);
}

TEST_CASE("a sequence's text is read back, and an error names the feature list") {
  auto layout = sequence_layout_of(" image/encoded :bytes,n:int64 [ 3 ]?, f : float[] ?,b: int64 ? , c: bytes[1]");
  REQUIRE(layout.ok());
  CHECK(sequence_text(layout->schema) == "image/encoded: bytes, n: int64[3]?, f: float[]?, b: int64?, c: bytes[1]");
  CHECK(sequence_layout_of("").value().schema.slots().empty());
  CHECK(refusal("a") == "expected a feature list such as label: int64, and found \"a\"");
  CHECK(refusal("a: int64,") == "expected a feature list such as label: int64, and found \"\"");
  CHECK(refusal("a: byte") ==
        "feature list a: expected bytes, int64 or float, then nothing, [] or [16], then ? if it may be missing, and "
        "found \"byte\"");
  for (std::string shape : {"[0]", "[-1]", "[x]", "[3", "??", "?[]", "[", "[99999999999999999999]", "[1000000000]"})
    CHECK(refusal("a: float" + shape).find("found \"float" + shape + "\"") != std::string::npos);
  CHECK(refusal("a: int64, a: bytes") == "feature list a appears twice");
}

#ifdef SLUICE_HAVE_PROTOBUF
TEST_CASE("we read protobuf's output in any order, with unknown features") {
  unsigned seed = 37;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  sequence_parser parser(example_schema_of<clip>(), sequence_schema_of<frames>());
  example e;
  for (int round = 0; round != 2'000; ++round) {
    sluice_test::SequenceExample m;
    example want;
    auto number = [&] { return static_cast<std::int64_t>(random() >> random() % 64); };
    auto& context = *m.mutable_context()->mutable_feature();
    context["id"].mutable_int64_list()->add_value(want.context.id = number());
    context["name"].mutable_bytes_list()->add_value(want.context.name = std::string(random() % 200, 'n'));
    auto& lists = *m.mutable_feature_lists()->mutable_feature_list();
    for (const char* name : {"label", "audio", "tokens", "notes"}) lists[name];
    for (unsigned n = random() % 5; n != 0; --n)
      lists["label"].add_feature()->mutable_int64_list()->add_value(want.sequence.label.emplace_back(number()));
    for (unsigned n = random() % 5; n != 0; --n) {
      auto& step = want.sequence.audio.emplace_back();
      auto* feature = lists["audio"].add_feature();
      for (float& f : step) feature->mutable_float_list()->add_value(f = static_cast<float>(number()));
    }
    for (unsigned n = random() % 5; n != 0; --n) {
      auto& step = want.sequence.tokens.emplace_back();
      auto* feature = lists["tokens"].add_feature();
      for (unsigned k = random() % 9; k != 0; --k)
        feature->mutable_int64_list()->add_value(step.emplace_back(number()));
    }
    for (unsigned n = random() % 5; n != 0; --n) {
      auto& step = want.sequence.notes.emplace_back();
      auto* feature = lists["notes"].add_feature();
      for (unsigned k = random() % 4; k != 0; --k)
        feature->mutable_bytes_list()->add_value(step.emplace_back(random() % 300, 't'));
    }
    if (random() % 2) lists["other"].add_feature()->mutable_float_list()->add_value(1);
    if (random() % 2) context["other"];
    REQUIRE(parser.parse(m.SerializeAsString(), &e.context, &e.sequence).to_string() == status().to_string());
    REQUIRE(e.context.id == want.context.id);
    REQUIRE(e.context.name == want.context.name);
    REQUIRE(e.sequence.label == want.sequence.label);
    REQUIRE(e.sequence.audio == want.sequence.audio);
    REQUIRE(e.sequence.tokens == want.sequence.tokens);
    REQUIRE(e.sequence.notes == want.sequence.notes);
  }
}
#endif

}  // namespace sluice::lib::sequence_example_test
