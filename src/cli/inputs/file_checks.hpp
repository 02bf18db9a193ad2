// SPDX-License-Identifier: Apache-2.0
// What verify reads a file by, and what it looks at besides: the format decides.
//
//   tfrecord            both CRCs of each record
//   zip                 each member's CRC
//   tar                 each header's checksum; that the archive has its end
//   jsonl               each line is JSON in UTF-8
//   csv                 quotes are closed, and each row has as many fields as the first
//   npy                 the header fits the file's size
//   arrow, lines        can be read to the end; of a compressed file its codec's checks are made for every format,
//                       and a file that is named as a compressed one is one
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "output/element_sink.hpp"
#include "sluice/base/field_types.hpp"
#include "sluice/base/result.hpp"
#include "sluice/format/inflate.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib::cli {

/// Looks at elements, and keeps the first of what is wrong with them.
class checking_sink : public element_sink {
 public:
  status take(const block&) override { return {}; }
  std::uint32_t wanted(const element_type&) const override { return 1024; }

  std::uint64_t errors() const { return errors_; }
  const std::vector<status>& first_errors() const { return first_errors_; }
  /// Elements that are no records: blank lines.
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
  std::uint64_t head_elements = 0;  ///< that are no records: a header
  bool is_npy = false;
  /// Of a compressed file whose format ends before the file does, and of a tar archive: passes over all bytes, so that its codec's
  /// checks are made, and the archive's end is found. Null: none is needed.
  node_ptr to_end = {};
  bool is_tar = false;  ///< to_end's bytes are for a tar_end_sink
};

/// `format`: empty: by its name and content. What no name and no content tells is checked as TFRecords, unless it is text or
/// compressed. Blocks. Errors: of opening the file, and of what its first rows have to say; no such format.
result<file_check> check_of(const std::string& file, const std::string& format, compression c);

/// A file that is named as a compressed one, and that its first bytes tell to be none, is taken for what those say: then this is
/// data_loss, which names both. Blocks.
status check_name(const std::string& file);

/// Of a plain npy file: are there just the bytes that its header tells of?
status check_npy_size(const std::string& file, std::uint64_t size_bytes);

}  // namespace sluice::lib::cli
