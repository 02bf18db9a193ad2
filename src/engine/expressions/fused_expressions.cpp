// SPDX-License-Identifier: Apache-2.0
#include "engine/expressions/fused_expressions.hpp"

#include <span>
#include <utility>

#include "engine/expressions/expression_forms.hpp"

namespace sluice::lib {
namespace {

class pass_of_program final : public one_pass {
 public:
  explicit pass_of_program(std::unique_ptr<const fused_program> p) : program_(std::move(p)) {}
  bool compute(const block& in, void* to, const std::vector<element_place>& places, std::uint32_t* kept) override {
    return program_->compute(room(), in.data(), in.size(), to, places_of(places), kept);
  }
  bool compute(const column_view& in, void* to, const std::vector<element_place>& places,
               std::uint32_t* kept) override {
    return program_->compute(room(), in, to, places_of(places), kept);
  }

 private:
  expressions::evaluation& room() {
    if (!room_) room_ = program_->make_room();
    return *room_;
  }
  std::span<const program_place> places_of(const std::vector<element_place>& places) {
    places_.clear();
    for (const element_place& p : places) places_.push_back({p.ordinal, p.seed});
    return places_;
  }

  std::unique_ptr<const fused_program> program_;
  std::unique_ptr<expressions::evaluation> room_;  ///< made at the first block
  std::vector<program_place> places_;
};

}  // namespace

std::unique_ptr<one_pass> fusable_expression::compile(const std::vector<const stage_function*>& functions,
                                                      bool from_columns) const {
  std::vector<fused_part> parts;
  for (const stage_function* f : functions) {
    auto* expression = dynamic_cast<const fusable_expression*>(f);
    if (!expression) return nullptr;
    parts.push_back(expression->part());
  }
  functions_used used;
  std::unique_ptr<const fused_program> program = fused_program::make(parts, used, from_columns);
  if (!program) return nullptr;
  return std::make_unique<pass_of_program>(std::move(program));
}

}  // namespace sluice::lib
