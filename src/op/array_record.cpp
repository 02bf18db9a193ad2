// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/array_record.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "engine/by_number/record_stage.hpp"
#include "engine/files/file_tail.hpp"
#include "format/riegeli/array_record_footer.hpp"
#include "io/plan_file_reader.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/runtime/blocking.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib {
namespace {

/// Records that are decoded together have about this size. Chunks of more are decoded by a thread that may take its time.
constexpr std::uint64_t kDecodedInline = std::uint64_t{1} << 20;
/// Records that are decoded together, except those of one chunk.
constexpr std::uint64_t kRecordsAtOnce = std::uint64_t{1} << 16;
/// The bytes that a record takes beside its own while its chunk is decoded: its size, packed and unpacked, and its place.
constexpr std::uint64_t kBytesBesideRecord = 10 + sizeof(std::size_t) + sizeof(record_run::place);

using chunks_ptr = std::shared_ptr<const array_record_chunks>;

/// The chunks of each file.
struct planned_array_records final : planned_records {
  std::vector<chunks_ptr> chunks{};
};

result<chunks_ptr> read_array_record_footer(const std::string& path, std::uint64_t& size) {
  result<std::uint64_t> footer = std::uint64_t{0};
  auto tail = read_file_tail(path, kArrayRecordTailBytes, [&](const file_tail& t) {
    footer = find_array_record_footer(t.bytes, t.size_bytes);
    return footer.ok() ? t.size_bytes - *footer : 0;
  });
  if (!tail.ok()) return tail.why();
  if (!footer.ok()) return footer.why().in_file(path);
  size = tail->size_bytes;
  const std::size_t before = tail->bytes.size() - static_cast<std::size_t>(size - *footer);
  auto chunks = parse_array_record_footer({std::string_view(tail->bytes).substr(before), *footer}, *footer);
  if (!chunks.ok()) return chunks.why().in_file(path, *footer);
  return chunks_ptr(std::make_shared<const array_record_chunks>(*std::move(chunks)));
}

result<std::shared_ptr<const planned_array_records>> plan_array_records(const std::string& path) {
  std::vector<std::string> names{path};
  if (detail::is_pattern_for_plan(path)) {
    auto listed = detail::list_for_plan(path);
    if (!listed.ok()) return unlisted(listed.why(), path);
    names = *std::move(listed);
  }
  auto planned = std::make_shared<planned_array_records>();
  planned->path = path;
  for (const std::string& name : names) {
    record_file file{name};
    auto chunks = read_array_record_footer(name, file.size_bytes);
    if (!chunks.ok()) return chunks.why();
    file.records = (*chunks)->records();
    planned->chunks.push_back(*std::move(chunks));
    if (status why = planned->add(std::move(file)); !why.ok()) return why;
  }
  return std::shared_ptr<const planned_array_records>(std::move(planned));
}

/// Decodes consecutive chunks into one room.
struct chunk_decoding {
  const array_record_chunks* chunks;
  file_bytes from;
  std::size_t begin, end;  ///< the chunks
  record_run* to;
  zstd_frames* frames;

  /// Stops before the first chunk that is damaged, and returns its error; `to` has the records before it.
  status operator()() const {
    char* room = to->bytes->data();
    std::vector<std::size_t> sizes;
    for (std::size_t c = begin; c != end; ++c) {
      riegeli_chunk chunk;
      const std::uint64_t at = chunks->offsets[c];
      status why = read_riegeli_chunk(from, at, chunk);
      if (why.ok()) why = simple_records(chunk, *frames, room, sizes);
      if (!why.ok()) return why;
      auto place = static_cast<std::size_t>(room - to->bytes->data());
      for (const std::size_t n : sizes) {
        to->places.push_back({at, place, n});
        place += n;
      }
      room += chunk.decoded_bytes;
    }
    return {};
  }
};

class array_record_format final : public record_format {
 public:
  array_record_format(std::shared_ptr<run_context> run, std::shared_ptr<const planned_array_records> planned)
      : run_(std::move(run)), planned_(std::move(planned)) {}

  std::uint64_t records() const override { return chunks_->records(); }

  task<void> open(placed_input& in, const record_file& planned) override {
    if (planned_ && planned.size_bytes == in.size_bytes()) {
      chunks_ = planned_->chunks[static_cast<std::size_t>(&planned - planned_->files.data())];
      co_return;
    }
    const std::uint64_t size = in.size_bytes(), tail_bytes = std::min(size, kArrayRecordTailBytes);
    auto reading = in.read(size - tail_bytes, static_cast<std::size_t>(tail_bytes), placed_input::apart);
    const buffer_ref tail = co_await reading;
    const auto footer =
        find_array_record_footer(std::string_view(tail->data(), static_cast<std::size_t>(tail_bytes)), size);
    if (!footer.ok()) co_await fail(footer.why());
    const auto footer_bytes = static_cast<std::size_t>(size - tail_bytes - *footer);
    auto footer_reading = in.read(*footer, footer_bytes, placed_input::apart);
    const buffer_ref bytes = co_await footer_reading;
    auto found = parse_array_record_footer({std::string_view(bytes->data(), footer_bytes), *footer}, *footer);
    if (!found.ok()) co_await fail(found.why());
    chunks_ = std::make_shared<const array_record_chunks>(*std::move(found));
  }

