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
      throw_status(unimplemented_error("rows with fields (a structured dtype) are not read: save a file for each"));
    return quoted();
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

/// Parses '<f4', '|u1', '<U12'.
void read_npy_descr(const std::string& descr, npy_head& to) {
  auto refuse = [&] {
    throw_status(unimplemented_error(absl::StrCat(
        "the dtype '", descr.substr(0, 40), "' is not read: bool, integers, float16, float32, float64, S and U are")));
  };
  std::uint64_t size = 0;
  const char* end = descr.data() + descr.size();
  if (descr.size() < 3) refuse();
  auto r = std::from_chars(descr.data() + 2, end, size);
  const char order = descr[0], letter = descr[1];
  if (r.ec != std::errc() || r.ptr != end || std::string_view("<>|=").find(order) == std::string_view::npos) refuse();
  to.is_swapped = order == '>';
  to.item_bytes = static_cast<std::size_t>(size);
  struct known {
    char letter;
    std::uint64_t size;
    lib::dtype dtype;
  };
  static constexpr known kAll[] = {{'b', 1, dtype::boolean}, {'i', 1, dtype::int8},    {'i', 2, dtype::int16},
                                   {'i', 4, dtype::int32},   {'i', 8, dtype::int64},   {'u', 1, dtype::uint8},
                                   {'u', 2, dtype::uint16},  {'u', 4, dtype::uint32},  {'u', 8, dtype::uint64},
                                   {'f', 2, dtype::float16}, {'f', 4, dtype::float32}, {'f', 8, dtype::float64}};
  for (const known& k : kAll) {
    if (k.letter != letter || k.size != size) continue;
    to.dtype = k.dtype;
    return;
  }
  constexpr std::uint64_t kTextMost = std::uint64_t{1} << 28;
  const bool is_text = (letter == 'S' || letter == 'U') && size != 0 && size <= kTextMost;
  if (!is_text) refuse();
  to.dtype = dtype::string;
  to.is_utf32 = letter == 'U';
  if (to.is_utf32) to.item_bytes *= 4;
}

void read_npy_dict(std::string_view text, npy_head& to) {
  npy_dict_reader dict(text);
  dict.read();
  read_npy_descr(*dict.descr, to);
  const std::vector<std::int64_t>& shape = *dict.shape;
  if (shape.empty()) throw_status(invalid_argument_error("the array is a single value: it has no rows"));
  if (*dict.fortran && shape.size() > 1)
    throw_status(unimplemented_error(
        "the array is in Fortran order, in which rows are not contiguous: save numpy.ascontiguousarray(x)"));
  to.row_shape = tensor_shape(std::span(shape).subspan(1));
  tensor_spec{to.dtype, to.row_shape}.check();
  to.rows = static_cast<std::uint64_t>(shape[0]);
  to.row_bytes = to.item_bytes;
  for (std::int64_t d : to.row_shape.dims()) {
    if (d != 0 && to.row_bytes > kNpyFileBytesMax / static_cast<std::uint64_t>(d)) refuse_npy("its rows are too long");
    to.row_bytes *= static_cast<std::uint64_t>(d);
  }
  if (to.row_bytes == 0 && to.rows != 0) throw_status(invalid_argument_error("the array's rows have no elements"));
  if (to.rows != 0 && to.row_bytes > kNpyFileBytesMax / to.rows) refuse_npy("its shape is larger than any file");
}

void append_utf8(std::uint32_t c, std::string& out) {
  if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) refuse_npy("a text has an invalid character");
  auto put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) return put(c);
  if (c < 0x800) {
    put(0xC0 | c >> 6);
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12);
    put(0x80 | (c >> 6 & 0x3F));
  } else {
    put(0xF0 | c >> 18);
    put(0x80 | (c >> 12 & 0x3F));
    put(0x80 | (c >> 6 & 0x3F));
  }
  put(0x80 | (c & 0x3F));
}

std::string text_of_utf32(const char* bytes, std::size_t size, bool swapped) {
  std::string out;
  std::size_t zeros = 0;  // zeros within a text count, zeros after it do not
  for (std::size_t i = 0; i != size; i += 4) {
    std::uint32_t c = 0;
    std::memcpy(&c, bytes + i, 4);
    if (swapped) c = __builtin_bswap32(c);
    if (c == 0) {
      ++zeros;
      continue;
    }
    out.append(std::exchange(zeros, 0), '\0');
    append_utf8(c, out);
  }
  return out;
}

void copy_swapped(char* to, const char* from, std::size_t bytes, std::size_t each) {
  for (std::size_t i = 0; i != bytes; i += each) std::reverse_copy(from + i, from + i + each, to + i);
}

}  // namespace

npy_scan read_npy_head(std::string_view bytes, npy_head& to) {
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
    to = head;
    s.used_bytes = std::exchange(s.needed_bytes, 0);
  } catch (const error& e) { s.why = e.why(); }
  return s;
}

tensor npy_head::row(const char* bytes, buffer& owner) const {
  const tensor_spec spec{dtype, row_shape};
  if (dtype == lib::dtype::string) {
    std::vector<std::string> texts;
    for (std::uint64_t i = 0; i != row_bytes; i += item_bytes) {
      if (is_utf32) {
        texts.push_back(text_of_utf32(bytes + i, item_bytes, is_swapped));
        continue;
      }
      std::string_view text(bytes + i, item_bytes);
      texts.emplace_back(text.substr(0, text.find_last_not_of('\0') + 1));
    }
    return tensor::of(texts, row_shape);
  }
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(bytes) % item_bytes == 0;
  if (is_aligned && !is_swapped && dtype != lib::dtype::boolean) {
    owner.add_references(1);
    return tensor::sharing(buffer_ref(&owner), bytes, spec);
  }
  tensor made = tensor::make(dtype, row_shape);
  char* to = made.writable_data();
  const auto size = static_cast<std::size_t>(row_bytes);
  if (dtype == lib::dtype::boolean) std::transform(bytes, bytes + size, to, [](char c) -> char { return c != 0; });
  else if (is_swapped && item_bytes != 1) copy_swapped(to, bytes, size, item_bytes);
  else std::memcpy(to, bytes, size);
  return made;
}

}  // namespace sluice::lib
