// SPDX-License-Identifier: Apache-2.0
#if SLUICE_HAVE_IMAGES
#include "cli/sinks/image_sink.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "base/files/whole_file.hpp"
#include "cli/verbs.hpp"
#include "element/text/print_element.hpp"
#include "sluice/base/utf8.hpp"
#include "sluice/element/tensor.hpp"
#include "sluice/format/image_codecs.hpp"

namespace sluice::lib::cli {
namespace {

bool is_image(const tensor& t) {
  bool has_type = t.dtype() == dtype::uint8 || t.dtype() == dtype::uint16 || t.dtype() == dtype::float32;
  bool has_shape = t.rank() == 2 || (t.rank() == 3 && t.shape()[2] >= 1 && t.shape()[2] <= 4);
  return has_type && has_shape && t.size() != 0;
}

/// Converts floating point to bytes: the least finite value to 0, the greatest to 255.
tensor as_bytes(const tensor& t) {
  auto from = t.values<float>();
  float least = std::numeric_limits<float>::max(), greatest = std::numeric_limits<float>::lowest();
  for (float v : from) {
    if (!std::isfinite(v)) continue;
    least = std::min(least, v);
    greatest = std::max(greatest, v);
  }
  const float span = greatest > least ? greatest - least : 1;
  tensor made = tensor::make(dtype::uint8, tensor_shape(t.shape()));
  auto to = made.writable<std::uint8_t>();
  for (std::size_t i = 0; i != from.size(); ++i) {
    float scaled = (from[i] - least) / span * 255;
    to[i] = scaled >= 0 ? static_cast<std::uint8_t>(std::lround(std::min(scaled, 255.f))) : std::uint8_t{0};  // NaN: 0
  }
  return made;
}

status write_png(const tensor& image, const std::string& path) {
  tensor pixels = image.dtype() == dtype::float32 ? as_bytes(image) : image;
  if (pixels.rank() == 2) pixels = pixels.reshape({pixels.shape()[0], pixels.shape()[1], 1});
  auto png = encode_png(pixels);
  if (!png.ok()) return png.why();
  whole_file file;
  status why = file.begin(path);
  if (why.ok()) why = file.write(*png);
  if (why.ok()) why = file.finish();
  return why;
}

}  // namespace

image_sink::image_sink(std::string folder, const element_type& type) : folder_(std::move(folder)) {
  if (type.kind == kind::batch) throw misuse("--images: the elements are batches; end the plan with | unbatch()");
  std::error_code why;
  std::filesystem::create_directories(folder_, why);
  if (why) throw misuse(absl::StrCat("--images ", folder_, ": cannot create the folder: ", why.message()));
}

status image_sink::print_line(const element_type& type, const void* element, std::string& text) {
  std::string number = std::to_string(record());
  return print_part(type, element, std::string(6 - std::min<std::size_t>(6, number.size()), '0') + number, text);
}

status image_sink::print_part(const element_type& type, const void* part, const std::string& name, std::string& text) {
  if (type.has_members()) {
    status why;
    detail::print_members(type, text, [&](const member& m) {
      why = print_part(*m.type, static_cast<const char*>(part) + m.offset, absl::StrCat(name, "-", m.name), text);
      return why.ok();
    });
    return why;
  }
  if (type.kind == kind::tensor && is_image(*static_cast<const tensor*>(part))) {
    std::string file = name;
    std::replace(file.begin(), file.end(), '/', '_');  // a member's name may contain a slash: image/encoded
    std::string path = absl::StrCat(folder_, "/", file, ".png");
    status why = write_png(*static_cast<const tensor*>(part), path);
    if (why.ok()) print_json_text(path, text);
    return why;
  }
  print(type, part, text);
  return {};
}

}  // namespace sluice::lib::cli
#endif
