// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/pack_sequences.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "engine/held/held_elements.hpp"
#include "engine/held/held_ordinals.hpp"
#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/open_context.hpp"
#include "expr/functions/numbers.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"

SLUICE_ELEMENT_DEFINITION(sluice::lib::packed_row)

namespace sluice::lib {

namespace {

/// The number of elements requested at once. A resume returns to the beginning of a block.
constexpr std::uint32_t kPackedAtOnce = 256;

/// The elements in each open row, the oldest row first. Valid at each co_yield, and between two.
struct open_rows_state {
  std::vector<held_ordinals> rows;
  std::uint64_t next = 0;  ///< the ordinal of the element that arrives next
  bool has_begun = false;

  void save(position_writer& w) {
    w.number(has_begun);
    w.number(next);
    w.number(rows.size());
    for (const held_ordinals& o : rows) o.save(w);
  }
  void load(position_reader& r) {
    has_begun = r.number() != 0;
    next = r.number();
    rows.assign(r.count(), {});
    for (held_ordinals& o : rows) {
      o.load(r);
      if (o.size() == 0) r.fail();
    }
  }
  std::uint64_t oldest() const {
    std::uint64_t lowest = next;
    for (const held_ordinals& o : rows) lowest = std::min(lowest, o.at(0));
    return lowest;
  }
};

struct packing {
  std::uint64_t tokens_max = 1;
  std::size_t open_rows = 1;
  bool pads = true, truncates = false;
  std::int64_t pad_token = 0;
};

/// The sequences of the open rows; the state has their ordinals.
class open_rows {
 public:
  open_rows(const element_type& list, const packing& how, held_memory& memory)
      : list_(list), how_(how), memory_(memory), number_(expressions::number_of(*list.element)) {}

  std::uint64_t length_of(const char* sequence) const {
    std::size_t n = 0;
    list_.items(list_, sequence, n);
    return how_.truncates ? std::min<std::uint64_t>(n, how_.tokens_max) : n;
  }
  std::size_t size() const { return rows_.size(); }
  held_elements& held(std::size_t i) { return rows_[i]->held; }
  bool is_full(std::size_t i) const { return rows_[i]->used == how_.tokens_max; }
  void open() { rows_.push_back(std::make_unique<row>(list_, memory_)); }
  /// Returns the row for this number of tokens: the first that has room, or a new one if another may be opened; size()
  /// if the first row must be delivered before.
  std::size_t row_for(std::uint64_t tokens, bool& is_new) {
    is_new = false;
    for (std::size_t i = 0; i != rows_.size(); ++i)
      if (tokens <= how_.tokens_max - rows_[i]->used) return i;
    is_new = rows_.size() != how_.open_rows;
    if (is_new) open();
    return is_new ? rows_.size() - 1 : rows_.size();
  }
  status add(std::size_t i, block& one, std::uint64_t tokens) {
    rows_[i]->used += tokens;
    return rows_[i]->held.add(one, 1);
  }
  /// Counts the tokens of row i after a resume, when its elements are present. Returns false if no run could have built
  /// such a row.
  bool count_again(std::size_t i) {
    row& r = *rows_[i];
    for (std::size_t k = 0; k != r.held.size(); ++k) r.used += length_of(r.held.at(k));
    return r.used <= how_.tokens_max;
  }
  /// Builds row i at `to`, and closes it. Errors: resource_exhausted; nothing is built then.
  status make(std::size_t i, packed_row* to, std::size_t& made_bytes) {
    row& r = *rows_[i];
    const std::size_t n = how_.pads ? how_.tokens_max : r.used;
    made_bytes = n * (sizeof(std::int64_t) + 2 * sizeof(std::int32_t));
    status fits = memory_.change(made_bytes, 0);
    if (!fits.ok()) return fits;
    packed_row made;
    made.tokens.resize(n, how_.pad_token);
    made.segments.resize(n);
    made.positions.resize(n);
    std::size_t at = 0;
    for (std::size_t k = 0; k != r.held.size(); ++k) {
      const std::uint64_t tokens = length_of(r.held.at(k));
      copy_tokens(r.held.at(k), tokens, made.tokens.data() + at);
      for (std::uint64_t p = 0; p != tokens; ++p, ++at) {
        made.segments[at] = static_cast<std::int32_t>(k + 1);
        made.positions[at] = static_cast<std::int32_t>(p);
      }
    }
    rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(i));
    ::new (static_cast<void*>(to)) packed_row(std::move(made));
    return {};
  }

 private:
  struct row {
    row(const element_type& list, held_memory& memory) : held(list, memory, sizeof(std::uint64_t)) {}
    held_elements held;
    std::uint64_t used = 0;  ///< the number of tokens
  };

  void copy_tokens(const char* sequence, std::uint64_t n, std::int64_t* to) const {
    std::size_t all = 0;
    auto* from = static_cast<const char*>(list_.items(list_, sequence, all));
    expressions::with_number(number_, [&]<class N>(std::type_identity<N>) {
      for (std::uint64_t i = 0; i != n; ++i) {
        N token;
        std::memcpy(&token, from + i * sizeof(N), sizeof token);
        to[i] = static_cast<std::int64_t>(token);
      }
    });
  }

