// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/ignore_errors.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "runtime/sites/error_account.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {
namespace {

class share_codec final : public codec {
 public:
  void print(const void* p, printer& to) const override {
    char text[32];
    char* end = std::to_chars(text, text + sizeof text, get(p)).ptr;
    to.plain(std::string_view(text, static_cast<std::size_t>(end - text)));
  }
  void read(void* p, const argument& a, reading& r) const override {
    const char* end = a.text.data() + a.text.size();
    auto got = std::from_chars(a.text.data(), end, static_cast<error_share*>(p)->value);
    if (got.ec != std::errc() || got.ptr != end) r.expected(a, "a part of all elements, such as 0.01");
  }
  std::string check(const void* p) const override {
    if (get(p) >= 0 && get(p) <= 1) return {};
    return absl::StrCat(" must be from 0 to 1, and is ", printed(*this, p));
  }
  bool is_knob() const override { return true; }
  bool equal(const void* a, const void* b) const override { return get(a) == get(b); }
  std::string type_name() const override { return "share"; }

 private:
  static double get(const void* p) { return static_cast<const error_share*>(p)->value; }
};

class dropped_call_codec final : public codec {
 public:
  void print(const void* p, printer& to) const override {
    if (get(p)) to.function(*get(p));
    else to.nothing();
  }
  void read(void*, const argument& a, reading& r) const override {
    if (a.kind == argument::number)
      r.refuse_name(a, absl::StrCat(a.shown(), " needs a name, such as errors_max=", a.shown()));
    r.fail(a, "a function that is called with errors can be given in C++ only");
  }
  bool is_knob() const override { return true; }
  bool equal(const void* a, const void* b) const override { return get(a) == get(b); }
  void visit(const void* p, part_visitor& v) const override {
    if (get(p)) v.function(get(p));
  }
  bool may_be_left_out() const override { return true; }
  bool takes_functions() const override { return true; }
  std::string type_name() const override { return "function"; }

 private:
  static std::shared_ptr<const dropped_function> get(const void* p) {
    return static_cast<const dropped_call*>(p)->value;
  }
};

}  // namespace

template <> const codec& codec_of<error_share>() {
  static const share_codec c;
  return c;
}
template <> const codec& codec_of<dropped_call>() {
  static const dropped_call_codec c;
  return c;
}

namespace {

/// Receives the errors of the elements upstream, and forwards them before the next element.
class counted_errors final : public error_sink {
 public:
  counted_errors(arguments a, error_account* account, std::size_t kept_apart)
      : arguments_(std::move(a)), account_(account), kept_apart_(kept_apart) {}

  /// Records that n elements have arrived.
  void elements_up_to(std::uint64_t n) { elements_ = n; }
  status met(dropped_error e) override {
    status end;
    for (error_account* a = e.account; a; a = a->around)
      if (a == account_) end = counted(e);
    errors_.add(std::move(e), kept_apart_);
    return end;
  }
  dropped_errors take() { return std::exchange(errors_, dropped_errors()); }

 private:
  status counted(const dropped_error& e) {
    const auto& [call, o] = arguments_.as<ignore_errors_arguments>();
    count_ += e.times;
    const std::uint64_t all = count_ + elements_;
    const bool is_looked_at = o.share_after.value >= 0 && all > static_cast<std::uint64_t>(o.share_after.value);
    if (is_looked_at && static_cast<double>(count_) > o.errors_share.value * static_cast<double>(all)) {
      const provenance& at = e.why.where();
      status summary(e.why.code(), absl::StrCat(std::string(e.why.message()), "; with it ", count_, " of ", all,
                                                " elements are bad, more than errors_share=", o.errors_share.value,
                                                " of ignore_errors"));
      return summary.in_file(at.file, at.offset_bytes, at.record_index)
          .in_stage(at.stage, at.element)
          .with_cause(e.why.cause());
    }
    if (!call.value) return {};
    try {
      call.value->dropped(e.why, count_);
    } catch (...) { return current_exception_status().in_stage("ignore_errors"); }
    return {};
  }

  arguments arguments_;
  error_account* account_;
  std::size_t kept_apart_;
  dropped_errors errors_;
  std::uint64_t count_ = 0, elements_ = 0;
};

/// The number of skipped elements that one request covers.
constexpr std::uint64_t kPassedAtOnce = 1024;

// If the share of errors is limited, skipped elements are requested, too, because an error needs the number of elements
// before it. The input is the last parameter, so it is destroyed before its sink.
erased_stream ignore_errors_loop(outlet out, one_to_one, std::shared_ptr<counted_errors> counted, bool looks_at_share,
                                 erased_stream in) {
  counted_errors& sink = *counted;
  in.stage()->set_error_sink(&sink);
  const std::uint64_t first = in.consumed();
  std::uint64_t to_pass = 0;
  for (;;) {
    if (looks_at_share) to_pass += out.pass(~std::uint64_t{0});
    sink.elements_up_to(in.consumed() - first);
    const std::uint64_t wanted = out.wanted() + std::min(to_pass, kPassedAtOnce);
    const auto asked = static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, ~std::uint32_t{0}));
    auto got = co_await in.try_next_block({0, asked, out.wanted_bytes()});
    auto dropping = out.drop(sink.take());
    co_await dropping;
    if (!got.view) {
      out.unpass(to_pass);
      if (!got.why.ok()) co_await fail(std::move(got.why));
      break;
    }
    const auto passed = static_cast<std::uint32_t>(std::min<std::uint64_t>(to_pass, got.view.size()));
    if (passed) got.view.drop_front(passed);
    to_pass -= passed;
    if (got.view) co_yield got.view;
  }
}

erased_stream open_ignore_errors(const node& n, open_context& context) {
  const auto& [call, o] = n.as<ignore_errors_arguments>();
  open_context upstream = context.ignoring_errors(n, o.errors_max);
  const bool has_limit = o.errors_share.value < 1 || call.value;
  if (!has_limit) return upstream.open(n.inputs[0]);
  outlet out(*n.type);
  auto counted = std::make_shared<counted_errors>(n.arguments, upstream.account, context.run->errors_kept_apart());
  return ignore_errors_loop(out, one_to_one{}, std::move(counted), o.errors_share.value < 1,
                            upstream.open(n.inputs[0]));
}

}  // namespace

const op_info ignore_errors_op{
    .name = "ignore_errors",
    .doc = "drops elements that fail upstream",
    .arguments = arguments_of<ignore_errors_arguments>,
    .type = same_type,
    .facts = {.always = {.outputs = output_count::at_most_one_per_input,
                         .forwards = true,
                         .keeps_order = true,
                         .may_fail = false,
                         .uses_place = false},
              .size =
                  [](const node& n) {
                    cardinality in = cardinality_of(*n.inputs[0]);
                    return in == cardinality::of(0) ? in : cardinality{};
                  },
              .members = member_use::passed,
              .sets_error_policy = true},
    .splits = {.rule = split_rule::settings},
    .lowering = {.open = open_ignore_errors},
};

preserving ignore_errors(ignore_errors_options o) {
  return {ignore_errors_op, arguments::of(ignore_errors_arguments{{}, o})};
}
preserving ignore_errors(std::shared_ptr<const dropped_function> call, ignore_errors_options o) {
  return {ignore_errors_op, arguments::of(ignore_errors_arguments{{std::move(call)}, o})};
}

}  // namespace sluice::lib
