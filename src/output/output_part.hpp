// SPDX-License-Identifier: Apache-2.0
// One file (or stream) of an output. Elements become bytes, are compressed, and go to the file.
//
// Thread: one caller; it blocks.
#pragma once

#include <memory>

#include "output/byte_output.hpp"
#include "output/encoders/element_encoder.hpp"
#include "output/member_compressor.hpp"
#include "sluice/element/slab.hpp"

namespace sluice::lib {

class output_part {
 public:
  /// `compressor`: null for an output that is not compressed.
  output_part(std::unique_ptr<element_encoder> encoder, std::unique_ptr<member_compressor> compressor,
              std::unique_ptr<byte_output> to);

  /// Starts a new file: writes the bytes before the first element.
  status begin();
  /// Resumes a file. Errors: data_loss.
  status resume(const shard_place& from);

  /// Appends the elements [first, first + n) of the block.
  status append(const block& elements, std::uint32_t first, std::uint32_t n);
  /// Writes the ready bytes if a reader may be waiting for them.
  status flush_if_watched();
  /// The number of elements written since begin_block(); see element_sink::taken().
  std::uint32_t taken() const;
  void begin_block() { taken_ = 0; }

  status commit(shard_place& place);
  void keep() { to_->keep(); }
  /// Called after commit(). Writes the bytes after the last element; the file takes its name.
  status finish();

  bool closed() const { return to_->closed(); }
  std::uint32_t wanted() const { return encoder_->wanted(); }
  std::uint64_t plain_bytes() const { return plain_bytes_ + made_.bytes.size() + encoder_->gathered_bytes(); }
  std::size_t kept_bytes() const { return encoder_->kept_bytes(); }
  /// The digest of the complete file; see element_encoder::digest().
  std::string digest() { return encoder_->digest(); }
  std::uint64_t written_bytes() const { return written_bytes_; }

 private:
  status write_out();
  status write(const std::string& bytes, const std::vector<std::size_t>& ends);
  status end_member();
  status write_head();

  const std::unique_ptr<element_encoder> encoder_;
  const std::unique_ptr<member_compressor> compressor_;
  const std::unique_ptr<byte_output> to_;
  encoded made_;
  std::string compressed_;
  std::uint64_t plain_bytes_ = 0, written_bytes_ = 0;
  std::uint32_t taken_ = 0;  ///< elements of the current block that are written
};

}  // namespace sluice::lib
