// SPDX-License-Identifier: Apache-2.0
// parse_sequence_example: records that contain tf.SequenceExamples become structures.
//
//   struct clip { std::int64_t id; std::string name; };                                   // the context's features
//   struct frames { std::vector<std::int64_t> label; std::vector<std::vector<std::int64_t>> tokens; };    // the feature lists
//   records | parse_sequence_example<clip, frames>()
//   records | parse_sequence_example<clip, frames>({.parallelism = autotune, .may_be_missing = {"tokens"}})
//
// In plan text both are written as text, and the structure is built at run time:
//
//   parse_sequence_example(context="id: int64, name: bytes", sequence="tokens: int64[], audio: float[128], label: int64")
//
// Shape:  a structure of two members: `context`, with the context's members, and `sequence`, with a list of steps for
//         each feature list; in C++ a sequence_example<clip, frames>. format/example_schema.hpp (context) and
//         format/sequence_schema.hpp list the types that members may have; format/example_layout.hpp and
//         format/sequence_layout.hpp describe the texts. A step is one value (`label: int64`), a fixed number of values
//         (`audio: float[128]`, an array), or any number of values (`tokens: int64[]`, a list). Either part may be
//         omitted; in C++ an omitted part is no_features. A typed stage prints as its schemas, and reads back as a
//         structure with the same members. A feature list that may be missing (`label: int64?`, `.may_be_missing`) has
//         no steps if it is missing.
// Order:  as for map; so are Ends, Cancel, Thread and State.
// Errors: data_loss: a record is not a tf.SequenceExample. invalid_argument, with the name of the feature or feature
//         list: it is missing, has another type, or has another number of values; for a feature list the message also
//         names the step. Under error_policy::skip the record is dropped and counted. invalid_argument, when the plan
//         is built: .may_be_missing names no member.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sluice/base/shared_ref.hpp"
#include "sluice/engine/map_options.hpp"
#include "sluice/format/sequence_schema.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info parse_sequence_example_op;

/// The features of a context: written as text, from which the structure is built, or the features of a structure of the
/// program, which print as text.
struct context_schema_arg {
  std::string text{};
  const element_type* type = nullptr;         ///< the type of the whole structure; null: it is built from the texts
  shared_ref<const example_schema> schema{};  ///< the schema of its member `context`
  context_schema_arg() = default;
  context_schema_arg(std::string t) : text(std::move(t)) {}  // NOLINT: a schema is written as a text
  context_schema_arg(const element_type& whole, const example_schema& s);
};

/// The feature lists of a sequence, in the same two forms.
struct sequence_schema_arg {
  std::string text{};
  const element_type* type = nullptr;
  shared_ref<const sequence_schema> schema{};  ///< the schema of its member `sequence`
  sequence_schema_arg() = default;
  sequence_schema_arg(std::string t) : text(std::move(t)) {}  // NOLINT
  sequence_schema_arg(const element_type& whole, sequence_schema s);
};

struct parse_sequence_example_options {
  context_schema_arg context = {};      ///< the context's features and their types
  sequence_schema_arg sequence = {};    ///< the feature lists and the types of their steps
  knob_up_to<65'536> parallelism = {};  ///< blocks parsed at once; more than 1 works ahead
  /// sloppy: results are delivered in the order in which calls finish
  sluice::lib::order order = order::deterministic;
};
struct parse_sequence_example_arguments {
  parse_sequence_example_options options = {};
};

/// The options in C++, where two structs give the schema.
struct sequence_example_options {
  knob_up_to<65'536> parallelism = {};              ///< as above
  sluice::lib::order order = order::deterministic;  ///< as above
  std::vector<std::string> may_be_missing = {};     ///< feature lists that have no steps if the record lacks them
};

template <class Context, class Sequence> class parse_sequence_example_verb : public stage_base_tag {
 public:
  using parsed = sequence_example<Context, Sequence>;
  explicit parse_sequence_example_verb(sequence_example_options o) : options_(std::move(o)) {}
  template <class In> auto apply(const dataset<In>& in) const {
    if constexpr (detail::is_text<In>) {
      parse_sequence_example_options o{
          {type_of<parsed>(), example_schema_of<Context>()},
          {type_of<parsed>(), sequence_schema_of<Sequence>().with_missing(options_.may_be_missing)},
          options_.parallelism,
          options_.order};
      return dataset<parsed>(parse_sequence_example_op, arguments::of(parse_sequence_example_arguments{std::move(o)}),
                             in.plan());
    } else {
      static_assert(detail::element_is<In>::template taken_by<parse_sequence_example_verb>,
                    "parse_sequence_example: expects records (or strings) that hold tf.SequenceExamples");
      return dataset<refused>();
    }
  }

 private:
  sequence_example_options options_;
};

/// `Context` has a member for each feature; `Sequence` has a std::vector for each feature list.
template <reflectable Context, reflectable Sequence>
parse_sequence_example_verb<Context, Sequence> parse_sequence_example(sequence_example_options o = {}) {
  return parse_sequence_example_verb<Context, Sequence>(std::move(o));
}

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::parse_sequence_example;

}  // namespace sluice
