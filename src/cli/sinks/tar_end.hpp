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

  /// After the last byte. Errors: data_loss: there was no end. What else is wrong with an archive is told by reading it.
  status end_of(const std::string& file) const;

 private:
  void look();
  std::string bytes_;  ///< not looked at yet: less than a header, or headers that speak of the one behind them
  std::uint64_t passed_over_ = 0;  ///< so many bytes that follow are a member's data
  std::uint64_t seen_bytes_ = 0;
  bool has_ended_ = false;  ///< or is broken
};

}  // namespace sluice::lib::cli
