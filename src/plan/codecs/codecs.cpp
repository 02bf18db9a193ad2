// SPDX-License-Identifier: Apache-2.0
// The codecs of single values: numbers, words, texts.
#include <charconv>
#include <cmath>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "plan/codecs/arguments_of.hpp"
#include "plan/codecs/index_codec.hpp"
#include "sluice/base/pace_types.hpp"
#include "sluice/base/wait_time.hpp"

namespace sluice::lib {

namespace {

bool is_plain(const argument& a) {
  return a.kind == argument::word || a.kind == argument::number || a.kind == argument::string;
}

bool read_number(const argument& a, auto& value) {
  const char* end = a.text.data() + a.text.size();
  auto r = std::from_chars(a.text.data(), end, value);
  return is_plain(a) && r.ec == std::errc() && r.ptr == end;
}

/// Returns " must be RULE, and is VALUE", or an empty string if the rule is empty.
std::string broken_rule(const codec& type, const void* field, std::string_view rule) {
  if (rule.empty()) return {};
  return absl::StrCat(" must be ", std::string(rule), ", and is ", printed(type, field));
}

void print_whole(std::int64_t v, printer& to) { to.plain(std::to_string(v)); }

std::int64_t read_whole(const argument& a, const reading& r) {
  std::int64_t v = 0;
  if (!read_number(a, v)) r.expected(a, "a whole number");
  return v;
}

/// Compares values as the number that T is or contains.
template <class T> class value_codec : public codec {
 public:
  bool equal(const void* a, const void* b) const override { return value(get(a)) == value(get(b)); }
  std::string check(const void* p) const final { return broken_rule(*this, p, rule(get(p))); }

 protected:
  /// Returns the rule that is broken ("at least 1"), or an empty string.
  virtual std::string_view rule(const T&) const { return {}; }
  static const T& get(const void* p) { return *static_cast<const T*>(p); }
  static T& get(void* p) { return *static_cast<T*>(p); }
  static auto value(const T& t) {
    if constexpr (requires { t.value; }) return t.value;
    else return t;
  }
};

class bool_codec final : public value_codec<bool> {
 public:
  void print(const void* p, printer& to) const override { to.plain(get(p) ? "true" : "false"); }
  void read(void* p, const argument& a, reading& r) const override {
    if (!is_plain(a) || (a.text != "true" && a.text != "false")) r.expected(a, "true or false");
    get(p) = a.text == "true";
  }
  std::string type_name() const override { return "bool"; }
};

class double_codec final : public value_codec<double> {
 public:
  void print(const void* p, printer& to) const override {
    char text[32];
    char* end = std::to_chars(text, text + sizeof text, get(p)).ptr;
    to.plain(std::string_view(text, static_cast<std::size_t>(end - text)));
  }
  void read(void* p, const argument& a, reading& r) const override {
    if (!read_number(a, get(p))) r.expected(a, "a number");
  }
  std::string type_name() const override { return "number"; }

 private:
  std::string_view rule(const double& v) const override { return std::isfinite(v) ? "" : "finite"; }
};

template <class T> class whole_number_codec : public value_codec<T> {
 public:
  void print(const void* p, printer& to) const override { print_whole(this->value(this->get(p)), to); }
  void read(void* p, const argument& a, reading& r) const override { this->get(p) = read_whole(a, r); }
  std::string type_name() const override { return "whole number"; }
};

/// An upper bound, and the rule in words.
struct upper_bound {
  std::int64_t most = codec::kUnlimited;
  std::string rule = absl::StrCat("at most ", most);
};

class count_codec final : public whole_number_codec<count> {
 public:
  explicit count_codec(std::int64_t most = kUnlimited) : bound_{most} {}
  std::string type_name() const override { return "count"; }
  std::int64_t most() const override { return bound_.most; }

