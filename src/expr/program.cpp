// SPDX-License-Identifier: Apache-2.0
#include "expr/program.hpp"

#include <algorithm>
#include <atomic>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "expr/checking/checker.hpp"
#include "expr/checking/facts.hpp"
#include "expr/column_parts.hpp"
#include "expr/expression_parts.hpp"

namespace sluice::lib {

program::program(const expression& e, const element_type& in, callables& functions, const element_type* wanted,
                 const expression_scope& scope)
    : in_(&in) {
  expressions::checker check(in, functions, scope);
  root_ = wanted ? check.make(e.tree(), *wanted) : check.make(e.tree());
  if (scope.is_condition) root_ = expressions::checker::as_condition(std::move(root_));
  check.let_move(*root_);
  variables_ = check.variables();
  draws_ = check.draws();
  uses_place_ = check.uses_place();
  may_fail_ = check.may_fail(e.tree());
  reads_ = expressions::members_read(e.tree(), in);
  is_light_ = check.is_light();
  reads_columns_ = scope.is_looked_at && check.reads_columns();
}

std::vector<std::string> built_in_function_names() {
  std::vector<std::string> names = expressions::built_in_names();
  std::sort(names.begin(), names.end());
  return names;
}

bool is_built_in_function(std::string_view name) {
  const std::vector<std::string> names = expressions::built_in_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

program::~program() = default;

std::uint32_t program::values_at_once() const {
  std::size_t fits = expressions::kRunBytes / std::max<std::size_t>(1, type().size);
  if (!is_light_) fits = std::min<std::size_t>(fits, at_once_.load(std::memory_order_relaxed));
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(fits, 1, expressions::kChunk));
}

const element_type& program::type() const { return root_->type(); }

const void* program::constant() const { return root_->constant(); }

/// Elements in memory, or rows of a column.
struct program::source {
  const element_type& type;
  char* elements = nullptr;
  const column* rows = nullptr;
  std::size_t first = 0;

  void start(expressions::evaluation& ev, std::uint32_t k, std::uint32_t n, std::uint64_t ordinal) const {
    if (rows) ev.start_rows(*rows, first + k, n, ordinal);
    else ev.start(elements + k * type.size, n, ordinal);
  }
  /// REQUIRES: the elements are texts.
  std::string_view text(std::uint32_t k) const {
    return rows ? rows->text(first + k) : type.text(elements + k * type.size);
  }
};

namespace {

/// Uninitialized memory for one object.
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
  return bad.own_status.ok() ? invalid_argument_error(bad.why) : bad.own_status;
}

/// Adds the element to the message if it is a short text, such as a file's name.
template <class Source> status naming_element(const status& why, const Source& from, std::uint32_t element) {
  constexpr std::size_t kShort = 200;
  if (!from.type.text || !why.where().file.empty()) return why;
  const std::string_view text = from.text(element);
  const bool can_be_read =
      std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= ' '; });
  if (text.empty() || text.size() > kShort || !can_be_read || why.message().find(text) != std::string_view::npos)
    return why;
  std::string message(why.message());
  message.append(" (of \"").append(text).append("\")");
  return why.with_message(message);
}

/// The number of elements at a time, chosen so that the values of several elements take at most kRunBytes.
class run_length {
 public:
  /// `learnt`: the result of earlier runs.
  run_length(std::atomic<std::uint32_t>& learnt, bool is_light) : learnt_(is_light ? nullptr : &learnt) {}
  std::uint32_t elements() const {
    // A hint, which needs no memory order.
    return learnt_ ? learnt_->load(std::memory_order_relaxed) : expressions::kChunk;
  }
  void computed(std::uint32_t n, std::size_t bytes) {
    // Uses half of the number that would fit, because elements differ.
    if (learnt_) set(expressions::kRunBytes / 2 / std::max<std::size_t>(1, bytes / n));
  }
  /// Returns the number of elements to try next.
  std::uint32_t refused(std::uint32_t n, std::size_t largest) {
    const std::uint32_t fewer =
        within(std::min<std::size_t>(n / 4, expressions::kRunBytes / std::max<std::size_t>(1, largest)));
    if (learnt_) set(fewer);
    return fewer;
  }

 private:
  static std::uint32_t within(std::size_t n) {
    return static_cast<std::uint32_t>(std::clamp<std::size_t>(n, 1, expressions::kChunk));
  }
  void set(std::size_t n) {
    const std::uint32_t to = within(n);
    if (to != elements()) learnt_->store(to, std::memory_order_relaxed);
  }

  std::atomic<std::uint32_t>* learnt_;
};

