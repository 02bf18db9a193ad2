// SPDX-License-Identifier: Apache-2.0
// Images in pipelines: decoded by map, changed at random by seed and position, stacked by batch, resumed.
#if SLUICE_HAVE_IMAGES
#include <catch2/catch.hpp>

#include <cstring>

#include "sluice/format/image_codecs.hpp"
#include "sluice/format/image_transforms.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::images_in_plans_test {

namespace {

struct photo {
  tensor image;
  std::int64_t number = 0;
};

constexpr int kPhotos = 40;

/// A BMP, which is read without any library.
std::string encoded(std::int64_t number) {
  constexpr int kSide = 24;
  const auto put = [](std::string& s, std::uint32_t n) { s.append(reinterpret_cast<const char*>(&n), 4); };
  std::string s = "BM";
  for (std::uint32_t n : {54u + kSide * kSide * 3u, 0u, 54u, 40u, std::uint32_t{kSide}, std::uint32_t{kSide},
                          1u | 24u << 16, 0u, 0u, 0u, 0u, 0u, 0u})
    put(s, n);
  for (std::int64_t i = 0; i != kSide * kSide * 3; ++i) s += static_cast<char>(i * 7 + number * 31);
  return s;
}

result<photo> decoded(std::int64_t number) {
  auto image = decode_image(encoded(number));
  if (!image.ok()) return image.why();
  return photo{std::move(*image), number};
}

result<photo> augmented(const photo& p, random_source& random) {
  auto part = random_resized_crop(p.image, {.size = {.height = 8, .width = 10, .rounded = true}}, random);
  if (!part.ok()) return part.why();
  auto turned = random_flip_left_right(*part, random);
  auto coloured = colour_jitter(*turned, {.brightness = 0.2f, .contrast_min = 0.5f, .contrast_max = 1.5f}, random);
  if (!coloured.ok()) return coloured.why();
  return photo{std::move(*coloured), p.number};
}

dataset<batched<photo>> plan(lib::knob parallelism) {
  return range(kPhotos) | map(&decoded, {.parallelism = parallelism}) |
         map(&augmented, {.parallelism = parallelism, .seed = 3}) | shuffle(10, {.seed = 4}) | batch(8);
}

task<std::vector<tensor>> stacked_images(stream<batched<photo>> s, checkpoint* after) {
  std::vector<tensor> all;
  while (auto b = co_await s.next()) {
    all.push_back(b->stacked(&photo::image));
    if (after && all.size() == 2) *after = s.position();
  }
  co_return all;
}

/// Writes a row of a batch where it stays.
struct decode_into_batch {
  tensor operator()(std::int64_t number) const { return decode_image(encoded(number)).value(); }
  void append_to(lib::column& rows, std::int64_t number) const {
    auto done = decode_image(encoded(number), {}, [&](const image_spec& spec) {
      return reinterpret_cast<std::uint8_t*>(rows.append_tensor(spec.tensor()));
    });
    if (!done.ok()) throw error(done.why());
  }
};

task<std::vector<tensor>> all_tensors(stream<batched<tensor>> s) {
  std::vector<tensor> all;
  while (auto b = co_await s.next()) all.push_back(b->stacked());
  co_return all;
}

}  // namespace

TEST_CASE("images changed at random are the same with any parallelism, and after a resume") {
  runtime rt;
  checkpoint after;
  const auto all = sync_wait(rt, stacked_images(plan(1).iterate(rt), &after));
  REQUIRE(all.size() == kPhotos / 8);
  CHECK(all[0].spec_text() == "uint8[8,8,10,3]");
  CHECK(sync_wait(rt, stacked_images(plan(6).iterate(rt), nullptr)) == all);
  const auto rest = sync_wait(rt, stacked_images(plan(6).iterate(rt, {.from = after}), nullptr));
  CHECK(rest == std::vector<tensor>(all.begin() + 2, all.end()));
}

TEST_CASE("a decoder writes rows of a batch where they stay") {
  runtime rt;
  const auto direct = sync_wait(rt, all_tensors((range(20) | map(decode_into_batch{}) | batch(6)).iterate(rt)));
  const auto copied = sync_wait(
      rt, all_tensors((range(20) | map([](std::int64_t n) { return decode_into_batch{}(n); }) | batch(6)).iterate(rt)));
  REQUIRE(direct.size() == 4);
  CHECK(direct[0].spec_text() == "uint8[6,24,24,3]");
  CHECK(direct == copied);
}

TEST_CASE("an image that is damaged is an error of its element, and may be skipped") {
  runtime rt;
  const auto damaged = range(10) | map([](std::int64_t n) {
                         const std::string bytes = encoded(n);
                         return decode_image(std::string_view(bytes).substr(0, n == 4 ? 100 : bytes.size()));
                       }) |
                       batch(3);
  const auto seen = sync_wait(rt, all_tensors(damaged.iterate(rt, {.on_error = error_policy::skip})));
  REQUIRE(seen.size() == 3);
  try {
    sync_wait(rt, all_tensors(damaged.iterate(rt)));
    FAIL("nothing was thrown");
  } catch (const error& e) {
    CHECK(e.code() == status_code::data_loss);
    CHECK(std::string(e.what()).find("element 4: decode_bmp: premature end of the data at byte 100") !=
          std::string::npos);
  }
}

}  // namespace sluice::lib::images_in_plans_test

#endif
