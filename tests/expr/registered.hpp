// SPDX-License-Identifier: Apache-2.0
// Functions that the expressions of a test may call, without a plan's registry.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "expr/program.hpp"

namespace sluice::lib::test {

class registered_functions : public callables {
 public:
  /// f: R(const A&), without captures.
  template <class A, class R> void add(std::string name, R (*f)(const A&)) {
    all_.emplace_back(std::move(name), std::make_shared<one<A, R>>(f));
  }
  std::vector<std::shared_ptr<const callable>> named(std::string_view name, std::string&) override {
    std::vector<std::shared_ptr<const callable>> found;
    for (auto& [known, f] : all_)
      if (known == name) found.push_back(f);
    return found;
  }
  void note_call(const callable&) override {}
  void note_value(std::uint64_t) override {}
  std::vector<std::string> names() const override {
    std::vector<std::string> out;
    for (auto& f : all_) out.push_back(f.first);
    return out;
  }

 private:
  template <class A, class R> class one final : public callable {
   public:
    explicit one(R (*f)(const A&)) : f_(f) {}
    const element_type& in() const override { return type_of<A>(); }
    const element_type& out() const override { return type_of<R>(); }
    bool draws() const override { return false; }
    std::uint32_t call(void* in, std::uint32_t n, void* out, std::uint64_t, std::uint64_t, status& why) const override {
      for (std::uint32_t i = 0; i != n; ++i) {
        try {
          ::new (static_cast<void*>(static_cast<R*>(out) + i)) R(f_(static_cast<const A*>(in)[i]));
        } catch (...) {
          why = current_exception_status();
          return i;
        }
      }
      return n;
    }

   private:
    R (*f_)(const A&);
  };

  std::vector<std::pair<std::string, std::shared_ptr<const callable>>> all_;
};

}  // namespace sluice::lib::test
