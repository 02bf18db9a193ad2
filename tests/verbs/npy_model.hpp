// SPDX-License-Identifier: Apache-2.0
// What the cases of npy and its tests share.
#pragma once

#include <string>

#include "format/npy_rows.hpp"
#include "sluice/op/npy.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::npy_case {

using namespace test;

/// A header of version 1, as NumPy pads it, or with fewer spaces, so that rows are not aligned.
inline std::string npy_header(const std::string& dict, std::size_t align = 64) {
  std::string text = dict;
  while ((10 + text.size() + 1) % align != 0) text += ' ';
  text += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(text.size() & 0xFF);
  out += static_cast<char>(text.size() >> 8);
  return out + text;
}

}  // namespace sluice::lib::npy_case
