// SPDX-License-Identifier: Apache-2.0
// interleave: what it gives, by plain loops.

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "op/opened_elements.hpp"
#include "sluice/format/tfrecord_frames.hpp"
#include "sluice/io/memory_files.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/file_case.hpp"
#include "support/trials/verb_case.hpp"
#include "verbs/interleave_model.hpp"

namespace sluice::lib::interleave_case {
namespace {

using namespace test;
using int64 = std::int64_t;

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

constexpr int64 kOfOneFile = 1'000;

// numbers
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
}  // namespace sluice::lib::interleave_case
