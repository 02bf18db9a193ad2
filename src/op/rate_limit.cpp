// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/rate_limit.hpp"

#include <algorithm>
#include <cmath>

#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "plan/codecs/pace_codecs.hpp"
#include "sluice/base/assert.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/coro/this_stage.hpp"

namespace sluice::lib {
namespace {

/// Tokens that accrue with time. Their number is negative after an element that costs more than the bucket contains.
class token_bucket {
 public:
  token_bucket(double per_second, double burst) : per_second_(per_second), burst_(burst), tokens_(burst) {}

  double burst() const { return burst_; }
  /// Returns the number of tokens at this time.
  double fill(time_point now) {
    if (started_) tokens_ = std::min(burst_, tokens_ + seconds(now - at_) * per_second_);
    started_ = true;
    at_ = now;
    return tokens_;
  }
  /// Returns the time until `wanted` tokens have accrued; 0: they have. REQUIRES: fill() was called for this moment.
  duration until(double wanted) const {
    SLUICE_REQUIRES(started_, "fill() comes first");
    constexpr double kEnough = 1e-9, kLongest = 1e6 * 3600e9;  // of a token; a million hours
    double lacking = wanted - tokens_;
    if (lacking <= kEnough) return duration(0);
    double ns = std::min(kLongest, std::ceil(lacking / per_second_ * 1e9));
    return duration(std::max<std::int64_t>(1, static_cast<std::int64_t>(ns)));
  }
  void spend(double tokens) { tokens_ -= tokens; }

 private:
  static double seconds(duration d) { return static_cast<double>(d.count()) * 1e-9; }
  double per_second_, burst_, tokens_;
  time_point at_{};
  bool started_ = false;
};

/// Elements from the front, and their cost.
struct share {
  std::uint32_t elements = 0;
  double cost = 0;
};

/// Returns how many of the view's first `most` elements the tokens pay for, at least one.
share affordable(const element_type& type, const element_view& view, std::uint32_t most, bool by_bytes, double tokens) {
  if (!by_bytes) {
    auto n = static_cast<std::uint32_t>(std::clamp(tokens, 1.0, static_cast<double>(most)));
    return {n, static_cast<double>(n)};
  }
  share s;
  while (s.elements != most) {
    std::size_t bytes = type.size;
    if (type.footprint) bytes += type.footprint(type, view.at(s.elements), 1);
    auto cost = static_cast<double>(bytes);
    if (s.elements && s.cost + cost > tokens) break;
    s.cost += cost;
    ++s.elements;
  }
  return s;
}

// The input skips elements, even those already in the view, because skipping costs no tokens.
erased_stream rate_limit_loop(outlet out, one_to_one, may_suspend, erased_stream in, token_bucket bucket,
                              bool by_bytes) {
  stage_base* me = co_await this_stage();
  in.may_go_back();
  for (;;) {
    const clock& time = *out.env()->time;
    double tokens = std::max(1.0, bucket.fill(time.now()));
    demand d;
    d.skip = out.pass(demand::kAll);
    d.elements = by_bytes ? out.wanted() : out.wanted_of(static_cast<std::uint64_t>(std::min(tokens, 1e9)));
    d.bytes = by_bytes ? static_cast<std::uint32_t>(std::min<double>(out.wanted_bytes(), tokens)) : out.wanted_bytes();
    bool more = co_await in.ready(d);
    if (!more) {
      out.unpass(in.skip_left());
      break;
    }
    tokens = bucket.fill(time.now());  // building the elements took time
    share now = affordable(out.type(), in.peek(), std::min(in.left(), out.wanted()), by_bytes, tokens);
    for (;;) {
      duration wait = bucket.until(std::min(now.cost, bucket.burst()));
      if (wait.count() == 0) break;
      time_point began = time.now();
      sleep_for pause(wait);
      co_await pause;
      me->waited(time.now() - began, wait_reason::pace);
      bucket.fill(time.now());
    }
    bucket.spend(now.cost);
    block b = in.take(now.elements);
    co_yield b;
  }
}

erased_stream open_rate_limit(const node& n, open_context& context) {
  constexpr double kKeptSeconds = 0.01;
  const rate_limit_options& o = n.as<rate_limit_arguments>().options;
  bool by_bytes = o.bytes_per_second.value > 0;
  double per_second = by_bytes ? o.bytes_per_second.value : o.elements_per_second.value;
  double burst =
      o.burst.value ? static_cast<double>(o.burst.value) : std::max(1.0, std::floor(per_second * kKeptSeconds));
  outlet out(*n.type);
  token_bucket bucket(per_second, burst);
  return rate_limit_loop(out, one_to_one{}, may_suspend{}, context.open(n.inputs[0]), bucket, by_bytes);
}

const element_type* limited_type(const node& n, std::string& why) {
  const rate_limit_options& o = n.as<rate_limit_arguments>().options;
  bool elements = o.elements_per_second.value > 0, bytes = o.bytes_per_second.value > 0;
  if (!elements && !bytes) why = "needs elements_per_second or bytes_per_second, more than 0";
  if (elements && bytes)
    why = "accepts elements_per_second or bytes_per_second, not both; for both limits write it twice";
  return elements != bytes ? n.inputs[0]->type : nullptr;
}

}  // namespace

const op_info rate_limit_op{
    .name = "rate_limit",
    .doc = "limits the elements or bytes per second",
    .arguments = arguments_of<rate_limit_arguments>,
    .type = limited_type,
    .spec = same_spec,
    .facts = {.always = {.outputs = output_count::one_per_input,
                         .forwards = true,
                         .keeps_order = true,
                         .may_fail = false,
                         .uses_place = false},
              .size = [](const node& n) { return cardinality_of(*n.inputs[0]); }},
    .splits = {.rule = split_rule::all_before},
    .lowering = {.open = open_rate_limit},
};

preserving rate_limit(rate_limit_options o) { return {rate_limit_op, arguments::of(rate_limit_arguments{o})}; }

}  // namespace sluice::lib
