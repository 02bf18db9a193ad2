// SPDX-License-Identifier: Apache-2.0
#include "plan/text/other_words.hpp"

namespace sluice::lib::detail {

namespace {

struct other_word {
  std::string_view name, instead;
};
constexpr other_word kOtherWords[] = {
    {"write", "--output PATH of `sluice run`, or `sluice convert`; in C++ write(rt, dataset, \"PATH\")"},
    {"at", "skip(N) | take(1); in C++ co_await dataset.at(rt, N)"},
    {"cardinality", "what `sluice explain` says beside each stage, or `sluice count`; in C++ dataset.cardinality()"},
    {"element_spec", "`sluice explain --spec`; in C++ dataset.element_spec()"},
    {"options", "with_options(…), or on_error=, order= and others of a call; in C++ dataset.options()"},
    {"apply", "the stages themselves, one after the other; in C++ dataset | apply(function)"},
    {"broadcast", "of C++ alone, where one run has several readers: broadcast(dataset, rt, N)"},
    {"tee", "of C++ alone, where one run has several readers: broadcast(dataset, rt, N), or tee(…)"},
    {"count", "count_elements, or `sluice count`"},
    {"pack", "pack_sequences(length)"},
};

}  // namespace

std::string_view other_word_for(std::string_view name) {
  for (const other_word& w : kOtherWords)
    if (w.name == name) return w.instead;
  return {};
}

}  // namespace sluice::lib::detail
