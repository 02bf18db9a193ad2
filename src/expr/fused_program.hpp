// SPDX-License-Identifier: Apache-2.0
// The programs of consecutive maps and filters as one: it computes a chunk of elements through all of them, and stores
// only the last values. Numbers in between are registers, and common parts are computed once.
//
// It only knows how to succeed. If any element fails, the caller computes the elements again, one program after the
// other, which finds the error and its place.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "expr/evaluation.hpp"
#include "expr/program.hpp"

namespace sluice::lib {

/// One of the programs. REQUIRES: the expression outlives the call of make().
struct fused_part {
  const expression* text;
  const element_type* in;
  const element_type* wanted;  ///< the required type of the values; null: unknown, or a filter
  bool is_filter;
};

/// The number of a program's first element, and its seed.
struct program_place {
  std::uint64_t ordinal = 0;
  std::uint64_t seed = 0;
};

class fused_program {
 public:
  /// Returns null if values between the programs are no numbers or structures of numbers, if a part is computed from
  /// values that own memory, or if no program builds values. With `from_columns` the elements are rows of columns. Filters
  /// alone then build the elements that they keep; null: if parts are read for which objects would be built.
  static std::unique_ptr<const fused_program> make(std::span<const fused_part> parts, callables& functions,
                                                   bool from_columns = false);
  ~fused_program();
  fused_program(const fused_program&) = delete;

  /// The memory for a computation, to be used by one thread at a time.
  std::unique_ptr<expressions::evaluation> make_room() const;
  /// Computes the values of n elements, which are only read, and constructs them at `to`. `places`: of each program.
  /// Adds the number of elements that each filter keeps to `kept`, by program. Returns false if an element fails: what is
  /// at `to` then needs no destruction, and `kept` is unspecified.
  bool compute(expressions::evaluation& room, const void* elements, std::uint32_t n, void* to,
               std::span<const program_place> places, std::uint32_t* kept) const;
  /// Does the same for rows of columns. REQUIRES: it was made for them.
  bool compute(expressions::evaluation& room, const column_view& rows, void* to, std::span<const program_place> places,
               std::uint32_t* kept) const;

 private:
  struct step;
  fused_program();
  bool add(const fused_part& part, callables& functions, bool from_columns, bool is_last);
  template <class Start>
  bool compute_chunks(expressions::evaluation& ev, std::uint32_t n, void* to, std::span<const program_place> places,
                      std::uint32_t* kept, Start start) const;
  expressions::selection filtered(const step& s, expressions::evaluation& ev, expressions::selection all) const;
  std::uint32_t compute_chunk(expressions::evaluation& ev, std::uint32_t first, std::uint32_t n, char* to,
                              std::span<const program_place> places, std::uint32_t* kept) const;

  const element_type* in_ = nullptr;
  const element_type* out_ = nullptr;
  std::vector<std::unique_ptr<step>> steps_;
  std::unique_ptr<expressions::computed> element_;  ///< builds the elements that filters alone keep; else null
  std::unique_ptr<expressions::shared_values> shared_;
  std::size_t variables_ = 0;
};

}  // namespace sluice::lib
