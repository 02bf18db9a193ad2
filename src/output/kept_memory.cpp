// SPDX-License-Identifier: Apache-2.0
#include "output/kept_memory.hpp"

#include <absl/strings/str_cat.h>

#include <string>

#include "base/text/mebibytes.hpp"

namespace sluice::lib {
namespace {

/// Smaller changes are not worth the ledger's lock.
constexpr std::size_t kKeptStep = std::size_t{64} << 10;

}  // namespace

kept_memory::kept_memory(runtime* rt)
    : rt_(rt), line_(rt ? &rt->ledger().line(purpose::state, "the output") : nullptr) {}

status kept_memory::resize(std::size_t bytes) {
  if (!rt_ || (bytes <= charged_ && charged_ - bytes <= kKeptStep)) return {};
  const bool has_grown = bytes > charged_;
  charge(bytes == 0 ? 0 : bytes + kKeptStep / 2);
  const std::size_t budget = rt_->ledger().budget_bytes();
  if (!has_grown || rt_->ledger().held_bytes() <= budget) return {};
  return resource_exhausted_error(
      absl::StrCat("the output keeps ", mebibytes(bytes), " until its file ends, with which more is held than the ",
                   "memory budget of ", mebibytes(budget), ": ", rt_->ledger().report().held_text(),
                   "; write smaller files (--shard-size, write_options::shard_bytes), or raise the memory budget"));
}

void kept_memory::charge(std::size_t bytes) {
  if (bytes == charged_) return;
  rt_->ledger().change(charged_, bytes, *line_, (charged_ == 0) - (bytes == 0));
  charged_ = bytes;
}

}  // namespace sluice::lib
