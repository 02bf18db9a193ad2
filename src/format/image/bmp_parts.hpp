// SPDX-License-Identifier: Apache-2.0
// The header of a BMP, and its run-length encoded rows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sluice/base/result.hpp"
#include "sluice/format/image.hpp"

namespace sluice::lib::detail {

inline constexpr std::string_view kBmpFunction = "decode_bmp";

enum class bmp_encoding : std::uint8_t { plain, rle4, rle8 };

/// The bits of a pixel that are one channel.
struct bmp_mask {
  std::uint32_t bits = 0, most = 0;  ///< `most`: the largest value; 0 for a channel that does not exist
  int shift = 0;
};

struct bmp_header {
  int height = 0, width = 0;
  int bits = 0;      ///< of a pixel: 1, 2, 4, 8, 16, 24 or 32
  int channels = 0;  ///< 1 for a palette of grays, 4 with alpha, otherwise 3
  bool top_down = false;
  bmp_encoding encoding = bmp_encoding::plain;
  std::size_t pixels_at = 0, row_bytes = 0;            ///< row_bytes: of plain rows
  std::vector<std::array<std::uint8_t, 3>> palette{};  ///< red, green, blue; for up to 8 bits
  std::array<bmp_mask, 4> masks{};                     ///< red, green, blue, alpha; for 16 and 32 bits
  /// 32 bits without masks: the fourth byte has no meaning, but some programs write alpha to it.
  bool has_spare_byte = false;
};

/// Errors: data_loss, or invalid_argument for kinds that are not read. After it, plain rows lie within `encoded`.
result<bmp_header> read_bmp_header(std::string_view encoded, const image_limits& limits);

/// Reads the rows of a run-length encoded image, the lowest first. Pixels that the file skips have color 0.
class bmp_runs {
 public:
  bmp_runs(std::string_view encoded, const bmp_header& header) noexcept
      : encoded_(encoded),
        at_(header.pixels_at),
        width_(static_cast<std::size_t>(header.width)),
        rows_left_(header.height),
        is_4_bits_(header.encoding == bmp_encoding::rle4) {}

  /// Stores the colors of the next row in `row`, which has room for the width.
  status next_row(std::uint8_t* row);
  std::size_t at_byte() const noexcept { return at_; }

 private:
  std::uint8_t byte(std::size_t i) const noexcept { return static_cast<std::uint8_t>(encoded_[at_ + i]); }
  bool has(std::size_t bytes) const noexcept { return encoded_.size() - at_ >= bytes; }
  status run(std::uint8_t* row, std::size_t pixels);
  status pixels_one_by_one(std::uint8_t* row, std::size_t pixels);
  status beyond() const;

  std::string_view encoded_;
  std::size_t at_, width_;
  std::size_t x_ = 0;
  int rows_left_, rows_skipped_ = 0;
  bool is_4_bits_, ended_ = false;
};

}  // namespace sluice::lib::detail
