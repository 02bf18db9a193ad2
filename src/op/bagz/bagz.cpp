// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/bagz.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/by_number/record_bounds.hpp"
#include "engine/by_number/record_stage.hpp"
#include "format/codec/zstd_frames.hpp"
#include "op/bagz/bagz_files.hpp"
#include "plan/codecs/arguments_of.hpp"

namespace sluice::lib {
namespace {

/// Limits that are read at once: for records in a row, and for one record and its neighbors.
constexpr std::uint64_t kLimitsInRow = 8192, kLimitsOfOne = 512;
/// The size of decompressed records of one block.
constexpr std::uint64_t kUnpackedBytes = std::uint64_t{256} << 10;
/// Records of unknown size: the bytes that are decompressed at a time to find it, and the most that one may have.
constexpr std::size_t kUnsizedRoomBytes = std::size_t{64} << 10;
constexpr std::uint64_t kUnsizedBytesMax = std::uint64_t{1} << 31;

class bagz_format final : public record_format {
 public:
  bagz_format(compression packed, std::unique_ptr<placed_input> limits_in)
      : packed_(packed), limits_in_(std::move(limits_in)) {}

  std::uint64_t records() const override { return bounds_.table().records; }

  task<void> open(placed_input& in, const record_file& planned) override {
    is_packed_ = bagz_is_packed(in.path(), packed_);
    if (limits_in_) {
      auto opening = limits_in_->open(bagz_limits_path(in.path()));
      co_await opening;
    }
    placed_input& from = limits_in_ ? *limits_in_ : in;
    const std::uint64_t size = from.size_bytes();
    // The plan has found the limits already. They are checked again, record by record.
    const bool is_known = planned.size_bytes == in.size_bytes() && !limits_in_ &&
                          planned.records <= size / kBagzLimitBytes && planned.records != 0;
    bagz_limits limits;
    if (is_known) {
      limits.records = planned.records;
      limits.begin = size - planned.records * kBagzLimitBytes;
    } else {
      const std::uint64_t tail_bytes = std::min(size, kBagzLimitBytes);
      auto reading = from.read(size - tail_bytes, static_cast<std::size_t>(tail_bytes), placed_input::apart);
      const buffer_ref tail = co_await reading;
      const std::string_view bytes(tail->data(), static_cast<std::size_t>(tail_bytes));
      const result<bagz_limits> found = find_bagz_limits(bytes, size, limits_in_ != nullptr, in.size_bytes());
      if (!found.ok()) co_await fail(found.why());
      limits = *found;
    }
    const std::uint64_t records_end = limits_in_ ? in.size_bytes() : limits.begin;
    bounds_.reset({.offset = limits.begin, .records = limits.records, .highest = records_end});
  }

  task<void> read(placed_input& in, record_wish wish, record_run& to) override {
    if (!bounds_.has(wish.from)) {
      const std::uint64_t n =
          wish.where == placed_input::ahead ? kLimitsInRow : std::max(kLimitsOfOne, wish.records_max);
      placed_input& from = limits_in_ ? *limits_in_ : in;
      auto filling = bounds_.fill(from, wish.from, n);
      co_await filling;
    }
    bounds_.take(wish, in.path(), to);
    auto reading = read_run(in, wish.where, to);
    co_await reading;
  }

  std::uint32_t build(placed_input& in, const record_run& run, std::size_t i, std::uint32_t n, char* to,
                      status& why) override {
    if (!is_packed_) return record_format::build(in, run, i, n, to, why);
    sizes_.clear();
    std::uint64_t bytes = 0;
    for (std::uint32_t k = 0; k != n && bytes < kUnpackedBytes; ++k) {
      // A record without bytes has no frame.
      auto one = run.at(i + k).empty() ? result<std::uint64_t>(0) : frames_.content_bytes(run.at(i + k));
      if (one.ok() && *one == zstd_frames::kUnknown) {
        if (k != 0) break;
        return build_unsized(in, run.at(i), to, why);
      }
      if (!one.ok()) why = one.why();
      if (!one.ok() || (k != 0 && *one > kUnpackedBytes)) break;
      sizes_.push_back(static_cast<std::size_t>(*one));
      bytes += *one;
    }
    if (sizes_.empty()) return 0;
    buffer_ref room;
    why = in.memory().make_buffer(static_cast<std::size_t>(std::max<std::uint64_t>(bytes, 1)), room);
    if (!why.ok()) return 0;
    auto* records = reinterpret_cast<record*>(to);
    std::uint32_t made = 0;
    for (char* at = room->data(); made != sizes_.size(); ++made) {
      const std::size_t size = sizes_[made];
      const std::string_view packed = run.at(i + made);
      if (!packed.empty()) why = frames_.inflate(packed, at, size);
      if (!why.ok()) break;
      room->add_references(1);
      ::new (static_cast<void*>(records + made)) record(room.get(), at, size);
      at += size;
    }
    return made;
  }

