// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/rebatch.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "element/spec_parts.hpp"
#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "runtime/held_memory.hpp"
#include "sluice/base/assert.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {

namespace {

/// A list of sizes. A single size is written without brackets.
class batch_sizes_codec final : public codec {
 public:
  void print(const void* p, printer& to) const override {
    auto& v = get(p);
    if (v.size() == 1) codec_of<count>().print(v.data(), to);
    else list().print(&v, to);
  }
  void read(void* p, const argument& a, reading& r) const override {
    auto& v = static_cast<batch_sizes*>(p)->values;
    if (a.kind == argument::list || a.kind == argument::numbers) return list().read(&v, a, r);
    v.assign(1, count());
    codec_of<count>().read(v.data(), a, r);
  }
  std::string check(const void* p) const override {
    auto& v = get(p);
    if (v.empty()) return " must be a number, or a list of some";
    return v.size() == 1 ? codec_of<count>().check(v.data()) : list().check(&v);
  }
  bool is_missing(const void* p) const override { return get(p).empty(); }
  bool equal(const void* a, const void* b) const override { return list().equal(&get(a), &get(b)); }
  std::string type_name() const override { return "count, or list of counts"; }

 private:
  static const codec& list() { return codec_of<std::vector<count>>(); }
  static const std::vector<count>& get(const void* p) { return static_cast<const batch_sizes*>(p)->values; }
};

/// The number of delivered batches, and the number of rows of the input's next batch that they contain.
struct rebatch_state {
  std::uint64_t made = 0, given = 0;
};

/// The number of rows reserved after a batch's first ones, because the input may have fewer rows than the batch wants.
constexpr std::uint64_t kRowsForeseen = 4096;

/// Joins batches: the rest of the last input batch, and the batch that is being built.
class row_joiner {
 public:
  explicit row_joiner(const element_type& row) : row_(row) {}

  /// Accepts the next input batch, without its first `given` rows. REQUIRES: no rows are left.
  void take_in(batch_storage next, std::uint64_t given) {
    SLUICE_REQUIRES(left() == 0, "rows of the batch before are left");
    left_ = std::move(next);
    left_bytes_ = left_.memory_bytes();
    left_row_bytes_ = bytes_a_row(left_bytes_, left());
    taken_ = std::min(given, static_cast<std::uint64_t>(left_.rows()));
    left_.drop_front(taken_);
  }
  std::uint64_t left() const { return static_cast<std::uint64_t>(left_.rows()); }
  /// Returns the number of rows removed from the last input batch.
  std::uint64_t taken() const { return taken_; }
  std::uint64_t rows() const { return static_cast<std::uint64_t>(part_.rows()); }
  std::size_t bytes() const { return left_bytes_ + part_bytes_; }
  /// Moves rows into the batch that is being built, until it has `size` rows or none is left. The memory of its growing
  /// columns, with the old columns beside the new ones, is charged before. Errors: invalid_argument: the rows do not
  /// stack, and nothing is moved; resource_exhausted.
  status join(std::uint64_t size, held_memory& memory) try {
    const std::uint64_t n = std::min(size - rows(), left());
    if (rows() == 0 && n == left() && taken_ == 0) {
      part_ = std::exchange(left_, batch_storage());
      part_bytes_ = std::exchange(left_bytes_, 0);
      room_ = n;
    } else {
      column& from = left_.rows_column();
      column& to = part_.make_rows(row_);
      if (rows() + n > room_) {
        status fits = grow(n, size, memory);
        if (!fits.ok()) return fits;
      }
      to.append_from(from, from.gone_in_front(), n);
      part_bytes_ = part_.memory_bytes();
      from.drop_front(n);
      left_bytes_ = left_.memory_bytes();
      if (left() == 0) drop_left();  // the next batch uses its buffers again while they are in the core's cache
    }
    taken_ += n;
    return {};
  } catch (const error& e) { return e.why(); }
  /// Drops the rest of the last input batch.
  void drop_left() {
    left_ = batch_storage();
    left_bytes_ = 0;
  }
  batch_storage finish() {
    room_ = 0;
    part_bytes_ = 0;
    return std::exchange(part_, batch_storage());
  }

