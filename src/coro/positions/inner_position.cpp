// SPDX-License-Identifier: Apache-2.0
#include "coro/positions/inner_position.hpp"

#include <memory>
#include <utility>

namespace sluice::lib {
namespace {

/// The smallest size of a position with one record. A shorter one is forged: an entry takes more memory than its bytes.
constexpr std::size_t kPositionBytesMin = 7;

}  // namespace

void save_inner(position_writer& w, erased_stream& in, const std::string& restored) {
  if (!in) return w.text(restored);
  auto inner = std::make_shared<position_writer>();
  in.position(*inner);
  w.blob(std::move(inner));
}

std::string inner_openings::position_of(std::uint64_t number, std::string restored) {
  auto logged = restored_.find(number);
  if (logged == restored_.end()) return restored;
  std::string position = std::move(logged->second);
  restored_.erase(logged);
  return position;
}

void inner_openings::opened(std::uint64_t number, erased_stream& in, bool resumed) {
  position_writer opened_at;
  in.position(opened_at);
  if (!opened_at.has_logs()) return;
  log_.add(number, std::make_shared<const position_writer>(std::move(opened_at)), resumed);
}

void inner_openings::save(position_writer& w, opening_log::place from) const {
  w.number(restored_.size());
  for (const auto& [number, position] : restored_) {
    w.number(number);
    w.text(position);
  }
  w.openings(std::move(from));
}

void inner_openings::load(position_reader& r) {
  restored_.clear();
  for (int part = 0; part != 2; ++part) {
    for (std::size_t n = r.count(); n && r.ok(); --n) {
      const std::uint64_t number = r.number();
      std::string_view position = r.text();
      if (position.size() < kPositionBytesMin) return r.fail();
      restored_[number] = position;  // later log entries are more recent
    }
  }
}

}  // namespace sluice::lib
