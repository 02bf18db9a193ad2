// SPDX-License-Identifier: Apache-2.0
// When a worker compresses: the decision over a modelled link, in virtual time.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>

#include "service/core/compression_switch.hpp"
#include "sluice/base/random_bits.hpp"
#include "support/budget.hpp"

namespace sluice::lib::compression_switch_test {
namespace {

constexpr double kFrame = 256 << 10;

/// Times are seconds; rates are bytes per second.
struct pipe {
  double make = 2e9;  ///< the worker makes elements at this rate
  double link = 20e6;
  double use = 2e9;  ///< the consumer uses elements at this rate
  double ratio = 0.3, pack = 400e6, unpack = 1000e6;
  double lz4_ratio = 0.5, lz4_pack = 700e6;
  std::size_t credit = 16;  ///< frames that are sent ahead
  double noise = 0;         ///< of the times to compress, as a share
};

/// A worker, a link and a consumer around the real decision, frame by frame.
class model {
 public:
  explicit model(compression_switch& s, std::uint64_t seed = 1) : switch_(s), random_(seed) {}

  void run(const pipe& p, double seconds) {
    const double until = worker_ + seconds;
    while (worker_ < until) frame(p);
  }
  double raw_per_second(const pipe& p, double seconds) {
    const double from = worker_, bytes = raw_;
    run(p, seconds);
    return (raw_ - bytes) / (worker_ - from);
  }

 private:
  void frame(const pipe& p) {
    worker_ += kFrame / p.make;
    double wire = kFrame;
    bool is_packed = false;
    if (const auto codec = switch_.codec_for_next()) {
      const double ratio = *codec == 0 ? p.ratio : p.lz4_ratio;
      const double took = kFrame / (*codec == 0 ? p.pack : p.lz4_pack) * (1 + p.noise * (2 * random_.uniform() - 1));
      worker_ += took;
      is_packed = ratio < 1;
      switch_.packed(*codec, static_cast<std::uint64_t>(kFrame), static_cast<std::uint64_t>(kFrame * ratio),
                     time(took));
      if (is_packed) wire = kFrame * ratio;
    }
    const double wanted = worker_;
    if (taken_.size() >= p.credit) {
      worker_ = std::max(worker_, taken_.front());
      taken_.pop_front();
    }
    blocked_ += worker_ - wanted;
    link_ = std::max(link_, worker_) + wire / p.link;
    waited_ += std::max(0.0, link_ - consumer_);
    consumer_ = std::max(consumer_, link_);
    taken_.push_back(consumer_);
    consumer_ += kFrame / p.use + (is_packed ? kFrame / p.unpack : 0);
    if (is_packed) unpacked_ += kFrame, unpack_took_ += kFrame / p.unpack;
    raw_ += kFrame;
    if (consumer_ - reported_ >= 0.25) {
      reported_ = consumer_;
      switch_.limited(time(std::min(blocked_, waited_)));
      switch_.unpacked(static_cast<std::uint64_t>(unpacked_), time(unpack_took_));
      blocked_ = waited_ = unpacked_ = unpack_took_ = 0;
    }
    switch_.sent(static_cast<std::uint64_t>(wire), time_point(time(worker_)));
  }
  static duration time(double s) { return std::chrono::nanoseconds(static_cast<std::int64_t>(s * 1e9)); }

  compression_switch& switch_;
  random_source random_;
  std::deque<double> taken_;  ///< when the consumer takes the frames in flight
  double worker_ = 1, link_ = 0, consumer_ = 0, reported_ = 0, raw_ = 0;
  double blocked_ = 0, waited_ = 0, unpacked_ = 0, unpack_took_ = 0;
};

}  // namespace

TEST_CASE("a slow link with data that shrink turns compression on, and elements come faster") {
  compression_switch sw({.codecs = 2});
  model m(sw);
  const pipe slow;
  CHECK(!sw.codec_for_next());
  m.run(slow, 5);
  REQUIRE(sw.is_on());
  CHECK(sw.codec() == std::size_t{0});
  CHECK(sw.switches() == 1);
  CHECK(sw.link_bytes_per_second() == Approx(20e6).epsilon(0.1));
  CHECK(m.raw_per_second(slow, 60) > 0.95 * 20e6 / 0.3);
  CHECK(sw.switches() == 1);
}

TEST_CASE("a fast link, data that do not shrink, and a slow worker or consumer leave it off") {
  pipe fast{.link = 5e9}, random{.ratio = 1, .lz4_ratio = 1}, slow_worker{.make = 5e6, .link = 20e6},
      slow_consumer{.link = 2e9, .use = 10e6};
  for (const pipe& p : {fast, random, slow_worker, slow_consumer}) {
    compression_switch sw({.codecs = 2});
    model m(sw);
    m.run(p, 300);
    CHECK(!sw.is_on());
    CHECK(sw.switches() == 0);
  }
}

TEST_CASE("trials of data that do not shrink become rare") {
  compression_switch sw({.codecs = 2});
  model m(sw);
  const pipe random{.ratio = 1, .lz4_ratio = 1};
  std::uint64_t trials = 0;
  for (int frame = 0; frame < 20'000; ++frame) {
    trials += sw.codec_for_next().has_value();
    m.run(random, 1e-9);
  }
  CHECK(trials >= 2);
  CHECK(trials <= 40);
}

TEST_CASE("the codec that gains more is chosen") {
  compression_switch sw({.codecs = 2});
  model m(sw);
  m.run({.link = 400e6, .ratio = 0.45, .pack = 300e6, .unpack = 4e9, .lz4_ratio = 0.5, .lz4_pack = 3e9}, 30);
  REQUIRE(sw.is_on());
  CHECK(sw.codec() == std::size_t{1});
}

TEST_CASE("a link that becomes fast turns it off, and a slow one on again") {
  compression_switch sw({.codecs = 1});
  model m(sw);
  for (int times = 0; times < 3; ++times) {
    m.run({}, 10);
    CHECK(sw.is_on());
    m.run({.link = 10e9}, 60);
    CHECK(!sw.is_on());
  }
  CHECK(sw.switches() == 6);
}

TEST_CASE("data that stop shrinking turn it off") {
  compression_switch sw({.codecs = 1});
  model m(sw);
  m.run({}, 10);
  CHECK(sw.is_on());
  m.run({.ratio = 1}, 10);
  CHECK(!sw.is_on());
}

TEST_CASE("a gain near the cost, with noise, does not make it oscillate") {
  for (std::uint64_t seed = test::first_seed(); seed != test::first_seed() + test::cases(50); ++seed) {
    CAPTURE(seed);
    random_source r(seed);
    pipe p{.link = 100e6, .ratio = 0.5, .credit = 8, .noise = 0.4};
    const double saved = (1 - p.ratio) / p.link, cost = saved * (0.4 + 1.2 * r.uniform());
    p.pack = 1 / (0.7 * cost);
    p.unpack = 1 / (0.3 * cost);
    compression_switch sw({.codecs = 1});
    model m(sw, seed);
    m.run(p, 1000);
    CHECK(sw.switches() <= 16);
    CHECK(sw.probes() <= 40);
  }
}

TEST_CASE("a forced codec compresses every frame") {
  compression_switch sw({.codecs = 1, .forced = 0});
  model m(sw);
  m.run({.link = 10e9, .ratio = 1}, 20);
  CHECK(sw.is_on());
  CHECK(sw.codec_for_next() == std::size_t{0});
  CHECK(sw.switches() == 0);
}

}  // namespace sluice::lib::compression_switch_test