 private:
  std::string_view rule(const count& c) const override {
    if (c.value > bound_.most) return bound_.rule;
    return c.value >= 1 ? "" : "at least 1";
  }
  upper_bound bound_;
};

class integer_codec final : public whole_number_codec<integer> {
 public:
  bool is_missing(const void* p) const override { return get(p).value == integer::kNotGiven; }
  void read(void* p, const argument& a, reading& r) const override {
    whole_number_codec<integer>::read(p, a, r);
    if (is_missing(p))
      r.fail(a, absl::StrCat(integer::kNotGiven, " stands for a number that is not given: one more is the least"));
  }
};

class count_or_all_codec final : public whole_number_codec<count_or_all> {
 public:
  bool is_missing(const void* p) const override { return get(p).value == count_or_all::kNotGiven; }
  std::string type_name() const override { return "count or -1"; }

 private:
  std::string_view rule(const count_or_all& c) const override {
    return c.value >= 0 || c.is_all() ? "" : "at least 0, or -1 for all";
  }
};

class seed_codec final : public whole_number_codec<seed> {
 public:
  std::string type_name() const override { return "seed"; }
};

class later_seed_codec final : public whole_number_codec<later_seed> {
 public:
  bool is_meant_when_given() const override { return true; }
  std::string type_name() const override { return "seed"; }
};

class knob_codec final : public whole_number_codec<knob> {
 public:
  explicit knob_codec(std::int64_t most = kUnlimited) : bound_{most} {}
  void print(const void* p, printer& to) const override {
    if (get(p).is_autotuned()) to.word("autotune");
    else whole_number_codec::print(p, to);
  }
  void read(void* p, const argument& a, reading& r) const override {
    std::int64_t v = 0;
    if (is_plain(a) && a.text == "autotune") get(p) = autotune;
    else if (read_number(a, v)) get(p) = v;
    else r.expected(a, "a whole number or autotune");
  }
  bool equal(const void* a, const void* b) const override {
    return get(a).value == get(b).value && get(a).is_given == get(b).is_given;
  }
  bool is_knob() const override { return true; }
  std::string type_name() const override { return "knob"; }
  std::int64_t most() const override { return bound_.most; }

 private:
  std::string_view rule(const knob& k) const override {
    if (k.value > bound_.most) return bound_.rule;
    return k.value >= 1 || k.is_autotuned() ? "" : "at least 1, or autotune";
  }
  upper_bound bound_;
};

class error_limit_codec final : public whole_number_codec<error_limit> {
 public:
  bool is_knob() const override { return true; }
  std::string type_name() const override { return "count or -1"; }

 private:
  std::string_view rule(const error_limit& l) const override {
    return l.value >= 0 || !l.is_given() ? "" : "at least 0, or -1 for no limit";
  }
};

class byte_size_codec : public value_codec<byte_size> {
 public:
  void print(const void* p, printer& to) const override {
    std::string text = print_byte_size(get(p).value);
    bool has_unit = text.back() == 'B';
    if (has_unit) to.word(text);
    else to.plain(text);
  }
  void read(void* p, const argument& a, reading& r) const override {
    bool is_spelled = is_plain(a) || a.kind == argument::quoted;  // "1 GiB" has a space
    if (!is_spelled || !read_byte_size(a.text, get(p).value))
      r.expected(a, "a size in bytes, such as 64MiB (or 64M), 64MB, 4096");
  }
  std::string type_name() const override { return "size"; }

 private:
  std::string_view rule(const byte_size& b) const override { return b.value >= 0 ? "" : "at least 0"; }
};

class wait_time_codec final : public value_codec<wait_time> {
 public:
  void print(const void* p, printer& to) const override { to.word(print_time_span(get(p).value)); }
  void read(void* p, const argument& a, reading& r) const override {
    bool is_spelled = is_plain(a) || a.kind == argument::quoted;  // "10 min" has a space
    if (!is_spelled || !read_time_span(a.text, get(p).value))
      r.expected(a, "a span of time, such as 50ms, 1.5s, 10min");
  }
  bool is_meant_when_given() const override { return true; }
  std::string type_name() const override { return "span of time"; }

