// SPDX-License-Identifier: Apache-2.0
// Elements as lines of text, with their images as PNG files to look at: sluice head --images DIR.
#pragma once

#include <string>

#include "cli/sinks/line_sink.hpp"

namespace sluice::lib::cli {

/// A tensor of two dimensions, or of three of which the last one has 1 to 4, is an image: it is written to a file whose path is
/// printed in its place, DIR/000003-image.png for the member `image` of element 3. Bytes are written as they are, 16 bits
/// as 8, floating point from its least to its greatest value. Errors: those of writing files.
class image_sink final : public line_sink {
 public:
  /// Makes the folder. Errors: throws misuse: it cannot be made, or the elements are batches.
  image_sink(std::string folder, const element_type& type);

 protected:
  status print_line(const element_type& type, const void* element, std::string& text) override;

 private:
  status print_part(const element_type& type, const void* part, const std::string& name, std::string& text);

  std::string folder_;
};

}  // namespace sluice::lib::cli
