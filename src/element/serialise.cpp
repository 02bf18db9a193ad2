// SPDX-License-Identifier: Apache-2.0
#include "sluice/element/serialise.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/varint.hpp"
#include "element/build.hpp"
#include "element/element_ref.hpp"
#include "element/scalars.hpp"
#include "element/serialise_parts.hpp"
#include "sluice/base/buffer.hpp"
#include "sluice/base/content_hash.hpp"
#include "sluice/element/slab.hpp"

namespace sluice::lib {

namespace {

using detail::element_ref;

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");

constexpr std::string_view kValueMagic = "SLV\x01";
constexpr std::size_t kChecksumBytes = 4;
constexpr std::size_t kTextsBytesMax = INT32_MAX;  ///< of the texts of one call, whose places are 32-bit numbers

std::uint32_t checksum(std::string_view bytes) {
  detail::content_hasher h;
  h.bytes(bytes.data(), bytes.size());
  return static_cast<std::uint32_t>(h.value() >> 32);
}

bool is_bool(const element_type& t) { return t.print == type_of<bool>().print; }

[[noreturn]] void refuse_type(const element_type& t) {
  throw error(invalid_argument_error(
      absl::StrCat(type_text(t), " cannot be written as bytes: the library does not know what it consists of")));
}

// --- Writing ---

/// Where elements are written.
struct written_to {
  std::string& own;
  byte_parts* parts = nullptr;  ///< whose own() that is; null: long parts are copied, too
  void append(std::string_view bytes) const {
    if (parts) parts->append(bytes);
    else own += bytes;
  }
};

void put(element_ref e, written_to out);

void put_items(element_ref e, written_to out) {
  auto items = e.items();
  if (e.type().kind != kind::array) detail::append_varint(items.size(), out.own);
  if (items.size() == 0) return;
  if (items.type().kind == kind::scalar) out.append({items.numbers(), items.size() * items.type().size});
  else
    for (std::size_t i = 0; i != items.size(); ++i) put(items[i], out);
}

/// Appends dtype, rank and dimensions, then the bytes of the numbers, or each string's length and bytes.
void put_tensor(const tensor& t, written_to out) {
  out.own += static_cast<char>(t.dtype());
  detail::append_varint(t.rank(), out.own);
  for (std::int64_t dim : t.shape()) detail::append_varint(static_cast<std::uint64_t>(dim), out.own);
  if (t.dtype() != dtype::string) return out.append({t.data() ? t.data() : "", t.size_bytes()});
  for (std::size_t i = 0; i != t.size(); ++i) {
    detail::append_varint(t.text(i).size(), out.own);
    out.append(t.text(i));
  }
}

void put(element_ref e, written_to out) {
  const element_type& t = e.type();
  switch (t.kind) {
    case kind::scalar: out.own.append(static_cast<const char*>(e.address()), t.size); return;
    case kind::text:
      detail::append_varint(e.text().size(), out.own);
      out.append(e.text());
      return;
    case kind::tensor: return put_tensor(e.tensor(), out);
    case kind::array:
    case kind::list:
    case kind::maybe:
    case kind::batch: return put_items(e, out);
    case kind::structure:
    case kind::pair:
    case kind::tuple:
      if (t.members.empty()) out.own += '\0';
      for (std::size_t k = 0; k != t.members.size(); ++k) put(e.member(k), out);
      return;
    default: refuse_type(t);
  }
}

// --- Reading ---

std::size_t product(std::size_t a, std::size_t b) { return b != 0 && a > SIZE_MAX / b ? SIZE_MAX : a * b; }
std::size_t sum(std::size_t a, std::size_t b) { return a > SIZE_MAX - b ? SIZE_MAX : a + b; }

/// Returns the least number of bytes that an element takes: at least one, so that the bytes limit the length of any
/// list.
std::size_t fewest_bytes(const element_type& t) {
  switch (t.kind) {
    case kind::scalar: return t.size;
    case kind::array: return product(t.extent, fewest_bytes(*t.element));
    case kind::structure:
    case kind::pair:
    case kind::tuple: {
      std::size_t n = 0;
      for (auto& m : t.members) n = sum(n, fewest_bytes(*m.type));
      return std::max<std::size_t>(n, 1);
    }
    case kind::tensor: return 2;
    default: return 1;
  }
}

class byte_reader {
 public:
  byte_reader(std::string_view bytes, const parse_limits& limits)
      : bytes_(bytes), memory_left_(sum(limits.memory_bytes, product(bytes.size(), limits.per_byte))) {}

