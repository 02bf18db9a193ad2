// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/mds.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "coro/long_work.hpp"
#include "engine/by_number/record_bounds.hpp"
#include "engine/by_number/record_stage.hpp"
#include "engine/files/chosen_columns.hpp"
#include "io/paths/file_router.hpp"
#include "io/paths/listed.hpp"
#include "io/plan_file_reader.hpp"
#include "op/mds/mds_check.hpp"
#include "op/mds/mds_index.hpp"
#include "op/mds/mds_samples.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/base/small_file.hpp"
#include "sluice/coro/stop_token.hpp"
#include "sluice/element/slice.hpp"
#include "sluice/format/inflate.hpp"
#include "sluice/runtime/blocking.hpp"
#include "sluice/runtime/run_context.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib {
namespace {

constexpr std::size_t kMdsIndexBytesMax = std::size_t{1} << 30;
/// Offsets that are read at once: for samples in a row, and for one sample and its neighbors.
constexpr std::uint64_t kMdsOffsetsInRow = 16384, kMdsOffsetsOfOne = 1024;
/// The size of compressed bytes that are decompressed before other tasks may run.
constexpr std::size_t kMdsInflatedAtOnce = std::size_t{256} << 10;
/// The largest head of a shard that is read at once.
constexpr std::uint64_t kMdsHeadAtOnce = 4 * (kMdsOffsetsInRow + 2);

/// The index, and the files of its shards.
struct planned_mds final : planned_records {
  mds_index index{};
  std::vector<bool> is_packed{};  ///< for each file: it is the compressed one
};

std::string folder_of(const std::string& path) {
  std::string folder = path == "index.json" ? "./index.json" : path;
  if (folder.ends_with("/index.json")) folder.resize(folder.size() - 11);
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  return folder;
}

bool exists_here(const std::string& path) {
  std::error_code unknown;
  return !detail::is_remote(path) && std::filesystem::exists(detail::without_file_scheme(path), unknown);
}

result<std::shared_ptr<const planned_mds>> plan_mds(const std::string& path) {
  const std::string folder = folder_of(path), at = absl::StrCat(folder, "/index.json");
  const bool is_remote = detail::is_remote(at);
  auto text = is_remote ? detail::read_for_plan(at, kMdsIndexBytesMax)
                        : read_small_file(detail::without_file_scheme(at), kMdsIndexBytesMax);
  if (!text.ok()) return text.why();
  auto index = parse_mds_index(*text);
  if (!index.ok()) return index.why().in_file(at);
  auto planned = std::make_shared<planned_mds>();
  planned->path = path;
  planned->index = *std::move(index);
  for (const mds_shard& s : planned->index.shards) {
    const std::string raw = absl::StrCat(folder, "/", s.raw_name);
    const bool is_packed = !s.zip_name.empty() && !exists_here(raw);
    record_file file{is_packed ? absl::StrCat(folder, "/", s.zip_name) : raw, s.samples,
                     is_packed ? s.zip_bytes : s.raw_bytes};
    planned->is_packed.push_back(is_packed);
    if (status why = planned->add(std::move(file)); !why.ok()) return why;
  }
  return std::shared_ptr<const planned_mds>(std::move(planned));
}

/// Shards of this folder, in the order of the index.
class mds_format final : public record_format {
 public:
  mds_format(std::shared_ptr<const planned_mds> planned, const element_type& row)
      : planned_(std::move(planned)), row_(row), samples_(planned_->index.columns, row) {}

  std::uint64_t records() const override { return bounds_.table().records; }

