// SPDX-License-Identifier: Apache-2.0
// An element that knows of each of its objects whether it is alive: what is destroyed twice, moved from after its end, built
// over another or never destroyed is named, with its address and its number.
//
//   lifetimes watched;                          // from here on
//   …make, move, drop counting elements…
//   CHECK(watched.complaint() == "");           // every object that was built has been destroyed, once
//
// It can be moved and not copied, owns nothing, is not relocatable by its bytes, and can be batched, since it has a name.
// Thread: any; a lock for each construction and destruction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::lib::test {

class counting_element {
 public:
  static constexpr std::string_view sluice_name = "counting";

  explicit counting_element(std::int64_t number);
  counting_element(counting_element&& o) noexcept;
  counting_element& operator=(counting_element&& o) noexcept;
  ~counting_element();

  /// -1 where it was moved from.
  std::int64_t number() const { return number_; }
  void sluice_print(std::string& json) const { json += std::to_string(number_); }

 private:
  std::int64_t number_;
};

/// What happens to counting elements from its construction on. One at a time.
class lifetimes {
 public:
  lifetimes();
  lifetimes(const lifetimes&) = delete;

  std::uint64_t constructions() const;  ///< moves into new objects not among them
  std::uint64_t moves() const;
  std::uint64_t destructions() const;
  std::size_t alive() const;
  /// The first thing that went wrong; else how many are still alive, and one of them; else nothing.
  std::string complaint() const;
};

}  // namespace sluice::lib::test