  task<void> read(placed_input& in, record_wish wish, record_run& to) override {
    const array_record_chunks& all = *chunks_;
    const auto begin =
        static_cast<std::size_t>(std::upper_bound(all.ends.begin(), all.ends.end(), wish.from) - all.ends.begin());
    const std::uint64_t last = wish.from + wish.records_max;
    std::size_t end = begin + 1;
    while (end != all.ends.size() && all.ends[end - 1] < last && all.end_of(end) - all.offsets[begin] <= wish.bytes)
      ++end;
    to.first = begin == 0 ? 0 : all.ends[begin - 1];
    const std::uint64_t offset = all.offsets[begin];
    const auto bytes = static_cast<std::size_t>(all.end_of(end - 1) - offset);
    auto reading = in.read(offset, bytes, wish.where);
    const buffer_ref raw = co_await reading;
    const file_bytes from{std::string_view(raw->data(), bytes), offset};
    // The room that all records need, as far as the headers of the chunks are sound.
    status why;
    std::uint64_t room_bytes = 0, records = 0;
    std::size_t sound_end = begin;
    for (; sound_end != end; ++sound_end) {
      riegeli_chunk chunk;
      std::uint64_t data_bytes = 0;
      why = read_riegeli_header(from, all.offsets[sound_end], chunk, data_bytes);
      const std::uint64_t stated = all.records_in(sound_end);
      if (why.ok() && chunk.records != stated)
        why =
            data_loss_error(absl::StrCat("the chunk has ", chunk.records, " records, and the footer states ", stated));
      const bool is_too_much = chunk.decoded_bytes > 4 * kDecodedInline ||
                               room_bytes + chunk.decoded_bytes > 4 * kDecodedInline ||
                               records + stated > kRecordsAtOnce;
      if (!why.ok() || (sound_end != begin && is_too_much)) break;
      room_bytes += chunk.decoded_bytes;
      records += stated;
    }
    if (sound_end != begin) why = make_room(in, room_bytes, records, to);
    if (sound_end != begin && why.ok()) {
      chunk_decoding work{&all, from, begin, sound_end, &to, &frames_};
      if (room_bytes < kDecodedInline) {
        why = work();
      } else {
        blocking<chunk_decoding> working(run_->rt->blocking_calls(), work);
        why = co_await working;
      }
    }
    // The error of a later chunk is found again when its records are wanted.
    if (!to.places.empty() || why.ok()) co_return;
    to.first = wish.from;
    to.lost = all.ends[begin] - wish.from;
    to.why = why.in_file(in.path(), offset, wish.from);
  }

 private:
  /// Charges what decoding takes. Errors: resource_exhausted.
  static status make_room(placed_input& in, std::uint64_t bytes, std::uint64_t records, record_run& to) {
    status why = in.memory().make_buffer(static_cast<std::size_t>(std::max<std::uint64_t>(bytes, 1)), to.bytes);
    if (why.ok() && records > kRecordsAtOnce)
      why = in.memory().make_buffer(static_cast<std::size_t>(records * kBytesBesideRecord), to.beside);
    if (why.ok()) to.places.reserve(static_cast<std::size_t>(records));
    return why;
  }

  const std::shared_ptr<run_context> run_;
  const std::shared_ptr<const planned_array_records> planned_;
  chunks_ptr chunks_;
  zstd_frames frames_;
};

/// Finds the files and their chunks. A single file that cannot be read is reported by the run.
void find_array_records(arguments& args) {
  array_record_arguments a = args.as<array_record_arguments>();
  const std::string& path = a.path.value;
  if (!a.path.is_given || path.empty() || path == "-") return;
  if (a.planned.of && a.planned.of->path == path && a.planned.of->why.ok()) return;
  auto planned = plan_array_records(path);
  if (!planned.ok() && detail::is_pattern_for_plan(path)) throw_status(planned.why());
  if (planned.ok()) a.planned.of = *planned;
  else a.planned.of = unread_records(path, planned.why());
  args = arguments::of(std::move(a));
}

const element_type* array_record_type(const node& n, std::string& why) {
  if (n.as<array_record_arguments>().options.read_bytes.value < 1)
    return why = "read_bytes must be at least 1B", nullptr;
  return &type_of<record>();
}

erased_stream open_array_record(const node& n, open_context& context) {
  auto planned = std::static_pointer_cast<const planned_array_records>(planned_of<array_record_arguments>(n));
  auto format = std::make_unique<array_record_format>(context.run, planned);
  return open_record_stage(n, context, n.as<array_record_arguments>().path.value,
                           placed_reading_with<array_record_arguments>(n, context), planned, std::move(format));
}

}  // namespace

const op_info array_record_op{
    .name = "array_record",
    .doc = "the records of an ArrayRecord file",
    .shape = op_info::source,
    .arguments = arguments_of<array_record_arguments>,
    .make_canonical = find_array_records,
    .type = array_record_type,
    .facts = {.size = size_of_planned<array_record_arguments>, .seeks = seeks_if_planned<array_record_arguments>},
    .splits = {.rule = split_rule::one_file, .skips_in_file = [](const node&) { return true; }},
    .lowering = {.open = open_array_record},
};

}  // namespace sluice::lib
