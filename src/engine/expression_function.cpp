// SPDX-License-Identifier: Apache-2.0
// The forms of expressions.
#include "sluice/plan/expression_function.hpp"

#include <array>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "expr/program.hpp"
#include "expr/tree.hpp"
#include "sluice/base/content_hash.hpp"
#include "sluice/base/hash.hpp"
#include "sluice/element/serialise.hpp"
#include "sluice/engine/functions.hpp"

namespace sluice::lib {

namespace {

/// Of the language. To be raised when an expression gets other values than before.
constexpr int kLanguageVersion = 1;

class called_function final : public callable {
 public:
  explicit called_function(std::shared_ptr<const block_function> f) : f_(std::move(f)) {}
  const element_type& in() const override { return *f_->in; }
  const element_type& out() const override { return *f_->out; }
  bool draws() const override { return f_->draws; }
  std::uint32_t call(void* in, std::uint32_t n, void* out, std::uint64_t ordinal, std::uint64_t seed,
                     status& why) const override {
    block b(nullptr, f_->in, static_cast<char*>(in), n);
    applied a = f_->apply(b, out, {ordinal, seed});
    why = std::move(a.why);
    return a.done;
  }
  const block_function& function() const { return *f_; }

 private:
  std::shared_ptr<const block_function> f_;
};

/// Finds registered functions, and keeps what a checkpoint has to know of them.
class functions_used final : public callables {
 public:
  std::vector<std::string> names() const override { return function_names(); }
  std::vector<std::shared_ptr<const callable>> named(std::string_view name, std::string& why) override {
    std::vector<std::shared_ptr<const callable>> found;
    for (auto& f : find_functions(name)) {
      if (auto block = std::dynamic_pointer_cast<const block_function>(f))
        found.push_back(std::make_shared<called_function>(std::move(block)));
      else
        why = absl::StrCat(std::string(name),
                           " cannot be called in an expression: it is awaited, or makes no value of an element");
    }
    return found;
  }
  void note_call(const callable& called) override {
    const block_function& f = static_cast<const called_function&>(called).function();
    values_ = stable_hash(
        f.name, derive(derive(values_, static_cast<std::uint64_t>(f.version)), f.values_known ? f.values() : 0));
    values_known_ &= f.values_known;
  }
  void note_value(std::uint64_t hash) override { values_ = derive(values_, hash); }
  std::uint64_t values() const { return values_; }
  bool values_known() const { return values_known_; }

 private:
  std::uint64_t values_ = 0;
  bool values_known_ = true;
};

struct compiled {
  functions_used used;
  std::unique_ptr<program> p;
  compiled(const expression& e, const element_type& in, const element_type* wanted,
           const expression_scope& scope = {}) {
    p = std::make_unique<program>(e, in, used, wanted, scope);
  }
};

/// Makes f the function that the expression is.
void describe(stage_function& f, const expression& e, const compiled& c, const element_type* out) {
  f.name = e.text();
  f.version = kLanguageVersion;
  f.is_expression = true;
  f.in = &c.p->in();
  f.out = out;
  f.draws = c.p->draws();
  f.values_known = c.used.values_known();
}

struct expression_map final : block_function {
  compiled c;
  expression_map(const expression& e, const element_type& in, const element_type* wanted) : c(e, in, wanted) {
    describe(*this, e, c, &c.p->type());
    captured = c.used.values();
  }
  applied apply(const block& in, void* to, const element_place& first) const override {
    applied a;
    a.done = c.p->apply(in.data(), in.size(), to, first.ordinal, first.seed, a.why);
    return a;
  }
};

struct expression_filter final : predicate_function {
  compiled c;
  expression_filter(const expression& e, const element_type& in) : c(e, in, nullptr) {
    if (&c.p->type() != &type_of<bool>())
      throw expression_error(e.tree().at,
                             absl::StrCat("the condition must be bool, and ", e.text(), " is ", c.p->type().name));
    describe(*this, e, c, &in);
    captured = c.used.values();
  }
  outcome keep(const block& in, const element_place& first) const override {
    constexpr std::uint32_t kAtOnce = 1024;
    std::array<bool, kAtOnce> yes;
    outcome o;
    while (o.seen != in.size() && o.why.ok()) {
      std::uint32_t n = std::min(in.size() - o.seen, kAtOnce);
      std::uint32_t told = c.p->test(in.at(o.seen), n, yes.data(), first.ordinal + o.seen, first.seed, o.why);
      for (std::uint32_t i = 0; i != told; ++i) {
        if (!yes[i]) continue;
        if (o.kept != o.seen + i) swap(in, o.kept, o.seen + i);
        ++o.kept;
      }
      o.seen += told;
    }
    return o;
  }

