// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/top.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/expressions/expression_forms.hpp"
#include "engine/held/collected_stage.hpp"
#include "engine/held/held_elements.hpp"
#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "plan/codecs/arguments_of.hpp"

namespace sluice::lib {
namespace {

/// The number of elements whose ranks are computed at a time.
constexpr std::uint32_t kRankedAtOnce = 1024;
/// The slots of one allocation.
constexpr std::size_t kSlotsAtOnce = 64;

/// Uninitialized memory for one element at a time, which is used again.
class element_slots {
 public:
  explicit element_slots(const element_type& t) : type_(t) {}
  element_slots(const element_slots&) = delete;
  ~element_slots() {
    for (char* piece : pieces_) ::operator delete(piece, std::align_val_t(type_.align));
  }
  char* take() {
    if (free_.empty()) {
      pieces_.push_back(static_cast<char*>(::operator new(kSlotsAtOnce * type_.size, std::align_val_t(type_.align))));
      for (std::size_t i = kSlotsAtOnce; i-- != 0;) free_.push_back(pieces_.back() + i * type_.size);
    }
    char* at = free_.back();
    free_.pop_back();
    return at;
  }
  void give_back(char* at) { free_.push_back(at); }
  std::size_t bytes() const { return pieces_.size() * kSlotsAtOnce * type_.size; }

 private:
  const element_type& type_;
  std::vector<char*> pieces_, free_;
};

class largest_elements final : public collector {
 public:
  largest_elements(const element_type& t, std::uint64_t n, function_ptr by, std::shared_ptr<run_context> run,
                   const error_gate& gate)
      : type_(t),
        n_(n),
        by_(std::move(by)),
        memory_(std::move(run), gate.line(purpose::state), gate.label(), "its largest elements", "request fewer"),
        slots_(t) {}
  ~largest_elements() override {
    for (const entry& e : heap_) type_.destroy(type_, e.at, 1);
  }

  status take(erased_stream& in) override {
    while (in.left() != 0) {
      codes_.clear();
      const block view(nullptr, &in.type(), in.peek().data(), std::min(in.left(), kRankedAtOnce));
      applied ranked = static_cast<const rank_function&>(*by_).codes(view, codes_);
      std::uint32_t passed = 0;  // elements that are not among the largest, and are dropped together
      for (std::uint32_t i = 0; i != ranked.done; ++i) {
        if (heap_.size() == n_ && codes_[i] <= heap_.front().code) {
          ++passed;
          continue;
        }
        in.drop(std::exchange(passed, 0));
        insert(in, codes_[i]);
      }
      in.drop(passed);
      if (!ranked.why.ok()) return std::move(ranked.why);
    }
    return {};
  }
  status charge() override {
    status fits = memory_.resize(slots_.bytes() + owned_bytes_ + heap_.capacity() * sizeof(entry));
    return fits.ok() ? std::move(fits) : memory_.refused(absl::StrCat("its ", heap_.size(), " largest elements"));
  }
  status finish(final_elements& results) override {
    std::sort(heap_.begin(), heap_.end(), is_above);
    for (const entry& e : heap_) {
      type_.relocate(type_, results.room(), e.at, 1, type_.size, type_.size);
      results.add_made();
    }
    heap_.clear();
    return {};
  }

 private:
  struct entry {
    std::string code;
    std::uint64_t ordinal;
    char* at;
    std::size_t owned;
  };
  /// Orders the heap: its front is the entry that leaves first, the smallest and, among equal ones, the latest.
  static bool is_above(const entry& a, const entry& b) {
    const int order = a.code.compare(b.code);
    return order != 0 ? order > 0 : a.ordinal < b.ordinal;
  }
  void insert(erased_stream& in, std::string_view code) {
    if (heap_.size() == n_) {
      std::pop_heap(heap_.begin(), heap_.end(), is_above);
      type_.destroy(type_, heap_.back().at, 1);
      slots_.give_back(heap_.back().at);
      owned_bytes_ -= heap_.back().owned;
      heap_.pop_back();
    }
    char* at = slots_.take();
    in.move_to(at, 1);
    if (type_.compact) type_.compact(type_, at, 1);
    const std::size_t owned = owned_bytes_of(type_, at, 1) + code.size();
    owned_bytes_ += owned;
    heap_.push_back({std::string(code), next_++, at, owned});
    std::push_heap(heap_.begin(), heap_.end(), is_above);
  }

