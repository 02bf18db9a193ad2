// SPDX-License-Identifier: Apache-2.0
#include "output/output_part.hpp"

#include <algorithm>
#include <utility>

#include "output/element_sink.hpp"

namespace sluice::lib {
namespace {

constexpr std::size_t kOutputWriteBytes = std::size_t{1} << 18;

}  // namespace

output_part::output_part(std::unique_ptr<element_encoder> encoder, std::unique_ptr<member_compressor> compressor,
                         std::unique_ptr<byte_output> to)
    : encoder_(std::move(encoder)), compressor_(std::move(compressor)), to_(std::move(to)) {}

status output_part::begin() { return encoder_->begin(made_); }

status output_part::resume(const shard_place& from) {
  plain_bytes_ = from.plain_bytes;
  written_bytes_ = from.length_bytes;
  return encoder_->load(from.encoder);
}

status output_part::append(const block& elements, std::uint32_t first, std::uint32_t n) {
  // Elements are encoded one at a time, since an element may have any size, unless the encoder gathers them anyway.
  const std::uint32_t at_once = encoder_->is_immediate() || elements.type().kind == kind::batch ? 1 : n;
  for (std::uint32_t i = 0; i != n; i += at_once) {
    status why = encoder_->append(elements.at(first + i), at_once, made_);
    if (why.ok() && made_.bytes.size() >= kOutputWriteBytes) why = write_out();
    if (!why.ok()) return why;
  }
  return {};
}

status output_part::flush_if_watched() { return to_->is_watched() && !compressor_ ? write_out() : status(); }

std::uint32_t output_part::taken() const {
  return to_->is_watched() && encoder_->is_immediate() && !compressor_ ? taken_ : element_sink::kUnknown;
}

status output_part::write_out() {
  status why;
  if (const std::size_t head = encoder_->head().size(); head != 0 && plain_bytes_ == 0) why = to_->reserve_head(head);
  plain_bytes_ += made_.bytes.size();
  if (why.ok() && compressor_) {
    compressor_->append(made_.bytes, compressed_);
    why = write(compressed_, {});
    compressed_.clear();
  } else if (why.ok()) {
    why = write(made_.bytes, made_.ends);
  }
  made_.bytes.clear();
  made_.ends.clear();
  return why;
}

status output_part::write(const std::string& bytes, const std::vector<std::size_t>& ends) {
  std::size_t accepted = 0;
  status why = to_->write(bytes, ends, accepted);
  written_bytes_ += accepted;
  taken_ += static_cast<std::uint32_t>(std::upper_bound(ends.begin(), ends.end(), accepted) - ends.begin());
  return why;
}

status output_part::end_member() {
  if (!compressor_ || (!compressor_->is_in_member() && written_bytes_ != 0)) return {};
  compressor_->end_member(compressed_);
  status why = write(compressed_, {});
  compressed_.clear();
  return why;
}

status output_part::write_head() {
  const std::string head = encoder_->head();
  return head.empty() ? status() : to_->write_head(head);
}

status output_part::commit(shard_place& place) {
  status why = encoder_->flush(made_);
  if (why.ok()) why = write_out();
  if (why.ok()) why = end_member();
  if (why.ok()) why = write_head();
  if (why.ok()) why = to_->commit(place);
  if (!why.ok()) return why;
  place.plain_bytes = plain_bytes_;
  place.encoder = encoder_->save();
  return {};
}

status output_part::finish() {
  status why = encoder_->flush(made_);
  do {
    if (why.ok()) why = encoder_->end(made_);
    if (why.ok()) why = write_out();
  } while (why.ok() && !encoder_->has_ended());
  if (why.ok()) why = end_member();
  if (why.ok()) why = write_head();
  return why.ok() ? to_->finish() : why;
}

}  // namespace sluice::lib
