// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/npy.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "engine/by_number/planned_index.hpp"
#include "engine/files/file_stage.hpp"
#include "format/npy_rows.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "plan/matching_files.hpp"
#include "runtime/held_memory.hpp"

namespace sluice::lib {

namespace {

class npy_format final : public element_format {
 public:
  /// `memory`: for an array in Fortran order.
  explicit npy_format(std::unique_ptr<held_memory> memory) : memory_(std::move(memory)) {}

  found scan(const byte_window& w, buffer& owner, void* to, std::size_t elements_max) const override {
    if (w.offset == 0) return read_head(w);
    found f;
    const std::uint64_t there = std::min<std::uint64_t>(rows_left(w), w.bytes.size() / row_bytes());
    const std::size_t n = static_cast<std::size_t>(std::min<std::uint64_t>(there, elements_max));
    auto* rows = static_cast<tensor*>(to);
    for (; f.elements != n; ++f.elements) {
      try {
        ::new (static_cast<void*>(rows + f.elements))
            tensor(head_.is_fortran ? head_.fortran_row(columns_->data(), (w.offset - data_) / row_bytes() + f.elements)
                                    : head_.row(w.bytes.data() + f.used_bytes, owner));
      } catch (const error& e) {
        if (f.elements) return f;  // elements before it are delivered first
        f.why = e.why();
        f.damaged_bytes = head_.row_bytes;
        return f;
      }
      f.used_bytes += head_.row_bytes;
    }
    return f.elements ? f : without_row(w);
  }
  found pass_over(const byte_window& w, std::uint64_t elements_max) const override {
    if (w.offset == 0) return elements_max == 0 || (w.last && w.bytes.empty()) ? at_start(w) : read_head(w);
    const bool may_seek = w.end != provenance::kUnknown;
    const std::uint64_t bytes = !may_seek ? w.bytes.size() : w.end > w.offset ? w.end - w.offset : 0;
    found f;
    f.elements = static_cast<std::size_t>(std::min({elements_max, rows_left(w), bytes / row_bytes()}));
    f.used_bytes = f.elements * head_.row_bytes;
    return f.elements ? f : without_row(w);
  }
  bool may_begin(const byte_window& rest, std::string_view) const override {
    return rest.offset >= data_ && (rest.offset - data_) % row_bytes() == 0 &&
           (rest.offset - data_) / row_bytes() <= head_.rows;
  }
  bool has_head() const override { return true; }
  found read_head(const byte_window& w) const override {
    found f;
    npy_scan s = read_npy_head(w.view(), head_);
    f.needed_bytes = s.needed_bytes;
    f.used_bytes = data_ = s.used_bytes;
    f.why = std::move(s.why);
    if (w.last && f.why.ok() && s.needed_bytes)
      f.why = data_loss_error("not a file of NumPy: it ends within its header");
    if (!f.why.ok() || f.needed_bytes || !head_.is_fortran || head_.rows == 0) return f;
    return read_columns(w);
  }

 private:
  std::uint64_t row_bytes() const { return head_.row_bytes ? head_.row_bytes : 1; }
  std::uint64_t rows_left(const byte_window& w) const {
    return head_.rows - std::min(head_.rows, (w.offset - data_) / row_bytes());
  }
  found at_start(const byte_window& w) const {
    found f;
    f.needed_bytes = 12;
    const bool is_empty = w.last && w.bytes.empty();
    f.ended = is_empty && std::exchange(is_reported_, true);
    if (is_empty && !f.ended) f.why = data_loss_error("not a file of NumPy: it is empty");
    return f;
  }
  /// Copies an array in Fortran order, whose rows are spread over the whole file, as its bytes arrive. The head is
  /// complete when they are all there; the stage then passes over the rows' bytes as if they were in C order.
  found read_columns(const byte_window& w) const {
    constexpr std::size_t kStepBytes = std::size_t{1} << 20;
    const bool is_known = w.end != provenance::kUnknown;
    const std::uint64_t all = head_.rows * head_.row_bytes, there = w.bytes.size() - data_;
    const std::uint64_t has = is_known ? w.end - data_ : there;
    found f;
    if ((is_known || w.last) && has < all) {
      f.why = data_loss_error(absl::StrCat("the file ends before its last rows: an array in Fortran order has ", all,
                                           " bytes, and ", all - has, " of them are missing"));
      return f;
    }
    // Without the file's size the memory grows with the bytes that were read: a header may declare any size.
    f.why = make_room(is_known ? all : std::min(all, std::max<std::uint64_t>(2 * there, kStepBytes)));
    if (!f.why.ok()) return f;
    const auto n = static_cast<std::size_t>(std::min(all, there));
    if (n > copied_bytes_)
      std::memcpy(columns_->data() + copied_bytes_, w.bytes.data() + data_ + copied_bytes_, n - copied_bytes_);
    copied_bytes_ = n;
    if (n == all) {
      f.used_bytes = data_;
      copied_bytes_ = 0;
    } else {
      f.needed_bytes = static_cast<std::size_t>(data_ + std::min<std::uint64_t>(all, n + kStepBytes));
    }
    return f;
  }