 private:
  std::string_view rule(const wait_time& t) const override { return t.value >= 0 ? "" : "at least 0"; }
};

class size_limit_codec final : public byte_size_codec {
 public:
  bool is_knob() const override { return true; }
};

class ratio_limit_codec final : public whole_number_codec<ratio_limit> {
 public:
  bool is_knob() const override { return true; }
  std::string type_name() const override { return "whole number, or 0"; }

 private:
  std::string_view rule(const ratio_limit& l) const override { return l.value >= 0 ? "" : "at least 0"; }
};

class named_values_codec : public value_codec<std::uint8_t> {
 public:
  named_values_codec(const std::string_view* names, std::size_t n) {
    for (std::size_t i = 0; i != n && !names[i].empty(); ++i) names_.push_back(names[i]);
    for (std::size_t i = 0; i != names_.size(); ++i) {
      expected_ += i == 0 ? "" : i + 1 == names_.size() ? " or " : ", ";
      expected_ += names_[i];
    }
  }
  void print(const void* p, printer& to) const override {
    if (get(p) < names_.size()) to.word(names_[get(p)]);
    else to.plain(std::to_string(get(p)));
  }
  void read(void* p, const argument& a, reading& r) const override {
    for (std::size_t i = 0; i != names_.size() && is_plain(a); ++i)
      if (names_[i] == a.text) {
        get(p) = static_cast<std::uint8_t>(i);
        return;
      }
    r.expected(a, expected_);
  }
  std::string type_name() const override { return expected_; }

 private:
  std::string_view rule(const std::uint8_t& v) const override {
    return v < names_.size() ? std::string_view() : std::string_view(expected_);
  }
  std::vector<std::string_view> names_;
  std::string expected_;
};

constexpr std::string_view kPageCacheNames[] = {"keep", "drop", "direct"};
class page_cache_codec final : public named_values_codec {
 public:
  page_cache_codec() : named_values_codec(kPageCacheNames, std::size(kPageCacheNames)) {}
  bool is_knob() const override { return true; }
};

constexpr std::string_view kFileIndexNames[] = {"automatic", "none", "required", "build"};
class file_index_codec final : public named_values_codec {
 public:
  file_index_codec() : named_values_codec(kFileIndexNames, std::size(kFileIndexNames)) {}
  bool is_knob() const override { return true; }
};

constexpr std::string_view kExternalStateNames[] = {"warn", "ignore", "refuse"};
class external_state_codec final : public named_values_codec {
 public:
  external_state_codec() : named_values_codec(kExternalStateNames, std::size(kExternalStateNames)) {}
  bool is_knob() const override { return true; }
};

constexpr std::string_view kAfterDamageNames[] = {"search", "end_file"};
class after_damage_codec final : public named_values_codec {
 public:
  after_damage_codec() : named_values_codec(kAfterDamageNames, std::size(kAfterDamageNames)) {}
  bool is_meant_when_given() const override { return true; }
};

class string_codec final : public codec {
 public:
  void print(const void* p, printer& to) const override { to.text(get(p)); }
  void read(void* p, const argument& a, reading& r) const override {
    if (!is_text_argument(a)) r.expected(a, "a text in quotes");
    *static_cast<std::string*>(p) = text_of(a);
  }
  bool equal(const void* a, const void* b) const override { return get(a) == get(b); }
  bool takes_text() const override { return true; }
  std::string type_name() const override { return "text"; }

 private:
  static const std::string& get(const void* p) { return *static_cast<const std::string*>(p); }
};

/// The path of the file for bad elements. Like a limit, it may change from one run to the next.
class quarantine_codec final : public codec {
 public:
  void print(const void* p, printer& to) const override { to.text(get(p).path); }
  void read(void* p, const argument& a, reading& r) const override {
    if (!is_text_argument(a)) r.expected(a, "the path of a file, in quotes");
    static_cast<quarantine*>(p)->path = text_of(a);
  }
  bool equal(const void* a, const void* b) const override { return get(a).path == get(b).path; }
  bool is_knob() const override { return true; }
  bool takes_text() const override { return true; }
  std::string type_name() const override { return "path"; }

