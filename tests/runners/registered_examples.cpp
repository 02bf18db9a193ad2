// SPDX-License-Identifier: Apache-2.0
// Functions of rows that make tf.Examples and tf.SequenceExamples.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "sluice/format/example.hpp"
#include "sluice/sluice.hpp"
#include "support/bytes/sequence_bytes.hpp"

namespace sluice::lib::test {
namespace {

using int64 = std::int64_t;

/// Example i; those with i % 5 == 3 lack their label.
SLUICE_FUNCTION(some_example, [](int64 i) {
  example_writer w;
  float values[] = {0.5f * static_cast<float>(i), 0.25f};
  w.bytes("text", "text " + std::to_string(i)).floats("values", values, 2);
  if (i % 5 != 3) w.int64("label", i);
  w.bytes_list("tags", std::vector<std::string>(static_cast<std::size_t>(i % 3), "tag"));
  if (i % 2 == 0) w.floats("score", values, 1);
  return std::string(w.finish());
});

std::string picture(int64 i) {
  example_writer w;
  float values[] = {1, 2, 3, static_cast<float>(i)};
  w.floats("image/raw", values, 4);
  int64 ids[] = {7, 8};
  if (i % 2 == 0) w.int64("class", i).floats("box", values, 2).int64s("ids", ids, static_cast<std::size_t>(i));
  return std::string(w.finish());
}
SLUICE_FUNCTION(some_picture, picture);

/// Two pictures that fit most schemas, and one of n values and n numbers.
SLUICE_FUNCTION(uneven_picture, [](int64 i, int64 n) {
  if (i == 0) return picture(0);
  const auto size = static_cast<std::size_t>(n);
  const std::vector<float> values(std::max<std::size_t>(size, 4), 1.0F);
  const std::vector<int64> numbers(size, 300);
  example_writer w;
  return std::string(w.floats("image/raw", values.data(), i == 1 ? 4 : size)
                         .int64s("ids", numbers.data(), i == 1 ? 0 : size)
                         .finish());
});

/// Features of sparse and ragged tensors. None of them if there are no rows.
SLUICE_FUNCTION(word_example, [](const std::vector<int64>& rows, const std::vector<int64>& outer) {
  if (rows.empty()) return std::string();
  example_writer w;
  float values[] = {7, 5};
  int64 columns[] = {3, 1}, inner[] = {0, 2, 3};
  return std::string(w.floats("w", values, 2)
                         .int64s("row", rows.data(), rows.size())
                         .int64s("column", columns, 2)
                         .bytes_list("tokens", {"a", "b", "c"})
                         .int64s("outer", outer.data(), outer.size())
                         .int64s("inner", inner, 3)
                         .finish());
});

/// Of features with many shapes.
SLUICE_FUNCTION(shaped_example, [](int64 x) {
  example_writer w;
  const std::vector<int64> numbers(static_cast<std::size_t>(2 * (x % 3)), x), index(1, x);
  const std::vector<float> image(6, 0.5f), weights(1, 1.5f);
  w.int64("label", x).floats("image", image.data(), image.size()).int64s("pairs", numbers.data(), numbers.size());
  w.floats("w", weights.data(), 1).int64s("i", index.data(), 1).int64s("rows", numbers.data(), numbers.size());
  if (x % 2) w.bytes_list("words", {"a", "b"});
  return std::string(w.finish());
});

/// Of i % 3 steps; the last label is wrong if i % 5 == 3.
SLUICE_FUNCTION(some_sequence, [](int64 i) {
  sequence_bytes w;
  w.context.int64("id", i);
  if (i % 2 == 0) w.context.bytes("name", "clip " + std::to_string(i));
  std::vector<std::string> label, audio, tokens;
  for (int64 step = 0; step != i % 3; ++step) {
    label.push_back(int64_step({10 * i + step}));
    audio.push_back(float_step({0.5f * static_cast<float>(i), static_cast<float>(step)}));
    tokens.push_back(int64_step(std::vector<int64>(static_cast<std::size_t>(step), i)));
  }
  if (i % 5 == 3) label.push_back(float_step({1}));
  return w.list("tokens", tokens).list("label", label).list("audio", audio).finish();
});

}  // namespace
}  // namespace sluice::lib::test
