// SPDX-License-Identifier: Apache-2.0
#include "support/sequential.hpp"

#include <algorithm>

#include "sluice/base/hash.hpp"

namespace sluice::lib::test {
namespace {

using int64 = std::int64_t;
using int64s = std::vector<int64>;

struct too_many {};

/// Where in the run a plan is opened, as draws see it (src/engine/open_context.hpp): numbered anew here, from its contract.
struct place {
  std::uint64_t outers = 0;
  std::uint64_t passes = 0;
  std::uint32_t combines = 0;  ///< around it

  place in_epoch(const plan_description& repeat, std::uint64_t number) const {
    if (number == 0) return *this;
    std::uint64_t repeats_below = 0;
    for (auto* p = repeat.in.get(); p; p = p->in.get())
      repeats_below += p->op == verb::repeat || p->op == verb::repeat_forever;
    auto site = static_cast<std::uint32_t>(stable_hash("repeat", repeats_below));
    return {outers, derive(passes, derive(site + (std::uint64_t{combines} << 32), number)), combines};
  }
  place in_inner_plan(std::uint64_t ordinal) const {
    std::uint64_t key = 0x6f75'7465'7200 + mix(ordinal);
    return {derive(outers, key), derive(passes, key), combines};
  }
  place in_input() const { return {outers, passes, combines + 1}; }
};

class evaluation {
 public:
  explicit evaluation(std::size_t elements_max) : elements_max_(elements_max) {}

  int64s of(const plan_description& p, int64 opened_for, const place& where) const {
    int64s out = !p.inputs.empty() ? combine(p, opened_for, where)
                 : p.in            ? stage(p, opened_for, where)
                                   : source(p, opened_for);
    if (out.size() > elements_max_) throw too_many();
    return out;
  }

 private:
  static int64s source(const plan_description& p, int64 opened_for) {
    int64s out;
    for (int64 i = 0; i < p.a; ++i) out.push_back(source_element(i, opened_for));
    return out;
  }

  int64s combine(const plan_description& p, int64 opened_for, const place& where) const {
    int64s out = of(*p.inputs[0], opened_for, where.in_input());
    for (std::size_t k = 1; k != p.inputs.size(); ++k) {
      int64s next = of(*p.inputs[k], opened_for, where.in_input());
      if (p.op == verb::concatenate) {
        out.insert(out.end(), next.begin(), next.end());
        continue;
      }
      out.resize(std::min(out.size(), next.size()));
      for (std::size_t i = 0; i != out.size(); ++i) out[i] = folded_row(out[i], next[i]);
    }
    return out;
  }

  int64s stage(const plan_description& p, int64 opened_for, const place& where) const {
    switch (p.op) {
      case verb::repeat: return repeated(p, opened_for, where, p.a, elements_max_ + 1);
      case verb::repeat_forever: return repeated(p, opened_for, where, -1, static_cast<std::size_t>(p.a));
      default: break;
    }
    int64s in = of(*p.in, opened_for, where);
    switch (p.op) {
      case verb::take: return first(std::move(in), p.a);
      case verb::skip: return without_first(std::move(in), p.a);
      case verb::batch_folded: return folded(in, p);
      case verb::batch_rows:
        if (p.drops_remainder()) in.resize(in.size() - in.size() % static_cast<std::size_t>(p.a));
        return in;
      case verb::shuffle: return shuffled(in, p, mix(p.shuffle_seed() + where.passes));
      case verb::shuffle_same:
        return shuffled(in, p, where.outers ? mix(p.shuffle_seed() + where.outers) : p.shuffle_seed());
      case verb::flat_map:
      case verb::sloppy_interleave:
      case verb::sloppy_interleave_parallel: return interleaved(in, p, where, 1, elements_max_ + 1);
      case verb::interleave:
      case verb::interleave_parallel: return interleaved(in, p, where, static_cast<std::size_t>(p.a), p.block_length());
      default: return element_by_element(in, p);
    }
  }