 private:
  /// A record whose frame does not state its size, which is found before memory is charged for it.
  std::uint32_t build_unsized(placed_input& in, std::string_view packed, char* to, status& why) {
    unsized_.resize(kUnsizedRoomBytes);
    const auto size = frames_.measure(packed, kUnsizedBytesMax, unsized_);
    if (!size.ok()) return why = size.why(), 0;
    const auto bytes = static_cast<std::size_t>(*size);
    buffer_ref room;
    why = in.memory().make_buffer(std::max<std::size_t>(bytes, 1), room);
    if (!why.ok()) return 0;
    if (bytes < unsized_.size()) std::memcpy(room->data(), unsized_.data(), bytes);
    else why = frames_.inflate(packed, room->data(), bytes);
    if (!why.ok()) return 0;
    room->add_references(1);
    ::new (static_cast<void*>(to)) record(room.get(), room->data(), bytes);
    return 1;
  }

  const compression packed_;
  const std::unique_ptr<placed_input> limits_in_;  ///< null: the limits are in the file itself
  bool is_packed_ = false;
  record_bounds bounds_;
  zstd_frames frames_;
  std::vector<std::size_t> sizes_;
  std::vector<char> unsized_;  ///< the beginning of a record of unknown size
};

/// Finds the files and their records. A single file that cannot be read is reported by the run.
void find_bagz_records(arguments& args) {
  bagz_arguments a = args.as<bagz_arguments>();
  const std::string& path = a.path.value;
  if (!a.path.is_given || path.empty() || path == "-") return;
  if (a.planned.of && a.planned.of->path == path && a.planned.of->why.ok()) return;
  auto planned = plan_bagz(path, a.options.separate_limits);
  if (!planned.ok() && is_bagz_set(path)) throw_status(planned.why());
  if (planned.ok()) a.planned.of = std::make_shared<const planned_records>(*std::move(planned));
  else a.planned.of = unread_records(path, planned.why());
  args = arguments::of(std::move(a));
}

const element_type* bagz_type(const node& n, std::string& why) {
  const bagz_options& o = n.as<bagz_arguments>().options;
  if (o.compression != compression::automatic && o.compression != compression::none &&
      o.compression != compression::zstd)
    return why = "compression is none or zstd: records of Bagz are stored, or zstd frames", nullptr;
  if (o.read_bytes.value < 1) return why = "read_bytes must be at least 1B", nullptr;
  return &type_of<record>();
}

erased_stream open_bagz(const node& n, open_context& context) {
  const auto& a = n.as<bagz_arguments>();
  const placed_input_options reading = placed_reading_with<bagz_arguments>(n, context);
  std::unique_ptr<placed_input> limits_in;
  if (a.options.separate_limits)
    limits_in = std::make_unique<placed_input>(context.run, context.site(n), context.gate(n).label(), reading);
  auto format = std::make_unique<bagz_format>(a.options.compression, std::move(limits_in));
  return open_record_stage(n, context, a.path.value, reading, planned_of<bagz_arguments>(n), std::move(format));
}

}  // namespace

const op_info bagz_op{
    .name = "bagz",
    .doc = "the records of a Bagz file, or of a set of shards",
    .shape = op_info::source,
    .arguments = arguments_of<bagz_arguments>,
    .make_canonical = find_bagz_records,
    .type = bagz_type,
    .facts = {.size = size_of_planned<bagz_arguments>, .seeks = seeks_if_planned<bagz_arguments>},
    .splits = {.rule = split_rule::one_file, .skips_in_file = [](const node&) { return true; }},
    .lowering = {.open = open_bagz},
};

}  // namespace sluice::lib
