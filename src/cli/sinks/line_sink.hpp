// SPDX-License-Identifier: Apache-2.0
// Prints elements as lines of text on standard output, for head, cat and select.
#pragma once

#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

#include "output/element_sink.hpp"
#include "output/output_stream.hpp"
#include "sluice/base/status.hpp"

namespace sluice::lib::cli {

/// Receives elements with the JSON that a line_sink makes of them.
class line_receiver {
 public:
  virtual void add(const element_type& type, const void* element, std::string_view json) = 0;

 protected:
  ~line_receiver() = default;
};

class line_sink : public element_sink {
 public:
  /// Passes the lines to `receiver` in place of standard output.
  void print_to(line_receiver* receiver) { receiver_ = receiver; }
  status take(const block& elements) final;
  bool closed() const final { return out_.closed(); }

  /// Starts a file: errors name it, and its records are counted from 0.
  void begin(std::string file) {
    file_ = std::move(file);
    records_ = 0;
  }

 protected:
  /// Appends one element as a line, without its newline. Errors: the element cannot be printed; the lines before it are
  /// written.
  virtual status print_line(const element_type& type, const void* element, std::string& text) = 0;
  /// Returns the number of the record being printed, within the file begun last.
  std::uint64_t record() const { return records_; }

 private:
  output_stream out_{STDOUT_FILENO, "standard output", -1, false};
  std::string file_;
  std::uint64_t records_ = 0;
  line_receiver* receiver_ = nullptr;
  const bool is_terminal_ = ::isatty(STDOUT_FILENO) != 0;
};

/// Prints elements as run --output jsonl does.
class printing_sink final : public line_sink {
 protected:
  status print_line(const element_type& type, const void* element, std::string& text) override {
    print(type, element, text);
    return {};
  }
};

/// Prints elements, and shows their records as the tf.Examples that they contain: JSON objects with names. This
/// includes records that are members of pairs, tuples and structures.
class example_sink : public line_sink {
 public:
  /// Decides how to print a record that is not a tf.Example. If it is the first record of all, it and all others are
  /// printed as records.
  enum other : std::uint8_t {
    in_front,    ///< an error after a tf.Example
    is_printed,  ///< it is printed as a record
  };
  explicit example_sink(other what) : other_(what) {}

 protected:
  status print_line(const element_type& type, const void* element, std::string& text) override {
    return print_part(type, element, text);
  }

 private:
  bool is_shown_as_example(std::string_view record, const result<std::string>& json) const;
  status print_part(const element_type& type, const void* part, std::string& text);
  status print_members(const element_type& type, const void* element, std::string& text);

  const other other_;
  bool has_shown_ = false;    ///< a tf.Example
  bool is_raw_ = false;       ///< the first record that is not empty was not a tf.Example
  bool empty_shown_ = false;  ///< an empty record was printed as a tf.Example, and so are all others
};

}  // namespace sluice::lib::cli
