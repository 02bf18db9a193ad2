// SPDX-License-Identifier: Apache-2.0
#include "sluice/base/shared_ref.hpp"

#include <utility>

namespace sluice::lib::detail {

shared_base::shared_base() noexcept = default;
shared_base::shared_base(const void* value, std::shared_ptr<const void> owner) noexcept
    : get_(value), owner_(std::move(owner)) {}
shared_base::shared_base(const shared_base& other) noexcept = default;
shared_base::shared_base(shared_base&& other) noexcept
    : get_(std::exchange(other.get_, nullptr)), owner_(std::move(other.owner_)) {}
shared_base& shared_base::operator=(const shared_base& other) noexcept = default;
shared_base& shared_base::operator=(shared_base&& other) noexcept {
  get_ = std::exchange(other.get_, nullptr);
  owner_ = std::move(other.owner_);
  return *this;
}
shared_base::~shared_base() = default;

}  // namespace sluice::lib::detail
