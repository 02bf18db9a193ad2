// SPDX-License-Identifier: Apache-2.0
// The codecs of lists, maps and optional values. Only the few lines that depend on the type are in this header.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "plan/codecs/argument_codec.hpp"
#include "sluice/plan/member_map.hpp"

namespace sluice::lib {

template <class T> const codec& codec_of();

namespace detail {

/// A list's items as its codec accesses them.
class list_codec_base : public codec {
 public:
  explicit list_codec_base(const codec& item) : item_(item) {}
  void print(const void* p, printer& to) const final;
  void read(void* p, const argument& a, reading& r) const final;
  std::string check(const void* p) const final;
  bool equal(const void* a, const void* b) const final;
  void visit(const void* p, part_visitor& v) const final;
  std::string type_name() const final { return "list of " + item_.type_name(); }

 protected:
  virtual std::size_t size(const void* p) const = 0;
  virtual const void* item(const void* p, std::size_t i) const = 0;
  virtual void* add(void* p) const = 0;
  virtual void clear(void* p) const = 0;

 private:
  const codec& item_;
};

template <class T> class list_codec final : public list_codec_base {
 public:
  static_assert(!std::is_same_v<T, bool>, "sluice: std::vector<bool> has no items to point at; take an enum or int64");
  list_codec() : list_codec_base(codec_of<T>()) {}

 private:
  using list = std::vector<T>;
  std::size_t size(const void* p) const override { return static_cast<const list*>(p)->size(); }
  const void* item(const void* p, std::size_t i) const override { return &(*static_cast<const list*>(p))[i]; }
  void* add(void* p) const override { return &static_cast<list*>(p)->emplace_back(); }
  void clear(void* p) const override { static_cast<list*>(p)->clear(); }
};

class map_codec_base : public codec {
 public:
  explicit map_codec_base(const codec& value) : value_(value) {}
  void print(const void* p, printer& to) const final;
  void read(void* p, const argument& a, reading& r) const final;
  std::string check(const void* p) const final;
  bool equal(const void* a, const void* b) const final;
  void visit(const void* p, part_visitor& v) const final;
  std::string type_name() const final { return "map of " + value_.type_name(); }

 protected:
  /// Returns the entries in the order of their keys.
  virtual std::vector<std::pair<const std::string*, const void*>> entries(const void* p) const = 0;
  /// Returns null if the key exists already.
  virtual void* add(void* p, const std::string& key) const = 0;
  virtual void clear(void* p) const = 0;

 private:
  const codec& value_;
};

template <class T> class map_codec final : public map_codec_base {
 public:
  map_codec() : map_codec_base(codec_of<T>()) {}

 private:
  using map = std::map<std::string, T>;
  std::vector<std::pair<const std::string*, const void*>> entries(const void* p) const override {
    std::vector<std::pair<const std::string*, const void*>> all;
    for (auto& [key, value] : *static_cast<const map*>(p)) all.emplace_back(&key, &value);
    return all;
  }
  void* add(void* p, const std::string& key) const override {
    auto [at, is_new] = static_cast<map*>(p)->try_emplace(key);
    return is_new ? &at->second : nullptr;
  }
  void clear(void* p) const override { static_cast<map*>(p)->clear(); }
};

template <class T> class member_map_codec final : public map_codec_base {
 public:
  member_map_codec() : map_codec_base(codec_of<T>()) {}

 private:
  using map = member_map<T>;
  std::vector<std::pair<const std::string*, const void*>> entries(const void* p) const override {
    std::vector<std::pair<const std::string*, const void*>> all;
    for (auto& [key, value] : *static_cast<const map*>(p)) all.emplace_back(&key, &value);
    return all;
  }
  void* add(void* p, const std::string& key) const override { return static_cast<map*>(p)->add(key); }
  void clear(void* p) const override { static_cast<map*>(p)->clear(); }
};

class optional_codec_base : public codec {
 public:
  explicit optional_codec_base(const codec& value) : value_(value) {}
  void print(const void* p, printer& to) const final;
  void read(void* p, const argument& a, reading& r) const final;
  std::string check(const void* p) const final;
  bool equal(const void* a, const void* b) const final;
  void visit(const void* p, part_visitor& v) const final;
  bool is_knob() const final { return value_.is_knob(); }
  bool takes_text() const final { return value_.takes_text(); }
  bool takes_plan() const final { return value_.takes_plan(); }
  bool takes_function(const stage_function& f) const final { return value_.takes_function(f); }
  bool takes_functions() const final { return value_.takes_functions(); }
  std::string type_name() const final { return value_.type_name() + " or nothing"; }

 protected:
  /// Returns null if no value is set.
  virtual const void* value(const void* p) const = 0;
  virtual void* make(void* p) const = 0;
  virtual void reset(void* p) const = 0;

 private:
  const codec& value_;
};

template <class T> class optional_codec final : public optional_codec_base {
 public:
  optional_codec() : optional_codec_base(codec_of<T>()) {}

 private:
  using optional = std::optional<T>;
  const void* value(const void* p) const override {
    auto& o = *static_cast<const optional*>(p);
    return o ? &*o : nullptr;
  }
  void* make(void* p) const override { return &static_cast<optional*>(p)->emplace(); }
  void reset(void* p) const override { static_cast<optional*>(p)->reset(); }
};

}  // namespace detail

}  // namespace sluice::lib