 private:
  static double bytes_a_row(std::size_t bytes, std::uint64_t rows) {
    return rows ? static_cast<double>(bytes) / static_cast<double>(rows) : 0;
  }
  /// Reserves memory for n more rows, and for the expected rows if the budget allows it.
  status grow(std::uint64_t n, std::uint64_t size, held_memory& memory) {
    const std::uint64_t all = rows() + n;
    const double row_bytes = std::max(bytes_a_row(part_bytes_, room_), left_row_bytes_);
    const auto with = [&](std::uint64_t room) {
      return bytes() + static_cast<std::size_t>(row_bytes * static_cast<double>(room));
    };
    room_ = std::min(size, room_ ? std::max(all, room_ * 2) : n + kRowsForeseen);
    std::size_t wanted = with(room_);
    if (wanted > memory.bytes() && !memory.has_room_for(wanted)) {
      room_ = all;
      wanted = with(room_);
      if (!memory.has_room_for(wanted)) return memory.refused_of(wanted);
    }
    status fits = wanted > memory.bytes() ? memory.resize(wanted) : status();
    if (!fits.ok()) return fits;
    part_.rows_column().reserve(room_ - rows());
    return {};
  }

  const element_type& row_;
  batch_storage left_, part_;
  std::size_t left_bytes_ = 0, part_bytes_ = 0;  ///< the memory of these
  double left_row_bytes_ = 0;                    ///< the memory of each row of the last input batch
  std::uint64_t taken_ = 0;
  std::uint64_t room_ = 0;  ///< the capacity of the batch that is being built, in rows
};

erased_stream rebatch_loop(outlet out, saved<rebatch_state> st, erased_stream in, std::vector<count> sizes,
                           bool drop_remainder, std::shared_ptr<run_context> run, error_gate gate) {
  in.may_go_back();
  held_memory memory(std::move(run), gate.line(purpose::batch), gate.label(), "a batch", "lower its size");
  row_joiner rows(*out.type().element);
  std::uint64_t resumed = st->given;
  for (bool ended = false; !ended;) {
    const auto size = static_cast<std::uint64_t>(sizes[st->made % sizes.size()].value);
    while (rows.rows() != size && !ended) {
      if (rows.left() == 0) {
        auto b = co_await in.next_block({0, 1});
        ended = !b;
        if (b) rows.take_in(std::move(*b.as<batch_storage>()), std::exchange(resumed, 0));
        continue;
      }
      status fits = rows.join(size, memory);
      if (fits.code() == status_code::invalid_argument) {
        auto settled = gate.settle(out, fits, in.consumed() - 1);
        co_await settled;
        rows.drop_left();
        fits = {};
      }
      // Successive batches have about the same size, so the memory of two of them stays charged.
      const std::size_t bytes = rows.bytes();
      if (fits.ok() && (bytes > memory.bytes() || bytes < memory.bytes() / 4)) fits = memory.resize(bytes);
      if (!fits.ok()) {
        status located = fits.in_stage(memory.label());
        co_await fail(std::move(located));
      }
    }
    const bool has_rest = rows.left() != 0;
    st->given = has_rest ? rows.taken() : 0;
    in.hold_from(in.consumed() - has_rest);
    if (rows.rows() == 0 || (ended && drop_remainder)) break;
    ++st->made;
    ::new (static_cast<void*>(out.room(1))) batch_storage(rows.finish());
    co_yield out.made(1);
  }
}

erased_stream open_rebatch(const node& n, open_context& context) {
  auto& a = n.as<rebatch_arguments>();
  outlet out(*n.type);
  saved<rebatch_state> st;
  return rebatch_loop(out, std::move(st), context.open(n.inputs[0]), a.sizes.values, a.options.drop_remainder,
                      context.run, context.gate(n));
}

}  // namespace

