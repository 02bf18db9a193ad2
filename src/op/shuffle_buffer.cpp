// SPDX-License-Identifier: Apache-2.0
#include "op/shuffle_buffer.hpp"

namespace sluice::lib {

shuffle_buffer::shuffle_buffer(const element_type& type, std::shared_ptr<run_context> run, const error_gate& gate)
    : type_(type),
      elements_(type),
      memory_(std::move(run), purpose::shuffle, gate.label(), "the buffer",
              "lower buffer_size, or cycle_length where it stands in an interleave") {}

status shuffle_buffer::append(block& in) {
  std::uint32_t n = in.size();
  status fits = can_grow_by(n);
  if (!fits.ok()) return fits;
  compact(in);
  fits = charge(n * place_bytes() + owned_bytes(in.data(), n), 0);
  in.move_front(elements_.extend(n), n);
  elements_.add_live(n);
  return fits;
}

/// Room for n more may mean to move all there are: for that long they take twice the memory.
status shuffle_buffer::can_grow_by(std::size_t n) {
  if (elements_.size() + n <= elements_.capacity()) return {};
  std::size_t moved = elements_.size() * place_bytes();
  status fits = memory_.resize(memory_.bytes() + moved);
  memory_.shrink_by(moved);
  return fits;
}

status shuffle_buffer::make_places(std::uint64_t n) {
  if (n > memory_.budget_bytes() / place_bytes()) return memory_.refused();  // a forged position may say any number
  status fits = charge(n * place_bytes(), 0);
  if (fits.ok()) elements_.reserve(n);
  return fits;
}

void shuffle_buffer::expect(std::size_t n) {
  if (!built_) return;
  expected_bytes_ = built_own_bytes_ / built_ * n;
  // Others read ahead less from now on. Whether it fits is asked when they are here: it is an estimate.
  (void)charge(expected_bytes_, 0);
}

status shuffle_buffer::build(block& in, const std::uint32_t* places) {
  compact(in);
  const std::uint32_t n = in.size();
  std::size_t own_bytes = owned_bytes(in.data(), n);
  status fits = charge(own_bytes, std::exchange(expected_bytes_, 0));
  for (std::uint32_t i = 0; i != n; ++i) relocate(type_, at(places[i]), in.at(i), 1);
  in.forget_front(n);
  built_ += n;
  built_own_bytes_ += own_bytes;
  return fits;
}

}  // namespace sluice::lib
