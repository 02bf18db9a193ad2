// SPDX-License-Identifier: Apache-2.0
// Parsers in C call back; where memory is short then, that is an exception of who has called the parser, and does not
// pass through it.
//
// Not under sanitizers, but for the first case: they come with an operator new of their own.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <new>

#include "io/http/kept_exception.hpp"
#include "io/http/messages/response_parser.hpp"
#include "support/sanitizers.hpp"

#if SLUICE_HAVE_STORES
#include "io/stores/answer_tree.hpp"
#endif

#ifndef SLUICE_TEST_SANITIZED
namespace {

/// The allocation of this thread that fails, counted from now; negative: none.
thread_local int until_short = -1;

bool is_short() noexcept { return until_short >= 0 && until_short-- == 0; }

/// Runs `f` with the first, the second, … allocation failing, until it succeeds; returns how often it failed.
template <class F> int fail_each(F f) {
  for (int n = 0;; ++n) {
    until_short = n;
    try {
      f();
      until_short = -1;
      return n;
    } catch (const std::bad_alloc&) { until_short = -1; }
  }
}

}  // namespace

// They replace the global ones in this test program. Inlined, g++ takes new and free for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  void* p = is_short() ? nullptr : std::malloc(size ? size : 1);
  if (!p) throw std::bad_alloc();
  return p;
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
#endif

using namespace sluice::lib::detail;

TEST_CASE("an exception in a callback is stored until the C code has returned") {
  kept_exception kept;
  CHECK(kept.run([] {}));
  kept.rethrow();
  CHECK(!kept.run([] { throw std::bad_alloc(); }));
  CHECK_THROWS_AS(kept.rethrow(), std::bad_alloc);
  kept.rethrow();  // once
}

#ifndef SLUICE_TEST_SANITIZED
TEST_CASE("a head that there is no memory for is an exception of who takes it") {
  const std::string text =
      "HTTP/1.1 503 A reason that no small string has room for\r\nETag: \"a tag that no small string has room for\"\r\n"
      "X-Amz-Some-Long-Name-Of-A-Field: a value that no small string has room for\r\nContent-Length: 0\r\n\r\n";
  const int failed = fail_each([&text] {
    response_parser parser;
    auto used = parser.take_head(text);
    if (!used.ok()) throw std::logic_error(used.why().to_string());
    if (!parser.head_done() || *used != text.size() || parser.head().code != 503) throw std::logic_error("wrong");
  });
  CHECK(failed >= 5);
}

#if SLUICE_HAVE_STORES
TEST_CASE("an answer in XML that there is no memory for is an exception of who reads it") {
  const std::string text =
      "<?xml version=\"1.0\"?><ListBucketResult><Contents><Key>a key that no small string has room for</Key>"
      "<AnElementThatStandsForItself/></Contents><Contents/></ListBucketResult>";
  const int failed = fail_each([&text] {
    auto tree = parse_xml(text);
    if (!tree.ok()) throw std::logic_error(tree.why().to_string());
    if (tree->all("Contents").size() != 2) throw std::logic_error("wrong");
  });
  CHECK(failed >= 4);
}
#endif
#endif
