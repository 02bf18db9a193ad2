// SPDX-License-Identifier: Apache-2.0
#include "plan/codecs/pace_codecs.hpp"

#include <charconv>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace sluice::lib {

namespace {

bool is_spelled(const argument& a) {
  return a.kind == argument::word || a.kind == argument::number || a.kind == argument::string ||
         a.kind == argument::quoted;  // "1.5 s" has a space
}

/// The part common to all three codecs: a number that changes no element, and its rule.
template <class T> class pace_codec : public codec {
 public:
  bool is_knob() const final { return true; }
  bool equal(const void* a, const void* b) const final { return get(a).value == get(b).value; }
  std::string check(const void* p) const final {
    if (allows(get(p))) return {};
    return absl::StrCat(" must be ", rule(), ", and is ", printed(*this, p));
  }

 protected:
  virtual bool allows(const T&) const = 0;
  virtual std::string rule() const = 0;
  static const T& get(const void* p) { return *static_cast<const T*>(p); }
  static T& get(void* p) { return *static_cast<T*>(p); }
};

class time_span_codec final : public pace_codec<time_span> {
 public:
  void print(const void* p, printer& to) const override {
    if (get(p).value >= 0) to.word(print_time_span(get(p).value));
    else to.plain(absl::StrCat(get(p).value, "ns"));
  }
  void read(void* p, const argument& a, reading& r) const override {
    if (!is_spelled(a) || !read_time_span(a.text, get(p).value)) r.expected(a, "a time, such as 10ms, 1.5s, 250us, 1h");
  }
  bool is_missing(const void* p) const override { return get(p).value == time_span::kNotGiven; }
  std::string type_name() const override { return "time"; }

 private:
  bool allows(const time_span& t) const override { return t.value >= 0; }
  std::string rule() const override { return "at least 0"; }
};

class rate_codec final : public pace_codec<rate> {
 public:
  void print(const void* p, printer& to) const override {
    char text[32];
    char* end = std::to_chars(text, text + sizeof text, get(p).value).ptr;
    to.plain(std::string_view(text, static_cast<std::size_t>(end - text)));
  }
  void read(void* p, const argument& a, reading& r) const override {
    std::int64_t bytes = 0;
    const char* end = a.text.data() + a.text.size();
    double number = 0;
    auto got = std::from_chars(a.text.data(), end, number);
    if (is_spelled(a) && got.ec == std::errc() && got.ptr == end) get(p) = number;
    else if (is_spelled(a) && read_byte_size(a.text, bytes)) get(p) = static_cast<double>(bytes);
    else r.expected(a, "a number for each second, of bytes such as 64MiB");
  }
  std::string type_name() const override { return "rate"; }

 private:
  bool allows(const rate& v) const override { return std::isfinite(v.value) && v.value >= 0; }
  std::string rule() const override { return "more than 0, or 0 for no limit"; }
};

class amount_codec final : public pace_codec<amount> {
 public:
  void print(const void* p, printer& to) const override { to.plain(std::to_string(get(p).value)); }
  void read(void* p, const argument& a, reading& r) const override {
    if (!is_spelled(a) || !read_byte_size(a.text, get(p).value)) r.expected(a, "a number, of bytes such as 64MiB");
  }
  std::string type_name() const override { return "amount"; }

 private:
  bool allows(const amount& v) const override { return v.value >= 0; }
  std::string rule() const override { return "at least 1, or 0 to leave it to the operator"; }
};

}  // namespace

template <> const codec& codec_of<time_span>() {
  static const time_span_codec c;
  return c;
}
template <> const codec& codec_of<rate>() {
  static const rate_codec c;
  return c;
}
template <> const codec& codec_of<amount>() {
  static const amount_codec c;
  return c;
}

}  // namespace sluice::lib