 private:
  static const quarantine& get(const void* p) { return *static_cast<const quarantine*>(p); }
};

/// The codec of a required_text, or of a type derived from it that adds no members.
class given_text_codec final : public codec {
 public:
  enum given_type : std::uint8_t { required, later, path };
  explicit given_text_codec(given_type given) : given_(given) {}

  void print(const void* p, printer& to) const override { to.text(get(p).value); }
  void read(void* p, const argument& a, reading& r) const override {
    if (!is_text_argument(a)) r.expected(a, "a text in quotes");
    complete(p, text_of(a));
  }
  bool is_missing(const void* p) const override { return !get(p).is_given; }
  bool equal(const void* a, const void* b) const override {
    return get(a).is_given == get(b).is_given && get(a).value == get(b).value;
  }
  void visit(const void* p, part_visitor& v) const override {
    if (given_ == path && get(p).is_given) v.path(*static_cast<const file_path*>(p));
  }
  bool takes_text() const override { return true; }
  bool is_later() const override { return given_ != required; }
  void complete(void* p, std::string_view text) const override {
    auto& field = *static_cast<required_text*>(p);
    field.value = text;
    field.is_given = true;
  }
  std::string type_name() const override { return given_ == path ? "path" : "text"; }
  std::string wanted(std::string_view name) const override { return absl::StrCat("a ", std::string(name)); }
  std::string placeholder(std::string_view name) const override { return absl::StrCat("\"", std::string(name), "\""); }

 private:
  static const required_text& get(const void* p) { return *static_cast<const required_text*>(p); }
  given_type given_;
};

template <given_text_codec::given_type Given> const codec& given_text() {
  static const given_text_codec c(Given);
  return c;
}

template <class Codec> const codec& the() {
  static const Codec c;
  return c;
}

}  // namespace

template <> const codec& codec_of<bool>() { return the<bool_codec>(); }
template <> const codec& codec_of<std::int64_t>() { return the<whole_number_codec<std::int64_t>>(); }
template <> const codec& codec_of<double>() { return the<double_codec>(); }
template <> const codec& codec_of<std::string>() { return the<string_codec>(); }
template <> const codec& codec_of<count>() { return the<count_codec>(); }
template <> const codec& codec_of<integer>() { return the<integer_codec>(); }
template <> const codec& codec_of<count_or_all>() { return the<count_or_all_codec>(); }
template <> const codec& codec_of<knob>() { return the<knob_codec>(); }
template <> const codec& codec_of<seed>() { return the<seed_codec>(); }
template <> const codec& codec_of<later_seed>() { return the<later_seed_codec>(); }
template <> const codec& codec_of<error_limit>() { return the<error_limit_codec>(); }
template <> const codec& codec_of<quarantine>() { return the<quarantine_codec>(); }
template <> const codec& codec_of<file_index>() { return the<file_index_codec>(); }
template <> const codec& codec_of<page_cache>() { return the<page_cache_codec>(); }
template <> const codec& codec_of<external_state>() { return the<external_state_codec>(); }
template <> const codec& codec_of<after_damage>() { return the<after_damage_codec>(); }
template <> const codec& codec_of<size_limit>() { return the<size_limit_codec>(); }
template <> const codec& codec_of<ratio_limit>() { return the<ratio_limit_codec>(); }
template <> const codec& codec_of<byte_size>() { return the<byte_size_codec>(); }
template <> const codec& codec_of<wait_time>() { return the<wait_time_codec>(); }
template <> const codec& codec_of<required_text>() { return given_text<given_text_codec::required>(); }
template <> const codec& codec_of<later_text>() { return given_text<given_text_codec::later>(); }
template <> const codec& codec_of<file_path>() { return given_text<given_text_codec::path>(); }

namespace detail {

const codec& count_codec_up_to(std::int64_t most) { return *new count_codec(most); }
const codec& knob_codec_up_to(std::int64_t most) { return *new knob_codec(most); }
const codec& enum_codec(const std::string_view* names, std::size_t n) { return *new named_values_codec(names, n); }

}  // namespace detail

}  // namespace sluice::lib
