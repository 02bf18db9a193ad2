// SPDX-License-Identifier: Apache-2.0
#include "sluice/io/path_pattern.hpp"

#include <utility>

#include "io/paths/glob.hpp"

namespace sluice::lib {

path_pattern::path_pattern(std::string text)
    : pattern_(std::make_shared<const detail::glob_pattern>(std::move(text))) {}

const std::string& path_pattern::text() const noexcept { return pattern_->text(); }
bool path_pattern::is_plain() const noexcept { return pattern_->is_plain(); }
const std::string& path_pattern::prefix() const noexcept { return pattern_->prefix(); }
bool path_pattern::matches(std::string_view path) const { return pattern_->matches(path); }
bool path_pattern::may_match_in(std::string_view folder) const { return pattern_->may_match_in(folder); }

}  // namespace sluice::lib
