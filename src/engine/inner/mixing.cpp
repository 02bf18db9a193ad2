// SPDX-License-Identifier: Apache-2.0
#include "engine/inner/mixing.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "engine/lowering/open_context.hpp"

namespace sluice::lib {

namespace {

constexpr std::uint32_t kChosenAtOnce = 256;
/// After this number of steps without a choice the stage fails, because nothing else ends a stage that reads no input.
constexpr std::uint32_t kStepsWithoutChoiceMax = 10'000;

status never_chosen(const status& last) {
  return failed_precondition_error("no dataset was chosen at " + std::to_string(kStepsWithoutChoiceMax) +
                                   " steps in a row; the last time: " + std::string(last.message()));
}

/// Moves elements of several streams to one place, each from the front of the stream chosen for it.
class chosen_elements {
 public:
  chosen_elements(input_set& in, const element_type& t)
      : in_(in), type_(t), as_bytes_(t.relocatable && t.trivially_destroyed), cursors_(as_bytes_ ? in.size() : 0) {}

  /// Moves the available elements, up to the first whose stream has none ready. Returns their number.
  std::uint32_t move_to(char* to, const std::uint32_t* chosen, std::uint32_t n) {
    if (!as_bytes_) return move_one_by_one(to, chosen, n);
    const std::uint32_t moved = type_.size == 8 ? gather(to, chosen, n, std::integral_constant<std::size_t, 8>())
                                                : gather(to, chosen, n, type_.size);
    for (std::uint32_t i : touched_) in_[i].drop(std::exchange(cursors_[i], {}).taken);
    touched_.clear();
    return moved;
  }

 private:
  /// The elements of a stream that are ready, and the number of them that were moved. None of them is dropped yet.
  struct cursor {
    const char* at = nullptr;
    std::uint32_t left = 0, taken = 0;
  };

  // The next stream cannot be predicted, so a number is copied without a call and without a branch that depends on it.
  template <class Size> std::uint32_t gather(char* to, const std::uint32_t* chosen, std::uint32_t n, Size size) {
    cursor* cursors = cursors_.data();
    for (std::uint32_t k = 0; k != n; ++k, to += size) {
      cursor& from = cursors[chosen[k]];
      if (from.left == 0 && !look(chosen[k])) return k;
      std::memcpy(to, from.at, size);
      from.at += size;
      --from.left;
      ++from.taken;
    }
    return n;
  }
  bool look(std::uint32_t i) {
    if (cursors_[i].taken) return false;
    element_view ready = in_[i].peek();
    if (ready.empty()) return false;
    cursors_[i] = {ready.data(), ready.size(), 0};
    touched_.push_back(i);
    return true;
  }
  std::uint32_t move_one_by_one(char* to, const std::uint32_t* chosen, std::uint32_t n) {
    std::uint32_t k = 0;
    while (k != n && in_[chosen[k]].move_to(to + k * type_.size, 1)) ++k;
    return k;
  }

  input_set& in_;
  const element_type& type_;
  const bool as_bytes_;
  std::vector<cursor> cursors_;
  std::vector<std::uint32_t> touched_;
};

}  // namespace

// Skipped elements are computed, because inputs may end at any of them. The stage waits for a missing element only if
// no other is ready.
erased_stream mixing_loop(outlet out, saved<mixing_state> st, input_set in, mixing_choice choose, bool stop_on_empty,
                          error_gate gate) {
  if (st->ended.empty()) st->ended.resize(in.size());
  if (st->ended.size() != in.size()) co_await fail(damaged_position());
  auto open = static_cast<std::size_t>(std::count(st->ended.begin(), st->ended.end(), 0));
  std::array<std::uint32_t, kChosenAtOnce> chosen{};
  std::uint32_t without_choice = 0;  // steps in a row, since the last element or the start
  std::uint32_t next = 0, have = 0;  // the first unused choice, and the number of choices
  chosen_elements elements(in, out.type());
  while (!st->at_end && open != 0) {
    if (next == have) {
      status why;
      have = static_cast<std::uint32_t>(choose(*st, chosen, why));
      next = 0;
      if (have == 0) {
        if (++without_choice == kStepsWithoutChoiceMax) {
          status located = gate.located(never_chosen(why), st->step);
          co_await fail(std::move(located));
        }
        auto settled = gate.settle(out, why, st->step);
        co_await settled;
        ++st->step;
        co_await out.breath();
        continue;
      }
    }
    const std::uint32_t* from = chosen.data() + next;
    const std::uint32_t most = std::min(out.ask(), have - next);
    char* to = out.room(most);
    std::uint32_t made = elements.move_to(to, from, most);
    without_choice = 0;
    if (made == 0) {
      auto wanted = static_cast<std::uint32_t>(std::count(from, from + most, *from));
      bool there = co_await in[*from].ready({0, wanted, out.wanted_bytes()});
      if (!there) {
        st->ended[*from] = 1;
        --open;
        st->at_end = stop_on_empty;
        next = have = 0;
        continue;
      }
      made = elements.move_to(to, from, most);
    }
    st->step += made;
    st->last = from[made - 1] + 1;
    next += made;
    co_yield out.made(made);
  }
}

}  // namespace sluice::lib
