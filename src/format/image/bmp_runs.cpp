// SPDX-License-Identifier: Apache-2.0
// Pairs of bytes: a count and a color; or 0 and an order: 0 ends the row, 1 ends the image, 2 moves by two more bytes, and
// larger numbers announce that many single pixels.
#include <cstring>

#include "format/image/bmp_parts.hpp"
#include "format/image/image_checks.hpp"

namespace sluice::lib::detail {

namespace {
enum : std::uint8_t { kEndOfRow = 0, kEndOfImage = 1, kMove = 2 };
}

status bmp_runs::beyond() const { return image_damage(kBmpFunction, "a row that is longer than the image,", at_); }

status bmp_runs::run(std::uint8_t* row, std::size_t pixels) {
  if (pixels > width_ - x_) return beyond();
  const std::uint8_t color = byte(1);
  if (is_4_bits_) {
    for (std::size_t i = 0; i != pixels; ++i)
      row[x_ + i] = static_cast<std::uint8_t>(i % 2 == 0 ? color >> 4 : color & 15);
  } else {
    std::memset(row + x_, color, pixels);
  }
  x_ += pixels;
  at_ += 2;
  return {};
}

status bmp_runs::pixels_one_by_one(std::uint8_t* row, std::size_t pixels) {
  const std::size_t bytes = is_4_bits_ ? (pixels + 1) / 2 : pixels;
  if (pixels > width_ - x_) return beyond();
  at_ += 2;
  if (!has(bytes)) return image_truncated(kBmpFunction, encoded_.size());
  for (std::size_t i = 0; i != pixels; ++i)
    row[x_ + i] = !is_4_bits_  ? byte(i)
                  : i % 2 == 0 ? static_cast<std::uint8_t>(byte(i / 2) >> 4)
                               : static_cast<std::uint8_t>(byte(i / 2) & 15);
  x_ += pixels;
  at_ += bytes;
  if (bytes % 2 != 0 && has(1)) ++at_;  // pairs begin at even distances
  return {};
}

status bmp_runs::next_row(std::uint8_t* row) {
  std::memset(row, 0, width_);
  --rows_left_;
  if (ended_) return {};
  if (rows_skipped_ != 0) {
    --rows_skipped_;
    return {};
  }
  for (;;) {
    if (!has(2)) {
      // Some programs write no end.
      if (rows_left_ == 0 && x_ == width_) return {};
      return image_truncated(kBmpFunction, encoded_.size());
    }
    const std::uint8_t count = byte(0), order = byte(1);
    if (count != 0) {
      if (status why = run(row, count); !why.ok()) return why;
    } else if (order == kEndOfRow) {
      at_ += 2;
      x_ = 0;
      return {};
    } else if (order == kEndOfImage) {
      ended_ = true;
      return {};
    } else if (order == kMove) {
      if (!has(4)) return image_truncated(kBmpFunction, encoded_.size());
      const std::size_t right = byte(2);
      const int up = byte(3);
      if (right > width_ - x_) return beyond();
      if (up > rows_left_) return image_damage(kBmpFunction, "a move above the image", at_);
      x_ += right;
      at_ += 4;
      if (up != 0) {
        rows_skipped_ = up - 1;
        return {};
      }
    } else if (status why = pixels_one_by_one(row, order); !why.ok()) {
      return why;
    }
  }
}

}  // namespace sluice::lib::detail
