// SPDX-License-Identifier: Apache-2.0
// sluice/arrow.hpp: runs as ArrowArrayStream, and back
#include "sluice/arrow.hpp"

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"

namespace sluice::lib::stream_test {
namespace {

using Catch::Contains;

struct sample {
  std::string text;
  std::int64_t number = 0;
  std::optional<float> weight;
  std::vector<std::int32_t> tags;
};

sample make_sample(std::int64_t i) {
  sample s{std::string(static_cast<std::size_t>(i % 7), 'x'), i, std::nullopt, {}};
  if (i % 3) s.weight = static_cast<float>(i) / 2;
  for (std::int64_t k = 0; k != i % 4; ++k) s.tags.push_back(static_cast<std::int32_t>(i + k));
  return s;
}

auto samples(std::int64_t n) { return range(n) | map(make_sample) | batch(10); }

void check_ok(const status& s) {
  if (!s.ok()) throw_status(s);
}

stream<batched<std::int64_t>> empty_batches() {
  co_yield batched<std::int64_t>();
  co_yield batched<std::int64_t>();
}

template <class T> std::string json(const T& v) {
  std::string out;
  print(type_of<T>(), &v, out);
  return out;
}

template <class T> task<std::vector<std::string>> printed(stream<T> s) {
  std::vector<std::string> all;
  while (auto* x = co_await s.next()) all.push_back(json(*x));
  co_return all;
}
template <class T> std::vector<std::string> all_of(runtime& rt, const dataset<T>& d) {
  return sync_wait(rt, printed(d.iterate(rt)));
}

struct released_stream {
  ArrowArrayStream s{};
  ~released_stream() {
    if (s.release) s.release(&s);
  }
};

/// A stream of ours behind which somebody counts.
struct counted_stream {
  ArrowArrayStream inner{};
  int* nexts;
  int* releases;
  int fail_at;

