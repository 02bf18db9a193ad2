// SPDX-License-Identifier: Apache-2.0
#include "expr/subject.hpp"

#include <new>

namespace sluice::lib::test {

namespace {

template <class A, class R, R (*F)(const A&)> class known final : public callable {
 public:
  const element_type& in() const override { return type_of<A>(); }
  const element_type& out() const override { return type_of<R>(); }
  bool draws() const override { return false; }
  std::uint32_t call(void* in, std::uint32_t n, void* out, std::uint64_t, std::uint64_t, status& why) const override {
    for (std::uint32_t i = 0; i != n; ++i) {
      try {
        ::new (static_cast<void*>(static_cast<R*>(out) + i)) R(F(static_cast<const A*>(in)[i]));
      } catch (...) {
        why = current_exception_status();
        return i;
      }
    }
    return n;
  }
};

using two = std::pair<std::int64_t, std::int64_t>;
std::int64_t twice_of(const std::int64_t& x) { return x * 2; }
std::string shout(const std::string& s) {
  std::string out = s;
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out + "!";
}
std::int64_t area(const two& x) { return x.first * x.second; }
std::string size_of_text(const std::string& s) { return "text of " + std::to_string(s.size()); }
std::string size_of_both(const std::pair<std::int64_t, double>& x) {
  return std::to_string(x.first) + " by " + std::to_string(x.second);
}
std::int64_t fails_on(const std::int64_t& x) {
  throw error(invalid_argument_error(std::to_string(x) + " is not wanted"));
}

}  // namespace

std::vector<std::shared_ptr<const callable>> known_functions::named(std::string_view name, std::string&) {
  if (name == "twice_of") return {std::make_shared<known<std::int64_t, std::int64_t, twice_of>>()};
  if (name == "shout") return {std::make_shared<known<std::string, std::string, shout>>()};
  if (name == "area") return {std::make_shared<known<two, std::int64_t, area>>()};
  if (name == "fails_on") return {std::make_shared<known<std::int64_t, std::int64_t, fails_on>>()};
  if (name == "size_of")
    return {std::make_shared<known<std::string, std::string, size_of_text>>(),
            std::make_shared<known<std::pair<std::int64_t, double>, std::string, size_of_both>>()};
  return {};
}

std::string outcome_of(std::string_view text, const subject& element, std::uint32_t n) {
  known_functions functions;
  try {
    program p(expression(text), type_of<subject>(), functions);
    std::vector<subject> elements(n, element);
    const element_type& t = p.type();
    std::unique_ptr<char[]> room(new char[n * t.size + t.align]);
    void* to = room.get();
    std::size_t space = n * t.size + t.align;
    std::align(t.align, n * t.size, to, space);
    status why;
    std::uint32_t made = p.apply(elements.data(), n, to, 101 - n, 7, why);
    std::string out;
    if (made == n) {
      out = t.name + "\t";
      t.print(t, static_cast<char*>(to) + (n - 1) * t.size, out);
    } else {
      out = "?\t" + std::string(why.message());
    }
    t.destroy(t, to, made);
    return out;
  } catch (const expression_error& e) { return "!\t" + std::string(e.why().message()); }
}

}  // namespace sluice::lib::test