  const element_type& type_;
  const std::uint64_t n_;
  const function_ptr by_;
  held_memory memory_;
  element_slots slots_;
  key_codes codes_;
  std::vector<entry> heap_;
  std::size_t owned_bytes_ = 0;
  std::uint64_t next_ = 0;  ///< counts the elements that were inserted
};

/// Returns the function that ranks an element by itself. Errors: expression_error.
function_ptr own_rank(const element_type& t) { return make_expression_rank(expression("it"), t); }

erased_stream open_top(const node& n, open_context& context) {
  auto& a = n.as<top_arguments>();
  outlet out(*n.type);
  error_gate gate = context.gate(n);
  function_ptr by = a.options.by.value ? a.options.by.value : own_rank(*n.type);
  auto from = std::make_unique<largest_elements>(*n.type, static_cast<std::uint64_t>(a.n.value), std::move(by),
                                                 context.run, gate);
  saved<saved_final_elements> results(saved_final_elements{
      std::make_unique<final_elements>(*n.type, context.run, gate, "its largest elements", "request fewer")});
  return collected_stage(std::move(out), std::move(results), context.open(n.inputs[0]), std::move(from),
                         std::move(gate));
}

const element_type* top_type(const node& n, std::string& why) {
  auto& a = n.as<top_arguments>();
  if (a.options.by.value) {
    if (!type_of_function(n, a.options.by.value, why)) return nullptr;
    why = text_for_column(*a.options.by.value, "by");
    if (!why.empty()) return nullptr;
    return same_type(n, why);
  }
  try {
    own_rank(*n.inputs[0]->type);
  } catch (const expression_error& e) {
    why = absl::StrCat(e.message(), "; write by=, as in top(10, by=score)");
    return nullptr;
  }
  return same_type(n, why);
}

/// A function of the element, which may be missing.
class rank_codec final : public codec {
 public:
  void print(const void* p, printer& to) const override {
    if (get(p)) to.function(*get(p));
  }
  void read(void* p, const argument& a, reading& r) const override {
    static_cast<rank_argument*>(p)->value = r.function(a, is_rank_function, "an expression, such as score");
  }
  std::string check(const void* p) const override {
    const function_ptr& f = get(p);
    const bool fits = !f || is_rank_function(*f) || dynamic_cast<const unbound_function*>(f.get());
    return fits ? "" : " is of a form that this stage cannot use";
  }
  void bind(void* p, bind_context& context) const override {
    function_ptr& f = static_cast<rank_argument*>(p)->value;
    if (auto* unbound = dynamic_cast<const unbound_function*>(f.get())) f = unbound->bind(context, is_rank_function);
  }
  bool equal(const void* a, const void* b) const override { return one().equal(a, b); }
  void visit(const void* p, part_visitor& v) const override {
    if (get(p)) v.function(get(p));
  }
  bool is_meant_when_given() const override { return true; }
  bool takes_function(const stage_function& f) const override { return is_rank_function(f); }
  bool takes_functions() const override { return true; }
  std::string type_name() const override { return "function"; }

 private:
  static bool is_rank_function(const stage_function& f) { return dynamic_cast<const rank_function*>(&f) != nullptr; }
  static const codec& one() { return codec_of<function_arg<rank_function>>(); }
  static const function_ptr& get(const void* p) { return static_cast<const rank_argument*>(p)->value; }
};

}  // namespace

template <> const codec& codec_of<rank_argument>() {
  static const rank_codec c;
  return c;
}

preserving top(count n) { return {top_op, arguments::of(top_arguments{n, {}})}; }
preserving top(count n, expression by) {
  return {top_op, arguments::of(top_arguments{n, {expression_function(std::move(by))}})};
}

const op_info top_op{
    .name = "top",
    .doc = "the n largest elements, the largest first",
    .arguments = arguments_of<top_arguments>,
    .type = top_type,
    .spec = same_spec,
    .facts = {.always = {.outputs = output_count::at_most_one_per_input, .forwards = true, .may_fail = false},
              .size =
                  [](const node& n) {
                    const cardinality in = cardinality_of(*n.inputs[0]);
                    return in.kind == cardinality::infinite ? cardinality() : in.at_most(n.as<top_arguments>().n.value);
                  }},
    .splits = {.rule = split_rule::all_before},
    .lowering = {.open = open_top},
};

}  // namespace sluice::lib
