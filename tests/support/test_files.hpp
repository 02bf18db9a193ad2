// SPDX-License-Identifier: Apache-2.0
// The files that a test's plan reads: names and bytes, for a simulation's memory and for a real disk alike.
//
//   test_files files = {.bytes = {{"numbers/3", record_file(3, seed)}}};
//   put_files(world, rt, files);                    // in memory: slow, short and in pieces, as the world's seed has it
//
//   set_files(rt, files_on_disk());                 // a real runtime, once: its paths are those below one temporary folder
//   write_files(files);                             // and each file is written there once
//
// A path says all that its bytes depend on (`path_of`), so that files of several plans may stand beside each other.
// Thread: that of the test.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace sluice::lib {
class file_system;
class runtime;
class simulation;
}  // namespace sluice::lib

namespace sluice::lib::test {

struct test_files {
  std::map<std::string, std::string> bytes = {};  ///< by path
  /// Of a simulation: the files are written two seconds later, so that they are others of the same sizes.
  bool replaced = false;
};

/// Adds `more`. Throws logic_error where a path has other bytes in one than in the other.
void add_files(test_files& to, const test_files& more);

/// Gives the runtime of a simulation these files. Delays, short reads and what is in the page cache are drawn from the
/// world's seed.
void put_files(simulation& world, runtime& rt, const test_files& files);

/// The real file system over paths below a temporary folder of this process.
std::unique_ptr<file_system> files_on_disk();
/// Writes those into that folder that are not there yet.
void write_files(const test_files& files);

/// "of-17-503", or "of-17-503/name".
std::string path_of(std::string_view of, std::int64_t a, std::uint64_t b, std::string_view name = {});

/// How an element stands in a file: the number, and then some letters, whose count is drawn from x and b: usually a few, now
/// and then more than a file is read in at once.
std::string text_of_number(std::int64_t x, std::uint64_t b);
template <class Slice> std::int64_t number_in(const Slice& element) {
  return std::atoll(std::string(element.view().substr(0, 24)).c_str());
}

/// A TFRecord file of the numbers from `first` on.
std::string record_file(std::int64_t records, std::uint64_t b, std::int64_t first = 0);

}  // namespace sluice::lib::test