  static counted_stream& of(ArrowArrayStream* s) { return *static_cast<counted_stream*>(s->private_data); }
  static void make(ArrowArrayStream* out, ArrowArrayStream inner, int* nexts, int* releases, int fail_at = -1) {
    *out = ArrowArrayStream{};
    out->private_data = new counted_stream{inner, nexts, releases, fail_at};
    out->get_schema = [](ArrowArrayStream* s, ArrowSchema* to) {
      auto& in = of(s).inner;
      return in.get_schema(&in, to);
    };
    out->get_next = [](ArrowArrayStream* s, ArrowArray* to) {
      auto& me = of(s);
      if ((*me.nexts)++ == me.fail_at) return ENETDOWN;
      return me.inner.get_next(&me.inner, to);
    };
    out->get_last_error = [](ArrowArrayStream*) -> const char* { return "the cable is out"; };
    out->release = [](ArrowArrayStream* s) {
      auto& me = of(s);
      ++*me.releases;
      me.inner.release(&me.inner);
      delete &me;
      s->release = nullptr;
    };
  }
};

}  // namespace

TEST_CASE("a run goes out as an ArrowArrayStream, and comes in again equal") {
  runtime rt({.workers = 2});
  runtime theirs({.workers = 1});
  auto ds = samples(95);
  auto open = [&](ArrowArrayStream* to) { check_ok(export_stream(theirs, ds, to)); };
  auto expected = all_of(rt, ds);
  REQUIRE(expected.size() == 10);
  CHECK(all_of(rt, from_arrow<sample>(open)) == expected);
  CHECK(all_of(rt, from_arrow<sample>(open) | prefetch(4)) == expected);
  CHECK(all_of(rt, from_arrow<sample>(open) | repeat(2)).size() == 20);
  CHECK(all_of(rt, from_arrow<sample>(open) | skip(9)) == std::vector<std::string>{expected[9]});
  CHECK(all_of(rt, from_arrow<sample>(open) | skip(11)).empty());
  // On the same runtime: get_next blocks, so not on a worker.
  auto open_here = [&](ArrowArrayStream* to) { check_ok(export_stream(rt, ds, to)); };
  CHECK_THROWS_WITH(all_of(rt, from_arrow<sample>(open_here)), Contains("read on a worker of the run's own runtime"));
  CHECK(all_of(rt, from_arrow<sample>(open_here, {.threads = &rt.blocking_calls()})) == expected);
  // Rows that are not structures, and batches without a row.
  auto numbers = range(7) | batch(3);
  auto back = from_arrow<std::int64_t>([&](ArrowArrayStream* to) { check_ok(export_stream(theirs, numbers, to)); });
  CHECK(all_of(rt, back) == std::vector<std::string>{"[0,1,2]", "[3,4,5]", "[6]"});
  auto none = generate([] { return empty_batches(); });
  auto empty = from_arrow<std::int64_t>([&](ArrowArrayStream* to) { check_ok(export_stream(theirs, none, to)); });
  CHECK(all_of(rt, empty) == std::vector<std::string>{"[]", "[]"});
}

TEST_CASE("arrays live on when their stream, their run and their runtime are gone, and are released on any thread") {
  std::vector<ArrowArray> arrays;
  ArrowSchema schema{};
  std::vector<std::string> expected;
  {
    auto rt = std::make_shared<runtime>(runtime_options{.workers = 2});
    expected = all_of(*rt, samples(95));
    ArrowArrayStream s;
    REQUIRE(export_stream(rt, samples(95) | prefetch(3), &s).ok());
    std::weak_ptr<runtime> alive = rt;
    rt.reset();
    CHECK_FALSE(alive.expired());
    REQUIRE(s.get_schema(&s, &schema) == 0);
    for (;;) {
      ArrowArray a;
      REQUIRE(s.get_next(&s, &a) == 0);
      if (!a.release) break;
      arrays.push_back(a);
    }
    ArrowArray again;
    CHECK(s.get_next(&s, &again) == 0);  // the end stays
    CHECK(again.release == nullptr);
    CHECK(s.get_last_error(&s) == nullptr);
    s.release(&s);
    CHECK(s.release == nullptr);
    CHECK(alive.expired());
  }
  REQUIRE(arrays.size() == 10);
  for (std::size_t i = 0; i != arrays.size(); ++i) {
    batched<sample> b;
    CHECK(append_arrow_rows(b.storage(), type_of<sample>(), schema, arrays[i]).ok());
    CHECK(json(b) == expected[i]);
  }
  std::vector<std::thread> threads;
  for (ArrowArray& a : arrays) threads.emplace_back([&a] { a.release(&a); });
  for (auto& t : threads) t.join();
  for (ArrowArray& a : arrays) CHECK(a.release == nullptr);
  schema.release(&schema);
}

TEST_CASE("the memory of an exported run is credited when its arrays are released") {
  std::size_t parked = buffer::parked_bytes();
  auto rt = std::make_shared<runtime>(runtime_options{.workers = 1});
  auto ledger = rt->shared_ledger();
  {
    released_stream out;
    REQUIRE(export_stream(rt, samples(1000) | prefetch(2), &out.s).ok());
    ArrowArray a;
    REQUIRE(out.s.get_next(&out.s, &a) == 0);
    rt.reset();
    out.s.release(&out.s);
    REQUIRE(a.release != nullptr);
    a.release(&a);
  }
  CHECK(ledger->used_bytes() == 0);
  CHECK(buffer::parked_bytes() + (8 << 10) >= parked);  // a worker that ends frees the few buffers that it keeps
}

TEST_CASE("an error of the run is the stream's, in words, and stays") {
  runtime rt({.workers = 1});
  auto ds = range(10) | map([](std::int64_t i) {
              if (i == 7) throw_status(not_found_error("no seventh"));
              return i;
            }) |
            batch(5);
  released_stream out;
  REQUIRE(export_stream(rt, ds, &out.s).ok());
  ArrowArray a;
  REQUIRE(out.s.get_next(&out.s, &a) == 0);
  CHECK(a.length == 5);
  a.release(&a);
  for (int time = 0; time != 2; ++time) {
    CHECK(out.s.get_next(&out.s, &a) == ENOENT);
    CHECK(a.release == nullptr);
    REQUIRE(out.s.get_last_error(&out.s) != nullptr);
    CHECK_THAT(out.s.get_last_error(&out.s), Contains("map") && Contains("no seventh"));
  }
}

TEST_CASE("a stream is refused if its elements are not batches, or have no form in Arrow") {
  runtime rt({.workers = 1});
  ArrowArrayStream s{};
  status why = export_stream(rt, open_run(rt, range(5).plan()), &s);
  CHECK_THAT(std::string(why.message()), Contains("int64, not batches: end the plan with batch(n)"));
  CHECK(s.release == nullptr);
  CHECK_FALSE(export_stream(rt, any_stream(), &s).ok());
}

TEST_CASE("a string that is not UTF-8 is reported with advice") {
  runtime rt({.workers = 1});
  auto ds = range(3) | map([](std::int64_t i) { return std::string(i == 2 ? "\xff" : "a"); }) | batch(8);
  released_stream out, binary;
  REQUIRE(export_stream(rt, ds, &out.s).ok());
  ArrowArray a;
  CHECK(out.s.get_next(&out.s, &a) == EINVAL);
  CHECK_THAT(out.s.get_last_error(&out.s), Contains("column \"value\": value 2 is not UTF-8"));
  REQUIRE(export_stream(rt, ds, &binary.s, {.texts = arrow_texts::binary}).ok());
  REQUIRE(binary.s.get_next(&binary.s, &a) == 0);
  a.release(&a);
}

TEST_CASE("a foreign stream is released once, whether it is read to the end, stopped, or fails") {
  runtime rt({.workers = 2});
  runtime theirs({.workers = 1});
  int nexts = 0, releases = 0, opened = 0;
  int fail_at = -1;
  auto ds = samples(100);
  arrow_open open = [&](ArrowArrayStream* to) {
    ArrowArrayStream inner;
    check_ok(export_stream(theirs, ds, &inner));
    ++opened;
    nexts = 0;
    counted_stream::make(to, inner, &nexts, &releases, fail_at);
  };
  CHECK(all_of(rt, from_arrow<sample>(open)).size() == 10);
  CHECK(nexts == 11);
  CHECK(releases == 1);
  CHECK(all_of(rt, from_arrow<sample>(open) | take(3)).size() == 3);
  CHECK(nexts == 3);
  CHECK(releases == 2);
  fail_at = 4;
  try {
    all_of(rt, from_arrow<sample>(open));
    FAIL("no error");
  } catch (const error& e) { CHECK_THAT(e.what(), Contains("the cable is out") && Contains("get_next")); }
  CHECK(releases == 3);
  CHECK(opened == 3);
}

TEST_CASE("a single stream can be read once") {
  runtime rt({.workers = 1});
  runtime theirs({.workers = 1});
  ArrowArrayStream s;
  int nexts = 0, releases = 0;
  ArrowArrayStream inner;
  REQUIRE(export_stream(theirs, samples(20), &inner).ok());
  counted_stream::make(&s, inner, &nexts, &releases);
  {
    auto ds = from_arrow<sample>(&s);
    CHECK(s.release == nullptr);
    CHECK(all_of(rt, ds).size() == 2);
    CHECK_THROWS_WITH(all_of(rt, ds), Contains("can be read once"));
    CHECK(releases == 1);
    REQUIRE(export_stream(theirs, samples(20), &inner).ok());
    counted_stream::make(&s, inner, &nexts, &releases);
    auto never_read = from_arrow<sample>(&s);
  }
  CHECK(releases == 2);
}

namespace {
struct other {
  std::int32_t number = 0;
};
struct needs_weight {
  float weight = 0;
};

task<std::vector<std::string>> saved_and_resumed(runtime* rt, dataset<batched<sample>> d, std::size_t n) {
  std::vector<std::string> all;
  checkpoint place;
  {
    auto s = d.iterate(*rt);
    for (std::size_t i = 0; i != n; ++i) {
      auto* b = co_await s.next();
      all.push_back(json(*b));
    }
    place = s.position();
  }
  iterate_options o;
  o.from = place;
  auto s = d.iterate(*rt, o);
  while (auto* b = co_await s.next()) all.push_back(json(*b));
  co_return all;
}
}  // namespace

TEST_CASE("a foreign stream that does not fit is refused when it is opened, and a null when it is read") {
  runtime rt({.workers = 1});
  runtime theirs({.workers = 1});
  auto ds = samples(20);
  arrow_open open = [&](ArrowArrayStream* to) { check_ok(export_stream(theirs, ds, to)); };
  CHECK_THROWS_WITH(all_of(rt, from_arrow<other>(open)),
                    Contains("from_arrow") && Contains("column \"number\"") && Contains("int64") && Contains("int32"));
  CHECK_THROWS_WITH(all_of(rt, from_arrow<needs_weight>(open)),
                    Contains("batch 0 of the Arrow stream, column \"weight\": value 0 is null"));
  CHECK_THROWS_WITH(all_of(rt, from_arrow<sample>([](ArrowArrayStream*) {})), Contains("not open"));
}

TEST_CASE("a resume opens the stream again and skips the delivered batches") {
  runtime rt({.workers = 1});
  runtime theirs({.workers = 1});
  auto ds = samples(95);
  arrow_open open = [&](ArrowArrayStream* to) { check_ok(export_stream(theirs, ds, to)); };
  auto expected = all_of(rt, ds);
  for (std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{6}, std::size_t{10}})
    CHECK(sync_wait(rt, saved_and_resumed(&rt, from_arrow<sample>(open), n)) == expected);
  bool is_short = false;
  arrow_open shrinks = [&](ArrowArrayStream* to) { check_ok(export_stream(theirs, samples(is_short ? 20 : 95), to)); };
  auto shrinking = from_arrow<sample>([&](ArrowArrayStream* to) {
    shrinks(to);
    is_short = true;
  });
  CHECK_THROWS_WITH(sync_wait(rt, saved_and_resumed(&rt, shrinking, 6)),
                    Contains("has 2 batches; 6 were delivered before the checkpoint"));
}

}  // namespace sluice::lib::stream_test
