// SPDX-License-Identifier: Apache-2.0
// sluice/op/flat_map.hpp, sluice/op/interleave.hpp
#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>
#include <memory>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "op/opened_elements.hpp"
#include "sluice/format/tfrecord_frames.hpp"
#include "sluice/io/memory_files.hpp"
#include "sluice/sluice.hpp"
#include "support/file_case.hpp"
#include "support/op_conformance.hpp"
#include "support/process_memory.hpp"
#include "support/verb_case.hpp"

namespace sluice::lib::interleave_test {
namespace {

using namespace test;
using int64 = std::int64_t;

SLUICE_FUNCTION(open_some, [](int64 x) { return opened_for(x); });

/// tf.data's slot rule, once more by hand.
int64s interleaved(const int64s& in, std::size_t cycle, std::size_t block) {
  struct slot {
    int64 at = 0, end = 0;
    bool open = false;
  };
  std::vector<slot> slots(cycle);
  int64s out;
  std::size_t next = 0, closed_in_a_row = 0;
  for (std::size_t k = 0; closed_in_a_row < cycle; k = (k + 1) % cycle) {
    slot& s = slots[k];
    if (!s.open && next < in.size()) {
      int64 x = in[next++];
      s = {1000 * x, 1000 * x + x % 4, true};
    }
    closed_in_a_row = s.open ? 0 : closed_in_a_row + 1;
    for (std::size_t i = 0; s.open && i != block; ++i) {
      if (s.at == s.end) s.open = false;
      else out.push_back(s.at++);
    }
  }
  return out;
}

// --- For the random plans: the slot rule over any inner plans. ---

constexpr std::uint64_t kToItsEnd = ~std::uint64_t{0};
/// `opened(element, ordinal)`: what is opened for an element of `outer`.
template <class Opened>
int64s by_slots(const verb_lists& l, const int64s& outer, Opened opened, std::size_t width,
                std::uint64_t block_length) {
  struct slot {
    bool open = false;
    int64s elements;
    std::size_t given = 0;
  };
  std::vector<slot> slots(width);
  int64s out;
  std::size_t next = 0, at = 0;
  std::uint64_t left = block_length;
  auto go_on = [&] {
    at = (at + 1) % width;
    left = block_length;
  };
  auto all_closed = [&] { return std::none_of(slots.begin(), slots.end(), [](const slot& s) { return s.open; }); };
  for (;;) {
    slot& s = slots[at];
    if (!s.open && next == outer.size()) {
      if (all_closed()) return out;
      go_on();
      continue;
    }
    if (!s.open) {
      s = {true, opened(outer[next], next), 0};
      ++next;
    }
    if (s.given == s.elements.size()) {
      s.open = false;
      go_on();
      continue;
    }
    out.push_back(s.elements[s.given++]);
    l.check_size(out.size());
    if (--left == 0) go_on();
  }
}
std::uint64_t block_length(const verb_use& use) { return 1 + use.b % 4; }
std::int64_t some_parallelism(const verb_use& use) { return use.knob_or(1 + static_cast<int64>(use.b / 4 % 6)); }
int64s by_slots(const verb_lists& l, std::size_t width, std::uint64_t block_length) {
  auto opened = [&l](int64 element, std::size_t ordinal) { return l.inner(element, ordinal); };
  return by_slots(l, l.in(), opened, width, block_length);
}
int64s in_turns(const verb_lists& l) { return by_slots(l, static_cast<std::size_t>(l.a), block_length(l)); }
/// In one of the orders that it may have.
int64s one_by_one(const verb_lists& l) { return by_slots(l, 1, kToItsEnd); }

dataset<int64> taken_in_turns(const verb_plan& p, std::int64_t parallelism) {
  auto visit = static_cast<int64>(block_length(p));
  return p.in[0] | interleave(p.inner[0], {.cycle_length = p.a, .block_length = visit, .parallelism = parallelism});
}
const register_verb interleave_case("interleave",
                                    {.inner = 1,
                                     .has_knob = true,
                                     .build = [](const verb_plan& p) { return taken_in_turns(p, p.knob_or(1)); },
                                     .expected = in_turns,
                                     .resume = {.a = 3, .b = 0, .held = 6}});
const register_verb interleave_parallel_case(
    "interleave parallel", {.inner = 1,
                            .has_knob = true,
                            .build = [](const verb_plan& p) { return taken_in_turns(p, some_parallelism(p)); },
                            .expected = in_turns,
                            .resume = {.a = 3, .b = 4, .held = 12}});
const register_verb interleave_sloppy_case("interleave sloppy",
                                           {.inner = 1,
                                            .ordered = false,
                                            .has_knob = true,
                                            .build =
                                                [](const verb_plan& p) {
                                                  return p.in[0] | interleave(p.inner[0], {.cycle_length = p.a,
                                                                                           .parallelism = p.knob_or(1),
                                                                                           .order = sloppy});
                                                },
                                            .expected = one_by_one,
                                            .resume = {.a = 3, .held = 12}});
const register_verb interleave_sloppy_parallel_case(
    "interleave sloppy parallel",
    {.inner = 1,
     .ordered = false,
     .any_order = true,
     .has_knob = true,
     .build =
         [](const verb_plan& p) {
           return p.in[0] |
                  interleave(p.inner[0], {.cycle_length = p.a, .parallelism = some_parallelism(p), .order = sloppy});
         },
     .expected = one_by_one,
     .resume = {.a = 3, .b = 4, .held = 12}});

// --- The same over files: five, one of them empty and some compressed; each of them is opened again and again. ---

constexpr std::uint64_t kFiles = 5;
constexpr int64 kOfOneFile = 1'000;  // numbers
std::uint64_t file_of_element(int64 x) { return mix(static_cast<std::uint64_t>(x)) % kFiles; }
int64 length_of(std::uint64_t file, std::uint64_t b) {
  return std::array<int64, kFiles>{0, 1, 2, 5, 4}[(file + b) % kFiles];
}
int64 first_of_file(std::uint64_t file) { return static_cast<int64>(file) * kOfOneFile; }
std::string path_of_file(std::string_view of, const verb_use& u, std::uint64_t file) {
  return path_of(of, 0, u.b, std::to_string(file));
}
test_files five_files(std::string_view of, const verb_use& u) {
  test_files files;
  for (std::uint64_t k = 0; k != kFiles; ++k)
    files.bytes[path_of_file(of, u, k)] = packed(record_file(length_of(k, u.b), u.b, first_of_file(k)), u.b + k);
  return files;
}
dataset<std::string> paths_for(std::string_view of, const verb_plan& p) {
  return p.in[0] | map([use = verb_use{.b = p.b}, of](int64 x) { return path_of_file(of, use, file_of_element(x)); });
}
file_reader<record> records_for(const verb_use& u) { return tfrecord(some_reading<tfrecord_options>(u)); }
interleave_options turns_of(const verb_plan& p, std::int64_t parallelism) {
  return {.cycle_length = p.a, .block_length = static_cast<int64>(block_length(p)), .parallelism = parallelism};
}
int64s of_file(std::uint64_t file, std::uint64_t b) {
  int64s out;
  for (int64 i = 0; i != length_of(file, b); ++i) out.push_back(first_of_file(file) + i);
  return out;
}
int64s of_files(const verb_lists& l, std::size_t width, std::uint64_t block) {
  auto opened = [&l](int64 x, std::size_t) { return of_file(file_of_element(x), l.b); };
  return by_slots(l, l.in(), opened, width, block);
}
int64s of_files_in_turns(const verb_lists& l) { return of_files(l, static_cast<std::size_t>(l.a), block_length(l)); }
int64s of_files_one_by_one(const verb_lists& l) { return of_files(l, 1, kToItsEnd); }
test_files files_by_path(const verb_use& u) { return five_files("inner", u); }
dataset<int64> by_number(const dataset<record>& in) { return in | map(number_in<record>); }

const register_verb flat_map_of_files_case(
    "flat_map of files",
    {.files = files_by_path,
     .build = [](const verb_plan& p) { return by_number(paths_for("inner", p) | flat_map(records_for(p))); },
     .expected = of_files_one_by_one});
const register_verb interleave_of_files_case("interleave of files",
                                             {.has_knob = true,
                                              .files = files_by_path,
                                              .build =
                                                  [](const verb_plan& p) {
                                                    return by_number(
                                                        paths_for("inner", p) |
                                                        interleave(records_for(p), turns_of(p, some_parallelism(p))));
                                                  },
                                              .expected = of_files_in_turns,
                                              .resume = {.a = 3, .b = 4, .held = 24}});
const register_verb interleave_of_files_sloppy_case("interleave of files sloppy",
                                                    {.ordered = false,
                                                     .any_order = true,
                                                     .has_knob = true,
                                                     .files = files_by_path,
                                                     .build =
                                                         [](const verb_plan& p) {
                                                           auto turns = turns_of(p, some_parallelism(p));
                                                           turns.order = sloppy;
                                                           return by_number(paths_for("inner", p) |
                                                                            interleave(records_for(p), turns));
                                                         },
                                                     .expected = of_files_one_by_one,
                                                     .resume = {.a = 3, .b = 4, .held = 24}});

// One of the five is not there, and one has a damaged record in front of the others.
constexpr std::uint64_t kMissing = 1, kDamaged = 2;
test_files failing_files(const verb_use& u) {
  test_files files = five_files("failing", u);
  files.bytes.erase(path_of_file("failing", u, kMissing));
  std::string bytes = record_file(1 + length_of(kDamaged, u.b), u.b, first_of_file(kDamaged) - 1);
  bytes[u.b % kTfrecordHeaderBytes] ^= 1;
  files.bytes[path_of_file("failing", u, kDamaged)] = packed(std::move(bytes), u.b);
  return files;
}
const register_verb interleave_of_files_failing_case(
    "interleave of files failing",
    {.meets_errors = true,
     .has_knob = true,
     .files = failing_files,
     .build =
         [](const verb_plan& p) {
           return by_number(paths_for("failing", p) | interleave(records_for(p), turns_of(p, some_parallelism(p))));
         },
     .expected =
         [](const verb_lists& l) {
           // A file that cannot be opened is a bad element of the interleave's input, or of nothing: its slot is free again.
           auto opened = [&l](int64 x, std::size_t) {
             const std::uint64_t file = file_of_element(x);
             return file == kMissing ? int64s() : of_file(file, l.b);
           };
           return by_slots(l, l.in(), opened, static_cast<std::size_t>(l.a), block_length(l));
         }});

// And over a listing, as a source of `a` elements.
std::uint64_t files_listed(const verb_use& u) { return 1 + u.b % 7; }
int64 share_of(std::uint64_t file, const verb_use& u) {
  const auto files = static_cast<int64>(files_listed(u)), k = static_cast<int64>(file);
  return u.a / files + (k < u.a % files);
}
std::string listed_folder(const verb_use& u) { return path_of("listed", u.a, u.b); }
test_files listed_files(const verb_use& u) {
  test_files files;
  for (std::uint64_t k = 0; k != files_listed(u); ++k)
    files.bytes[listed_folder(u) + "/" + std::to_string(k)] =
        packed(record_file(share_of(k, u), u.b, first_of_file(k)), u.b + k);
  return files;
}
int64s of_listed(const verb_lists& l, std::size_t width, std::uint64_t block) {
  int64s files;
  for (std::uint64_t k = 0; k != files_listed(l); ++k) files.push_back(static_cast<int64>(k));
  auto opened = [&l](int64 file, std::size_t) {
    int64s out;
    for (int64 i = 0; i != share_of(static_cast<std::uint64_t>(file), l); ++i)
      out.push_back(l.element(first_of_file(static_cast<std::uint64_t>(file)) + i));
    return out;
  };
  return by_slots(l, files, opened, width, block);
}
std::size_t listed_cycle(const verb_use& u) { return 1 + u.b / 7 % 4; }

const register_verb flat_map_of_listed_files_case(
    "flat_map of listed files", {.inputs = 0,
                                 .has_knob = true,
                                 .size = some_length,
                                 .files = listed_files,
                                 .build =
                                     [](const verb_plan& p) {
                                       return elements_of(
                                           list_files(listed_folder(p) + "/*") | flat_map(records_for(p)), p);
                                     },
                                 .expected = [](const verb_lists& l) { return of_listed(l, 1, kToItsEnd); }});
const register_verb interleave_of_listed_files_case(
    "interleave of listed files",
    {.inputs = 0,
     .has_knob = true,
     .size = some_length,
     .files = listed_files,
     .build =
         [](const verb_plan& p) {
           interleave_options o = turns_of(p, some_parallelism(p));
           o.cycle_length = static_cast<int64>(listed_cycle(p));
           return elements_of(list_files(listed_folder(p) + "/*") | interleave(records_for(p), o), p);
         },
     .expected = [](const verb_lists& l) { return of_listed(l, listed_cycle(l), block_length(l)); }});

}  // namespace

TEST_CASE("interleave conforms for every cycle and block length") {
  for (auto [cycle, block] : {std::pair<int64, int64>(1, 1), {2, 1}, {3, 2}, {16, 1}, {4, 7}})
    conforms({.stage =
                  [=](const auto& in) {
                    return in | interleave(opened_for, {.cycle_length = cycle, .block_length = block});
                  },
              .expected =
                  [=](const int64s& in) {
                    return interleaved(in, static_cast<std::size_t>(cycle), static_cast<std::size_t>(block));
                  }});
}

TEST_CASE("interleave in parallel conforms, and keeps the sequential order") {
  for (int64 parallelism : {2, 5})
    conforms({.stage =
                  [=](const auto& in) {
                    return in |
                           interleave(opened_for, {.cycle_length = 4, .block_length = 2, .parallelism = parallelism});
                  },
              .expected = [](const int64s& in) { return interleaved(in, 4, 2); }});
}

TEST_CASE("a sloppy interleave loses and repeats nothing") {
  for (int64 parallelism : {1, 3})
    conforms({.stage =
                  [=](const auto& in) {
                    return in | interleave(opened_for,
                                           {.cycle_length = 3, .parallelism = parallelism, .order = order::sloppy});
                  },
              .expected = one_after_the_other,
              .ordered = false});
}

TEST_CASE("an interleave opens an input only when its turn comes") {
  auto opened = std::make_shared<int64s>();
  auto noting = [opened](int64 x) {
    opened->push_back(x);
    return range(10);
  };
  CHECK(consume(range(100) | interleave(noting, {.cycle_length = 3}) | take(2), {}).elements.size() == 2);
  CHECK(*opened == int64s{0, 1});
}

TEST_CASE("an error inside of one dataset comes after what all gave before it") {
  auto broken = [](int64 x) {
    return range(4) | map([x](int64 y) {
             if (x == 1 && y == 2) throw_status(data_loss_error("broken"));
             return 10 * x + y;
           });
  };
  for (int64 parallelism : {1, 3}) {
    consumed got = consume(range(3) | interleave(broken, {.cycle_length = 3, .parallelism = parallelism}), {});
    CHECK(got.elements == int64s{0, 10, 20, 1, 11, 21, 2});
    CHECK(got.why.code() == status_code::data_loss);
  }
}

namespace {

dataset<int64> nested(int64 levels) {
  if (levels == 0) return range(3);
  return range(1) | flat_map([levels](int64) { return nested(levels - 1); });
}

}  // namespace

TEST_CASE("an error of a stage inside of a reader names the file") {
  runtime rt({.workers = 2});
  memory_files files = add_memory_files(rt);
  files.put("mem://a.txt", "1\n2\n");
  files.put("mem://b.txt", "3\nfour\n");
  auto why = [&rt](const std::string& inner) {
    auto ds = dataset<int64>(parse_plan("list_files(\"mem://*.txt\") | interleave(" + inner + ")"));
    return consume_on(rt, ds, {}).why.to_string();
  };
  for (const char* inner : {"lines | map(to_integer(it))", "lines | map(to_integer(it)), cycle_length=2, parallelism=2",
                            "lines | map(to_integer(it)) | prefetch(2)"})
    CHECK_THAT(why(inner),
               Catch::Contains("b.txt") && Catch::Contains("map(to_integer(it))") && !Catch::Contains("a.txt"));
  auto by_function = list_files("mem://*.txt") | interleave([](const std::string& path) {
                       return lines(path) | map(expr<int64>("to_integer(it)"));
                     });
  CHECK_THAT(consume_on(rt, by_function, {}).why.to_string(), Catch::Contains("b.txt"));
}

TEST_CASE("plans may open plans that open plans, until they are as deep as a plan may be") {
  CHECK(consume(nested(400), {}).elements == int64s{0, 1, 2});
  for (int64 levels : {600, 1'000'000}) {
    consumed got = consume(nested(levels), {});
    CHECK(got.elements.empty());
    CHECK(got.why.code() == status_code::invalid_argument);
    CHECK_THAT(got.why.to_string(),
               Catch::Contains("more than 1000 stages below each other") && Catch::Contains("flat_map"));
  }
}

TEST_CASE("more slots than a cycle may have are refused where the plan is made") {
  CHECK_NOTHROW(range(3) | interleave(opened_for, {.cycle_length = 65'536}));
  CHECK_THROWS_WITH(range(3) | interleave(opened_for, {.cycle_length = 65'537}),
                    Catch::Contains("interleave: cycle_length must be at most 65536, and is 65537"));
}

TEST_CASE("an interleave of more parallelism than there can be is refused where the plan is made") {
  CHECK_NOTHROW(range(3) | interleave(opened_for, {.parallelism = 65'536}));
  CHECK_NOTHROW(range(3) | interleave(opened_for, {.parallelism = autotune}));
  CHECK_THROWS_WITH(range(3) | interleave(opened_for, {.parallelism = 65'537}),
                    Catch::Contains("interleave: parallelism must be at most 65536, and is 65537"));
}

namespace {

double cpu_seconds() {
  timespec t;
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// CPU seconds, the least of three, for each element of an interleave of `width` inputs of 30. In real time, because marks
/// are taken as often as 1 % of the time pays for, and a simulation's time stands still.
double cost_per_element(int64 width, order o) {
  auto ds = range(width) | interleave([](int64) { return range(30); }, {.cycle_length = width, .order = o});
  double least = 1e9;
  for (int i = 0; i != 3; ++i) {
    consumption how;
    how.ask_max = 256;
    runtime rt({.workers = 1});
    double start = cpu_seconds();
    consumed got = consume_on(rt, ds, how);
    least = std::min(least, (cpu_seconds() - start) / static_cast<double>(got.elements.size()));
    CHECK(got.elements.size() == static_cast<std::size_t>(width) * 30);
  }
  return least;
}

}  // namespace

// Opening, visiting and closing all the inputs. Anything that looks at all slots for one of them costs some twenty times
// as much in the wide cycle; what is left is memory that the caches do not hold.
TEST_CASE("an element of an interleave costs the same among many inputs as among few") {
  for (order o : {order::deterministic, order::sloppy}) {
    const int64 wide =
        testing::kSanitized ? 4'000 : 20'000;  // sanitizers are slow, and shadow memory has costs of its own
    double few = cost_per_element(wide / 20, o), many = cost_per_element(wide, o);
    INFO(wide / 20 << " inputs: " << few * 1e9 << " ns, " << wide << ": " << many * 1e9 << " ns");
    CHECK(many < 4 * few);
  }
}

TEST_CASE("a restored cycle of many inputs is opened again in time that is linear in them") {
  auto opening = [](int64 width) {
    auto ds = range(width) | interleave([](int64) { return range(3); }, {.cycle_length = width});
    consumption first;
    first.elements_max = static_cast<std::size_t>(width) + 10;
    first.ask_max = 97;
    first.save = true;
    consumed whole = consume(ds, first);
    double least = 1e9;
    for (int i = 0; i != 3; ++i) {
      consumption rest;
      rest.from = whole.places.back();
      rest.elements_max = 1;
      rest.ask_max = 1;
      double start = cpu_seconds();
      CHECK(consume(ds, rest).elements.size() == 1);
      least = std::min(least, cpu_seconds() - start);
    }
    return least;
  };
  double few = opening(1'000), many = opening(16'000);
  INFO("1,000 inputs: " << few * 1e3 << " ms, 16,000: " << many * 1e3 << " ms");
  CHECK(many < 64 * few);  // 16 times would be linear, 256 quadratic
}

TEST_CASE("interleave prints as text, and is read again") {
  round_trips(*(range(5) | interleave(open_some, {.cycle_length = 3, .order = order::sloppy})).plan(),
              "range(5) | interleave(open_some, cycle_length=3, order=sloppy)");
}

}  // namespace sluice::lib::interleave_test
