// SPDX-License-Identifier: Apache-2.0
// The one list of fuzz targets. A new one is added here, and gets a folder in tests/fuzz/corpus/.
#include "fuzz/target.hpp"

namespace sluice::lib::fuzz {

void array_record(std::string_view bytes);
void arrow_stream(std::string_view bytes);
void bagz(std::string_view bytes);
void checkpoint(std::string_view bytes);
void tfrecord(std::string_view bytes);
void csv(std::string_view bytes);
void jsonl(std::string_view bytes);
void mds(std::string_view bytes);
void npy(std::string_view bytes);
void parquet(std::string_view bytes);
void lines(std::string_view bytes);
void fixed_length(std::string_view bytes);
void inflate(std::string_view bytes);
void codec_zstd(std::string_view bytes);
void codec_lz4(std::string_view bytes);
void codec_snappy(std::string_view bytes);
void codec_snappy_blocks(std::string_view bytes);
void codec_bzip2(std::string_view bytes);
void codec_xz(std::string_view bytes);
void example(std::string_view bytes);
void example_layout(std::string_view bytes);
void example_json(std::string_view bytes);
void sequence_example(std::string_view bytes);
void plan_text(std::string_view bytes);
void plan_json(std::string_view bytes);
void value_input(std::string_view bytes);
void bmp(std::string_view bytes);
void gif(std::string_view bytes);
void http(std::string_view bytes);
void store_answers(std::string_view bytes);
void image_transform(std::string_view bytes);
void jpeg(std::string_view bytes);
void paths(std::string_view bytes);
void png(std::string_view bytes);
void wav(std::string_view bytes);
void webp(std::string_view bytes);
void zip(std::string_view bytes);

std::span<const target> targets() {
  static constexpr target kAll[] = {
      {"array_record", array_record},
      {"arrow_stream", arrow_stream},
      {"bagz", bagz},
      {"bmp", bmp},
      {"checkpoint", checkpoint},
      {"csv", csv},
      {"codec_bzip2", codec_bzip2},
      {"codec_lz4", codec_lz4},
      {"codec_snappy", codec_snappy},
      {"codec_snappy_blocks", codec_snappy_blocks},
      {"codec_xz", codec_xz},
      {"codec_zstd", codec_zstd},
      {"example", example},
      {"example_json", example_json},
      {"example_layout", example_layout},
      {"fixed_length", fixed_length},
      {"gif", gif},
      {"http", http},
      {"image_transform", image_transform},
      {"inflate", inflate},
      {"jpeg", jpeg},
      {"jsonl", jsonl},
      {"lines", lines},
      {"mds", mds},
      {"npy", npy},
      {"parquet", parquet},
      {"paths", paths},
      {"plan_json", plan_json},
      {"plan_text", plan_text},
      {"png", png},
      {"sequence_example", sequence_example},
      {"store_answers", store_answers},
      {"tfrecord", tfrecord},
      {"value", value_input},
      {"wav", wav},
      {"webp", webp},
      {"zip", zip},
  };
  return kAll;
}

const target* find_target(std::string_view name) {
  for (auto& t : targets())
    if (t.name == name) return &t;
  return nullptr;
}

}  // namespace sluice::lib::fuzz
