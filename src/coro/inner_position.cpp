// SPDX-License-Identifier: Apache-2.0
#include "coro/inner_position.hpp"

#include <memory>

namespace sluice::lib {

void save_inner(position_writer& w, erased_stream& in, const std::string& restored) {
  if (!in) return w.text(restored);
  auto inner = std::make_shared<position_writer>();
  in.position(*inner);
  w.blob(std::move(inner));
}

}  // namespace sluice::lib
