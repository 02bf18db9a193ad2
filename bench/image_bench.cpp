// SPDX-License-Identifier: Apache-2.0
// Images: a whole pipeline against libjpeg-turbo in a bare loop over the same files, resize against OpenCV, PNG against libpng's
// simplified interface, and parts of JPEGs.
#if SLUICE_HAVE_IMAGES && __has_include(<jpeglib.h>) && __has_include(<png.h>)
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>  // jpeglib.h needs it before
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include <jpeglib.h>
#include <png.h>

#include "bench/harness.hpp"
#include "sluice/base/small_file.hpp"
#include "sluice/format/image_codecs.hpp"
#include "sluice/format/image_transforms.hpp"
#include "sluice/io/read_file.hpp"
#include "sluice/sluice.hpp"

#if SLUICE_HAVE_OPENCV
#include <opencv2/imgproc.hpp>
#endif

namespace sluice::lib::bench {
namespace {

namespace fs = std::filesystem;

constexpr int kFiles = 192, kSide = 224;

/// Waves of many lengths and a little noise: JPEGs of it have 0.25 bytes a pixel, as photographs.
tensor photograph(int height, int width, int number) {
  tensor t = tensor::make(dtype::uint8, {height, width, 3});
  std::uint8_t* p = t.writable<std::uint8_t>().data();
  random_source random(static_cast<std::uint64_t>(number));
  for (int y = 0; y != height; ++y)
    for (int x = 0; x != width; ++x)
      for (int c = 0; c != 3; ++c) {
        const double v = std::sin(x * 0.011 * (1 + number % 5) + c) + std::sin(y * 0.037 + number) +
                         0.5 * std::sin((x + y) * 0.21 + c) + 0.25 * std::sin(x * 0.9) * std::sin(y * 0.7);
        *p++ = static_cast<std::uint8_t>(std::min(255.0, std::max(0.0, 128 + 40 * v + random.uniform() * 4)));
      }
  return t;
}

/// A folder of JPEGs that goes with the program.
class photographs {
 public:
  photographs(int height, int width) : folder_(fs::temp_directory_path() / ("sluice_bench_" + std::to_string(height))) {
    fs::create_directories(folder_);
    for (int i = 0; i != kFiles; ++i) {
      paths_.push_back((folder_ / (std::to_string(1000 + i) + ".jpg")).string());
      const std::string bytes = encode_jpeg(photograph(height, width, i), {.quality = 90}).value();
      std::ofstream(paths_.back(), std::ios::binary) << bytes;
    }
  }
  ~photographs() { fs::remove_all(folder_); }
  photographs(const photographs&) = delete;
  const std::vector<std::string>& paths() const { return paths_; }
  std::string pattern() const { return (folder_ / "*.jpg").string(); }

 private:
  fs::path folder_;
  std::vector<std::string> paths_;
};

/// libjpeg-turbo as its manual shows it, with TensorFlow's settings. Damage ends the program.
void bare_decode(std::string_view bytes, std::vector<std::uint8_t>& pixels, int& height, int& width) {
  jpeg_decompress_struct c;
  jpeg_error_mgr errors;
  c.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&c);
  jpeg_mem_src(&c, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(&c, TRUE);
  c.out_color_space = JCS_RGB;
  c.dct_method = JDCT_IFAST;
  jpeg_start_decompress(&c);
  height = static_cast<int>(c.output_height), width = static_cast<int>(c.output_width);
  pixels.resize(static_cast<std::size_t>(height) * static_cast<std::size_t>(width) * 3);
  while (c.output_scanline < c.output_height) {
    JSAMPROW row = pixels.data() + static_cast<std::size_t>(c.output_scanline) * static_cast<std::size_t>(width) * 3;
    jpeg_read_scanlines(&c, &row, 1);
  }
  jpeg_finish_decompress(&c);
  jpeg_destroy_decompress(&c);
}

std::uint64_t sum_of(const char* p, std::size_t n) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i != n; ++i) sum += static_cast<std::uint8_t>(p[i]);
  return sum;
}

constexpr resize_options kSmall{.height = kSide, .width = kSide, .rounded = true};

task<std::string> read_one(runtime* rt, std::string path) { return read_file(*rt, std::move(path)); }

task<void> sum_batches(stream<batched<tensor>> s, std::uint64_t* sum) {
  while (auto b = co_await s.next()) {
    const tensor images = b->stacked();
    *sum += sum_of(images.data(), images.size_bytes());
  }
}

