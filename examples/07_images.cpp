// SPDX-License-Identifier: Apache-2.0
// Images from files to shuffled batches: list, read, decode, augment, shuffle, batch, prefetch. The first batch becomes a contact
// sheet, so that a person can look at what a model would be given.
//
//   example_07_images                  draws 60 images into a temporary folder first; writes contact_sheet.png
//   example_07_images 'photos/*.jpg'   takes these
//
// Needs the library sluice-images.
#include <cstdio>

#if !SLUICE_HAVE_IMAGES
int main() { std::puts("sluice was built without sluice-images"); }
#else

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "sluice/format/image_codecs.hpp"
#include "sluice/format/image_transforms.hpp"
#include "sluice/io/read_file.hpp"
#include "sluice/sluice.hpp"

using namespace sluice;

constexpr int kSide = 96, kColumns = 6, kRows = 4, kGap = 4;

struct file_bytes {
  std::string path, bytes;
};
struct photo {
  tensor image;  // uint8[height,width,3]
  std::string name;
};

// --- The pipeline ---------------------------------------------------------------------------------------------------

task<file_bytes> read_photo(runtime* rt, std::string path) {
  file_bytes f;
  f.bytes = co_await read_file(*rt, path);
  f.path = std::move(path);
  co_return f;
}

result<photo> decode_photo(const file_bytes& f) {
  auto image = decode_image(f.bytes, {.channels = 3});
  if (!image.ok()) return image.why().in_file(f.path);
  return photo{std::move(*image), std::filesystem::path(f.path).filename().string()};
}

/// A random part of the image, turned and coloured at random: the same each time for the same seed and element.
result<photo> augmented(const photo& p, random_source& random) {
  auto part = random_resized_crop(
      p.image,
      {.size = {.height = kSide, .width = kSide, .antialias = true, .rounded = true}, .box = {.area_min = 0.4}},
      random);
  if (!part.ok()) return part.why();
  auto turned = random_flip_left_right(*part, random);
  auto coloured = colour_jitter(*turned,
                                {.brightness = 0.1f,
                                 .contrast_min = 0.7f,
                                 .contrast_max = 1.3f,
                                 .saturation_min = 0.6f,
                                 .saturation_max = 1.4f,
                                 .hue = 0.05f},
                                random);
  if (!coloured.ok()) return coloured.why();
  return photo{std::move(*coloured), p.name};
}

dataset<batched<photo>> training_batches(runtime& rt, const std::string& pattern) {
  return list_files(pattern) |
         map([r = &rt](std::string path) { return read_photo(r, std::move(path)); }, {.parallelism = 8}) |
         map(&decode_photo, {.parallelism = autotune}) | map(&augmented, {.parallelism = autotune, .seed = 7}) |
         shuffle(100, {.seed = 7}) | batch(kColumns * kRows) | prefetch(autotune);
}

// --- The contact sheet ----------------------------------------------------------------------------------------------

/// All images of uint8[n, height, width, 3], `columns` in a row.
tensor contact_sheet(const tensor& images, std::int64_t columns) {
  const std::int64_t count = images.shape()[0], height = images.shape()[1], width = images.shape()[2];
  const std::int64_t rows = (count + columns - 1) / columns;
  tensor sheet = tensor::make(dtype::uint8, {rows * (height + kGap) + kGap, columns * (width + kGap) + kGap, 3});
  std::memset(sheet.writable_data(), 0xff, sheet.size_bytes());
  const std::int64_t row_bytes = sheet.shape()[1] * 3;
  for (std::int64_t i = 0; i != count; ++i) {
    const tensor image = images[i];
    const std::int64_t top = kGap + i / columns * (height + kGap), left = kGap + i % columns * (width + kGap);
    for (std::int64_t y = 0; y != height; ++y)
      std::memcpy(sheet.writable_data() + (top + y) * row_bytes + left * 3, image.data() + y * width * 3,
                  static_cast<std::size_t>(width * 3));
  }
  return sheet;
}

task<void> show_first_batch(stream<batched<photo>> s) {
  auto first = co_await s.next();
  if (!first) co_return;
  const tensor images = first->stacked(&photo::image);
  std::printf("a batch of %s\n", images.spec_text().c_str());
  const tensor sheet = contact_sheet(images, kColumns);
  auto png = encode_png(sheet);
  std::ofstream("contact_sheet.png", std::ios::binary) << png.value();
  std::printf("contact_sheet.png: %s\n", sheet.spec_text().c_str());
  std::int64_t seen = first->size();
  while (auto b = co_await s.next()) seen += b->size();
  std::printf("%lld images in all\n", static_cast<long long>(seen));
}

// --- Something to look at -------------------------------------------------------------------------------------------

/// A sky, a sun and hills, of another size and colour each.
tensor landscape(int number) {
  const int height = 150 + number * 7 % 90, width = 180 + number * 11 % 120;
  tensor t = tensor::make(dtype::uint8, {height, width, 3});
  std::uint8_t* p = t.writable<std::uint8_t>().data();
  const double hue = number * 0.61803, sun_y = 0.2 + 0.04 * (number % 5), sun_x = 0.2 + 0.12 * (number % 6);
  for (int y = 0; y != height; ++y)
    for (int x = 0; x != width; ++x, p += 3) {
      const double v = static_cast<double>(y) / height, u = static_cast<double>(x) / width;
      const double hills = 0.6 + 0.12 * std::sin(u * 7 + number) + 0.05 * std::sin(u * 19 + number * 3);
      const bool is_sun = std::hypot((v - sun_y) * height, (u - sun_x) * width) < 18;
      for (int c = 0; c != 3; ++c) {
        const double sky = 150 + 90 * v + 40 * std::sin(6.283 * (hue + c / 3.0));
        const double ground = (90 + 60 * std::sin(6.283 * (hue * 2 + c / 3.0))) * (1.3 - v * 0.6);
        const double value = v > hills ? ground : is_sun ? (c == 2 ? 120 : 245) : sky;
        p[c] = static_cast<std::uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
      }
    }
  return t;
}

void draw_images(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  for (int i = 0; i != 60; ++i) {
    const tensor image = landscape(i);
    const bool is_png = i % 5 == 4;
    const std::string bytes = (is_png ? encode_png(image) : encode_jpeg(image, {.quality = 90})).value();
    std::ofstream(folder / ((i < 10 ? "0" : "") + std::to_string(i) + (is_png ? ".png" : ".jpg")), std::ios::binary)
        << bytes;
  }
}

int main(int argc, char** argv) {
  const auto folder = std::filesystem::temp_directory_path() / "sluice_07_images";
  std::string pattern = argc > 1 ? argv[1] : (folder / "*").string();
  if (argc == 1) draw_images(folder);
  {
    runtime rt;
    try {
      sync_wait(rt, show_first_batch(training_batches(rt, pattern).iterate(rt)));
    } catch (const error& e) { std::printf("stopped by %s\n", e.what()); }
  }
  if (argc == 1) std::filesystem::remove_all(folder);
}

#endif
