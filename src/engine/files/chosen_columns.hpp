// SPDX-License-Identifier: Apache-2.0
// Readers that build some of their columns (sluice/engine/column_choice.hpp).
//
//   .type: return chosen_members(*row, a.built, why);
//   .for_columns = arguments_for_columns<csv_arguments>
#pragma once

#include <string>
#include <vector>

#include "plan/codecs/argument_codec.hpp"
#include "sluice/engine/column_choice.hpp"
#include "sluice/format/csv_schema.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib {

template <class T> const codec& codec_of();
template <> const codec& codec_of<column_names>();
template <> const codec& codec_of<run_switch>();  // op/with_options.cpp

/// Returns the structure of the chosen members of `all`, in the order of `all`, or `all` if none are chosen. Returns null,
/// with the reason in `why`, if `all` has no such member or is no structure.
const element_type* chosen_members(const element_type& all, const column_choice& c, std::string& why);

/// Sets the structure, the offsets of the chosen columns, and the use of the others. REQUIRES: chosen_members() accepts.
void choose_columns(csv_schema& schema, const column_choice& c);

/// Adds to `c` what op_info::for_columns requests of a node that yields structures, or batches of them. Returns false,
/// with the reason in `why`, if the node would not report the same errors.
bool narrow_choice(column_choice& c, const node& n, const std::vector<std::string>& names, bool trust,
                   std::string& why);

/// For op_info::for_columns of an operator whose arguments have the member `built`.
template <class A>
arguments arguments_for_columns(const node& n, const std::vector<std::string>& names, bool trust, std::string& why) {
  A a = n.as<A>();
  return narrow_choice(a.built, n, names, trust, why) ? arguments::of(std::move(a)) : n.arguments;
}

}  // namespace sluice::lib
