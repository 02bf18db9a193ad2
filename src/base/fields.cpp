// SPDX-License-Identifier: Apache-2.0
#include "sluice/base/fields.hpp"

#include <charconv>
#include <cmath>

namespace sluice::lib {

namespace {

bool read_whole(std::string_view text, std::int64_t& value) {
  const char* end = text.data() + text.size();
  auto r = std::from_chars(text.data(), end, value);
  return r.ec == std::errc() && r.ptr == end;
}

/// Print and compare as the number that T is or holds.
template <class T> class value_codec : public codec {
 public:
  bool equal(const void* a, const void* b) const final { return value(get(a)) == value(get(b)); }
  std::string check(const void*) const override { return {}; }

 protected:
  static const T& get(const void* p) { return *static_cast<const T*>(p); }
  static T& get(void* p) { return *static_cast<T*>(p); }
  static auto value(const T& t) {
    if constexpr (requires { t.value; }) return t.value;
    else return t;
  }
};

class bool_codec final : public value_codec<bool> {
 public:
  void print(const void* p, std::string& out) const override { out += get(p) ? "true" : "false"; }
  std::string read(void* p, std::string_view text, bool quoted) const override {
    if (quoted || (text != "true" && text != "false")) return "true or false";
    get(p) = text == "true";
    return {};
  }
  std::string_view type_name() const override { return "bool"; }
};

class double_codec final : public value_codec<double> {
 public:
  void print(const void* p, std::string& out) const override {
    char text[32];
    out.append(text, std::to_chars(text, text + sizeof text, get(p)).ptr);
  }
  std::string read(void* p, std::string_view text, bool quoted) const override {
    const char* end = text.data() + text.size();
    auto r = std::from_chars(text.data(), end, get(p));
    return !quoted && r.ec == std::errc() && r.ptr == end ? "" : "a number";
  }
  std::string check(const void* p) const override { return std::isfinite(get(p)) ? "" : "finite"; }
  std::string_view type_name() const override { return "number"; }
};

template <class T> class whole_codec : public value_codec<T> {
 public:
  void print(const void* p, std::string& out) const override { out += std::to_string(this->value(this->get(p))); }
  std::string read(void* p, std::string_view text, bool quoted) const override {
    std::int64_t v;
    if (quoted || !read_whole(text, v)) return "a whole number";
    this->get(p) = v;
    return {};
  }
  std::string_view type_name() const override { return "whole number"; }
};

class count_codec final : public whole_codec<count> {
 public:
  std::string check(const void* p) const override { return get(p).value >= 1 ? "" : "at least 1"; }
  std::string_view type_name() const override { return "count"; }
};

class integer_codec final : public whole_codec<integer> {
 public:
  std::string check(const void* p) const override { return get(p).value != integer::kNotGiven ? "" : "given"; }
};

class count_or_all_codec final : public whole_codec<count_or_all> {
 public:
  std::string check(const void* p) const override {
    if (get(p).value >= 0 || get(p).is_all()) return {};
    return get(p).value == count_or_all::kNotGiven ? "given" : "at least 0, or -1 for all";
  }
  std::string_view type_name() const override { return "count or -1"; }
};

class seed_codec final : public whole_codec<seed> {
 public:
  std::string_view type_name() const override { return "seed"; }
};

class knob_codec final : public whole_codec<knob> {
 public:
  void print(const void* p, std::string& out) const override {
    if (get(p).is_autotuned()) out += "autotune";
    else whole_codec::print(p, out);
  }
  std::string read(void* p, std::string_view text, bool quoted) const override {
    if (quoted || text != "autotune")
      return whole_codec::read(p, text, quoted).empty() ? "" : "a whole number or autotune";
    get(p) = autotune;
    return {};
  }
  std::string check(const void* p) const override {
    return get(p).value >= 1 || get(p).is_autotuned() ? "" : "at least 1, or autotune";
  }
  bool is_knob() const override { return true; }
  std::string_view type_name() const override { return "knob"; }
};

class byte_size_codec final : public value_codec<byte_size> {
 public:
  void print(const void* p, std::string& out) const override { out += print_byte_size(get(p).value); }
  std::string read(void* p, std::string_view text, bool) const override {
    return read_byte_size(text, get(p).value) ? "" : "a size in bytes, such as 64MiB (or 64M), 64MB, 4096";
  }
  std::string check(const void* p) const override { return get(p).value >= 0 ? "" : "at least 0"; }
  std::string_view type_name() const override { return "size"; }
};

class named_values_codec final : public value_codec<std::uint8_t> {
 public:
  named_values_codec(const std::string_view* names, std::size_t n) {
    for (std::size_t i = 0; i != n && !names[i].empty(); ++i) names_.push_back(names[i]);
    for (std::size_t i = 0; i != names_.size(); ++i) {
      expected_ += i == 0 ? "" : i + 1 == names_.size() ? " or " : ", ";
      expected_ += names_[i];
    }
  }
  void print(const void* p, std::string& out) const override {
    if (get(p) < names_.size()) out += names_[get(p)];
    else out += std::to_string(get(p));
  }
  std::string read(void* p, std::string_view text, bool quoted) const override {
    for (std::size_t i = 0; i != names_.size() && !quoted; ++i)
      if (names_[i] == text) return get(p) = static_cast<std::uint8_t>(i), std::string();
    return expected_;
  }
  std::string check(const void* p) const override { return get(p) < names_.size() ? "" : expected_; }
  std::string_view type_name() const override { return expected_; }

