// SPDX-License-Identifier: Apache-2.0
// The three examples of a tutorial on tf.data, with its tables: how long a training step waits for each element.
//
//   example_04_tutorial           in virtual time: done at once, figures exact
//   example_04_tutorial --real    in real time: takes as long as it says
//
// A step takes 0.1 s, a generator 0.3 s an element. Elements are asked for one by one, as the tutorial does; next() would
// ask for more once they come quickly, and so start replacements earlier.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>

#include "sluice/coro/sleep_until.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"

using namespace sluice;
using namespace std::chrono_literals;

std::string words(const std::string& name, int number) { return name + " yields " + std::to_string(number); }

// --- Example 1: a generator that takes 0.3 s an element -----------------------------------------------------------
stream<std::string> generator(std::string name, int count) {
  for (int i = 0; i != count; ++i) {
    co_await sleep_for(300ms);
    co_yield words(name, i);
  }
}
auto one_generator() {
  return generate([] { return generator("Gen_0", 20); });
}
auto generator_of(std::int64_t n) {
  return generate([n] { return generator("Gen_" + std::to_string(n), 5); });
}

// --- Example 2: the generator is a method; each instance has a number of its own ----------------------------------
class numbered_generator {
 public:
  numbered_generator() : number_(counter_++) {}
  auto dataset() const {
    return generate([name = "Gen_" + std::to_string(number_)] { return generator(name, 5); });
  }

 private:
  static inline int counter_ = 0;
  int number_;
};
// Called once for each element, so each gets an instance of its own: nothing is evaluated behind the caller's back.
auto instance_for(std::int64_t) { return numbered_generator().dataset(); }

// --- Example 3: loading an image takes 1.5 s, cutting a slice out of it 0.3 s -------------------------------------
using image = std::int64_t;  // what it was made from stands for its voxels

std::string slice_of(image from, int part) {
  auto first = static_cast<int>(from) * 10 + part * 2;
  return "[" + std::to_string(first) + ". " + std::to_string(first + 1) + ".]";
}
stream<std::string> load_and_slice(image scanner) {
  for (int round = 0; round != 3; ++round) {
    co_await sleep_for(1500ms);
    for (int part = 0; part != 5; ++part) {
      co_await sleep_for(300ms);
      co_yield slice_of(scanner, part);
    }
  }
}
stream<image> load(image scanner) {
  for (int round = 0; round != 3; ++round) {
    co_await sleep_for(1500ms);
    co_yield image(scanner);
  }
}
stream<std::string> slice_up(image from) {
  for (int part = 0; part != 5; ++part) {
    co_await sleep_for(300ms);
    co_yield slice_of(from, part);
  }
}
auto in_one_stage(image n) {
  return generate([n] { return load_and_slice(n); });
}
auto loaded(image n) {
  return generate([n] { return load(n); });
}
auto sliced(image n) {
  return generate([n] { return slice_up(n); });
}

// --- The tables ---------------------------------------------------------------------------------------------------
struct table {
  std::string title;
  int rows = 1000;
  int stall_after = -1;  ///< the row after which the training stalls for 3 s
};

double seconds(std::chrono::nanoseconds d) {
  return static_cast<double>(std::chrono::duration_cast<std::chrono::milliseconds>(d).count()) / 1000;
}

task<void> train(any_stream s, table t, bool real) {
  std::printf("\n%s\n", t.title.c_str());
  environment* env = co_await this_environment();
  for (int row = 0; row != t.rows; ++row) {
    auto asked = env->time->now();
    auto one = co_await s.next_block({.elements = 1});
    if (!one) break;
    auto waited = seconds(env->time->now() - asked);
    std::printf(real ? "  elapsed time: %.2f, %s\n" : "  elapsed time: %.3f, %s\n", waited,
                one.as<std::string>()->c_str());
    co_await sleep_for(100ms);
    if (row == t.stall_after) co_await sleep_for(3s);
  }
}

template <class D> void print(const D& ds, table t, bool real) {
  simulation world(1);
  if (real) {
    runtime rt;
    sync_wait(rt, train(open_run(rt, ds.plan()), t, real));
  } else {
    runtime rt(world);
    sync_wait(rt, train(open_run(rt, ds.plan()), t, real));
  }
}

int main(int argc, char** argv) {
  bool real = argc > 1 && std::strcmp(argv[1], "--real") == 0;
  constexpr interleave_options three{.cycle_length = 3, .parallelism = 3};

  print(one_generator(), {"1. One generator, on demand: every step waits 0.3 s.", 5}, real);
  print(one_generator() | prefetch(1), {"1. It works while we train: 0.2 s.", 5}, real);
  print(one_generator() | prefetch(1),
        {"1. A stall of 3 s after the fourth element is made good for one element …", 10, 3}, real);
  print(one_generator() | prefetch(10), {"1. … and with prefetch(10) for the next ten at least.", 20, 3}, real);
  print(range(3) | interleave(generator_of, three), {"1. Three generators at once: no wait after the first."}, real);
  print(range(3) | interleave(instance_for, three), {"2. Three instances of a class: each has its own number."}, real);
  print(range(3) | interleave(in_one_stage, three), {"3. Load and slice in one generator: 1.5 s after every 15."},
        real);
  auto two_stages = range(3) | interleave(loaded, three) | interleave(sliced, three);
  print(two_stages, {"3. A stage for each: 0.3 s after every 15."}, real);
  print(two_stages | prefetch(15), {"3. And work ahead across the stages: none."}, real);
}
