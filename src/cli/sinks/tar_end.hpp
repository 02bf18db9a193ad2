// SPDX-License-Identifier: Apache-2.0
// Has a tar archive its end, the two blocks of zeros? Readers take the end of the file for it as well, so that an archive that was
// cut between two members looks like a whole one with fewer.
#pragma once

#include <cstdint>
#include <string>

#include "cli/inputs/file_checks.hpp"

namespace sluice::lib::cli {

/// Takes all bytes of an archive, as records of any sizes, and looks at the headers in them.
class tar_end_sink final : public checking_sink {
 public:
  status take(const block& bytes) override;

  /// Called after the last byte. Errors: data_loss: the end is missing. Reading the archive reports all other damage.
  status end_of(const std::string& file) const;

 private:
  void look();
  std::string bytes_;  ///< not looked at yet: less than a header, or headers that speak of the one behind them
  std::uint64_t passed_over_ = 0;  ///< the number of bytes that follow and are a member's data
  std::uint64_t seen_bytes_ = 0;
  bool has_ended_ = false;  ///< or is broken
};

}  // namespace sluice::lib::cli