  task<void> open(placed_input& in, const record_file& planned) override {
    raw_ = {};
    check_ = {};
    const auto i = static_cast<std::size_t>(&planned - planned_->files.data());
    const mds_shard& shard = planned_->index.shards[i];
    if (in.size_bytes() != planned.size_bytes)
      co_await fail(data_loss_error(absl::StrCat("the shard has ", in.size_bytes(), " bytes, and index.json states ",
                                                 planned.size_bytes, ": it is damaged, or of another index")));
    environment* env = co_await this_environment();
    const mds_hash& stated = planned_->is_packed[i] ? shard.zip_hash : shard.raw_hash;
    if (stated.name.empty() && !shard.unknown_hashes.empty())
      env->run->warn(absl::StrCat("the shards of ", planned_->path, " have digests that are not compared: ",
                                  shard.unknown_hashes, "; sha1 and xxh64 are"));
    buffer_ref head;
    if (planned_->is_packed[i]) {
      auto inflating = inflated(in, shard);
      co_await inflating;
      head = raw_;
    }
    // The head is the number of samples, and an offset for each of them and for the end.
    const std::uint64_t head_bytes = 4 * (shard.samples + 2);
    if (head_bytes > shard.raw_bytes)
      co_await fail(data_loss_error(
          absl::StrCat("a shard of ", shard.raw_bytes, " bytes cannot have ", shard.samples, " samples")));
    if (!head) {
      auto reading = in.read(0, 4, placed_input::apart);
      buffer_ref number = co_await reading;
      head = std::move(number);
    }
    std::uint32_t samples = 0;
    std::memcpy(&samples, head->data(), sizeof samples);
    if (samples != shard.samples)
      co_await fail(data_loss_error(absl::StrCat("the shard has ", samples, " samples, and index.json states ",
                                                 shard.samples, ": it is damaged, or of another index")));
    const record_table table{.offset = 4,
                             .width = 4,
                             .records = shard.samples,
                             .has_begins = true,
                             .lowest = head_bytes,
                             .highest = shard.raw_bytes};
    if (!raw_) check_ = mds_check(shard.raw_hash, shard.raw_bytes);
    if (raw_) bounds_.set(table, std::string_view(raw_->data() + 4, static_cast<std::size_t>(head_bytes - 4)));
    else bounds_.reset(table);
  }

  task<void> read(placed_input& in, record_wish wish, record_run& to) override {
    if (raw_) {
      bounds_.take(wish, in.path(), to);
      to.bytes = raw_;
      // Places are in the decompressed shard.
      for (record_run::place& p : to.places) p.begin = static_cast<std::size_t>(p.offset);
      co_return;
    }
    if (check_.is_open() && check_.next() == 0) {
      // Samples that are read one by one are not checked, nor those after a position: the others are not read.
      if (wish.where != placed_input::ahead || wish.from != 0) check_.drop();
      else {
        auto heading = read_head(in);
        co_await heading;
      }
    }
    if (!bounds_.has(wish.from)) {
      auto filling =
          bounds_.fill(in, wish.from, wish.where == placed_input::ahead ? kMdsOffsetsInRow : kMdsOffsetsOfOne);
      co_await filling;
    }
    bounds_.take(wish, in.path(), to);
    if (wish.from == 0 && !to.places.empty()) {
      auto describing = check_until(in, to.places.front().offset);  // the columns, which the writer of MDS describes
      co_await describing;
    }
    auto reading = read_run(in, wish.where, to);
    co_await reading;
    if (!check_.is_open() || to.places.empty()) co_return;
    const record_run::place &first = to.places.front(), &last = to.places.back();
    const auto bytes = static_cast<std::size_t>(last.offset + last.bytes - first.offset);
    check_.add(first.offset, std::string_view(to.bytes->data(), bytes));
    status why = check_.result();
    if (!why.ok()) co_await fail(why.in_file(in.path()));
  }

  std::uint32_t build(placed_input&, const record_run& run, std::size_t i, std::uint32_t n, char* to,
                      status& why) override {
    std::uint32_t made = 0;
    for (; made != n; ++made) {
      why = samples_.build(run.at(i + made), run.bytes.get(), to + made * row_.size);
      if (!why.ok()) break;
    }
    if (made != 0) why = {};
    return made;
  }

 private:
  /// Adds the number of samples and the offsets to the check, and takes the bounds from them if they are few.
  task<void> read_head(placed_input& in) {
    const record_table table = bounds_.table();
    if (table.lowest > kMdsHeadAtOnce) {
      auto adding = check_until(in, table.lowest);
      co_await adding;
      co_return;
    }
    const auto n = static_cast<std::size_t>(table.lowest);
    auto reading = in.read(0, n, placed_input::apart);
    const buffer_ref bytes = co_await reading;
    const std::string_view head(bytes->data(), n);
    check_.add(0, head);
    bounds_.set(table, head.substr(4));
  }