  static int64s element_by_element(const int64s& in, const plan_description& p) {
    int64s out;
    int64 previous = 7, sum = 0, count = 0;
    for (std::size_t i = 0; i != in.size(); ++i) {
      int64 x = in[i];
      switch (p.op) {
        case verb::filter:
          if (is_kept(x, p.b)) out.push_back(x);
          break;
        case verb::filter_failing:
          if (!is_bad(x, p.b) && is_kept(x, p.b)) out.push_back(x);
          break;
        case verb::map_failing:
        case verb::map_failing_parallel:
        case verb::map_failing_awaiting:
        case verb::sloppy_map_failing:
          if (!is_bad(x, p.b)) out.push_back(affine(x, p.b));
          break;
        case verb::prefetch: out.push_back(x); break;
        case verb::enumerate: out.push_back(folded_row(added(p.a, static_cast<int64>(i)), x)); break;
        case verb::stage_opaque:
          out.push_back(added(x, previous));
          previous = x;
          break;
        case verb::stage_stateless:
          for (int64 k = 0; k < (x & 3); ++k) out.push_back(added(times(x, 4), k));
          break;
        case verb::stage_saved:
          sum = added(sum, x);
          out.push_back(added(times(sum, 3), static_cast<int64>(i) + 1));
          break;
        case verb::stage_committing:
          if (i % 2 == 0) out.push_back(added(added(times(x, 31), i + 1 < in.size() ? in[i + 1] : -1), ++count));
          break;
        case verb::stage_stuttering:
          for (int64 k = 1; k <= (x & 1) + 1; ++k) out.push_back(added(x, k));
          break;
        default: out.push_back(affine(x, p.b));
      }
    }
    if (p.op == verb::stage_opaque) out.push_back(previous);
    if (p.op == verb::stage_saved) out.push_back(times(sum, -1));
    return out;
  }

  static int64s first(int64s in, int64 n) {
    if (n >= 0) in.resize(std::min(in.size(), static_cast<std::size_t>(n)));
    return in;
  }
  static int64s without_first(int64s in, int64 n) {
    auto dropped = n < 0 ? in.size() : std::min(in.size(), static_cast<std::size_t>(n));
    in.erase(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(dropped));
    return in;
  }

  static int64s folded(const int64s& in, const plan_description& p) {
    int64s out;
    auto rows = static_cast<std::size_t>(p.a);
    for (std::size_t at = 0; at < in.size(); at += rows) {
      std::size_t n = std::min(rows, in.size() - at);
      if (n < rows && p.drops_remainder()) break;
      auto all = static_cast<int64>(n);
      for (std::size_t i = 0; i != n; ++i) all = added(times(all, 5), in[at + i]);
      out.push_back(all);
    }
    return out;
  }

  // op/repeat.hpp: each epoch has a number of its own; for ever ends with an epoch that gives nothing.
  int64s repeated(const plan_description& p, int64 opened_for, const place& where, int64 epochs,
                  std::size_t enough) const {
    int64s out;
    for (std::uint64_t e = 0; (epochs < 0 || e < static_cast<std::uint64_t>(epochs)) && out.size() < enough; ++e) {
      int64s one = of(*p.in, opened_for, where.in_epoch(p, e));
      if (epochs < 0 && one.empty()) break;
      out.insert(out.end(), one.begin(), one.end());
    }
    return first(std::move(out), static_cast<int64>(enough));
  }

  // op/shuffle/shuffle_table.hpp: draw t takes a place, which the next input fills; then the last element fills each hole.
  static int64s shuffled(const int64s& in, const plan_description& p, std::uint64_t seed) {
    std::size_t next = std::min(in.size(), static_cast<std::size_t>(p.a));
    int64s held(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(next)), out;
    for (std::uint64_t t = 0; !held.empty(); ++t) {
      int64& place = held[draw(seed, t, held.size())];
      out.push_back(place);
      if (next < in.size()) {
        place = in[next++];
      } else {
        place = held.back();
        held.pop_back();
      }
    }
    return out;
  }

  // op/interleave.hpp, the slot rule.
  int64s interleaved(const int64s& outer, const plan_description& p, const place& where, std::size_t width,
                     std::size_t block_length) const {
    struct slot {
      bool open = false;
      int64s elements;
      std::size_t given = 0;
    };
    std::vector<slot> slots(width);
    int64s out;
    std::size_t next = 0, at = 0, left = block_length;
    auto go_on = [&] {
      at = (at + 1) % width;
      left = block_length;
    };
    auto all_closed = [&] { return std::none_of(slots.begin(), slots.end(), [](const slot& s) { return s.open; }); };
    for (;;) {
      slot& s = slots[at];
      if (!s.open) {
        if (next < outer.size()) {
          s = {true, of(*p.inner, outer[next], where.in_inner_plan(next)), 0};
          ++next;
        } else {
          if (all_closed()) return out;
          go_on();
          continue;
        }
      }
      if (s.given == s.elements.size()) {
        s.open = false;
        go_on();
        continue;
      }
      out.push_back(s.elements[s.given++]);
      if (out.size() > elements_max_) throw too_many();
      if (--left == 0) go_on();
    }
  }

  std::size_t elements_max_;
};

}  // namespace

std::optional<std::vector<std::int64_t>> evaluate(const plan_description& p, std::size_t elements_max) {
  try {
    return evaluation(elements_max).of(p, 0, {});
  } catch (const too_many&) { return std::nullopt; }
}

}  // namespace sluice::lib::test
