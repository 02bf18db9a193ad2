// SPDX-License-Identifier: Apache-2.0
// The stage of a source whose texts are parsed by several tasks: a file stage cuts the file into texts, one for each
// element, and a channel parses blocks of them, in order.
//
//   open_parsed_texts(n, context, reading, std::make_shared<cutter>(), std::make_shared<parser>(), a.options.parallelism)
//
// Order:  as in the file.
// Errors: those of the file stage and the parser, in their place, with the same file, offset and record as a file stage
//         that parses by itself.
// State:  the file stage's, under the site of the node: byte offset and index of the next element. So a checkpoint fits
//         the stage that parses by itself, and the reverse.
// Thread: parse() is called from several workers at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "engine/files/file_stage.hpp"
#include "sluice/base/field_types.hpp"
#include "sluice/element/slice.hpp"

namespace sluice::lib {

/// The text of one element, and its place in the file, for errors. A cutter yields these.
struct cut_text {
  slice text{};
  std::uint64_t offset = 0;
  std::uint64_t line = 0;  ///< 0: unknown

  /// Drops the references of adjacent texts of one buffer together: several tasks count in it.
  static void sluice_destroy(cut_text* p, std::size_t n) noexcept;
  static std::size_t sluice_footprint(const cut_text* p, std::size_t n) noexcept;
};

class text_parser {
 public:
  virtual ~text_parser() = default;
  /// Builds n elements at uninitialised `to`, up to the first that fails. Returns the number of elements; stores the error
  /// of the next one in `why`, without its place.
  virtual std::uint32_t parse(const cut_text* from, std::uint32_t n, char* to, status& why) const = 0;
  /// Appends the elements to `rows` instead. Only parsers passed to open_parsed_rows() implement it.
  virtual std::uint32_t append(const cut_text* from, std::uint32_t n, column& rows, status& why) const;
};

/// Returns true if several tasks parse the texts: the plan sets this parallelism, the node is not opened for a consumer
/// that requests single elements, and bad elements are not dropped. A position counts dropped elements, which a parser
/// finds too late for the stage that cuts. An autotuned parallelism is 1 on a single worker, where cutting only adds work.
bool parses_ahead(const node& n, const open_context& context, const knob& parallelism);

/// REQUIRES: parses_ahead(). `cutter`: its elements are cut_texts. `parallelism`: an argument of n.
erased_stream open_parsed_texts(const node& n, open_context& context, byte_source_options o,
                                std::shared_ptr<const element_format> cutter, std::shared_ptr<const text_parser> parser,
                                const knob& parallelism);

/// The same for op_info::open_rows: the tasks build rows in columns, which a batch adopts. REQUIRES: parses_ahead(), and
/// rows that always stack.
erased_stream open_parsed_rows(const node& n, open_context& context, byte_source_options o,
                               std::shared_ptr<const element_format> cutter, std::shared_ptr<const text_parser> parser,
                               const knob& parallelism, std::shared_ptr<row_landing> landing);

}  // namespace sluice::lib
