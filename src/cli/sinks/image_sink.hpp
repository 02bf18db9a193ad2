// SPDX-License-Identifier: Apache-2.0
// Prints elements as lines of text, and writes their images as PNG files: sluice head --images DIR.
#pragma once

#include <string>

#include "cli/sinks/line_sink.hpp"

namespace sluice::lib::cli {

/// A tensor is an image if it has two dimensions, or three of which the last one is 1 to 4. An image is written to a
/// file, and its path is printed in its place: DIR/000003-image.png for the member `image` of element 3. Bytes are
/// written unchanged, 16 bits as 8, and floating point is scaled from its least to its greatest value. Errors: those of
/// writing files.
class image_sink final : public line_sink {
 public:
  /// Creates the folder. Errors: throws misuse: it cannot be created, or the elements are batches.
  image_sink(std::string folder, const element_type& type);

 protected:
  status print_line(const element_type& type, const void* element, std::string& text) override;

 private:
  status print_part(const element_type& type, const void* part, const std::string& name, std::string& text);

  std::string folder_;
};

}  // namespace sluice::lib::cli
