// SPDX-License-Identifier: Apache-2.0
// Elements that a stage keeps, whatever it does with them: engine/held/held_elements.hpp, held_ordinals.hpp, held_fetch.hpp.
#include "engine/held/held_elements.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "engine/held/held_ordinals.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/bucket_operator.hpp"
#include "support/tree_of.hpp"
#include "support/trials/op_conformance.hpp"

namespace sluice::lib::held_elements_test {
namespace {

using namespace test;
using int64 = std::int64_t;

/// Random steps, against a vector of the numbers that the elements stand for.
template <class As> class trial {
 public:
  using element = decltype(As::made(0));

  explicit trial(std::uint64_t seed)
      : random_(seed),
        rt_(world_, {.workers = 1}),
        memory_(context(), rt_.ledger().line(purpose::window, "test"), "test", "what is held", "") {}

  void run(int steps) {
    {
      held_elements held(type_of<element>(), memory_, 8);
      for (int i = 0; i != steps; ++i) step(held);
      REQUIRE(memory_.bytes() >= held.size() * (sizeof(element) + 8));
    }
    CHECK(memory_.bytes() == 0);
  }

 private:
  std::shared_ptr<run_context> context() {
    auto s = range(1).iterate(rt_);
    return test::tree_of(s).stage()->env->run->shared_from_this();
  }
  block coming(std::uint32_t n, int64s& numbers) {
    auto* to = reinterpret_cast<element*>(in_.reserve(n));
    for (std::uint32_t i = 0; i != n; ++i) {
      numbers.push_back(next_);
      ::new (static_cast<void*>(to + i)) element(As::made(next_++));
    }
    in_.set_live(0, n);
    return in_.view();
  }
  void take_up(std::size_t n, const int64s& expected) {
    out_.set_live(0, n);
    auto* got = reinterpret_cast<element*>(out_.begin());
    for (std::size_t i = 0; i != n; ++i) REQUIRE(As::number(got[i]) == expected[i]);
  }
  std::vector<std::uint32_t> places(std::uint32_t n, std::size_t size, bool shrinks) {
    std::vector<std::uint32_t> all;
    for (std::uint32_t i = 0; i != n; ++i) all.push_back(static_cast<std::uint32_t>(below(size - (shrinks ? i : 0))));
    return all;
  }

  void step(held_elements& held) {
    auto kind = below(6);
    auto n = static_cast<std::uint32_t>(below(20));
    auto some = static_cast<std::uint32_t>(std::min<std::size_t>(n, model_.size()));
    int64s numbers;
    if (kind <= 1) {
      block b = coming(n, numbers);
      REQUIRE(held.add(b, n).ok());
      model_.insert(model_.end(), numbers.begin(), numbers.end());
    } else if (kind == 2 && !model_.empty()) {
      block b = coming(n, numbers);
      auto at = places(n, model_.size(), false);
      int64s given;
      for (std::uint32_t i = 0; i != n; ++i) given.push_back(std::exchange(model_[at[i]], numbers[i]));
      REQUIRE(held.exchange(at.data(), b, out_.reserve(n)).ok());
      take_up(n, given);
    } else if (kind == 3 && some) {
      auto at = places(some, model_.size(), true);
      int64s given;
      for (std::uint32_t place : at) {
        given.push_back(std::exchange(model_[place], model_.back()));
        model_.pop_back();
      }
      held.take(at.data(), some, out_.reserve(some));
      take_up(some, given);
    } else if (kind == 4) {
      held.move_front(some, out_.reserve(some));
      take_up(some, model_);
      model_.erase(model_.begin(), model_.begin() + some);
    } else if (kind == 5) {
      held.drop_front(some);
      model_.erase(model_.begin(), model_.begin() + some);
    }
    REQUIRE(held.size() == model_.size());
    for (std::size_t i = 0; i != model_.size(); ++i)
      REQUIRE(As::number(*reinterpret_cast<element*>(held.at(i))) == model_[i]);
  }

  std::uint64_t below(std::uint64_t n) { return random_() % n; }

  std::mt19937_64 random_;
  simulation world_{1};
  runtime rt_;
  held_memory memory_;
  slab in_{type_of<element>()}, out_{type_of<element>()};
  int64s model_;
  int64 next_ = 0;
};

/// A slice of 0 to 5,000 bytes: of a large buffer, as files have; of a buffer of its own; or of bytes without a buffer.
class random_slices {
 public:
  explicit random_slices(std::uint64_t seed) : random_(seed) {}

