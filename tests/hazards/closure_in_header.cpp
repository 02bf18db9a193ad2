// SPDX-License-Identifier: Apache-2.0
// A lambda as a template argument in a header is another type in every file that includes it: the address of "the same"
// object differs, without a warning, on both compilers. As the initialiser of an inline constexpr object it is one.
#include "closure_in_header.hpp"
#include "trace.hpp"

int main() { return verdict(here() == there(), "the two files have different objects"); }
