// SPDX-License-Identifier: Apache-2.0
#include "support/sequential.hpp"

#include "sluice/base/hash.hpp"

namespace sluice::lib::test {
namespace {

struct too_many {};

/// Where in the run a plan is opened, as draws see it (src/engine/lowering/open_context.hpp): numbered anew here, from its contract.
struct place {
  std::uint64_t outers = 0;
  std::uint64_t passes = 0;
  std::uint32_t combines = 0;  ///< around it

  place in_epoch(const plan_description& repeat, std::uint64_t number) const {
    if (number == 0) return *this;
    std::uint64_t repeats_below = 0;
    for (auto* p = &repeat; p->in.size() == 1;) {
      p = p->in[0].get();
      repeats_below += p->op && p->op->op() == repeat.op->op();
    }
    auto site = static_cast<std::uint32_t>(stable_hash(repeat.op->op(), repeats_below));
    return {outers, derive(passes, derive(site + (std::uint64_t{combines} << 32), number)), combines};
  }
  place in_inner_plan(std::uint64_t ordinal) const {
    std::uint64_t key = 0x6f75'7465'7200 + mix(ordinal);
    return {derive(outers, key), derive(passes, key), combines};
  }
  place in_input() const { return {outers, passes, combines + 1}; }
};

/// A plan carried out somewhere.
class evaluation final : public verb_lists {
 public:
  evaluation(const plan_description& p, std::int64_t opened_for, const place& where, std::size_t elements_max)
      : verb_lists(p.use), plan_(p), where_(where), elements_max_(elements_max) {
    this->opened_for = opened_for;
  }

  int64s elements() const {
    int64s out = plan_.op ? plan_.op->expected(*this) : plan_.given;
    check_size(out.size());
    return out;
  }

  std::size_t inputs() const override { return plan_.in.size(); }
  int64s in(std::size_t k) const override { return of(*plan_.in[k], inputs() > 1 ? where_.in_input() : where_); }
  int64s epoch(std::uint64_t number) const override { return of(*plan_.in[0], where_.in_epoch(plan_, number)); }
  int64s first_epoch(bool is_beside_others) const override {
    return of(*plan_.in[0], {where_.outers, where_.outers, where_.combines + is_beside_others});
  }
  int64s inner(std::int64_t element, std::uint64_t ordinal, std::size_t k) const override {
    return evaluation(*plan_.inner[k], element, where_.in_inner_plan(ordinal), elements_max_).elements();
  }
  std::uint64_t drawn_by(std::uint64_t seed) const override { return mix(seed + where_.passes); }
  std::uint64_t drawn_by_in_all_epochs(std::uint64_t seed) const override {
    return where_.outers ? mix(seed + where_.outers) : seed;
  }
  void check_size(std::size_t elements) const override {
    if (elements > elements_max_) throw too_many();
  }

 private:
  int64s of(const plan_description& p, const place& where) const {
    return evaluation(p, opened_for, where, elements_max_).elements();
  }

  const plan_description& plan_;
  place where_;
  std::size_t elements_max_;
};

}  // namespace

std::optional<std::vector<std::int64_t>> evaluate(const plan_description& p, std::size_t elements_max) {
  try {
    return evaluation(p, 0, {}, elements_max).elements();
  } catch (const too_many&) { return std::nullopt; }
}

}  // namespace sluice::lib::test
