// SPDX-License-Identifier: Apache-2.0
// Records the bytes of a block's elements before the stage passes them to a function, which may move from them. Does
// nothing if dropped elements are not stored (error_gate::keeps), or if the elements are no texts.
//
//   kept_texts texts(gate, in.type());
//   texts.note(part);                                  // before the call
//   gate.settle(out, a.why, ordinal, texts.of(a.done));
// Cost: one copy of the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/lowering/error_gate.hpp"
#include "sluice/element/slab.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib {

class kept_texts {
 public:
  kept_texts(const error_gate& gate, const element_type& type)
      : gate_(gate), type_(gate.keeps() && type.text ? &type : nullptr) {}

  void note(const block& b) {
    if (type_) note(static_cast<const char*>(b.data()), b.size());
  }
  void note(const void* first, std::size_t n) {
    if (!type_) return;
    bytes_.clear();
    ends_.clear();
    for (std::size_t i = 0; i != n; ++i) {
      bytes_ += type_->text(static_cast<const char*>(first) + i * type_->size);
      ends_.push_back(bytes_.size());
    }
  }
  /// Returns the bytes of the i-th noted element.
  kept_bytes of(std::uint32_t i) const {
    if (!type_) return nullptr;
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return gate_.kept(std::string_view(bytes_).substr(begin, ends_[i] - begin));
  }

 private:
  const error_gate& gate_;
  const element_type* type_;
  std::string bytes_;
  std::vector<std::size_t> ends_;
};

}  // namespace sluice::lib