template <> const codec& codec_of<batch_sizes>() {
  static const batch_sizes_codec c;
  return c;
}

namespace {

/// Returns true if all such rows stack, so that no policy drops one of them from its batch.
bool has_fixed_shape(const spec& row) {
  const bool is_open = row.any_shape || std::ranges::find(row.shape, spec::kUnknown) != row.shape.end();
  return !is_open && std::ranges::all_of(row.parts, has_fixed_shape);
}

/// Returns the number of batches for several sizes: rounds of all sizes, and the sizes that the rest of a round fills.
cardinality rebatched_size(const node& n) {
  auto& a = n.as<rebatch_arguments>();
  cardinality rows = batch_rows_of(*n.inputs[0]);
  if (rows.kind != cardinality::exact || rows.is_most()) return rows;
  std::int64_t round = 0;
  for (count size : a.sizes.values)
    if (__builtin_add_overflow(round, size.value, &round)) return {};
  std::int64_t left = rows.elements % round;
  cardinality batches = cardinality::of(rows.elements / round).times(static_cast<std::int64_t>(a.sizes.values.size()));
  for (count size : a.sizes.values) {
    if (left < size.value) break;
    left -= size.value;
    batches = batches.and_then(cardinality::of(1));
  }
  return left != 0 && !a.options.drop_remainder ? batches.and_then(cardinality::of(1)) : batches;
}

}  // namespace

const op_info rebatch_op{
    .name = "rebatch",
    .doc = "batches of other sizes",
    .arguments = arguments_of<rebatch_arguments>,
    .type = [](const node& n, std::string& why) -> const element_type* {
      const element_type* in = n.inputs[0]->type;
      if (in->kind == kind::batch) return in;
      return why = "expects batches, and gets " + in->name + "; batch(N) makes batches of rows", nullptr;
    },
    .spec =
        [](const node& n) {
          auto& a = n.as<rebatch_arguments>();
          const spec batch = element_spec_of(*n.inputs[0]), row = spec_of_row(batch);
          const std::int64_t size = a.sizes.values[0].value, rows = length_of_batch(batch);
          const bool are_equal = std::ranges::all_of(a.sizes.values, [&](count c) { return c.value == size; });
          const bool is_divided = rows != spec::kUnknown && rows % size == 0 && has_fixed_shape(row);
          const bool is_known = are_equal && (a.options.drop_remainder || is_divided);
          return spec_of_batch(row, is_known ? size : spec::kUnknown);
        },
    .facts = {.size = rebatched_size,
              .rows =
                  [](const node& n) {
                    return n.as<rebatch_arguments>().options.drop_remainder ? cardinality()
                                                                            : batch_rows_of(*n.inputs[0]);
                  },
              .members = member_use::stacked},
    .splits = {.rule = split_rule::groups},
    .lowering = {.open = open_rebatch},
};

batch_sizes::batch_sizes() = default;
batch_sizes::batch_sizes(std::int64_t one) : values{one} {}
batch_sizes::batch_sizes(std::initializer_list<std::int64_t> all) : values(all.begin(), all.end()) {}
batch_sizes::batch_sizes(const std::vector<std::int64_t>& all) : values(all.begin(), all.end()) {}
batch_sizes::batch_sizes(const batch_sizes& other) = default;
batch_sizes::batch_sizes(batch_sizes&& other) noexcept = default;
batch_sizes& batch_sizes::operator=(const batch_sizes& other) = default;
batch_sizes& batch_sizes::operator=(batch_sizes&& other) noexcept = default;
batch_sizes::~batch_sizes() = default;

rebatch_verb rebatch(batch_sizes sizes, rebatch_options o) {
  return rebatch_verb(arguments::of(rebatch_arguments{std::move(sizes), o}));
}

}  // namespace sluice::lib
