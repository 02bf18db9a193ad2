// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/unique.hpp"

#include <farmhash.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "element/blocks.hpp"
#include "engine/open_context.hpp"
#include "engine/types.hpp"
#include "runtime/held_memory.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"
#include "sluice/element/serialise.hpp"

namespace sluice::lib {
namespace {

/// What is kept of an element: a number itself, of others a hash.
struct element_trace {
  std::uint64_t low = 0, high = 0;
  bool operator==(const element_trace&) const = default;
  template <class H> friend H AbslHashValue(H h, const element_trace& t) {
    return H::combine(std::move(h), t.low, t.high);
  }
};

/// The elements that came.
class element_set {
 public:
  element_set(const element_type& t, std::shared_ptr<run_context> run, std::string label)
      : type_(t),
        memory_(std::move(run), purpose::state, std::move(label), "the hashes of its elements",
                "let fewer different elements come here") {}

  struct outcome {
    std::uint32_t kept = 0;  ///< elements at the front of the block, which are new
    status why;              ///< of the element behind those that were looked at
  };
  /// Adds the elements of a block; those that are new move to its front, and the others stay constructed behind them.
  outcome add(const block& in) {
    outcome o;
    std::array<bool, kAtOnce> is_new;
    for (std::uint32_t i = 0; i != in.size() && o.why.ok();) {
      const std::uint32_t most = std::min(in.size() - i, kAtOnce);
      std::uint32_t n = 0;
      for (; n != most && o.why.ok(); ++n) {
        o.why = make_room();
        if (!o.why.ok()) break;
        is_new[n] = seen_.insert(trace_of(in.at(i + n))).second;
      }
      o.kept = move_up(in, o.kept, i, is_new.data(), n);
      i += n;
    }
    return o;
  }

 private:
  static constexpr std::uint32_t kAtOnce = 512;
  /// Of a slot: the trace, and a byte of the table's.
  static constexpr std::size_t kSlotBytes = sizeof(element_trace) + 1;

  element_trace trace_of(const char* p) {
    element_trace t;
    if (type_.kind == kind::scalar) {
      std::memcpy(&t, p, std::min(type_.size, sizeof t));
      return t;
    }
    std::string_view bytes;
    if (type_.kind == kind::text) {
      bytes = type_.text(p);
    } else {
      bytes_.clear();
      serialise_bare(type_, p, bytes_);
      bytes = bytes_;
    }
    auto hash = util::Fingerprint128(bytes.data(), bytes.size());
    return {util::Uint128Low64(hash), util::Uint128High64(hash)};
  }
  /// For one more; charged before the table grows, when it is there twice for a moment.
  status make_room() {
    const std::size_t slots = seen_.capacity();
    if (seen_.size() < slots - slots / 8) return {};
    const std::size_t grown = std::max<std::size_t>(slots * 2 + 1, 15);
    if (!memory_.has_room_for((slots + grown) * kSlotBytes))
      return memory_.refused(absl::StrCat("the hashes of its ", seen_.size(), " different elements"));
    status fits = memory_.resize((slots + grown) * kSlotBytes);
    seen_.reserve(grown - grown / 8);
    memory_.shrink_by(memory_.bytes() - seen_.capacity() * kSlotBytes);
    return fits;
  }

  const element_type& type_;
  held_memory memory_;
  absl::flat_hash_set<element_trace> seen_;
  std::string bytes_;
};

/// Inputs that are asked for beside those that are wanted, while those before a resume come again.
constexpr std::uint64_t kAgainAtOnce = 4096;

erased_stream unique_loop(outlet out, saved<std::uint64_t> delivered, erased_stream in,
                          std::shared_ptr<run_context> run, std::string label) {
  in.hold_from(in.consumed());
  element_set seen(in.type(), std::move(run), std::move(label));
  std::uint64_t again = *delivered;
  for (;;) {
    const auto more = static_cast<std::uint32_t>(std::min(again, kAgainAtOnce));
    auto b = co_await in.next_block({0, out.ask() + more, out.wanted_bytes()});
    if (!b) break;
    element_set::outcome o = seen.add(b);
    block kept = b.first(o.kept);
    const auto known = static_cast<std::uint32_t>(std::min<std::uint64_t>(again, o.kept));
    kept.drop_front(known);
    again -= known;
    *delivered += kept.size();
    if (!o.why.ok()) {
      out.hold(kept);
      co_await fail(std::move(o.why));
    }
    if (kept) co_yield kept;
  }
  if (again) co_await fail(damaged_position());
}

erased_stream open_unique(const node& n, open_context& context) {
  outlet out(*n.type);
  saved<std::uint64_t> delivered;
  return unique_loop(out, std::move(delivered), context.open(n.inputs[0]), context.run, context.gate(n).label());
}

const element_type* comparable_type(const node& n, std::string& why) {
  const element_type& in = *n.inputs[0]->type;
  if (in.kind == kind::text || can_serialise(in)) return same_type(n, why);
  return why = "elements of " + in.name + " cannot be compared: the library does not know what is in them", nullptr;
}

}  // namespace

const op_info unique_op{
    .name = "unique",
    .doc = "each element once",
    .type = comparable_type,
    .open = open_unique,
    .only_drops = true,
};

preserving unique() { return {unique_op, arguments::of(no_arguments{})}; }

}  // namespace sluice::lib