 private:
  /// All elements stay constructed: the caller destroys those that are not kept.
  static void swap(const block& in, std::uint32_t a, std::uint32_t b) {
    const element_type& t = in.type();
    char *x = in.at(a), *y = in.at(b);
    if (t.relocatable && t.trivially_destroyed && t.copy) {
      std::memcpy(x, y, t.size);
      return;
    }
    constexpr std::size_t kRoom = 256;
    alignas(std::max_align_t) char room[kRoom];
    std::unique_ptr<char[]> more(t.size > kRoom ? new char[t.size + t.align] : nullptr);
    void* other = room;
    if (more || t.align > alignof(std::max_align_t)) {
      if (!more) more.reset(new char[t.size + t.align]);
      std::size_t space = t.size + t.align;
      other = more.get();
      std::align(t.align, t.size, other, space);
    }
    t.relocate(t, other, x, 1, t.size, t.size);
    t.relocate(t, x, y, 1, t.size, t.size);
    t.relocate(t, y, other, 1, t.size, t.size);
  }
};

/// A state is a value of the expression's type, and so is each element that a scan makes of it.
struct expression_state final : state_function {
  compiled c;
  value initial;

  expression_state(const expression& e, compiled step, value first, bool makes_elements)
      : c(std::move(step)), initial(std::move(first)) {
    const element_type& t = type();
    describe(*this, e, c, makes_elements ? &t : nullptr);
    captured = c.used.values();
    state_type = &t;
    state_size = t.size;
    owns_memory = t.footprint != nullptr;
    can_undo = true;  // the state changes when all that can fail is done
  }
  const element_type& type() const { return c.p->type(); }
  void* make() const override {
    void* to = allocate();
    type().copy(type(), to, initial.data(), 1, type().size, type().size);
    return to;
  }
  void* make_from(void* from) const override {
    void* to = allocate();
    type().copy(type(), to, from, 1, type().size, type().size);
    return to;
  }
  void destroy(void* state) const noexcept override {
    type().destroy(type(), state, 1);
    ::operator delete(state, std::align_val_t(type().align));
  }
  void save(const void* state, position_writer& w) const override {
    std::string bytes;
    serialise_bare(type(), state, bytes);
    w.text(bytes);
  }
  void load(void* state, position_reader& r) const override {
    auto read = parse_bare(type(), r.text());
    if (!read.ok()) return r.fail();
    type().destroy(type(), state, 1);
    type().copy(type(), state, read->data(), 1, type().size, type().size);
  }
  std::size_t owned_bytes(const void* state) const override {
    return type().footprint ? type().footprint(type(), state, 1) : 0;
  }
  void move_state(void* state, void* to) const override { type().copy(type(), to, state, 1, type().size, type().size); }
  applied apply(void* state, const block& in, void* to, bool) const override {
    applied a;
    a.done = c.p->fold(state, in.data(), in.size(), to, a.why);
    return a;
  }

 private:
  void* allocate() const { return ::operator new(type().size, std::align_val_t(type().align)); }
};

struct unbound_expression final : unbound_function {
  expression e;
  std::string otherwise;
  const element_type* wanted;
  unbound_expression(expression read, std::string why, const element_type* type)
      : e(std::move(read)), otherwise(std::move(why)), wanted(type) {
    name = e.text();
    version = kLanguageVersion;
    is_expression = true;
    values_known = true;
  }