  std::string_view take(std::size_t n, std::string_view what) {
    if (n > left()) fail(absl::StrCat(std::string(what), " of ", n, " bytes, where ", left(), " are left"));
    at_ += n;
    return bytes_.substr(at_ - n, n);
  }

  std::uint64_t varint() {
    std::uint64_t n = 0;
    for (int shift = 0;; shift += 7) {
      if (left() == 0) fail("the bytes end within a length");
      auto byte = static_cast<unsigned char>(bytes_[at_++]);
      if (shift == 63 && byte > 1) fail("a length of more than 64 bits");
      n |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte >= 0x80) continue;
      if (byte == 0 && shift != 0) fail("a length of more bytes than it needs");
      return n;
    }
  }

  /// Builds n elements behind those of `to`.
  void read_elements(const element_type& t, std::size_t n, buffer* owner, slab& to) {
    if (!can_serialise(t)) refuse_type(t);
    if (n > left() / fewest_bytes(t))
      fail(absl::StrCat(n, " elements of ", type_text(t), ", where ", left(), " bytes are left"));
    charge(product(n, t.size));
    const std::size_t before = to.size();
    try {
      if (t.kind == kind::scalar) {
        make_numbers(t, to.extend(n), n);
        to.add_live(n);
      } else if (t.kind == kind::text) make_texts(t, n, owner, to);
      else
        for (std::size_t i = 0; i != n; ++i) {
          make(t, to.extend(1));
          to.add_live(1);
        }
      if (left() != 0) fail(absl::StrCat(left(), " bytes too many"));
    } catch (...) {
      t.destroy(t, to.begin() + before * t.size, to.size() - before);
      to.add_live(before - to.size());
      throw;
    }
  }

  value read(const element_type& t) {
    if (!can_serialise(t)) refuse_type(t);
    if (fewest_bytes(t) > left())
      fail(absl::StrCat("an element of ", type_text(t), " where ", left(), " bytes are left"));
    charge(t.size);
    value v = value_room::make(t, [&](void* to) { make(t, to); });
    if (left() != 0) fail(absl::StrCat(left(), " bytes too many"));
    return v;
  }

 private:
  std::size_t left() const { return bytes_.size() - at_; }

  [[noreturn]] void fail(const std::string& what) const {
    throw error(data_loss_error(absl::StrCat("the value's byte ", at_, ": ", what)));
  }
  void charge(std::size_t bytes) {
    if (bytes > memory_left_)
      throw error(element_limit_error(absl::StrCat("the value's byte ", at_, ": it takes more memory than ",
                                                   bytes_.size(), " bytes may (parse_limits)")));
    memory_left_ -= bytes;
  }

  /// Reads the number of items, and checks that they fit into the remaining bytes.
  std::size_t count(const element_type& item) {
    auto n = varint();
    if (n > left() / fewest_bytes(item))
      fail(absl::StrCat(n, " of ", type_text(item), ", where ", left(), " bytes are left"));
    charge(product(n, item.size));
    return n;
  }

  void check_bools(std::string_view bytes) const {
    for (char c : bytes)
      if (static_cast<unsigned char>(c) > 1) fail("a bool that is neither 0 nor 1");
  }
  void make_numbers(const element_type& t, void* to, std::size_t n) {
    auto bytes = take(n * t.size, "numbers");
    if (is_bool(t)) check_bools(bytes);
    if (n != 0) std::memcpy(to, bytes.data(), bytes.size());
  }

