// SPDX-License-Identifier: Apache-2.0
// Checks that a tar archive has its end, the two blocks of zeros. Readers also accept the end of the file as the
// archive's end, so that an archive that was cut between two members looks complete with fewer members.
#pragma once

#include <cstdint>
#include <string>

#include "cli/inputs/file_checks.hpp"

namespace sluice::lib::cli {

/// Accepts all bytes of an archive, as records of any sizes, and examines the headers in them.
class tar_end_sink final : public checking_sink {
 public:
  status take(const block& bytes) override;

  /// Called after the last byte. Errors: data_loss: the end is missing. Reading the archive reports all other damage.
  status end_of(const std::string& file) const;

 private:
  void look();
  std::string bytes_;            ///< not examined yet: less than a header, or headers that describe the next one
  std::uint64_t data_left_ = 0;  ///< the number of bytes that follow and are a member's data
  std::uint64_t seen_bytes_ = 0;
  bool has_ended_ = false;  ///< the end was found, or the archive is broken
};

}  // namespace sluice::lib::cli
