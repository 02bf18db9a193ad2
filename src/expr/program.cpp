// SPDX-License-Identifier: Apache-2.0
#include "expr/program.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "expr/checker.hpp"

namespace sluice::lib {

program::program(const expression& e, const element_type& in, callables& functions, const element_type* wanted,
                 const expression_scope& scope)
    : in_(&in) {
  expressions::checker check(in, functions, scope);
  root_ = wanted ? check.make(e.tree(), *wanted) : check.make(e.tree());
  check.let_move(*root_);
  variables_ = check.variables();
  draws_ = check.draws();
}

std::vector<std::string> built_in_function_names() {
  std::vector<std::string> names = expressions::built_in_names();
  std::sort(names.begin(), names.end());
  return names;
}

program::~program() = default;

const element_type& program::type() const { return root_->type(); }

namespace {

/// Uninitialised room for one object.
class evaluation_room {
 public:
  explicit evaluation_room(const element_type& t) : bytes_(new char[t.size + t.align]) {
    void* at = bytes_.get();
    std::size_t space = t.size + t.align;
    at_ = static_cast<char*>(std::align(t.align, t.size, at, space));
  }
  char* at() const { return at_; }

 private:
  std::unique_ptr<char[]> bytes_;
  char* at_;
};

status status_of(const expressions::failed_at& bad) {
  return bad.told.ok() ? invalid_argument_error(bad.why) : bad.told;
}

/// The same with the element, where that is a short text, as a file's name is.
status naming_element(const status& why, const element_type& in, const void* element) {
  constexpr std::size_t kShort = 200;
  if (!in.text || !why.where().file.empty()) return why;
  const std::string_view text = in.text(element);
  const bool can_be_read =
      std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= ' '; });
  if (text.empty() || text.size() > kShort || !can_be_read || why.message().find(text) != std::string_view::npos)
    return why;
  std::string message(why.message());
  message.append(" (of \"").append(text).append("\")");
  return status(why.code(), message).with_cause(why.cause());
}

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
        why = status_of(bad);
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
  const std::uint32_t done = in_chunks(n, why, [&](std::uint32_t first, std::uint32_t some) {
    char* at = static_cast<char*>(to) + first * size;
    ev.start(static_cast<char*>(elements) + first * in_->size, ordinal + first);
    root_->build(ev, {nullptr, some}, at, size);
    root_->take(ev, some, at, size);
  });
  if (!why.ok()) why = naming_element(why, *in_, static_cast<const char*>(elements) + done * in_->size);
  return done;
}

std::uint32_t program::fold(void* state, void* elements, std::uint32_t n, void* states, status& why) const {
  expressions::evaluation ev(*in_, 0);
  ev.variables.resize(variables_);
  const element_type& t = type();
  evaluation_room next(t);
  std::uint32_t done = 0;
  try {
    for (; done != n; ++done) {
      ev.start(static_cast<char*>(elements) + done * in_->size, 0);
      ev.set_state(state);
      root_->build(ev, {nullptr, 1}, next.at(), t.size);
      root_->take(ev, 1, next.at(), t.size);
      if (states) {
        try {
          t.copy(t, static_cast<char*>(states) + done * t.size, next.at(), 1, t.size, t.size);
        } catch (...) {
          t.destroy(t, next.at(), 1);
          throw;
        }
      }
      t.destroy(t, state, 1);
      t.relocate(t, state, next.at(), 1, t.size, t.size);
    }
  } catch (const expressions::failed_at& bad) { why = status_of(bad); } catch (...) {
    why = current_exception_status();
  }
  return done;
}

std::uint32_t program::test(const void* elements, std::uint32_t n, bool* to, std::uint64_t ordinal, std::uint64_t seed,
                            status& why) const {
  expressions::evaluation ev(*in_, seed);
  ev.variables.resize(variables_);
  const std::uint32_t done = in_chunks(n, why, [&](std::uint32_t first, std::uint32_t some) {
    // A bool is made of them: nothing is moved.
    ev.start(const_cast<char*>(static_cast<const char*>(elements)) + first * in_->size, ordinal + first);
    root_->eval(ev, {nullptr, some}, to + first);
  });
  if (!why.ok()) why = naming_element(why, *in_, static_cast<const char*>(elements) + done * in_->size);
  return done;
}

}  // namespace sluice::lib
