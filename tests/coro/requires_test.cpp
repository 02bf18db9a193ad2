// SPDX-License-Identifier: Apache-2.0
// What functions require of their callers (SLUICE_REQUIRES), by a few examples.
#include <catch2/catch.hpp>

#include <vector>

#include "coro/test_world.hpp"
#include "sluice/base/assert.hpp"
#include "sluice/coro/channel.hpp"
#include "sluice/coro/position.hpp"
#include "sluice/element/slice.hpp"
#include "sluice/element/value.hpp"
#include "sluice/plan/node.hpp"
#include "support/abort_message.hpp"

namespace sluice::lib::requires_test {

#if SLUICE_CHECKED

namespace {

/// Calls f in a child process, which must abort and name `message` and the place of the check.
template <class F> void aborts(std::string_view message, F f) {
  std::optional<std::string> said = abort_message(f);
  INFO("the child " << (said ? "aborted: " + *said : std::string("did not abort")));
  REQUIRE(said);
  CHECK(said->find(message) != said->npos);
  CHECK(said->find("pp:") != said->npos);  // file and line
}

}  // namespace

TEST_CASE("a broken requirement ends the program and names the expression and the place", "[requires]") {
  aborts("n >= 0", [] { (void)cardinality::of(5).times(-1); });
  aborts("a part of a slice must lie within it", [] { (void)slice().part(0, 1); });
  aborts("a value without an element has no type", [] { (void)value().type(); });
}

TEST_CASE("a mark moves to later elements, and back only over elements that do not exist", "[requires]") {
  mark m;
  m.ordinal = 5;
  m.residual = 2;
  aborts("a mark does not move back", [&m] { m.advance_to(4); });
  aborts("a mark is not for an element before its state", [&m] { m.pass_over_less(3); });
}

TEST_CASE("a receive of no elements would wait for ever, and is refused", "[requires]") {
  aborts("a receive takes at least one element", [] {
    channel<int> c({.elements = 1});
    std::vector<int> to;
    (void)c.receive_n(to, 0);
  });
}

TEST_CASE("a stop hook is armed once", "[requires]") {
  aborts("a hook is armed twice", [] {
    test_world w;
    detail::stop_hook hook;
    hook.arm(w.env.stop, [](void*) noexcept {}, nullptr);
    hook.arm(w.env.stop, [](void*) noexcept {}, nullptr);
  });
}

#else

TEST_CASE("a requirement is not evaluated in builds that do not check", "[requires]") {
  int evaluated = 0;
  SLUICE_REQUIRES(++evaluated == 0, "never");
  CHECK(evaluated == 0);
}

#endif

TEST_CASE("code that does not abort has no message", "[requires]") {
  CHECK_FALSE(abort_message([] {}));
}

}  // namespace sluice::lib::requires_test