void images_jpeg_pipeline(report& r) {
  const photographs files(375, 500);
  runtime& rt = all_workers();
  const auto plan = list_files(files.pattern()) |
                    map([p = &rt](std::string path) { return read_one(p, std::move(path)); }, {.parallelism = 8}) |
                    map(
                        [](const std::string& bytes) -> result<tensor> {
                          auto whole = decode_jpeg(bytes, {.channels = 3});
                          if (!whole.ok()) return whole.why();
                          return resize(*whole, kSmall);
                        },
                        {.parallelism = autotune}) |
                    batch(32) | prefetch(autotune);
  workload ours = [&] {
    pass p{.elements = kFiles};
    stopwatch watch(timed::wall);
    sync_wait(rt, sum_batches(plan.iterate(rt), &p.answer));
    p.ns = watch.ns();
    return p;
  };
  workload bare = [&] {
    pass p{.elements = kFiles};
    stopwatch watch(timed::wall);
    std::atomic<std::uint64_t> sum = 0;
    std::atomic<std::size_t> next = 0;
    std::vector<std::thread> threads;
    for (unsigned t = 0; t != std::max(1u, std::thread::hardware_concurrency()); ++t)
      threads.emplace_back([&] {
        std::vector<std::uint8_t> pixels, small;
        for (std::size_t i; (i = next++) < files.paths().size();) {
          const std::string bytes = read_small_file(files.paths()[i]).value();
          int height = 0, width = 0;
          bare_decode(bytes, pixels, height, width);
          auto done = resize(image_view(pixels.data(), {.height = height, .width = width, .channels = 3}), kSmall,
                             [&](const image_spec& s) {
                               small.resize(s.bytes());
                               return small.data();
                             });
          if (!done.ok()) throw error(done.why());
          sum += sum_of(reinterpret_cast<const char*>(small.data()), small.size());
        }
      });
    for (auto& t : threads) t.join();
    p.answer = sum;
    p.ns = watch.ns();
    return p;
  };
  r.at_least("JPEG 500x375: files, decode, resize, batch, prefetch",
             "libjpeg-turbo and the same resize in a loop on all cores", compare(ours, bare).speedup(), 0.95,
             "of its speed");
}
SLUICE_BENCH(images_jpeg_pipeline);

void images_jpeg_decode(report& r) {
  const std::string bytes = encode_jpeg(photograph(375, 500, 3), {.quality = 90}).value();
  constexpr int kPasses = 40;
  std::vector<std::uint8_t> pixels;
  workload ours = [&] {
    pass p{.elements = kPasses};
    stopwatch watch(timed::cpu);
    for (int i = 0; i != kPasses; ++i) {
      const tensor t = decode_jpeg(bytes, {.channels = 3}).value();
      p.answer += static_cast<std::uint8_t>(t.data()[i * 1000]);
    }
    p.ns = watch.ns();
    return p;
  };
  workload bare = [&] {
    pass p{.elements = kPasses};
    stopwatch watch(timed::cpu);
    for (int i = 0; i != kPasses; ++i) {
      int height, width;
      bare_decode(bytes, pixels, height, width);
      p.answer += pixels[static_cast<std::size_t>(i * 1000)];
    }
    p.ns = watch.ns();
    return p;
  };
  r.at_least("decode_jpeg 500x375", "libjpeg-turbo", compare(ours, bare).speedup(), 0.97, "of its speed");

  const std::string large = encode_jpeg(photograph(1000, 1500, 3), {.quality = 90}).value();
  workload scaled = [&] {
    pass p{.elements = 8};
    stopwatch watch(timed::cpu);
    for (int i = 0; i != 8; ++i) {
      const tensor t = decode_jpeg(large, {.channels = 3, .height_min = kSide, .width_min = kSide}).value();
      p.answer += resize(t, kSmall).value().size();
    }
    p.ns = watch.ns();
    return p;
  };
  workload whole = [&] {
    pass p{.elements = 8};
    stopwatch watch(timed::cpu);
    for (int i = 0; i != 8; ++i) p.answer += resize(decode_jpeg(large, {.channels = 3}).value(), kSmall).value().size();
    p.ns = watch.ns();
    return p;
  };
  r.at_least("1500x1000 to 224x224, scaled decode", "decoded whole", compare(scaled, whole).speedup(), 1.2,
             "times as fast");
  workload part = [&] {
    pass p{.elements = 8};
    stopwatch watch(timed::cpu);
    const jpeg_options o{.channels = 3, .crop = {.y = 300, .x = 500, .height = kSide, .width = kSide}};
    for (int i = 0; i != 8; ++i) p.answer += decode_jpeg(large, o).value().size();
    p.ns = watch.ns();
    return p;
  };
  workload cropped = [&] {
    pass p{.elements = 8};
    stopwatch watch(timed::cpu);
    for (int i = 0; i != 8; ++i)
      p.answer +=
          crop(decode_jpeg(large, {.channels = 3}).value(), {.y = 300, .x = 500, .height = kSide, .width = kSide})
              .value()
              .size();
    p.ns = watch.ns();
    return p;
  };
  r.at_least("224x224 of 1500x1000, cropped during decode", "cropped after", compare(part, cropped).speedup(), 1.3,
             "times as fast");
}
SLUICE_BENCH(images_jpeg_decode);

