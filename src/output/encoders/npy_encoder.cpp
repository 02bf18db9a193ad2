// SPDX-License-Identifier: Apache-2.0
// Encodes elements as one NumPy array. The header contains their number, so its bytes are reserved first and written at
// the end.
#include <algorithm>

#include "element/scalars.hpp"
#include "format/npy_header.hpp"
#include "output/encoders/element_encoder.hpp"
#include "sluice/coro/position.hpp"
#include "sluice/element/batched.hpp"

namespace sluice::lib {
namespace {

constexpr std::size_t kRankMax = tensor_shape::kRankMax;

/// Returns the spec of the values of a number, or of arrays of numbers; nothing for other types.
std::optional<tensor_spec> npy_spec_of(const element_type& type) {
  std::vector<std::int64_t> dims;
  const element_type* t = &type;
  for (; t->kind == kind::array; t = t->element) dims.push_back(static_cast<std::int64_t>(t->extent));
  if (t->kind != kind::scalar || dims.size() > kRankMax) return {};
  return tensor_spec{*dtype_of(*t), tensor_shape(dims)};
}

/// All texts of an array take as many bytes as its longest text, which is unknown until the last one has arrived.
status texts_refused(const std::string& element) {
  return invalid_argument_error(
      "npy holds one array of numbers, and an element is " + element +
      ": texts would all be as wide as the longest, which is known only after the last one; write "
      "jsonl, csv or arrow, or a number for each text, such as lookup(it, \"words.txt\")");
}

status check_row(const element_type& row) {
  if (row.kind == kind::tensor) return {};
  if (npy_spec_of(row)) return {};
  const element_type* innermost = &row;
  while (innermost->kind == kind::array) innermost = innermost->element;
  if (innermost->kind == kind::text) return texts_refused(row.name);
  return invalid_argument_error("npy holds one array of numbers, and an element is " + row.name +
                                ": choose a member that is a number, an array or a tensor by a map");
}

class npy_encoder final : public element_encoder {
 public:
  explicit npy_encoder(const element_type& type) : type_(type), row_(type.kind == kind::batch ? *type.element : type) {
    if (auto spec = npy_spec_of(row_)) spec_ = *spec, is_known_ = true;
  }

  status append(const char* elements, std::size_t n, encoded& to) override {
    for (std::size_t i = 0; i != n; ++i) {
      status why = append_one(elements + i * type_.size, to);
      if (!why.ok()) return why;
      to.ends.push_back(to.bytes.size());
    }
    return {};
  }
  /// An array without rows has a header as well.
  status end(encoded& to) override {
    if (!is_known_) spec_ = expected_;
    return make_room(to);
  }
  void expect_rows(const tensor_spec& spec) override { expected_ = spec; }
  std::string head() const override {
    if (room_ == 0) return {};
    std::vector<std::int64_t> shape{rows_};
    const auto dims = spec_.shape.dims();
    shape.insert(shape.end(), dims.begin(), dims.end());
    return npy_header(spec_.dtype, shape, room_);
  }
  std::string save() const override {
    position_writer w;
    w.number(room_);
    w.number(static_cast<std::uint64_t>(rows_));
    w.number(static_cast<std::uint64_t>(spec_.dtype));
    w.number(spec_.shape.rank());
    for (std::int64_t d : spec_.shape.dims()) w.number(static_cast<std::uint64_t>(d));
    return w.bytes();
  }
  status load(std::string_view bytes) override {
    position_reader r(bytes);
    const std::uint64_t room = r.number(), rows = r.number(), type = r.number(), rank = r.number();
    std::vector<std::int64_t> dims;
    for (std::uint64_t i = 0; i < rank && rank <= kRankMax; ++i) dims.push_back(static_cast<std::int64_t>(r.number()));
    bool is_sound = r.ok() && r.done() && rank <= kRankMax && type < static_cast<std::uint64_t>(kDtypes) &&
                    npy_descr(static_cast<dtype>(type)) && rows <= static_cast<std::uint64_t>(INT64_MAX) &&
                    std::all_of(dims.begin(), dims.end(), [](std::int64_t d) { return d >= 0; });
    if (!is_sound) return data_loss_error("its description of an npy file is damaged");
    if (room == 0) return {};  // nothing was written yet
    tensor_spec spec{static_cast<dtype>(type), tensor_shape(dims)};
    if ((is_known_ && spec != spec_) || room != npy_header_room(spec.dtype, spec.shape.dims()))
      return data_loss_error("its description of an npy file does not fit the plan");
    spec_ = spec;
    is_known_ = true;
    room_ = room;
    rows_ = static_cast<std::int64_t>(rows);
    return {};
  }

 private:
  status append_one(const char* element, encoded& to) {
    if (type_.kind == kind::batch) {
      auto& rows = *reinterpret_cast<const batch_storage*>(element);
      if (rows.empty()) return {};
      const column& c = rows.rows_column();
      const auto n = static_cast<std::size_t>(rows.rows());
      return append_tensor(detail::stacked(row_, &c, c.gone_in_front(), n), true, to);
    }
    if (type_.kind == kind::tensor) return append_tensor(*reinterpret_cast<const tensor*>(element), false, to);
    status why = make_room(to);
    if (!why.ok()) return why;
    to.bytes.append(element, type_.size);  // numbers and arrays of them are their bytes, little-endian
    ++rows_;
    return {};
  }
  /// `has_rows`: the tensor's first dimension counts rows.
  status append_tensor(const tensor& t, bool has_rows, encoded& to) {
    tensor_spec spec{t.dtype(), tensor_shape(t.shape().subspan(has_rows ? 1 : 0))};
    if (!is_known_ && spec.dtype == dtype::string) return texts_refused(spec.text());
    if (!is_known_ && !npy_descr(spec.dtype))
      return invalid_argument_error("npy has no " + std::string(name_of(spec.dtype)) + ", and an element is " +
                                    spec.text());
    if (is_known_ && spec != spec_)
      return invalid_argument_error("npy holds one array: row " + std::to_string(rows_) + " is " + spec.text() +
                                    ", and those before it are " + spec_.text());
    spec_ = spec;
    is_known_ = true;
    status why = make_room(to);
    if (!why.ok()) return why;
    to.bytes.append(t.data() ? t.data() : "", t.size_bytes());
    rows_ += has_rows ? t.shape()[0] : 1;
    return {};
  }
  status make_room(encoded& to) {
    if (room_ != 0) return {};
    room_ = npy_header_room(spec_.dtype, spec_.shape.dims());
    to.bytes.append(room_, ' ');
    return {};
  }

  const element_type& type_;
  const element_type& row_;
  tensor_spec spec_;                          ///< the spec of a row
  tensor_spec expected_{dtype::float32, {}};  ///< the row's spec in an array without rows
  bool is_known_ = false;                     ///< for tensors, true from the first element on
  std::size_t room_ = 0;                      ///< the size of the header; 0: not written yet
  std::int64_t rows_ = 0;
};

}  // namespace

result<std::unique_ptr<element_encoder>> make_npy_encoder(const element_type& type) {
  status why = check_row(type.kind == kind::batch ? *type.element : type);
  if (!why.ok()) return why;
  return std::unique_ptr<element_encoder>(std::make_unique<npy_encoder>(type));
}

}  // namespace sluice::lib