  /// Makes room for `bytes` bytes of the array, and retains the bytes that were copied.
  status make_room(std::uint64_t bytes) const {
    if (columns_ && columns_->capacity() >= bytes) return {};
    if (bytes > memory_->budget_bytes()) return memory_->refused_of(static_cast<std::size_t>(bytes));
    const status why = memory_->resize(static_cast<std::size_t>(bytes));
    if (!why.ok()) return why;
    buffer_ref larger(buffer::make_exact(static_cast<std::size_t>(bytes)));
    if (copied_bytes_) std::memcpy(larger->data(), columns_->data(), copied_bytes_);
    columns_ = std::move(larger);
    return {};
  }

  /// Returns the result for a window without a whole row.
  found without_row(const byte_window& w) const {
    found f;
    if (is_reported_) {
      f.ended = true;
      return f;
    }
    if (rows_left(w) == 0) return after_rows(w);
    const bool is_short =
        w.last || (w.end != provenance::kUnknown && (w.end < w.offset || w.end - w.offset < head_.row_bytes));
    if (is_short) {
      is_reported_ = true;
      f.why = data_loss_error(
          absl::StrCat("the file ends before its last rows: ", rows_left(w), " of ", head_.rows, " are missing"));
    }
    // A header may declare rows of any length, so the window grows to at most twice the present bytes.
    f.needed_bytes =
        static_cast<std::size_t>(std::min<std::uint64_t>(head_.row_bytes, w.bytes.size() * 2 + (64 << 10)));
    return f;
  }

  /// Returns the result after the last row, where the file must end.
  found after_rows(const byte_window& w) const {
    found f;
    f.ended = w.last && w.bytes.empty();
    if (f.ended) return f;
    const bool is_known = w.end != provenance::kUnknown || w.last;
    const std::uint64_t left = w.end != provenance::kUnknown ? w.end - std::min(w.end, w.offset) : w.bytes.size();
    if (is_known ? left == 0 : w.bytes.empty()) {
      f.ended = is_known;
      f.needed_bytes = 1;
      return f;
    }
    is_reported_ = true;
    // Without the number of bytes, which is unknown if the file is compressed.
    f.why = data_loss_error(absl::StrCat("bytes follow the ", head_.rows,
                                         " rows that the header declares, and are not read: another array may have "
                                         "been appended; save each to a file of its own"));
    return f;
  }

  mutable npy_head head_{};  // a stage has a format of its own: one thread at a time
  mutable std::uint64_t data_ = 0;
  const std::unique_ptr<held_memory> memory_;
  mutable buffer_ref columns_;            ///< an array in Fortran order
  mutable std::size_t copied_bytes_ = 0;  ///< of such an array, while it is read
  mutable bool is_reported_ = false;      ///< the error of a file that is too short was returned, and nothing follows
};

erased_stream open_npy(const node& n, open_context& context) {
  auto memory =
      std::make_unique<held_memory>(context.run, context.site(n).line(purpose::open_file), context.gate(n).label(),
                                    "an array in Fortran order, whose rows are spread over the whole file",
                                    "save numpy.ascontiguousarray(x), whose rows are read one after the other");
  return open_file_stage(n, context, reading_with<npy_arguments>(n, context),
                         std::make_shared<npy_format>(std::move(memory)));
}

}  // namespace

const op_info npy_op{
    .name = "npy",
    .doc = "the rows of an array that NumPy has saved, as tensors",
    .shape = op_info::source,
    .arguments = arguments_of<npy_arguments>,
    .of_matches = plan_of_matching_files,
    .type = [](const node&, std::string&) { return &type_of<tensor>(); },
    .facts = {.seeks = seeks_in_plain_file<npy_arguments>},
    .splits = {.rule = split_rule::one_file,
               .skips_in_file =
                   [](const node& n) { return n.as<npy_arguments>().options.compression <= compression::none; }},
    .lowering = {.open = open_npy},
};

}  // namespace sluice::lib