#if SLUICE_HAVE_OPENCV
void images_resize(report& r) {
  cv::setNumThreads(1);
  const tensor image = photograph(375, 500, 1);
  const cv::Mat from(375, 500, CV_8UC3, const_cast<char*>(image.data()));
  struct kind {
    const char* name;
    resize_options ours;
    int theirs;
    double goal;
  };
  // OpenCV's INTER_AREA and ours by area are the same means; its linear and cubic have no antialias. Its cubic kernel is another
  // one (a = -0.75), of the same size.
  const kind kinds[] = {{"resize 500x375 to 224x224 by area",
                         {.height = kSide, .width = kSide, .method = resize_method::area, .rounded = true},
                         cv::INTER_AREA,
                         1},
                        {"resize 500x375 to 224x224, bilinear", kSmall, cv::INTER_LINEAR, 1},
                        {"resize 500x375 to 224x224, bicubic",
                         {.height = kSide, .width = kSide, .method = resize_method::bicubic, .rounded = true},
                         cv::INTER_CUBIC,
                         1}};
  constexpr int kPasses = 60;
  for (const kind& k : kinds) {
    cv::Mat to;
    cv::resize(from, to, cv::Size(kSide, kSide), 0, 0, k.theirs);
    const tensor mine = resize(image, k.ours).value();
    double off = 0;
    for (std::size_t i = 0; i != mine.size(); ++i)
      off += std::abs(int{static_cast<std::uint8_t>(mine.data()[i])} - int{to.data[i]});
    off /= static_cast<double>(mine.size());
    if (off > (k.theirs == cv::INTER_CUBIC ? 3 : 0.6)) {
      r.failed(k.name, "differs from OpenCV's by " + std::to_string(off) + " on average");
      continue;
    }
    workload ours = [&] {
      pass p{.elements = kPasses};
      stopwatch watch(timed::cpu);
      for (int i = 0; i != kPasses; ++i) p.answer += resize(image, k.ours).value().size();
      p.ns = watch.ns();
      return p;
    };
    workload theirs = [&] {
      pass p{.elements = kPasses};
      stopwatch watch(timed::cpu);
      for (int i = 0; i != kPasses; ++i) {
        cv::Mat made;
        cv::resize(from, made, cv::Size(kSide, kSide), 0, 0, k.theirs);
        p.answer += made.total() * 3;
      }
      p.ns = watch.ns();
      return p;
    };
    r.at_least(k.name, "OpenCV 4.6, one thread", compare(ours, theirs).speedup(), k.goal, "of its speed");
  }
}
SLUICE_BENCH(images_resize);
#endif

void images_png_decode(report& r) {
  const tensor image = photograph(375, 500, 2);
  const std::string bytes = encode_png(image).value();
  constexpr int kPasses = 12;
  workload ours = [&] {
    pass p{.elements = kPasses};
    stopwatch watch(timed::cpu);
    for (int i = 0; i != kPasses; ++i)
      p.answer += static_cast<std::uint8_t>(decode_png(bytes).value().data()[i * 5000]);
    p.ns = watch.ns();
    return p;
  };
  workload bare = [&] {
    pass p{.elements = kPasses};
    stopwatch watch(timed::cpu);
    std::vector<std::uint8_t> pixels(image.size_bytes());
    for (int i = 0; i != kPasses; ++i) {
      png_image png = {};
      png.version = PNG_IMAGE_VERSION;
      if (!png_image_begin_read_from_memory(&png, bytes.data(), bytes.size())) throw std::runtime_error(png.message);
      png.format = PNG_FORMAT_RGB;
      if (!png_image_finish_read(&png, nullptr, pixels.data(), 0, nullptr)) throw std::runtime_error(png.message);
      p.answer += pixels[static_cast<std::size_t>(i * 5000)];
    }
    p.ns = watch.ns();
    return p;
  };
  r.at_least("decode_png 500x375", "libpng's simplified interface", compare(ours, bare).speedup(), 1.5,
             "times as fast");
}
SLUICE_BENCH(images_png_decode);

}  // namespace
}  // namespace sluice::lib::bench
#endif
