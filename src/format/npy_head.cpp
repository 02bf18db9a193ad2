// SPDX-License-Identifier: Apache-2.0
#include "format/npy_rows.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <absl/strings/str_cat.h>

#include "base/text/ascii.hpp"

namespace sluice::lib {
namespace {

constexpr std::string_view kNpyMagic("\x93NUMPY", 6);
constexpr std::uint64_t kNpyFileBytesMax = std::uint64_t{1} << 62;

[[noreturn]] void refuse_npy(std::string_view why) {
  throw_status(data_loss_error(absl::StrCat("not a file of NumPy, or damaged: ", std::string(why))));
}

/// Parses the header's text, a dict of Python.
class npy_dict_reader {
 public:
  explicit npy_dict_reader(std::string_view text) : text_(text) {}

  void read() {
    expect('{');
    while (!take('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr") descr = descr_text();
      else if (key == "fortran_order") fortran = boolean();
      else if (key == "shape") shape = tuple();
      else refuse_npy("its header has the key " + key);
      if (!take(',') && !at('}')) refuse_npy("a comma is missing in its header");
    }
    spaces();
    if (at_ != text_.size()) refuse_npy("text follows its header");
    if (!descr || !fortran || !shape) refuse_npy("its header lacks descr, fortran_order or shape");
  }

  std::optional<std::string> descr{};
  std::optional<bool> fortran{};
  std::optional<std::vector<std::int64_t>> shape{};

 private:
  void spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool at(char c) {
    spaces();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool take(char c) {
    const bool exists = at(c);
    at_ += exists;
    return exists;
  }
  void expect(char c) {
    if (!take(c)) refuse_npy(absl::StrCat("its header lacks '", std::string(1, c), "'"));
  }
  std::string quoted() {
    spaces();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    const std::size_t end = quote == '\'' || quote == '"' ? text_.find(quote, at_ + 1) : text_.npos;
    if (end == text_.npos) refuse_npy("its header lacks a text in quotes");
    std::string out(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return out;
  }
  std::string descr_text() {
    if (at('['))
      throw_status(unimplemented_error(
          absl::StrCat("rows with fields (a structured dtype) are not read: save each field to a file, numpy.save(\"",
                       first_field(), ".npy\", x[\"", first_field(), "\"])")));
    return quoted();
  }
  /// The name of the first field, for an example.
  std::string first_field() const {
    const std::size_t begin = text_.find_first_of("'\"", at_);
    const std::size_t end = begin == text_.npos ? begin : text_.find(text_[begin], begin + 1);
    return end == text_.npos ? "field"
                             : std::string(text_.substr(begin + 1, std::min<std::size_t>(end - begin - 1, 40)));
  }
  bool boolean() {
    spaces();
    for (bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    refuse_npy("fortran_order is neither True nor False");
  }
  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> all;
    expect('(');
    while (!take(')')) {
      spaces();
      std::int64_t n = 0;
      const char *begin = text_.data() + at_, *end = text_.data() + text_.size();
      auto r = std::from_chars(begin, end, n);
      if (r.ec != std::errc() || n < 0) refuse_npy("its shape has no such dimension");
      if (all.size() == tensor_shape::kRankMax + 1)
        throw_status(invalid_argument_error("the array has more than 9 dimensions, and its rows more than 8"));
      at_ += static_cast<std::size_t>(r.ptr - begin);
      if (at('L')) take('L');  // the suffix of long numbers in Python 2
      all.push_back(n);
      if (!take(',') && !at(')')) refuse_npy("a comma is missing in its shape");
    }
    return all;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

struct npy_dtype_code {
  std::string_view code;  ///< without the byte order
  std::string_view names[3];
  lib::dtype dtype;
  std::size_t bytes;
};
/// NumPy writes the codes. Other programs also write its names and letters. Letters and names whose size depends on the
/// machine (l, int, long) are left out.
constexpr npy_dtype_code kNpyDtypes[] = {
    {"b1", {"?", "bool", "bool_"}, dtype::boolean, 1},      {"i1", {"b", "int8", "byte"}, dtype::int8, 1},
    {"i2", {"h", "int16", "short"}, dtype::int16, 2},       {"i4", {"i", "int32", "intc"}, dtype::int32, 4},
    {"i8", {"q", "int64", "longlong"}, dtype::int64, 8},    {"u1", {"B", "uint8", "ubyte"}, dtype::uint8, 1},
    {"u2", {"H", "uint16", "ushort"}, dtype::uint16, 2},    {"u4", {"I", "uint32", "uintc"}, dtype::uint32, 4},
    {"u8", {"Q", "uint64", "ulonglong"}, dtype::uint64, 8}, {"f2", {"e", "float16", "half"}, dtype::float16, 2},
    {"f4", {"f", "float32", "single"}, dtype::float32, 4},  {"f8", {"d", "float64", "double"}, dtype::float64, 8}};

/// Returns true for datetime64 and timedelta64 with a unit, such as 'M8[25s]', or without one.
bool is_npy_time(std::string_view code) {
  for (std::string_view form : {"M8", "m8", "datetime64", "timedelta64"}) {
    if (!code.starts_with(form)) continue;
    std::string_view unit = code.substr(form.size());
    if (unit.empty()) return true;
    if (!unit.starts_with('[') || !unit.ends_with(']')) return false;
    unit = unit.substr(1, unit.size() - 2);
    unit.remove_prefix(std::min(unit.find_first_not_of("0123456789"), unit.size()));
    constexpr std::string_view kUnits[] = {"Y",  "M",  "W",  "D",  "h",  "m",  "s",
                                           "ms", "us", "ns", "ps", "fs", "as", "generic"};
    return std::ranges::find(kUnits, unit) != std::end(kUnits);
  }
  return false;
}

[[noreturn]] void refuse_npy_dtype(const std::string& descr, std::string_view code) {
  std::string_view advice =
      "; read are bool, int8 to int64, uint8 to uint64, float16, float32, float64, datetime64, timedelta64, S and U";
  if (code.starts_with('O') || code == "object")
    advice = ": its items are pickled objects of Python, which are never read; save x.astype(str) or numbers";
  else if (code.starts_with('c'))
    advice = ": it has complex numbers; save x.view(float), whose last dimension is twice as long";
  else if (code == "l" || code == "L" || code == "int" || code == "uint" || code == "long" || code == "p")
    advice = ": its size depends on the machine; write i4 or i8";
  else if (code == "f16" || code == "f12" || code == "g" || code == "longdouble")
    advice = ": its numbers differ between machines; save x.astype('f8')";
  throw_status(
      unimplemented_error(absl::StrCat("the dtype '", descr.substr(0, 40), "' is not read", std::string(advice))));
}

/// Parses '<f4', '|u1', '<U12', '?', 'i4', '<M8[us]', 'int32'. A dtype without a byte order is little-endian.
void read_npy_descr(const std::string& descr, npy_head& to) {
  std::string_view code = descr;
  const bool has_order = !code.empty() && std::string_view("<>|=").find(code[0]) != std::string_view::npos;
  to.is_swapped = code.starts_with('>');
  if (has_order) code.remove_prefix(1);
  for (const npy_dtype_code& k : kNpyDtypes) {
    if (code != k.code && std::ranges::find(k.names, code) == std::end(k.names)) continue;
    to.dtype = k.dtype;
    to.item_bytes = k.bytes;
    return;
  }
  if (is_npy_time(code)) {
    to.dtype = dtype::int64;
    to.item_bytes = 8;
    return;
  }
  std::uint64_t size = 0;
  const char* end = code.data() + code.size();
  constexpr std::uint64_t kTextMost = std::uint64_t{1} << 28;
  const bool is_text = code.size() >= 2 && (code[0] == 'S' || code[0] == 'U' || code[0] == 'a');
  auto r = is_text ? std::from_chars(code.data() + 1, end, size) : std::from_chars_result{end, std::errc()};
  if (r.ec != std::errc() || r.ptr != end || size == 0 || size > kTextMost) refuse_npy_dtype(descr, code);
  to.dtype = dtype::string;
  to.is_utf32 = code[0] == 'U';
  to.item_bytes = static_cast<std::size_t>(size) * (to.is_utf32 ? 4 : 1);
}

void read_npy_dict(std::string_view text, npy_head& to) {
  npy_dict_reader dict(text);
  dict.read();
  read_npy_descr(*dict.descr, to);
  to.shape = std::move(*dict.shape);
  to.is_fortran = *dict.fortran && to.shape.size() > 1;
}

/// Divides the array into its rows.
void set_npy_rows(npy_head& to) {
  if (to.shape.empty()) throw_status(invalid_argument_error("the array is a single value: it has no rows"));
  to.row_shape = tensor_shape(std::span<const std::int64_t>(to.shape).subspan(1));
  tensor_spec{to.dtype, to.row_shape}.check();
  to.rows = static_cast<std::uint64_t>(to.shape[0]);
  to.row_bytes = to.bytes_of(to.row_shape.dims());
  if (to.row_bytes == 0 && to.rows != 0) throw_status(invalid_argument_error("the array's rows have no elements"));
  if (to.rows != 0 && to.row_bytes > kNpyFileBytesMax / to.rows) refuse_npy("its shape is larger than any file");
}

}  // namespace

npy_scan read_npy_array_head(std::string_view bytes, npy_head& to) {
  npy_scan s;
  const std::size_t known = std::min(bytes.size(), kNpyMagic.size());
  if (bytes.substr(0, known) != kNpyMagic.substr(0, known)) {
    s.why = data_loss_error("not a file of NumPy: it does not begin with \\x93NUMPY");
    return s;
  }
  s.needed_bytes = 12;
  if (bytes.size() < 10) return s;
  const auto version = static_cast<unsigned char>(bytes[6]);
  const bool is_long = version >= 2;
  if (version == 0 || version > 3) {
    s.why = unimplemented_error(absl::StrCat("version ", static_cast<int>(version), " of NumPy's format is not known"));
    return s;
  }
  if (is_long && bytes.size() < 12) return s;
  std::uint32_t length = 0;
  std::memcpy(&length, bytes.data() + 8, is_long ? 4 : 2);
  const std::size_t begin = is_long ? 12 : 10;
  if (length > kNpyHeadBytesMax) {
    s.why = data_loss_error(absl::StrCat("not a file of NumPy, or damaged: its header has ", length, " bytes"));
    return s;
  }
  s.needed_bytes = begin + length;
  if (bytes.size() < s.needed_bytes) return s;
  try {
    npy_head head;
    read_npy_dict(bytes.substr(begin, length), head);
    to = std::move(head);
    s.used_bytes = std::exchange(s.needed_bytes, 0);
  } catch (const error& e) { s.why = e.why(); }
  return s;
}

std::uint64_t npy_head::bytes_of(std::span<const std::int64_t> dims) const {
  std::uint64_t bytes = item_bytes;
  for (std::int64_t d : dims) {
    if (d != 0 && bytes > kNpyFileBytesMax / static_cast<std::uint64_t>(d)) refuse_npy("its rows are too long");
    bytes *= static_cast<std::uint64_t>(d);
  }
  return bytes;
}

npy_scan read_npy_head(std::string_view bytes, npy_head& to) {
  npy_head head;
  npy_scan s = read_npy_array_head(bytes, head);
  if (!s.why.ok() || s.needed_bytes) return s;
  try {
    set_npy_rows(head);
    to = std::move(head);
  } catch (const error& e) { s = {.why = e.why()}; }
  return s;
}

}  // namespace sluice::lib
