// SPDX-License-Identifier: Apache-2.0
#include "engine/held/final_elements.hpp"

#include <algorithm>
#include <utility>

#include "engine/held/held_elements.hpp"
#include "engine/held/state_box.hpp"
#include "sluice/element/serialise.hpp"

namespace sluice::lib {
namespace {

/// The bytes counted for each element in a position, in addition to its own: they limit the number of elements, so that
/// saving them takes a few milliseconds.
constexpr std::size_t kSavedElementBytes = 16;

}  // namespace

final_elements::final_elements(const element_type& t, std::shared_ptr<run_context> run, const error_gate& gate,
                               std::string_view what, std::string_view advice)
    : type_(t), memory_(std::move(run), gate.line(purpose::state), gate.label(), what, advice), elements_(t) {}

status final_elements::input_ended() {
  const std::uint64_t again = std::exchange(delivered_, 0);
  if (again > size()) return damaged_position();
  drop_front(static_cast<std::size_t>(again));
  ended_ = true;
  status fits = memory_.resize(size() * type_.size + owned_bytes_of(type_, elements_.begin(), size()));
  if (!fits.ok() || !can_serialise(type_)) return fits;
  std::string bytes;
  std::size_t all = 0;
  for (std::size_t i = size(); i-- != 0; ++saved_by_value_) {
    bytes.clear();
    serialise_bare(type_, elements_.begin() + i * type_.size, bytes);
    all += bytes.size() + kSavedElementBytes;
    if (all > kStateBytesMax) break;
  }
  return fits;
}

void final_elements::removed(std::size_t n, std::size_t bytes) {
  elements_.forget_front(n);
  delivered_ += n;
  memory_.shrink_by(std::min(memory_.bytes(), size() == 0 ? memory_.bytes() : bytes));
}

void final_elements::move_front(std::size_t n, char* to) {
  const std::size_t bytes = n * type_.size + owned_bytes_of(type_, elements_.begin(), n);
  type_.relocate(type_, to, elements_.begin(), n, type_.size, type_.size);
  removed(n, bytes);
}

void final_elements::drop_front(std::size_t n) {
  if (n == 0) return;
  const std::size_t bytes = n * type_.size + owned_bytes_of(type_, elements_.begin(), n);
  if (!type_.trivially_destroyed) type_.destroy(type_, elements_.begin(), n);
  removed(n, bytes);
}

// Either one more than the number of elements that follow, and these elements; or zero, and the number of delivered
// elements.
void final_elements::save(position_writer& w) const {
  if (!saves_elements()) {
    w.number(0);
    w.number(delivered_);
    return;
  }
  w.number(size() + 1);
  std::string bytes;
  for (std::size_t i = 0; i != size(); ++i) {
    bytes.clear();
    serialise_bare(type_, elements_.begin() + i * type_.size, bytes);
    w.text(bytes);
  }
}

void final_elements::load(position_reader& r) {
  const std::uint64_t n = r.number();
  if (!r.ok()) return;
  if (n == 0) {
    delivered_ = r.number();
    return;
  }
  std::size_t bytes = 0;  // only a forged position has more elements than a run saves
  for (std::uint64_t i = 0; i + 1 != n && r.ok(); ++i) {
    const std::string_view text = r.text();
    bytes += text.size() + kSavedElementBytes;
    if (bytes > kStateBytesMax || !type_.copy || !can_serialise(type_)) r.fail();
    if (!r.ok()) return;
    auto read = parse_bare(type_, text);
    if (!read.ok()) return r.fail();
    type_.copy(type_, room(), read->data(), 1, type_.size, type_.size);
    add_made();
  }
  ended_ = true;
  saved_by_value_ = size();
  status fits = memory_.resize(size() * type_.size + owned_bytes_of(type_, elements_.begin(), size()));
  if (!fits.ok()) r.refuse(std::move(fits));
}

}  // namespace sluice::lib
