// SPDX-License-Identifier: Apache-2.0
#include "ahead/admission.hpp"

#include "sluice/runtime/ledger.hpp"

namespace sluice::lib {

void admission::grant_anyway(charge expected) {
  begin_guess(expected);
  charged_.bytes = memory_.ledger().charge_up_to(expected.bytes, memory_.line());
  is_granted_ = true;
  end_guess(expected);
}

bool admission::grant_if_it_fits(charge expected, const std::weak_ptr<room_waiter>& waiter) {
  begin_guess(expected);
  memory_ledger& ledger = memory_.ledger();
  is_granted_ = waits_for_room_ ? ledger.try_charge(expected.bytes, memory_.line())
                                : ledger.try_charge(expected.bytes, memory_.line(), waiter);
  if (is_granted_) charged_.bytes = expected.bytes;
  else waits_for_room_ = true;
  end_guess(expected);
  return is_granted_;
}

void admission::begin_guess(const charge& expected) {
  memory_.ledger().add_guess(static_cast<std::ptrdiff_t>(expected.guessed_bytes), memory_.line());
}

void admission::end_guess(const charge& expected) {
  charged_.guessed_bytes = expected.guessed_bytes ? charged_.bytes : 0;
  memory_.ledger().add_guess(static_cast<std::ptrdiff_t>(charged_.guessed_bytes - expected.guessed_bytes),
                             memory_.line());
}

}  // namespace sluice::lib
