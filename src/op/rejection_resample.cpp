// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/rejection_resample.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/batching/key_numbers.hpp"
#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/base/random_bits.hpp"
#include "sluice/coro/detail/block_fit.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {
namespace {

/// If initial_dist is missing, this number of elements of each class counts as seen before the first element.
constexpr double kBefore = 10;

/// The probability with which an element of each class is kept: target / initial, scaled so that the largest is 1.
class acceptance {
 public:
  /// `seen`: the counts of each class, which this object continues; null: `initial` is declared.
  acceptance(std::vector<double> target, const std::vector<double>& initial, std::vector<std::uint64_t>* seen)
      : target_(std::move(target)), seen_(seen), rate_(target_.size()) {
    for (std::size_t c = 0; c != target_.size(); ++c) rate_[c] = rate_of(c, seen_ ? count_of(c) : initial[c]);
    find_best();
  }

  std::size_t classes() const { return target_.size(); }
  /// Returns the probability for the next element, of class c.
  double of_next(std::size_t c) {
    if (seen_) {
      ++(*seen_)[c];
      rate_[c] = rate_of(c, count_of(c));
      if (c == best_) find_best();  // all others have become smaller or stayed equal
    }
    return rate_[c] / rate_[best_];
  }
  bool takes_all() const {
    return std::all_of(rate_.begin(), rate_.end(), [this](double r) { return r == rate_[best_]; });
  }

 private:
  double rate_of(std::size_t c, double initial) const { return target_[c] == 0 ? 0 : target_[c] / initial; }
  double count_of(std::size_t c) const { return static_cast<double>((*seen_)[c]) + kBefore; }
  void find_best() { best_ = static_cast<std::size_t>(std::max_element(rate_.begin(), rate_.end()) - rate_.begin()); }

  std::vector<double> target_;
  std::vector<std::uint64_t>* seen_;
  std::vector<double> rate_;
  std::size_t best_ = 0;
};

status no_class(std::int64_t c, std::size_t classes) {
  return invalid_argument_error("its class is " + std::to_string(c) + ", and target_dist has the classes 0 to " +
                                std::to_string(classes - 1));
}

/// The classes of a block's elements.
struct classes_of_block {
  key_codes codes;

