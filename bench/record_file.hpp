// SPDX-License-Identifier: Apache-2.0
// A TFRecord file in the folder for temporary files, which exists as long as its object.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "sluice/format/tfrecord_frames.hpp"

namespace sluice::lib::bench {

class record_file {
 public:
  /// Writes `records` records of this size, each changed by fill(data, number) first.
  template <class Fill> record_file(std::uint64_t records, std::size_t record_bytes, Fill fill) : records_(records) {
    static int files = 0;
    const std::string name = "sluice_bench_" + std::to_string(::getpid()) + "_" + std::to_string(files++) + ".tfrecord";
    path_ = (std::filesystem::temp_directory_path() / name).string();
    std::ofstream out(path_, std::ios::binary);
    std::string data(record_bytes, ' '), framed;
    for (std::uint64_t i = 0; i != records; ++i) {
      fill(data, i);
      append_tfrecord(framed, data);
      constexpr std::size_t kWriteBytes = std::size_t{1} << 20;
      if (framed.size() < kWriteBytes && i + 1 != records) continue;
      out << framed;
      framed.clear();
    }
    if (!out.flush()) throw std::runtime_error("cannot write " + path_);
  }
  ~record_file() {
    std::remove(path_.c_str());
    std::remove((path_ + ".sluice-index").c_str());
  }
  record_file(const record_file&) = delete;

  const std::string& path() const { return path_; }
  double records() const { return static_cast<double>(records_); }

 private:
  std::string path_;
  std::uint64_t records_ = 0;
};

}  // namespace sluice::lib::bench