  /// Reads the lengths of n texts, and then their bytes.
  void make_texts(const element_type& t, std::size_t n, buffer* owner, slab& to) {
    std::vector<std::int32_t> offsets(n + 1);
    std::size_t total = 0;
    for (std::size_t i = 0; i != n; ++i) {
      total = sum(total, varint());
      if (total > kTextsBytesMax) fail(absl::StrCat("texts of more than ", kTextsBytesMax, " bytes together"));
      offsets[i + 1] = static_cast<std::int32_t>(total);
    }
    auto bytes = take(total, "texts");
    char* room = to.extend(n);
    if (owner || &t == &type_of<std::string>() || total == 0)
      t.make_texts(room, n, t.size, owner, bytes.data(), offsets.data());
    else {  // slices need a buffer to share
      charge(total);
      buffer_ref copy(buffer::make_exact(total));
      std::memcpy(copy->data(), bytes.data(), total);
      t.make_texts(room, n, t.size, copy.get(), copy->data(), offsets.data());
    }
    to.add_live(n);
  }

  void make_list(const element_type& t, void* to, std::size_t n) {
    if (t.element->kind != kind::scalar)
      return detail::make_list(t, to, n, [&](std::size_t, void* at) { make(*t.element, at); });
    detail::item_room room(*t.element, n);
    make_numbers(*t.element, room.data(), n);
    t.collect(t, to, room.data(), n, n, t.element->size);
  }

  tensor_spec read_spec() {
    tensor_spec spec;
    auto d = static_cast<unsigned char>(take(1, "a dtype")[0]);
    if (d >= kDtypes) fail(absl::StrCat("a tensor of dtype ", d, ", which there is not"));
    spec.dtype = static_cast<dtype>(d);
    auto rank = varint();
    if (rank > tensor_shape::kRankMax) fail(absl::StrCat("a tensor of ", rank, " dimensions"));
    std::int64_t dims[tensor_shape::kRankMax];
    for (std::size_t k = 0; k != rank; ++k) {
      auto dim = varint();
      if (dim > INT64_MAX) fail("a dimension of more than 2^63 - 1");
      dims[k] = static_cast<std::int64_t>(dim);
    }
    spec.shape = tensor_shape(std::span<const std::int64_t>(dims, rank));
    spec.check();
    return spec;
  }
  tensor read_tensor() {
    tensor_spec spec = read_spec();
    const std::size_t n = spec.elements();
    if (spec.dtype != dtype::string) {
      auto bytes = take(spec.bytes(), "a tensor");
      if (spec.dtype == dtype::boolean) check_bools(bytes);
      charge(bytes.size());
      tensor t = tensor::make(spec.dtype, spec.shape);
      if (!bytes.empty()) std::memcpy(t.writable_data(), bytes.data(), bytes.size());
      return t;
    }
    if (n > left()) fail(absl::StrCat(n, " strings, where ", left(), " bytes are left"));
    charge(product(n, sizeof(std::string_view)));
    std::vector<std::string_view> texts(n);
    for (auto& text : texts) {
      text = take(varint(), "a text");
      charge(text.size());
    }
    return tensor::of(std::span<const std::string_view>(texts), spec.shape);
  }

  void make(const element_type& t, void* to) {
    switch (t.kind) {
      case kind::tensor: ::new (to) tensor(read_tensor()); return;
      case kind::scalar: return make_numbers(t, to, 1);
      case kind::text: return detail::make_text(t, to, take(varint(), "a text"));
      case kind::array:
        if (t.element->kind == kind::scalar) return make_numbers(*t.element, to, t.extent);
        return detail::make_items(*t.element, to, t.extent, [&](std::size_t, void* at) { make(*t.element, at); });
      case kind::list: return make_list(t, to, count(*t.element));
      case kind::maybe: {
        auto n = take(1, "an optional")[0];
        if (static_cast<unsigned char>(n) > 1) fail("an optional that has neither no value nor one");
        return make_list(t, to, n ? 1 : 0);
      }
      case kind::batch: {
        auto n = count(*t.element);
        return detail::make_batch(t, to, n, [&](std::size_t, void* at) { make(*t.element, at); });
      }
      case kind::structure:
      case kind::pair:
      case kind::tuple:
        if (t.members.empty() && take(1, "a structure")[0] != 0) fail("a structure without members is not 0");
        detail::make_members(t, to, [&](std::size_t, const element_type& m, void* at) { make(m, at); });
        return detail::check_made(t, to);
      default: refuse_type(t);
    }
  }