  record made() {
    static const std::string kLiteral(200, 'x');
    static constexpr std::array<std::size_t, 6> kMost = {1, 40, 180, 190, 540, 5'000};
    const std::size_t most = kMost[random_() % kMost.size()];
    const std::size_t size = most == 190 ? 150 + random_() % 40 : random_() % most;
    std::string bytes(size, '\0');
    for (char& c : bytes) c = static_cast<char>(random_());
    const auto kind = random_() % 8;
    if (kind == 0) return record(nullptr, kLiteral.data(), kLiteral.size());
    if (kind == 1) return record(slice::copy_of(bytes));
    return record(in_file(bytes));
  }

 private:
  slice in_file(const std::string& bytes) {
    if (!file_ || file_->capacity() - used_ < bytes.size()) {
      file_ = buffer_ref(buffer::make(std::size_t{256} << 10));
      used_ = 0;
    }
    char* at = file_->data() + used_;
    if (!bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());
    used_ += bytes.size();
    file_->add_references(1);
    return {file_.get(), at, bytes.size()};
  }

  std::mt19937_64 random_;
  buffer_ref file_;
  std::size_t used_ = 0;
};

struct kept_record {
  record got;
  std::string bytes;
};

std::size_t owned_bytes(const std::vector<std::string>& all) {
  std::size_t bytes = all.size() * buffer::kOverheadBytes;
  for (const std::string& one : all) bytes += one.size();
  return bytes;
}

/// Exchanges random records for those in random slots, and compares with a model. Some delivered records are kept.
void exchange_records(std::uint64_t seed) {
  constexpr std::uint32_t kSlots = 300;
  simulation world(1);
  runtime rt(world, {.workers = 1});
  auto s = range(1).iterate(rt);
  held_memory memory(test::tree_of(s).stage()->env->run->shared_from_this(), rt.ledger().line(purpose::shuffle, "test"),
                     "test", "the buffer", "");
  random_slices slices(seed);
  std::mt19937_64 random(seed);
  slab in(type_of<record>()), out(type_of<record>());
  std::vector<std::string> model;
  auto coming = [&](std::uint32_t n, std::vector<std::string>& bytes) {
    auto* to = reinterpret_cast<record*>(in.reserve(n));
    for (std::uint32_t i = 0; i != n; ++i) {
      ::new (static_cast<void*>(to + i)) record(slices.made());
      bytes.emplace_back(to[i].view());
    }
    in.set_live(0, n);
    return in.view();
  };
  std::vector<kept_record> kept;
  {
    held_elements held(type_of<record>(), memory, 8);
    block first = coming(kSlots, model);
    REQUIRE(held.add(first, kSlots).ok());
    for (int round = 0; round != 300; ++round) {
      const auto n = static_cast<std::uint32_t>(1 + random() % (round % 3 ? 20 : 400));
      std::vector<std::string> bytes;
      block b = coming(n, bytes);
      std::vector<std::uint32_t> places(n);
      for (std::uint32_t& place : places) place = static_cast<std::uint32_t>(random() % kSlots);
      REQUIRE(held.exchange(places.data(), b, out.reserve(n)).ok());
      CHECK(in.size() == 0);
      out.set_live(0, n);
      const auto* got = reinterpret_cast<const record*>(out.begin());
      for (std::uint32_t i = 0; i != n; ++i) {
        const std::string expected = std::exchange(model[places[i]], bytes[i]);
        REQUIRE(got[i].view() == expected);
        if (i % 37 == 5) kept.push_back({got[i], expected});
      }
      for (std::uint32_t i = 0; i != kSlots; ++i)
        REQUIRE(reinterpret_cast<const record*>(held.at(i))->view() == model[i]);
      REQUIRE(memory.bytes() == kSlots * (sizeof(record) + 8) + owned_bytes(model));
    }
  }
  CHECK(memory.bytes() == 0);
  for (const kept_record& k : kept) REQUIRE(k.got.view() == k.bytes);
}

template <class As> void tried() {
  CAPTURE(As::kName);
  lifetimes watched;
  for (std::uint64_t seed = 1; seed != 9; ++seed) {
    CAPTURE(seed);
    trial<As>(seed).run(300);
  }
  CHECK(watched.complaint() == "");
}

int64s bucketed(const int64s& in, std::size_t buckets, std::size_t size) {
  std::vector<int64s> held(buckets);
  int64s out;
  auto leave = [&](int64s& bucket) {
    out.insert(out.end(), bucket.begin(), bucket.end());
    bucket.clear();
  };
  for (int64 x : in) {
    int64s& bucket = held[static_cast<std::size_t>(x * x / 3) % buckets];
    bucket.push_back(x);
    if (bucket.size() == size) leave(bucket);
  }
  for (int64s& bucket : held) leave(bucket);
  return out;
}
/// Buckets do not take turns.
int64 key_of(int64 x) { return x * x / 3; }

template <class As> void conforms_in_buckets(std::size_t buckets, std::size_t size) {
  conformance c;
  c.elements = As::kName;
  c.expected = [=](const int64s& in) { return bucketed(in, buckets, size); };
  c.stage = [=](const dataset<int64>& in) {
    using element = decltype(As::made(0));
    std::int64_t (*key)(const element&) = [](const element& x) { return key_of(As::number(x)); };
    return in | map(As::made) | in_buckets(key, static_cast<int64>(buckets), static_cast<int64>(size)) |
           map(As::number);
  };
  conforms(c);
}

struct as_number {
  static constexpr const char* kName = "numbers";
  static int64 made(int64 x) { return x; }
  static int64 number(const int64& x) { return x; }
};

stream<int64> counted_to(std::shared_ptr<int64> length) {
  for (int64 i = 0; i < *length; ++i) co_yield i;
}

/// Positions of a run over 60 elements are resumed over fewer: what was held and is gone is an error, and nothing else comes.
void shortened(const dataset<int64>& ds, int64& length) {
  length = 60;
  consumption how;
  how.save = true;
  consumed whole = consume(ds, how);
  REQUIRE(whole.complaint() == "");
  REQUIRE(whole.elements.size() == 60);
  int errors = 0;
  for (int64 now : {0, 5, 20, 40}) {
    length = now;
    for (std::size_t i = 0; i != 45; ++i) {
      CAPTURE(now, i);
      consumption again;
      again.from = whole.places[i];
      consumed rest = consume(ds, again);
      CHECK(rest.mistake == "");
      if (rest.why.ok()) {
        // A position may be a mark before it and elements to pass over, which there may not be any more.
        if (static_cast<int64>(i) > now) CHECK(rest.elements.empty());
      } else {
        CHECK(rest.why.code() == status_code::data_loss);
        CHECK(rest.why.to_string().find("it has become shorter since") != std::string::npos);
        CHECK(rest.elements.empty());
        ++errors;
      }
    }
  }
  CHECK(errors > 80);
}

}  // namespace

TEST_CASE("elements of every kind are held in their places, and charged until they go") {
  tried<as_number>();
  tried<as_text>();
  tried<as_record>();
  tried<as_tensor>();
  tried<as_move_only>();
  tried<as_counting>();
}

TEST_CASE("exchanged records keep their bytes, in slots and with whoever has received them") {
  for (std::uint64_t seed = 1; seed != 9; ++seed) {
    CAPTURE(seed);
    exchange_records(seed);
  }
}

TEST_CASE("ordinals take a byte or two in a position, and are restored; those that do not ascend are refused") {
  held_ordinals some;
  for (std::uint64_t i = 0; i != 1000; ++i) some.add(1'000'000'000 + 12 * i);
  some.drop_front(10);
  position_writer w;
  some.save(w);
  CHECK(w.size_bytes() < 1'000);
  std::string bytes = w.bytes();
  position_reader r(bytes);
  held_ordinals again;
  again.load(r);
  CHECK(r.ok());
  REQUIRE(again.size() == 990);
  for (std::size_t i = 0; i != 990; ++i) CHECK(again.at(i) == some.at(i));
  for (std::uint64_t step : {std::uint64_t{0}, ~std::uint64_t{0}}) {
    position_writer forged;
    for (std::uint64_t n : {std::uint64_t{2}, std::uint64_t{5}, step}) forged.number(n);
    std::string text = forged.bytes();
    position_reader from(text);
    again.load(from);
    CHECK(!from.ok());
  }
}

TEST_CASE("a bucketing operator on held elements conforms, and is resumed at every element") {
  scoped_operators known(operators_with_buckets());
  conforms_in_buckets<as_number>(3, 4);
  conforms_in_buckets<as_number>(1, 1);
  conforms_in_buckets<as_number>(7, 50);
  conforms_in_buckets<as_text>(3, 4);
  conforms_in_buckets<as_record>(4, 3);
  conforms_in_buckets<as_tensor>(4, 3);
  conforms_in_buckets<as_move_only>(3, 5);
  conforms_in_buckets<as_counting>(5, 2);
}

TEST_CASE("a resume over an input that has become shorter is an error, and never gives another element") {
  scoped_operators known(operators_with_buckets());
  auto length = std::make_shared<int64>(60);
  auto source = generate([length] { return counted_to(length); });
  std::int64_t (*key)(const int64&) = [](const int64& x) { return key_of(x); };
  shortened(source | shuffle(10, {.seed = 3}), *length);
  shortened(source | shuffle(10, {.seed = 3}) | prefetch(2), *length);
  shortened(source | in_buckets(key, 3, 4), *length);
}

TEST_CASE("a resume whose input fails while held elements are fetched ends with that error, and destroys them once") {
  scoped_operators known(operators_with_buckets());
  auto fails_at = std::make_shared<int64>(-1);
  auto made = [fails_at](int64 x) {
    if (x == *fails_at) throw_status(data_loss_error("broken now"));
    return counting_element(x);
  };
  std::int64_t (*key)(const counting_element&) = [](const counting_element& x) { return key_of(x.number()); };
  auto ds = range(60) | map(made) | in_buckets(key, 4, 5) | map(as_counting::number);
  lifetimes watched;
  consumption how;
  how.save = true;
  consumed whole = consume(ds, how);
  REQUIRE(whole.elements == bucketed(consume(range(60), {}).elements, 4, 5));
  int failed = 0;
  for (std::size_t i = 0; i != 60; ++i)
    for (*fails_at = 0; *fails_at != 60; *fails_at += 3) {
      consumption again;
      again.from = whole.places[i];
      consumed rest = consume(ds, again);
      CHECK(rest.mistake == "");
      failed += !rest.why.ok();
      if (!rest.why.ok()) CHECK(rest.why.to_string().find("broken now") != std::string::npos);
      CHECK(std::equal(rest.elements.begin(), rest.elements.end(),
                       whole.elements.begin() + static_cast<std::ptrdiff_t>(i)));
    }
  CHECK(failed > 600);
  CHECK(watched.complaint() == "");
}

}  // namespace sluice::lib::held_elements_test