  const element_type& list_;
  const packing how_;
  held_memory& memory_;
  const expressions::number number_;
  std::deque<std::unique_ptr<row>> rows_;
};

task<void> fetch_open_rows(erased_stream& in, open_rows_state& state, open_rows& rows, held_memory& memory) {
  std::vector<ordinals_fetch::part> parts;
  for (held_ordinals& o : state.rows) {
    rows.open();
    parts.push_back({&o, &rows.held(rows.size() - 1)});
  }
  ordinals_fetch list(std::move(parts), state.next);
  status fits = list.make_places();
  if (!fits.ok()) co_await fail(std::move(fits));
  auto fetching = fetch_held(in, list, memory);
  co_await fetching;
  list.all_built();
  for (std::size_t i = 0; i != rows.size(); ++i)
    if (!rows.count_again(i)) co_await fail(damaged_position());
}

status too_long(std::uint64_t tokens, std::uint64_t most) {
  return invalid_argument_error("it has " + std::to_string(tokens) + " tokens, and a row has " + std::to_string(most) +
                                "; raise tokens_max, or set oversized=truncate");
}

erased_stream pack_sequences_loop(outlet out, saved<open_rows_state> state, erased_stream in, packing how,
                                  std::shared_ptr<run_context> run, error_gate gate) {
  in.hold_from(in.consumed());
  held_memory memory(std::move(run), gate.line(purpose::window), gate.label(), "the open rows",
                     "lower open_rows or tokens_max");
  open_rows rows(in.type(), how, memory);
  if (!state->has_begun) {
    state->has_begun = true;
    state->next = in.consumed();
  }
  if (state->rows.size() > how.open_rows) co_await fail(damaged_position());
  auto fetching = fetch_open_rows(in, *state, rows, memory);
  co_await fetching;
  std::size_t made_bytes = 0;
  for (bool ended = false;;) {
    std::size_t leaving = rows.size();  // no row
    if (ended && rows.size()) leaving = 0;
    while (!ended && leaving == rows.size()) {
      bool more = co_await in.ready({0, kPackedAtOnce});
      ended = !more;
      if (ended && in.skip_left()) co_await fail(shorter_input(in.consumed(), state->next, memory.label()));
      if (ended) break;
      const std::uint64_t tokens = rows.length_of(in.peek().data());
      if (tokens > how.tokens_max) {
        auto settled = gate.settle(out, too_long(tokens, how.tokens_max), state->next);
        co_await settled;
      }
      if (tokens == 0 || tokens > how.tokens_max) {
        in.drop(1);
        ++state->next;
        continue;
      }
      bool is_new = false;
      const std::size_t to = rows.row_for(tokens, is_new);
      if (to == rows.size()) {
        leaving = 0;
        break;
      }
      if (is_new) state->rows.emplace_back();
      block one = in.take(1);
      status fits = rows.add(to, one, tokens);
      if (!fits.ok()) co_await fail(std::move(fits));
      state->rows[to].add(state->next++);
      leaving = rows.is_full(to) ? to : rows.size();
    }
    if (leaving == rows.size()) {
      if (!rows.size()) break;
      continue;  // the input has just ended
    }
    auto* to = reinterpret_cast<packed_row*>(out.room(1));
    memory.shrink_by(std::exchange(made_bytes, 0));
    status fits = rows.make(leaving, to, made_bytes);
    if (!fits.ok()) co_await fail(std::move(fits));
    state->rows.erase(state->rows.begin() + static_cast<std::ptrdiff_t>(leaving));
    in.hold_from(state->oldest());
    co_yield out.made(1);
  }
}

erased_stream open_pack_sequences(const node& n, open_context& context) {
  auto& [tokens_max, o] = n.as<pack_sequences_arguments>();
  outlet out(*n.type);
  packing how;
  how.tokens_max = static_cast<std::uint64_t>(tokens_max.value);
  how.open_rows = static_cast<std::size_t>(o.open_rows.value);
  how.pads = o.pad;
  how.pad_token = o.pad_token;
  how.truncates = o.oversized == oversized::truncate;
  saved<open_rows_state> state;
  erased_stream in = context.open(n.inputs[0]);
  return pack_sequences_loop(out, std::move(state), std::move(in), how, context.run, context.gate(n));
}

const element_type* packed_type(const node& n, std::string& why) {
  const element_type& list = *n.inputs[0]->type;
  if (list.kind != kind::list || !expressions::is_integer(expressions::number_of(*list.element)))
    return why = "sequences are lists of whole numbers, and these are " + list.name, nullptr;
  if (n.as<pack_sequences_arguments>().options.oversized == oversized::alone)
    return why = "oversized is refuse or truncate: a row has no more than tokens_max tokens", nullptr;
  return &type_of<packed_row>();
}

}  // namespace

const op_info pack_sequences_op{
    .name = "pack_sequences",
    .doc = "packs several sequences of tokens into one row, and numbers them",
    .arguments = arguments_of<pack_sequences_arguments>,
    .type = packed_type,
    .spec =
        [](const node& n) {
          auto& a = n.as<pack_sequences_arguments>();
          spec s = spec_of(*n.type);
          if (a.options.pad)
            for (spec& list : s.parts) list.shape = {a.tokens_max.value};
          return s;
        },
    .facts = {.size =
                  [](const node& n) {
                    cardinality in = cardinality_of(*n.inputs[0]);
                    return in == cardinality::of(0) ? in : cardinality();
                  }},
    .splits = {.rule = split_rule::groups},
    .lowering = {.open = open_pack_sequences},
};

pack_sequences_verb pack_sequences(count_up_to<1'073'741'824> tokens_max, pack_sequences_options o) {
  return pack_sequences_verb(pack_sequences_arguments{tokens_max, o});
}

}  // namespace sluice::lib