  /// Adds the bytes before the offset `end` to the check.
  task<void> check_until(placed_input& in, std::uint64_t end) {
    while (check_.is_open() && check_.next() < end) {
      const std::uint64_t at = check_.next();
      const auto n = static_cast<std::size_t>(std::min(end - at, kMdsHeadAtOnce));
      auto reading = in.read(at, n, placed_input::apart);
      const buffer_ref bytes = co_await reading;
      check_.add(at, std::string_view(bytes->data(), n));
    }
  }

  task<void> inflated(placed_input& in, const mds_shard& shard) {
    if (shard.whole == whole_codec::none) return inflate(in, shard);
    return inflate_at_once(in, shard);
  }

  /// Reads a compressed shard, and decompresses it in one call on a thread for blocking calls.
  task<void> inflate_at_once(placed_input& in, const mds_shard& shard) {
    const auto zip_bytes = static_cast<std::size_t>(shard.zip_bytes),
               wanted = static_cast<std::size_t>(shard.raw_bytes);
    buffer_ref room, packed;
    status why = in.memory().make_buffer(std::max<std::size_t>(wanted, 1), room);
    if (why.ok()) why = in.memory().make_buffer(std::max<std::size_t>(zip_bytes, 1), packed);
    if (!why.ok()) co_await fail(std::move(why));
    for (std::size_t at = 0; at != zip_bytes;) {
      const std::size_t n = std::min(zip_bytes - at, kMdsInflatedAtOnce);
      auto reading = in.read(at, n, placed_input::ahead);
      const buffer_ref bytes = co_await reading;
      std::memcpy(packed->data() + at, bytes->data(), n);
      at += n;
    }
    environment* env = co_await this_environment();
    const auto unpack = [from = packed.get(), to = room.get(), zip_bytes, wanted, s = &shard] {
      const std::string_view packed_bytes(from->data(), zip_bytes);
      mds_check check(s->zip_hash, zip_bytes);
      check.add(0, packed_bytes);
      if (status differs = check.result(); !differs.ok()) return differs;
      return inflate_whole(s->whole, packed_bytes, to->data(), wanted);
    };
    blocking unpacking(env->run->rt->blocking_calls(), unpack);
    why = co_await unpacking;
    if (!why.ok()) co_await fail(why.in_file(in.path()));
    raw_ = std::move(room);
  }

  /// Reads a compressed shard, and decompresses it.
  task<void> inflate(placed_input& in, const mds_shard& shard) {
    long_work work;
    buffer_ref room;
    status why = in.memory().make_buffer(static_cast<std::size_t>(std::max<std::uint64_t>(shard.raw_bytes, 1)), room);
    if (!why.ok()) co_await fail(std::move(why));
    inflater unpacking(shard.packed);
    mds_check check(shard.zip_hash, shard.zip_bytes);
    std::size_t have = 0;
    const auto wanted = static_cast<std::size_t>(shard.raw_bytes);
    bool ended = false;
    std::uint64_t at = 0;
    while (!ended) {
      const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(shard.zip_bytes - at, kMdsInflatedAtOnce));
      auto reading = in.read(at, n, placed_input::ahead);
      const buffer_ref bytes = co_await reading;
      const bool last = at + n == shard.zip_bytes;
      std::string_view input(bytes->data(), n);
      std::size_t used = 0;
      for (;;) {
        char spare = 0;  // a stream with more bytes is damaged
        const bool is_full = have == wanted;
        inflate_step s = unpacking.step(input, last, is_full ? &spare : room->data() + have,
                                        is_full ? 1 : std::min(wanted - have, kMdsInflatedAtOnce));
        input.remove_prefix(s.consumed);
        used += s.consumed;
        if (!s.why.ok()) co_await fail(s.why.in_file(in.path(), at + used));
        if (is_full && s.produced != 0)
          co_await fail(
              data_loss_error(absl::StrCat("the shard has more than the ", wanted, " bytes that index.json states")));
        have += s.produced;
        ended = s.ended;
        if (ended || (s.consumed == 0 && s.produced == 0)) break;
        co_await work.breath();
      }
      check.add(at, std::string_view(bytes->data(), used));
      why = check.result();
      if (!why.ok()) co_await fail(why.in_file(in.path()));
      at += used;
      if (!ended && last && used == 0) break;
      if (!ended && used == 0 && n != 0)
        co_await fail(resource_exhausted_error("its decompression needs too much memory"));
    }
    if (!ended || have != wanted)
      co_await fail(
          data_loss_error(absl::StrCat("the shard has ", have, " bytes after decompression, and index.json states ",
                                       wanted, ": it is damaged, or cut short")));
    raw_ = std::move(room);
  }