  function_ptr bind(const bind_context& context, bool (*accepts)(const stage_function&)) const override {
    const element_type& in = context.in;
    if (!otherwise.empty() && !is_field(in))
      throw expression_error(e.tree().at,
                             otherwise + (in.has_members() ? ", and " + in.name + " has no field of that name" : ""));
    if (auto state = as_state(context, accepts)) return state;
    // f(it) is f.
    if (function_ptr f = call_alone(in, accepts)) return f;
    auto map = std::make_shared<expression_map>(e, in, wanted);
    if (accepts(*map)) return map;
    // The form is told from an instance, and an expression of another type than bool is none of a filter.
    if (auto filter = std::make_shared<expression_filter>(e, in); accepts(*filter)) return filter;
    throw expression_error(e.tree().at, "a function is needed here that no expression can be");
  }

  /// As the value of a plan's initial state.
  value as_initial(const element_type* as) const {
    compiled c(e, type_of<std::int64_t>(), as, {.is_constant = true});
    const element_type& t = c.p->type();
    if (!t.copy || !can_serialise(t))
      throw expression_error(e.tree().at,
                             absl::StrCat("a checkpoint cannot contain ", t.name, ", and so it is no state"));
    std::int64_t none = 0;
    void* room = ::operator new(t.size, std::align_val_t(t.align));
    status why;
    value made;
    if (c.p->apply(&none, 1, room, 0, 0, why) == 1) made = value(t, room);
    ::operator delete(room, std::align_val_t(t.align));
    if (!why.ok()) throw expression_error(e.tree().at, why.message());
    return made;
  }

 private:
  /// A function of a stage that has a state. Null: the stage wants another one.
  function_ptr as_state(const bind_context& context, bool (*accepts)(const stage_function&)) const {
    struct probe final : state_function {
      void* make() const override { return nullptr; }
      void* make_from(void*) const override { return nullptr; }
      void destroy(void*) const noexcept override {}
      void save(const void*, position_writer&) const override {}
      void load(void*, position_reader&) const override {}
      std::size_t owned_bytes(const void*) const override { return 0; }
      void move_state(void*, void*) const override {}
      applied apply(void*, const block&, void*, bool) const override { return {}; }
    };
    probe plain, with_output;
    with_output.out = &type_of<std::int64_t>();
    const bool makes_elements = accepts(with_output);
    if (!makes_elements && !accepts(plain)) return nullptr;
    auto* initial = dynamic_cast<const unbound_expression*>(context.initial);
    if (!initial)
      throw expression_error(e.tree().at, "an expression needs an initial state before it, as in scan(0, state + it)");
    const element_type* type = wanted;
    value first = initial->as_initial(type);
    // The state has the type of the initial one, or, if the new state is no such value, of the new state: 0 in scan(0, state + it)
    // is then of the elements' type.
    constexpr int kTries = 4;
    for (int i = 1;; ++i) {
      type = &first.type();
      try {
        compiled step(e, context.in, type, {.state = type});
        return std::make_shared<expression_state>(e, std::move(step), std::move(first), makes_elements);
      } catch (const expression_error&) {
        if (wanted || i == kTries) throw;
        compiled step(e, context.in, nullptr, {.state = type});
        const element_type& next = step.p->type();
        if (&next == type) throw;
        try {
          first = initial->as_initial(&next);
        } catch (const expression_error&) {
          throw expression_error(e.tree().at, absl::StrCat("the state is ", type->name, " at first, and ", next.name,
                                                           " afterwards; give the initial state that type"));
        }
      }
    }
  }
  bool is_field(const element_type& in) const {
    if (e.tree().text == "it" || e.tree().kind != expression_tree::name) return true;
    for (auto& m : in.members)
      if (m.name == e.tree().text) return true;
    return false;
  }
  function_ptr call_alone(const element_type& in, bool (*accepts)(const stage_function&)) const {
    const expression_tree& t = e.tree();
    bool is_call = t.kind == expression_tree::call && t.parts.size() == 1 && t.parts[0].kind == expression_tree::name &&
                   t.parts[0].text == "it";
    if (!is_call || wanted) return nullptr;
    for (auto& f : find_functions(t.text))
      if (f->in == &in && accepts(*f)) return f;
    return nullptr;
  }
};

}  // namespace

function_ptr expression_function(expression e, std::string otherwise, const element_type* wanted) {
  return std::make_shared<unbound_expression>(std::move(e), std::move(otherwise), wanted);
}

}  // namespace sluice::lib
