// SPDX-License-Identifier: Apache-2.0
// Types of the arguments of operators, in addition to bool, std::int64_t, double, std::string and enums of one byte.
// The type of an argument determines how plan text prints and parses it, and which values are allowed.
//
//   struct shuffle_options {
//     sluice::lib::seed seed = {};
//     bool reshuffle_each_iteration = true;
//   };
//
// An argument is required if its type's default value is not an allowed value (count, integer, required_text). Every
// member of an options struct has an initializer (`= {}`); otherwise a partial {.seed = 7} would warn under -Wextra.
// See: plan/arguments.hpp for whole lists of arguments, functions and inner plans.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace sluice::lib {

/// A required whole number ≥ 1.
struct count {
  std::int64_t value = 0;
  constexpr count() = default;
  constexpr count(std::int64_t v) : value(v) {}  // NOLINT: numbers are written as numbers
  constexpr operator std::int64_t() const { return value; }
};

/// A required whole number, which may be 0 or negative, as in take(0) and range(-5).
struct integer {
  static constexpr std::int64_t kNotGiven = INT64_MIN;
  std::int64_t value = kNotGiven;
  constexpr integer() = default;
  constexpr integer(std::int64_t v) : value(v) {}  // NOLINT
  constexpr operator std::int64_t() const { return value; }
};

/// A required whole number ≥ 0, or -1: all elements.
struct count_or_all {
  static constexpr std::int64_t kAll = -1, kNotGiven = INT64_MIN;
  std::int64_t value = kNotGiven;
  constexpr count_or_all() = default;
  constexpr count_or_all(std::int64_t v) : value(v) {}  // NOLINT
  constexpr operator std::int64_t() const { return value; }
  constexpr bool is_all() const { return value == kAll; }
};

/// A limit that changes the speed of a run and never its elements: a number ≥ 1, or `autotune`. Not part of
/// fingerprints. A knob that is not given is 1, and plan text omits it; rules of the optimizer may raise it, but never a
/// 1 that a program has written.
struct knob {
  static constexpr std::int64_t kAutotune = -1;
  std::int64_t value = 1;
  bool is_given = false;
  constexpr knob() = default;
  constexpr knob(std::int64_t v) : value(v), is_given(true) {}  // NOLINT
  constexpr bool is_autotuned() const { return value == kAutotune; }
};
inline constexpr knob autotune{knob::kAutotune};

/// A count, or a knob, of at most `Most`: a larger one is rejected when the plan is built, and a run does not set a
/// knob higher.
///   knob_up_to<1024> reads_in_flight = autotune;
template <std::int64_t Most> struct count_up_to : count {
  static constexpr std::int64_t kMost = Most;
  using count::count;
  constexpr count_up_to() = default;
};
template <std::int64_t Most> struct knob_up_to : knob {
  static constexpr std::int64_t kMost = Most;
  using knob::knob;
  constexpr knob_up_to() = default;
  constexpr knob_up_to(knob k) : knob(k) {}  // NOLINT: autotune is a knob
};

/// The seed of random draws: a number ≥ 0, or none.
struct seed {
  static constexpr std::int64_t kDrawn = -1;  ///< from the run's seed and the site
  std::int64_t value = kDrawn;
  constexpr seed() = default;
  constexpr seed(std::int64_t v) : value(v) {}  // NOLINT
};

/// A seed that was added to an operator after checkpoints of it existed: part of a fingerprint only if it is given.
struct later_seed : seed {
  using seed::seed;
};

/// A size ≥ 0; plan text writes 64MiB.
struct byte_size {
  std::int64_t value = 0;
  constexpr byte_size() = default;
  constexpr byte_size(std::int64_t v) : value(v) {}  // NOLINT
};
/// Parses "64MiB" or "64M", "1 GiB", "4096", "1.5KiB" (powers of 1024), "64MB", "64kB", "64KB" (of 1000). Returns false
/// if the text is not a size.
bool read_byte_size(std::string_view text, std::int64_t& bytes);
std::string print_byte_size(std::int64_t bytes);

/// A required text; it may be empty.
struct required_text {
  std::string value{};
  bool is_given = false;
  required_text() = default;
  required_text(std::string v) : value(std::move(v)), is_given(true) {}  // NOLINT: texts are written as texts
};

/// A required text, except that a plan whose source lacks it is a reader: each element of the operator that opens the
/// reader then supplies the text, as in interleave(tfrecord).
struct later_text : required_text {
  using required_text::required_text;
};

/// The path of a file, as a later_text.
struct file_path : later_text {
  using later_text::later_text;
};

enum class order : std::uint8_t { deterministic, sloppy };
// Users write {.order = sloppy}. Only these two constants are in the namespace sluice, because programs use the name
// `order` themselves.
inline constexpr order deterministic = order::deterministic;
inline constexpr order sloppy = order::sloppy;
/// `snappy` is the framing of the snappy project. `snappy_blocks` is TensorFlow's: a length before each block.
enum class compression : std::uint8_t { automatic, none, gzip, zlib, zstd, lz4, snappy, snappy_blocks, bzip2, xz };

/// The effect of reading a file on the kernel's page cache. It changes the speed of this and other programs, but no
/// elements, and is not part of fingerprints.
enum class page_cache : std::uint8_t {
  keep,  ///< as the kernel decides: usually all pages stay
  /// Pages are released after they are read, possibly including pages that were cached before.
  drop,
  /// Bypasses the page cache (O_DIRECT); the same as `drop` if the file system does not support that.
  direct,
};

/// The reaction of a run if a checkpoint cannot detect changes of a part of its plan: of a function without a version, or
/// of data in memory that cannot be compared (plan/identity.hpp). Not part of fingerprints.
enum class external_state : std::uint8_t {
  warn,    ///< a warning, once per run
  ignore,  ///< no warning
  refuse,  ///< no checkpoint: position() and a resume fail with failed_precondition
};

/// The largest size of a decompressed file: one byte more is an error. 0: no limit. Not part of fingerprints, since it
/// changes no element.
struct size_limit : byte_size {
  using byte_size::byte_size;
};
/// The largest ratio of decompressed to compressed size. 0: no limit.
struct ratio_limit {
  std::int64_t value = 0;
  constexpr ratio_limit() = default;
  constexpr ratio_limit(std::int64_t v) : value(v) {}  // NOLINT: numbers are written as numbers
};

/// The reaction of a reader under error_policy::skip to damage of unknown length. Part of fingerprints only if it is
/// given.
enum class after_damage : std::uint8_t {
  search,    ///< continues with the next element that can be found
  end_file,  ///< drops the rest of the file, as one bad element
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::after_damage;
using lib::autotune;
using lib::compression;
using lib::deterministic;
using lib::external_state;
using lib::page_cache;
using lib::sloppy;

}  // namespace sluice