  const std::shared_ptr<const planned_mds> planned_;
  const element_type& row_;
  mds_samples samples_;
  record_bounds bounds_;
  buffer_ref raw_;  ///< a decompressed shard
  mds_check check_;
};

const planned_mds* mds_of(const node& n) { return static_cast<const planned_mds*>(planned_of<mds_arguments>(n).get()); }

void find_mds_index(arguments& args) {
  mds_arguments a = args.as<mds_arguments>();
  const std::string& path = a.path.value;
  if (!a.path.is_given || path.empty() || path == "-" || (a.planned.of && a.planned.of->path == path)) return;
  auto planned = plan_mds(path);
  if (!planned.ok()) throw_status(planned.why());
  a.planned.of = *planned;
  args = arguments::of(std::move(a));
}

/// Checks that the columns are the members of a structure of the program.
bool fits_columns(const element_type& row, const std::vector<mds_column>& columns, std::string& why) {
  for (const member& m : row.members) {
    const auto found = std::ranges::find(columns, m.name, &mds_column::name);
    if (found == columns.end()) return why = absl::StrCat("the folder has no column \"", m.name, "\""), false;
    const bool is_text = found->kind == mds_column::utf8 || found->kind == mds_column::binary;
    const bool fits =
        is_text ? m.type == &type_of<std::string>() || m.type == &type_of<record>() : m.type == found->type;
    if (fits) continue;
    why = absl::StrCat("the column \"", m.name, "\" is ", found->type->name, ", and the program's member is ",
                       m.type->name);
    return false;
  }
  return true;
}

const element_type* mds_row(const node& n, std::string& why) {
  const auto& a = n.as<mds_arguments>();
  if (a.options.read_bytes.value < 1) return why = "read_bytes must be at least 1B", nullptr;
  const planned_mds* planned = mds_of(n);
  if (!planned) {
    why = "its columns are those of a folder that is known when the plan is built: write mds(\"FOLDER\")";
    return nullptr;
  }
  if (!a.planned.row) return chosen_members(*planned->index.row, a.built, why);
  const bool is_row = a.planned.row->kind == kind::structure;
  if (!is_row) return why = absl::StrCat("its elements are structures, and not ", a.planned.row->name), nullptr;
  return fits_columns(*a.planned.row, planned->index.columns, why) ? a.planned.row : nullptr;
}

erased_stream open_mds(const node& n, open_context& context) {
  const auto& a = n.as<mds_arguments>();
  auto planned = std::static_pointer_cast<const planned_mds>(planned_of<mds_arguments>(n));
  auto format = std::make_unique<mds_format>(planned, *n.type);
  return open_record_stage(n, context, a.path.value, placed_reading_with<mds_arguments>(n, context), planned,
                           std::move(format));
}

}  // namespace

mds_arguments detail::mds_of_row(std::string_view path, mds_options o, const element_type& row) {
  mds_arguments a{.path = std::string(path), .options = o};
  a.planned.row = &row;
  for (const member& m : row.members) a.built.columns.list.push_back(m.name);
  return a;
}

const op_info mds_op{
    .name = "mds",
    .doc = "the samples of a folder of MDS shards as structures",
    .shape = op_info::source,
    .arguments = arguments_of<mds_arguments>,
    .make_canonical = find_mds_index,
    .for_columns = arguments_for_columns<mds_arguments>,
    .type = mds_row,
    .facts = {.size = size_of_planned<mds_arguments>, .seeks = seeks_if_planned<mds_arguments>},
    .splits = {.rule = split_rule::one_file, .skips_in_file = [](const node&) { return true; }},
    .lowering = {.open = open_mds},
};

}  // namespace sluice::lib
