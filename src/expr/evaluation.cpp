// SPDX-License-Identifier: Apache-2.0
#include "expr/evaluation.hpp"

#include <cstring>

#include "absl/strings/str_cat.h"

namespace sluice::lib::expressions {

register_form register_form_of(const element_type& t) {
  switch (t.kind) {
    case kind::scalar: return register_form::value;
    case kind::text: return register_form::text;
    case kind::list:
    case kind::array: return register_form::span;
    default: return register_form::object;
  }
}

std::size_t register_bytes(const element_type& t) {
  switch (register_form_of(t)) {
    case register_form::value: return t.size;
    case register_form::text: return sizeof(std::string_view);
    case register_form::span: return sizeof(span_value);
    default: return sizeof(const void*);
  }
}

namespace {

constexpr std::size_t kPieceBytes = 64 << 10;
constexpr std::size_t kAlign = 16;

std::size_t rounded(std::size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

}  // namespace

void* evaluation::room(std::size_t bytes) {
  bytes = rounded(bytes);
  while (chunk_ <= scratch_.size() && part_bytes(chunk_) - used_ < bytes) {
    ++chunk_;
    used_ = 0;
  }
  if (chunk_ > scratch_.size()) {
    std::size_t size = std::max(bytes, kPieceBytes);
    scratch_.push_back({std::unique_ptr<char[]>(new char[size]), size});
  }
  void* at = part(chunk_) + used_;
  used_ += bytes;
  return at;
}

char* evaluation::kept_room(std::size_t bytes, std::size_t n) {
  if (bytes / std::max<std::size_t>(n, 1) > kExpressionValueBytesMax) refuse_value(bytes);
  bytes = rounded(bytes);
  charge(bytes, n);
  if (kept_.empty() || kept_.back().size - kept_used_ < bytes) {
    std::size_t size = std::max(bytes, kPieceBytes);
    kept_.push_back({std::unique_ptr<char[]>(new char[size]), size});
    kept_used_ = 0;
  }
  char* at = kept_.back().data.get() + kept_used_;
  kept_used_ += bytes;
  return at;
}

evaluation::objects& evaluation::kept_objects(const element_type& type, std::size_t n, std::size_t values) {
  objects_.push_back(std::make_unique<objects>(objects{&type, kept_room(n * type.size + type.align, values), 0}));
  auto& made = *objects_.back();
  auto address = reinterpret_cast<std::uintptr_t>(made.data);
  made.data += (type.align - address % type.align) % type.align;
  return made;
}

std::size_t evaluation::charge_owned(const element_type& type, const void* objects, std::size_t n, bool is_value) {
  if (type.trivially_destroyed || !type.footprint || n == 0) return 0;
  const std::size_t bytes = type.footprint(type, objects, n);
  if (is_value && bytes / n > kExpressionValueBytesMax) refuse_value(bytes / n);
  charge(bytes, n);
  return bytes;
}

void evaluation::refuse_value(std::size_t bytes) const {
  if (n_ > 1) throw too_heavy{bytes};
  throw failed_at{0, absl::StrCat("a value of ", bytes, " bytes; those that an expression makes have ",
                                  kExpressionValueBytesMax, " at most")};
}

void evaluation::check_bytes() const {
  if (n_ > 1) throw too_heavy{largest_};
  if (bytes_ > kExpressionElementBytesMax)
    throw failed_at{0, absl::StrCat("the values that the expression holds for this element take ", bytes_, " bytes; ",
                                    kExpressionElementBytesMax, " are the most")};
}

void evaluation::forget_from(std::size_t objects, std::size_t pieces, std::size_t used, std::size_t bytes) {
  while (objects_.size() > objects) {
    auto& last = *objects_.back();
    if (last.constructed != 0) last.type->destroy(*last.type, last.data, last.constructed);
    objects_.pop_back();
  }
  // One piece of the usual size stays, because the next chunk needs it again.
  if (pieces == 0 && !kept_.empty() && kept_.front().size == kPieceBytes) {
    pieces = 1;
    used = 0;
  }
  kept_.resize(std::min(kept_.size(), pieces));
  kept_used_ = used;
  bytes_ = bytes;
}

namespace {

template <class T> void load_values(const char* from, std::size_t stride, selection s, void* out) {
  auto* to = static_cast<T*>(out);
  if (!s.at && stride == sizeof(T)) {
    if (s.n != 0) std::memcpy(to, from, s.n * sizeof(T));  // a pointer to no elements may be null
    return;
  }
  for (std::uint32_t i = 0; i != s.n; ++i) std::memcpy(to + i, from + s.element(i) * stride, sizeof(T));
}

span_value items_of(const element_type& t, const void* p) {
  if (t.kind == kind::array) return {static_cast<const char*>(p), t.extent};
  span_value v;
  v.data = static_cast<const char*>(t.items(t, p, v.n));
  return v;
}

void load_one(const element_type& t, const void* p, char* out) {
  switch (register_form_of(t)) {
    case register_form::value: std::memcpy(out, p, t.size); break;
    case register_form::text: *reinterpret_cast<std::string_view*>(out) = t.text(p); break;
    case register_form::span: *reinterpret_cast<span_value*>(out) = items_of(t, p); break;
    case register_form::object: *reinterpret_cast<const void**>(out) = p;
  }
}

}  // namespace

void load(const element_type& t, const char* from, std::size_t stride, selection s, void* out) {
  if (t.kind == kind::scalar) {
    switch (t.size) {
      case 1: return load_values<std::uint8_t>(from, stride, s, out);
      case 2: return load_values<std::uint16_t>(from, stride, s, out);
      case 4: return load_values<std::uint32_t>(from, stride, s, out);
      default: return load_values<std::uint64_t>(from, stride, s, out);
    }
  }
  if (t.kind == kind::text && !s.at) return t.texts(from, s.n, stride, static_cast<std::string_view*>(out));
  auto* to = static_cast<char*>(out);
  const std::size_t bytes = register_bytes(t);
  for (std::uint32_t i = 0; i != s.n; ++i, to += bytes) load_one(t, from + s.element(i) * stride, to);
}

void load_each(const element_type& t, const void* const* objects, std::uint32_t n, void* out) {
  auto* to = static_cast<char*>(out);
  const std::size_t bytes = register_bytes(t);
  for (std::uint32_t i = 0; i != n; ++i, to += bytes) load_one(t, objects[i], to);
}

void destroy_each(const element_type& t, char* at, std::size_t stride, std::size_t n) {
  if (t.trivially_destroyed) return;
  for (; n != 0; --n, at += stride) t.destroy(t, at, 1);
}

void store(const element_type& t, const void* registers, std::uint32_t n, char* to, std::size_t stride) {
  std::uint32_t i = 0;
  try {
    switch (register_form_of(t)) {
      case register_form::value: {
        auto* from = static_cast<const char*>(registers);
        if (stride == t.size) {
          std::memcpy(to, from, n * t.size);
          return;
        }
        for (; i != n; ++i) std::memcpy(to + i * stride, from + i * t.size, t.size);
        return;
      }
      case register_form::text: {
        auto* from = static_cast<const std::string_view*>(registers);
        for (; i != n; ++i) ::new (static_cast<void*>(to + i * stride)) std::string(from[i]);
        return;
      }
      case register_form::span: {
        auto* from = static_cast<const span_value*>(registers);
        for (; i != n; ++i) {
          // collect() only copies here, and a copy only reads.
          auto* items = const_cast<char*>(from[i].data);
          if (t.kind == kind::array) t.copy(t, to + i * stride, items, 1, t.size, t.size);
          else t.collect(t, to + i * stride, items, from[i].n, 0, t.element->size);
        }
        return;
      }
      case register_form::object: {
        auto* from = static_cast<const void* const*>(registers);
        for (; i != n; ++i) t.copy(t, to + i * stride, from[i], 1, t.size, t.size);
      }
    }
  } catch (...) {
    destroy_each(t, to, stride, i);
    throw;
  }
}

void computed::build(evaluation& ev, selection s, char* to, std::size_t stride) const {
  evaluation::scratch here(ev);
  evaluation::kept_scope kept(ev);  // stored values own all of their contents
  const void* values = in_place(ev, s);
  if (!values) {
    void* out = ev.room(s.n * register_bytes(*type_));
    eval(ev, s, out);
    values = out;
  }
  store(*type_, values, s.n, to, stride);
}

}  // namespace sluice::lib::expressions
