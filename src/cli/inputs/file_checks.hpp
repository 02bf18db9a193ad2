// SPDX-License-Identifier: Apache-2.0
// The checks that verify makes when it reads a file, and its additional checks. The format decides:
//
//   tfrecord            both CRCs of each record
//   zip                 each member's CRC
//   tar                 each header's checksum; the archive has its end
//   jsonl               each line is JSON in UTF-8
//   csv                 quotes are closed, and each row has as many fields as the first
//   npy                 the header fits the file's size
//   arrow, lines        can be read to the end
//
// For every format, the checks of a compressed file's codec are made, and a file that is named as a compressed one must
// be one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/inputs/format_options.hpp"
#include "output/element_sink.hpp"
#include "sluice/base/field_types.hpp"
#include "sluice/base/result.hpp"
#include "sluice/format/inflate.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib::cli {

/// Examines elements, and records the first problem found.
class checking_sink : public element_sink {
 public:
  status take(const block&) override { return {}; }
  std::uint32_t wanted(const element_type&) const override { return 1024; }

  std::uint64_t errors() const { return errors_; }
  const std::vector<status>& first_errors() const { return first_errors_; }
  /// Returns the number of elements that are not records: blank lines.
  std::uint64_t passed() const { return passed_; }

 protected:
  void found(status why);
  std::uint64_t passed_ = 0;

 private:
  std::uint64_t errors_ = 0;
  std::vector<status> first_errors_;
};

struct file_check {
  node_ptr plan;
  std::unique_ptr<checking_sink> sink;
  std::uint64_t head_elements = 0;  ///< elements that are not records: a header
  bool is_npy = false;
  /// For a compressed file whose format ends before the file does, and for a tar archive: skips all bytes, so that the
  /// codec's checks run and the archive's end is found. Null: not needed.
  node_ptr to_end = {};
  bool is_tar = false;  ///< to_end's bytes are for a tar_end_sink
};

/// `format`: what is not given is detected (find_reader); with a schema its types are checked, too. Blocks. Errors:
/// those of opening the file and of reading its first rows, and unimplemented for a format that is known and not read.
/// Throws misuse for an unknown format and for options that do not fit the file: neither is damage.
result<file_check> check_of(const std::string& file, const format_arguments& format, compression c);

/// Checks a file whose name has a suffix of compression (check_compression_suffix). The message names the option in place
/// of a plan's argument. Blocks.
status check_name(const std::string& file);

/// Checks that a plain npy file has exactly the bytes that its header declares.
status check_npy_size(const std::string& file, std::uint64_t size_bytes);

}  // namespace sluice::lib::cli
