// SPDX-License-Identifier: Apache-2.0
// Checkpoints made by hand, with the checksum that their bytes should have.
#pragma once

#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>

#include "sluice/base/crc32c.hpp"
#include "sluice/coro/position.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::testing {

inline constexpr std::size_t kEnvelopeBytes = 7 + 8 + 8 + 1 + 1;  // before the position (src/pipeline/seal.hpp)

/// Where the position begins: after the epoch, the inputs seen and the identities of functions.
inline std::size_t position_begin(std::string_view bytes) {
  position_reader header(bytes.substr(kEnvelopeBytes - 1));
  header.number();
  header.text();
  header.text();
  return bytes.size() - header.remaining().size();
}

inline std::string sealed_again(std::string bytes) {
  std::uint32_t crc = crc32c(std::string_view(bytes).substr(0, bytes.size() - 4));
  std::memcpy(bytes.data() + bytes.size() - 4, &crc, sizeof crc);
  return bytes;
}

/// A checkpoint of `ds` with another position than its first.
template <class T> checkpoint with_position(runtime& rt, const dataset<T>& ds, const position_writer& forged) {
  auto first = ds.iterate(rt);
  checkpoint c = first.position();
  c.bytes.resize(position_begin(c.bytes));
  c.bytes = sealed_again(c.bytes + forged.bytes() + "****");
  return c;
}

/// The record of a stage that has nothing to pass over: see coro/position.hpp.
inline void put(position_writer& w, const node& stage, std::uint64_t ordinal,
                std::initializer_list<std::uint64_t> saved) {
  position_writer body;
  body.number(ordinal);
  body.number(0);
  for (std::uint64_t n : saved) body.number(n);
  w.raw(&stage.site, sizeof stage.site);
  w.text(body.bytes());
}

}  // namespace sluice::lib::testing
