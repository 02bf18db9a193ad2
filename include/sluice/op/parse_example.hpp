// SPDX-License-Identifier: Apache-2.0
// parse_example: records that contain tf.Examples become structures.
//
//   struct review { std::string text; std::int64_t label; std::array<float, 16> values; };
//   records | parse_example<review>()                      // the members' names are the features' names
//   records | parse_example<review>({.parallelism = autotune})
//   records | batch(1024) | parse_example<review>({.parallelism = autotune})    // the faster form: batched<review>
//
// A schema's text (format/example_layout.hpp) gives other names of features, defaults, and the shapes of members that
// are tensors; members that the text does not name are read as their C++ types say:
//
//   struct picture { tensor pixels; std::int64_t label; };
//   records | parse_example<picture>("pixels = 'image/raw': float[28,28], label: int64 = -1")
//
// In plan text the schema is written as a text, and the structure is made at run time:
//
//   parse_example("text: bytes, label: int64, values: float[16]")
//
// With packing=pack, a record is checked and becomes a packed row: a text in a format of this process, with the values of
// the schema's members only. packing=unpack builds the structure. `sluice explain` shows where the planner has split a
// parse_example in this way (docs/optimizer.md):
//
//   parse_example("text: bytes", pack) | shuffle(1000) | parse_example("text: bytes", unpack) | batch(64)
//
// Shape:  a structure. From a batch of records, a batch with the same number of structures, equal to what parse_example
//         | batch yields: one call for each batch writes its columns without structures in between; tensors stack. A
//         length that follows from the number of values (float[?,3]) is then the longest of the batch: shorter tensors
//         are padded with zeros or empty texts. format/example_schema.hpp lists the types that members may have;
//         format/example_layout.hpp describes the text of a schema. A typed stage prints as its schema, and reads back
//         as a structure with the same members. From single records, a directly following batch
//         gets its rows written in the same way.
// Order:  as for map; so are Ends, Cancel, Thread and State.
// Errors: data_loss: a record is not a tf.Example. invalid_argument, with the feature's name: a feature is missing, has
//         another type, or has another number of values. For a batch the message names the row. Under
//         error_policy::skip the record is dropped and counted. For a batch the whole batch is dropped with all its
//         rows; put batch after parse_example to lose the record only. data_loss from packing=unpack: a row is not a
//         packed row of the schema.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "sluice/base/shared_ref.hpp"
#include "sluice/element/batched.hpp"
#include "sluice/engine/column_choice.hpp"
#include "sluice/engine/map_options.hpp"
#include "sluice/format/example_schema.hpp"
#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info parse_example_op;

/// A schema: written as text, from which the structure is built, or the schema of a structure of the program, which
/// prints as text.
struct example_schema_arg : required_text {
  const element_type* type = nullptr;         ///< null: the structure is built from the text
  shared_ref<const example_schema> schema{};  ///< the schema of `type`
  example_schema_arg() = default;
  example_schema_arg(std::string text) : required_text(std::move(text)) {}  // NOLINT: a schema is written as a text
  example_schema_arg(const element_type& t, example_schema s);
};

/// Parsing in two steps, which the planner writes into plans: the first one checks records, the second one builds structures.
enum class example_packing : std::uint8_t {
  none,    ///< records, or batches of them, become structures
  pack,    ///< a record becomes a text, with the members of the schema in few bytes: a packed row
  unpack,  ///< a packed row of the same schema becomes a structure
};

struct parse_example_arguments {
  example_schema_arg schema = {};  ///< the members and their types
  example_packing packing = example_packing::none;
  map_options options = {};
  column_choice built = {};
};

namespace detail {
template <class T> inline constexpr bool is_batch_of_texts = false;
template <class T> inline constexpr bool is_batch_of_texts<batched<T>> = is_text<T>;
}  // namespace detail

namespace detail {
/// Errors: throws.
shared_ref<const example_schema> of_text(const element_type& type, const example_schema& own, std::string_view schema);
}  // namespace detail

template <class T> class parse_example_verb : public stage_base_tag {
 public:
  explicit parse_example_verb(map_options o) : options_(o) {}
  /// Errors: as schema_of (format/example_layout.hpp).
  parse_example_verb(std::string_view schema, map_options o)
      : schema_(detail::of_text(type_of<T>(), example_schema_of<T>(), schema)), options_(o) {}
  template <class In> auto apply(const dataset<In>& in) const {
    if constexpr (detail::is_text<In>) {
      return dataset<T>(stage_on(in.plan()));
    } else if constexpr (detail::is_batch_of_texts<In>) {
      static_assert(stackable<T>, "parse_example: a member of the structure cannot be stacked in a batch");
      return dataset<batched<T>>(stage_on(in.plan()));
    } else {
      static_assert(detail::element_is<In>::template taken_by<parse_example_verb>,
                    "parse_example: expects records (or strings) that hold tf.Examples, or batches of them");
      return dataset<refused>();
    }
  }

 private:
  node_ptr stage_on(const node_ptr& in) const {
    parse_example_arguments a{example_schema_arg(type_of<T>(), schema_ ? *schema_ : example_schema_of<T>()),
                              example_packing::none, options_};
    return make_stage(parse_example_op, arguments::of(std::move(a)), in);
  }
  shared_ref<const example_schema> schema_{};  ///< null: the schema of T
  map_options options_;
};

template <reflectable T> parse_example_verb<T> parse_example(map_options o = {}) {
  static_assert(!has_tensor_members<T>,
                "parse_example: a member is a tensor, whose shape no C++ type says: write "
                "parse_example<sample>(\"image: float[28,28]\")");
  return parse_example_verb<T>(o);
}
/// `schema` adds to what the members' types say. Errors: throws invalid_argument, with the column and the feature.
template <reflectable T> parse_example_verb<T> parse_example(std::string_view schema, map_options o = {}) {
  return parse_example_verb<T>(schema, o);
}
SLUICE_TYPED_OPTIONS_IN_BRACES(parse_example_verb<T>, parse_example, map_options,
                               "parse_example<T>({.parallelism = 4})")
SLUICE_TYPED_OPTIONS_IN_BRACES(parse_example_verb<T>, parse_example, map_options,
                               "parse_example<T>(schema, {.parallelism = 4})", std::string_view)

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::parse_example;

}  // namespace sluice
