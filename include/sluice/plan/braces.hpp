// SPDX-License-Identifier: Apache-2.0
// SLUICE_OPTIONS_IN_BRACES: the message for an option that is not in braces, as in batch(4, true).
#pragma once

#include <type_traits>
#include <utility>

namespace sluice::lib::detail {

/// Always false; the condition of the static_assert.
template <class Option> inline constexpr bool options_stand_in_braces = false;

}  // namespace sluice::lib::detail

/// Declares the overload of VERB(ARGUMENT, OPTIONS) that a compiler chooses if the second argument has another type.
/// EXAMPLE shows the call as it should be. RESULT: what VERB returns.
#define SLUICE_OPTIONS_IN_BRACES(RESULT, VERB, ARGUMENT, OPTIONS, EXAMPLE)        \
  template <class Option>                                                         \
    requires(!std::is_convertible_v<Option, OPTIONS>)                             \
  RESULT VERB(ARGUMENT argument, Option) {                                        \
    static_assert(::sluice::lib::detail::options_stand_in_braces<Option>,         \
                  #VERB ": options stand in braces, with their names: " EXAMPLE); \
    return VERB(std::move(argument));                                             \
  }
/// The same for a verb whose first argument is a function of any type F.
#define SLUICE_FUNCTION_OPTIONS_IN_BRACES(RESULT, VERB, OPTIONS, EXAMPLE)         \
  template <class F, class Option>                                                \
    requires(!std::is_convertible_v<Option, OPTIONS>)                             \
  RESULT VERB(F f, Option) {                                                      \
    static_assert(::sluice::lib::detail::options_stand_in_braces<Option>,         \
                  #VERB ": options stand in braces, with their names: " EXAMPLE); \
    return VERB(std::move(f));                                                    \
  }