  applied look(const key_function& f, const block& in) {
    codes.clear();
    return f.codes(in, codes);
  }
};

// At each co_yield the counts include exactly the elements that have left the view.
erased_stream rejection_resample_loop(outlet out, saved<std::vector<std::uint64_t>> seen, erased_stream in,
                                      function_ptr function, rejection_resample_arguments a, std::uint64_t seed,
                                      error_gate gate) {
  auto& f = static_cast<const key_function&>(*function);
  const bool is_signed = is_signed_number(*f.out), estimates = a.options.initial_dist.empty();
  if (gate.skips()) in.may_go_back();  // after a bad element the rest of the view serves the next demand
  if (estimates && seen->empty()) seen->resize(a.target_dist.size());
  if (seen->size() != (estimates ? a.target_dist.size() : 0)) co_await fail(damaged_position());
  acceptance stays(std::move(a.target_dist), a.options.initial_dist, estimates ? &*seen : nullptr);
  const element_type& type = out.type();
  const std::size_t element_at = type.members[1].offset;
  block_fit fit(type);
  classes_of_block classes;
  for (;;) {
    bool more = co_await in.ready({0, fit.at_most(out.ask()), out.wanted_bytes()});
    if (!more) break;
    const std::uint32_t n = std::min(in.left(), fit.at_most(out.ask()));
    const std::uint64_t first = in.consumed();
    applied looked = classes.look(f, block(nullptr, &in.type(), in.peek().data(), n));
    char* to = out.room(looked.done);
    std::uint32_t done = 0, made = 0;
    for (; done != looked.done; ++done) {
      const std::string_view code = classes.codes[done];
      const std::int64_t c = number_of_code(code, is_signed);
      if (c < 0 || static_cast<std::uint64_t>(c) >= stays.classes()) {
        looked.why = no_class(c, stays.classes());
        break;
      }
      const double likely = stays.of_next(static_cast<std::size_t>(c));
      if (random_source(derive(seed, first + done)).uniform() >= likely) {
        in.drop(1);
        continue;
      }
      f.build_key(code, to);
      in.move_to(to + element_at, 1, type.size);
      to += type.size;
      ++made;
    }
    block kept = out.made(made);
    fit.made(kept, out.wanted_bytes());
    if (!looked.why.ok() && !gate.may_drop(looked.why)) {
      out.hold(kept);
      status located = gate.located(looked.why, first + done);
      co_await fail(std::move(located));
    }
    if (kept) co_yield kept;
    if (!looked.why.ok()) {
      auto settled = gate.settle(out, looked.why, first + done);
      co_await settled;
      in.drop(1);
    }
  }
}

erased_stream open_rejection_resample(const node& n, open_context& context) {
  auto& a = n.as<rejection_resample_arguments>();
  outlet out(*n.type);
  saved<std::vector<std::uint64_t>> seen;
  const std::uint64_t seed = context.seed_of(n, a.options.seed.value);
  return rejection_resample_loop(out, std::move(seen), context.open(n.inputs[0]), a.function.value, a, seed,
                                 context.gate(n));
}

/// Returns "", or why the probabilities called `name` are invalid.
std::string distribution_mistake(const std::vector<double>& dist, const char* name) {
  double sum = 0;
  for (double p : dist) {
    if (!(p >= 0) || !std::isfinite(p)) return std::string(name) + " has a finite number of at least 0 for each class";
    sum += p;
  }
  if (!(sum > 0) || !std::isfinite(sum)) return std::string(name) + " needs a class with a number above 0";
  return {};
}

std::string resampling_mistake(const rejection_resample_arguments& a) {
  const std::vector<double>&target = a.target_dist, &initial = a.options.initial_dist;
  std::string why = distribution_mistake(target, "target_dist");
  if (!why.empty() || initial.empty()) return why;
  if (initial.size() != target.size())
    return "initial_dist and target_dist are of the same classes, and have " + std::to_string(initial.size()) +
           " and " + std::to_string(target.size());
  why = distribution_mistake(initial, "initial_dist");
  for (std::size_t c = 0; c != target.size() && why.empty(); ++c)
    if (initial[c] == 0 && target[c] != 0)
      why = "class " + std::to_string(c) + " is wanted, and its number in initial_dist is 0";
  return why;
}

const element_type* resampled_type(const node& n, std::string& why) {
  auto& a = n.as<rejection_resample_arguments>();
  why = resampling_mistake(a);
  if (!why.empty()) return nullptr;
  const element_type* c = type_of_function(n, a.function.value, why);
  if (!c) return nullptr;
  if (!is_whole_number(*c)) return why = "the class must be a whole number, and is " + c->name, nullptr;
  return pair_of(c, n.inputs[0]->type);
}

cardinality resampled_size(const node& n) {
  auto& a = n.as<rejection_resample_arguments>();
  cardinality all = cardinality_of(*n.inputs[0]);
  if (all == cardinality::of(0)) return all;
  if (a.options.initial_dist.empty()) return {};
  return acceptance(a.target_dist, a.options.initial_dist, nullptr).takes_all() ? all : cardinality();
}

}  // namespace

const op_info rejection_resample_op{
    .name = "rejection_resample",
    .doc = "drops elements, so that each class has a given share",
    .arguments = arguments_of<rejection_resample_arguments>,
    .type = resampled_type,
    .spec =
        [](const node& n) {
          spec s = spec_of(*n.type);
          s.parts[1] = element_spec_of(*n.inputs[0]);
          return s;
        },
    .facts = {.always = {.draws = true}, .size = resampled_size},
    .splits = {.rule = split_rule::groups},
    .lowering = {.open = open_rejection_resample},
};

}  // namespace sluice::lib
