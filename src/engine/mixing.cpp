// SPDX-License-Identifier: Apache-2.0
#include "engine/mixing.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/open_context.hpp"

namespace sluice::lib {

namespace {

constexpr std::uint32_t kChosenAtOnce = 256;

}  // namespace

// Elements to be passed over are made: inputs may end at any of them. One that is not there is waited for only where nothing
// else is ready.
erased_stream mixing_loop(outlet out, saved<mixing_state> st, input_set in, mixing_choice choose, bool stop_on_empty) {
  if (st->ended.empty()) st->ended.resize(in.size());
  if (st->ended.size() != in.size()) co_await fail(damaged_position());
  const std::size_t element_bytes = out.type().size;
  std::size_t open = static_cast<std::size_t>(std::count(st->ended.begin(), st->ended.end(), 0));
  std::array<std::uint32_t, kChosenAtOnce> chosen{};
  while (!st->at_end && open != 0) {
    const std::span<std::uint32_t> all(chosen.data(), std::min(out.ask(), kChosenAtOnce));
    const auto most = static_cast<std::uint32_t>(choose(*st, all));
    char* to = out.room(most);
    std::uint32_t made = 0;
    while (made != most) {
      const std::uint32_t i = chosen[made];
      erased_stream& from = in[i];
      if (from.left() == 0) {
        if (made) break;
        auto wanted = static_cast<std::uint32_t>(std::count(chosen.begin(), chosen.begin() + most, i));
        bool there = co_await from.ready({0, wanted, out.wanted_bytes()});
        if (!there) {
          st->ended[i] = 1;
          --open;
          st->at_end = stop_on_empty;
          break;
        }
      }
      from.move_to(to + made * element_bytes, 1);
      ++made;
      ++st->step;
      st->last = i + 1;
    }
    if (made) co_yield out.made(made);
  }
}

}  // namespace sluice::lib