 private:
  std::vector<std::string_view> names_;
  std::string expected_;
};

struct unit {
  std::string_view name;
  std::int64_t bytes;
};
// Largest first among those that printing may choose (the binary ones come first).
constexpr unit kUnits[] = {{"TiB", std::int64_t{1} << 40},
                           {"GiB", 1 << 30},
                           {"MiB", 1 << 20},
                           {"KiB", 1 << 10},
                           {"TB", 1'000'000'000'000},
                           {"GB", 1'000'000'000},
                           {"MB", 1'000'000},
                           {"kB", 1'000},
                           {"KB", 1'000},
                           {"T", std::int64_t{1} << 40},
                           {"G", 1 << 30},
                           {"M", 1 << 20},
                           {"K", 1 << 10},
                           {"k", 1 << 10},
                           {"B", 1}};

}  // namespace

bool read_byte_size(std::string_view text, std::int64_t& bytes) {
  double number = 0;
  const char* end = text.data() + text.size();
  auto r = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (r.ec != std::errc()) return false;
  if (r.ptr == end) return read_whole(text, bytes);  // exact, also above 2⁵³
  std::string_view name(r.ptr, static_cast<std::size_t>(end - r.ptr));
  while (name.starts_with(' ')) name.remove_prefix(1);
  for (auto& u : kUnits) {
    if (u.name != name) continue;
    double size = number * static_cast<double>(u.bytes);
    if (size < 0 || size > 9e18) return false;
    bytes = static_cast<std::int64_t>(size);
    return true;
  }
  return false;
}

std::string print_byte_size(std::int64_t bytes) {
  for (auto& u : kUnits)
    if (u.name.ends_with("iB") && bytes >= u.bytes && bytes % u.bytes == 0)
      return std::to_string(bytes / u.bytes) + std::string(u.name);
  return std::to_string(bytes);
}

// Each lives for ever: field lists point at it.
template <> const codec& codec_of<bool>() {
  static const bool_codec c;
  return c;
}
template <> const codec& codec_of<std::int64_t>() {
  static const whole_codec<std::int64_t> c;
  return c;
}
template <> const codec& codec_of<double>() {
  static const double_codec c;
  return c;
}
template <> const codec& codec_of<count>() {
  static const count_codec c;
  return c;
}
template <> const codec& codec_of<integer>() {
  static const integer_codec c;
  return c;
}
template <> const codec& codec_of<count_or_all>() {
  static const count_or_all_codec c;
  return c;
}
template <> const codec& codec_of<knob>() {
  static const knob_codec c;
  return c;
}
template <> const codec& codec_of<seed>() {
  static const seed_codec c;
  return c;
}
template <> const codec& codec_of<byte_size>() {
  static const byte_size_codec c;
  return c;
}

template <> const field_list& fields_of<no_fields>() { return make_field_list<no_fields>(); }

namespace detail {

const codec& enum_codec(const std::string_view* names, std::size_t n) { return *new named_values_codec(names, n); }

field_list completed(field_list list) {
  for (auto& f : list.fields) f.required = !f.type->check(list.defaults.data() + f.offset).empty();
  return list;
}

}  // namespace detail

const field* field_list::find(std::string_view name) const noexcept {
  for (auto& f : fields)
    if (f.name == name) return &f;
  return nullptr;
}

options::options(const field_list& list, const void* o, std::size_t size) : list_(&list), bytes_(size) {
  std::memcpy(bytes_.data(), o, size);
}

std::string options::text(const field& f) const {
  std::string s;
  f.type->print(at(f), s);
  return s;
}

std::string options::check() const {
  for (auto& f : list_->fields)
    if (auto rule = f.type->check(at(f)); !rule.empty())
      return std::string(f.name) + " must be " + rule + (rule == "given" ? "" : ", and is " + text(f));
  return {};
}

bool operator==(const options& a, const options& b) {
  if (a.list_ != b.list_) return false;
  for (auto& f : a.list_->fields)
    if (!f.type->equal(a.at(f), b.at(f))) return false;
  return true;
}

}  // namespace sluice::lib