/// Calls f(first, n) for the elements from `first` on, one chunk at a time, until all are done. Elements before a bad
/// element are computed again without it, because a later part of the expression may fail for an earlier element.
/// Returns the number of elements done. `at_once`: the number of elements in a chunk, adjusted to the size of their
/// values.
template <class F>
std::uint32_t in_chunks(std::uint32_t n, status& why, const expressions::evaluation& ev, run_length& at_once, F f) {
  std::uint32_t most = expressions::kChunk;
  for (std::uint32_t done = 0; done != n;) {
    std::uint32_t part = std::min({n - done, most, at_once.elements()});
    bool is_bad = false;
    while (part != 0) {
      try {
        f(done, part);
        if (!is_bad) at_once.computed(part, ev.peak_bytes());
        break;
      } catch (const expressions::too_heavy& heavy) {
        part = at_once.refused(part, heavy.largest);
        is_bad = false;
        why = {};
      } catch (const expressions::failed_at& bad) {
        part = bad.element;
        why = status_of(bad);
        is_bad = true;
      } catch (...) {
        if (part == 1) {
          why = current_exception_status();
          return done;
        }
        part = most = 1;  // the faulty element is unknown
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
  return apply(source{*in_, static_cast<char*>(elements)}, n, to, ordinal, seed, why);
}

std::uint32_t program::apply(const column_view& rows, void* to, status& why) const {
  SLUICE_REQUIRES(reads_columns(), "the program reads columns");
  return apply(source{*in_, nullptr, rows.all, rows.first}, rows.n, to, 0, 0, why);
}

std::uint32_t program::apply(const source& from, std::uint32_t n, void* to, std::uint64_t ordinal, std::uint64_t seed,
                             status& why) const {
  expressions::evaluation ev(*in_, seed);
  ev.variables.resize(variables_);
  const std::size_t size = type().size;
  run_length at_once(at_once_, is_light_);
  const std::uint32_t done = in_chunks(n, why, ev, at_once, [&](std::uint32_t first, std::uint32_t some) {
    char* at = static_cast<char*>(to) + first * size;
    from.start(ev, first, some, ordinal + first);
    root_->build(ev, {nullptr, some}, at, size);
    root_->take(ev, some, at, size);
  });
  if (!why.ok()) why = naming_element(why, from, done);
  return done;
}

std::uint32_t program::fold(void* state, void* elements, std::uint32_t n, void* states, const state_limit& fits,
                            status& why) const {
  expressions::evaluation ev(*in_, 0);
  ev.variables.resize(variables_);
  const element_type& t = type();
  evaluation_room next(t);
  std::uint32_t done = 0;
  try {
    for (; done != n; ++done) {
      ev.start(static_cast<char*>(elements) + done * in_->size, 1, 0);
      ev.set_state(state);
      root_->build(ev, {nullptr, 1}, next.at(), t.size);
      root_->take(ev, 1, next.at(), t.size);
      why = fits(next.at());
      if (!why.ok()) {
        t.destroy(t, next.at(), 1);
        break;
      }
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
  run_length at_once(at_once_, is_light_);
  // A bool is computed from the elements, and nothing is moved.
  const source from{*in_, const_cast<char*>(static_cast<const char*>(elements))};
  const std::uint32_t done = in_chunks(n, why, ev, at_once, [&](std::uint32_t first, std::uint32_t some) {
    from.start(ev, first, some, ordinal + first);
    root_->eval(ev, {nullptr, some}, to + first);
  });
  if (!why.ok()) why = naming_element(why, from, done);
  return done;
}

std::uint32_t program::numbers(const void* elements, std::uint32_t n, char* to, char* exist, status& why) const {
  return numbers(source{*in_, const_cast<char*>(static_cast<const char*>(elements))}, n, to, exist, why);
}

std::uint32_t program::numbers(const column_view& rows, char* to, char* exist, status& why) const {
  SLUICE_REQUIRES(reads_columns(), "the program reads columns");
  return numbers(source{*in_, nullptr, rows.all, rows.first}, rows.n, to, exist, why);
}

const char* program::numbers_in_place(const column_view& rows) const {
  const auto* part = dynamic_cast<const expressions::path*>(root_.get());
  if (!part) return nullptr;
  return expressions::numbers_in_place(expressions::part_of_rows(*rows.all, part->type(), part->offset()), rows.first);
}

std::uint32_t program::numbers(const source& from, std::uint32_t n, char* to, char* exist, status& why) const {
  expressions::evaluation ev(*in_, 0);
  ev.variables.resize(variables_);
  run_length at_once(at_once_, is_light_);
  const std::size_t size = type().kind == kind::maybe ? type().element->size : type().size;
  const std::uint32_t done = in_chunks(n, why, ev, at_once, [&](std::uint32_t first, std::uint32_t some) {
    from.start(ev, first, some, 0);
    expressions::eval_optional(*root_, ev, {nullptr, some}, to + first * size, reinterpret_cast<bool*>(exist + first));
  });
  if (!why.ok()) why = naming_element(why, from, done);
  return done;
}

}  // namespace sluice::lib
