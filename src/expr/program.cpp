// SPDX-License-Identifier: Apache-2.0
#include "expr/program.hpp"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "expr/checker.hpp"

namespace sluice::lib {

program::program(const expression& e, const element_type& in, callables& functions, const element_type* wanted)
    : in_(&in) {
  expressions::checker check(in, functions);
  root_ = wanted ? check.make(e.tree(), *wanted) : check.make(e.tree());
  check.let_move(*root_);
  variables_ = check.variables();
  draws_ = check.draws();
}

program::~program() = default;

const element_type& program::type() const { return root_->type(); }

namespace {

/// Calls f(first, n) for the elements from first on, a chunk at a time, until all are done. What is before a bad element is
/// computed again without it, because a later part of the expression may fail for an earlier element. Returns how many
/// were done.
template <class F> std::uint32_t in_chunks(std::uint32_t n, status& why, F f) {
  std::uint32_t at_once = expressions::kChunk;
  for (std::uint32_t done = 0; done != n;) {
    std::uint32_t part = std::min(n - done, at_once);
    bool is_bad = false;
    while (part != 0) {
      try {
        f(done, part);
        break;
      } catch (const expressions::failed_at& bad) {
        part = bad.element;
        why = invalid_argument_error(bad.why);
        is_bad = true;
      } catch (...) {
        if (part == 1) {
          why = current_exception_status();
          return done;
        }
        part = at_once = 1;  // nobody knows for which element
      }
    }
    done += part;
    if (is_bad) return done;
  }
  return n;
}

}  // namespace

std::uint32_t program::apply(void* elements, std::uint32_t n, void* to, std::uint64_t ordinal, std::uint64_t seed,
                             status& why) const {
  expressions::evaluation ev(*in_, seed);
  ev.variables.resize(variables_);
  const std::size_t size = type().size;
  return in_chunks(n, why, [&](std::uint32_t first, std::uint32_t some) {
    char* at = static_cast<char*>(to) + first * size;
    ev.start(static_cast<char*>(elements) + first * in_->size, ordinal + first);
    root_->build(ev, {nullptr, some}, at, size);
    root_->take(ev, some, at, size);
  });
}

std::uint32_t program::test(const void* elements, std::uint32_t n, bool* to, std::uint64_t ordinal, std::uint64_t seed,
                            status& why) const {
  expressions::evaluation ev(*in_, seed);
  ev.variables.resize(variables_);
  return in_chunks(n, why, [&](std::uint32_t first, std::uint32_t some) {
    // A bool is made of them: nothing is moved.
    ev.start(const_cast<char*>(static_cast<const char*>(elements)) + first * in_->size, ordinal + first);
    root_->eval(ev, {nullptr, some}, to + first);
  });
}

}  // namespace sluice::lib