  std::string_view bytes_;
  std::size_t memory_left_;
  std::size_t at_ = 0;
};

template <class F> result<value> caught(F f) {
  try {
    return f();
  } catch (...) { return current_exception_status(); }
}

}  // namespace

bool can_serialise(const element_type& t) {
  switch (t.kind) {
    case kind::scalar:
    case kind::tensor: return true;
    case kind::text: return t.make_texts != nullptr;
    case kind::array:
    case kind::list:
    case kind::maybe:
    case kind::batch: return can_serialise(*t.element);
    case kind::structure:
    case kind::pair:
    case kind::tuple:
      return std::all_of(t.members.begin(), t.members.end(), [](const member& m) { return can_serialise(*m.type); });
    default: return false;
  }
}

void serialise_bare(const element_type& t, const void* p, std::string& out) { put({t, p}, {out}); }
void serialise_bare(const element_type& t, const void* p, byte_parts& out) { put({t, p}, {out.own(), &out}); }

void serialise(const element_type& t, const void* p, std::string& out) {
  std::string text = type_text(t), whole(kValueMagic);
  detail::append_varint(text.size(), whole);
  whole += text;
  put({t, p}, {whole});
  auto sum = checksum(whole);
  whole.append(reinterpret_cast<const char*>(&sum), kChecksumBytes);
  out += whole;
}

std::string serialise(const value& v) {
  if (!v.has_value()) throw error(invalid_argument_error("there is no value to be written as bytes"));
  std::string out;
  serialise(v.type(), v.data(), out);
  return out;
}

void serialise_elements(const element_type& t, const void* first, std::size_t n, std::string& out) {
  const auto* at = static_cast<const char*>(first);
  if (t.kind == kind::scalar) return out.append(at, n * t.size), void();
  if (t.kind != kind::text) {
    for (std::size_t i = 0; i != n; ++i) put({t, at + i * t.size}, {out});
    return;
  }
  for (std::size_t i = 0; i != n; ++i) detail::append_varint(t.text(at + i * t.size).size(), out);
  for (std::size_t i = 0; i != n; ++i) out += t.text(at + i * t.size);
}

status parse_elements(std::string_view bytes, std::size_t n, buffer* owner, slab& to, const parse_limits& limits) {
  try {
    byte_reader(bytes, limits).read_elements(to.type(), n, owner, to);
    return {};
  } catch (...) { return current_exception_status(); }
}

result<value> parse_bare(const element_type& t, std::string_view bytes, const parse_limits& limits) {
  return caught([&] { return byte_reader(bytes, limits).read(t); });
}

result<value> parse_value(std::string_view bytes, const parse_limits& limits) {
  if (bytes.size() < kValueMagic.size() + kChecksumBytes || bytes.substr(0, 3) != kValueMagic.substr(0, 3))
    return data_loss_error("these bytes are no value: they do not begin with \"SLV\"");
  if (bytes[3] != kValueMagic[3])
    return data_loss_error(absl::StrCat("a value of version ", static_cast<int>(static_cast<unsigned char>(bytes[3])),
                                        "; this library reads version ", static_cast<int>(kValueMagic[3])));
  std::uint32_t written;
  std::memcpy(&written, bytes.data() + bytes.size() - kChecksumBytes, kChecksumBytes);
  bytes.remove_suffix(kChecksumBytes);
  if (checksum(bytes) != written) return data_loss_error("the value's checksum does not fit its bytes");
  return caught([&]() -> result<value> {
    byte_reader in(bytes.substr(kValueMagic.size()), limits);
    auto length = in.varint();
    auto type = type_from_text(in.take(length, "the type"));
    if (!type.ok()) return type.why();
    return in.read(**type);
  });
}

}  // namespace sluice::lib
