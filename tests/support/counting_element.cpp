// SPDX-License-Identifier: Apache-2.0
#include "support/counting_element.hpp"

#include <cstdio>
#include <mutex>
#include <unordered_map>

namespace sluice::lib::test {
namespace {

/// Every counting element that is alive, by its address.
struct book {
  std::mutex mutex;
  std::unordered_map<const void*, std::int64_t> alive;  ///< with its number when it was built
  std::uint64_t constructions = 0, moves = 0, destructions = 0;
  std::string first;  ///< that went wrong

  void complain(const char* what, const void* at, std::int64_t number) {
    if (!first.empty()) return;
    char address[32];
    std::snprintf(address, sizeof address, "%p", at);
    first = "element " + std::to_string(number) + " at " + address + " " + what;
  }
  void built(const void* at, std::int64_t number) {
    if (auto there = alive.find(at); there != alive.end()) complain("was built over, alive", at, there->second);
    alive[at] = number;
  }
  void moved_from(const void* at, std::int64_t number) {
    ++moves;
    if (!alive.contains(at)) complain("was moved from, not being alive", at, number);
  }
};

book& the_book() {
  static book& b = *new book;
  return b;
}

}  // namespace

counting_element::counting_element(std::int64_t number) : number_(number) {
  book& b = the_book();
  std::lock_guard lock(b.mutex);
  ++b.constructions;
  b.built(this, number);
}

counting_element::counting_element(counting_element&& o) noexcept : number_(o.number_) {
  book& b = the_book();
  std::lock_guard lock(b.mutex);
  b.moved_from(&o, o.number_);
  b.built(this, number_);
  o.number_ = -1;
}

counting_element& counting_element::operator=(counting_element&& o) noexcept {
  book& b = the_book();
  std::lock_guard lock(b.mutex);
  b.moved_from(&o, o.number_);
  if (!b.alive.contains(this)) b.complain("was assigned to, not being alive", this, number_);
  number_ = o.number_;
  if (&o != this) o.number_ = -1;
  return *this;
}

counting_element::~counting_element() {
  book& b = the_book();
  std::lock_guard lock(b.mutex);
  ++b.destructions;
  if (b.alive.erase(this) == 0) b.complain("was destroyed, not being alive", this, number_);
}

lifetimes::lifetimes() {
  book& b = the_book();
  std::lock_guard lock(b.mutex);
  b.constructions = b.moves = b.destructions = 0;
  b.alive.clear();
  b.first.clear();
}

std::uint64_t lifetimes::constructions() const {
  std::lock_guard lock(the_book().mutex);
  return the_book().constructions;
}
std::uint64_t lifetimes::moves() const {
  std::lock_guard lock(the_book().mutex);
  return the_book().moves;
}
std::uint64_t lifetimes::destructions() const {
  std::lock_guard lock(the_book().mutex);
  return the_book().destructions;
}
std::size_t lifetimes::alive() const {
  std::lock_guard lock(the_book().mutex);
  return the_book().alive.size();
}

std::string lifetimes::complaint() const {
  book& b = the_book();
  std::lock_guard lock(b.mutex);
  if (!b.first.empty() || b.alive.empty()) return b.first;
  return std::to_string(b.alive.size()) + " are never destroyed, one of them element " +
         std::to_string(b.alive.begin()->second);
}

}  // namespace sluice::lib::test
