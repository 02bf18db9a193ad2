// SPDX-License-Identifier: Apache-2.0
// Functions of texts. They work on bytes; lower() and upper() change ASCII letters only.
#include <farmhash.h>

#include <cmath>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/text/read_number.hpp"
#include "expr/checking/checker.hpp"
#include "expr/functions/vocabulary.hpp"
#include "sluice/base/utf8.hpp"

namespace sluice::lib::expressions {

namespace {

using view = std::string_view;

template <class R, class F> computed_ptr of_text(function_arguments& a, F f) {
  a.need(1, 1);
  return from_one<R, view>(type_of<std::conditional_t<std::is_same_v<R, view>, std::string, R>>(), a.text(0), f);
}
template <class R, class F> computed_ptr of_two_texts(function_arguments& a, F f) {
  a.need(2, 2);
  computed_ptr first = a.text(0), second = a.text(1);
  return from_two<R, view, view>(type_of<R>(), std::move(first), std::move(second), f);
}
template <class F> computed_ptr of_bytes(function_arguments& a, F change) {
  return of_text<view>(a, [change](evaluation& ev, view s) {
    char* to = ev.kept_room(s.size());
    for (std::size_t i = 0; i != s.size(); ++i) to[i] = change(s[i]);
    return view(to, s.size());
  });
}

view trimmed(view s) {
  while (!s.empty() && absl::ascii_isspace(static_cast<unsigned char>(s.front()))) s.remove_prefix(1);
  while (!s.empty() && absl::ascii_isspace(static_cast<unsigned char>(s.back()))) s.remove_suffix(1);
  return s;
}

std::string quoted(view s) {
  constexpr std::size_t kShownMax = 60;
  std::string out;
  print_json_text(s.substr(0, kShownMax), out);
  return s.size() > kShownMax ? out + "…" : out;
}

/// Converts the whole text except spaces around it. Errors: bad_value.
template <class T> T to_number(view s) {
  view t = trimmed(s);
  if (t.size() > 1 && t[0] == '+' && t[1] != '-') t.remove_prefix(1);
  T value{};
  number_text found = number_text::malformed;
  if constexpr (std::is_floating_point_v<T>) {
    found = read_real_or_hexadecimal(t, value);
  } else {
    found = read_digits(t, value);
  }
  if (found == number_text::read) return value;
  const char* why = found == number_text::out_of_range ? ": it does not fit" : "";
  throw bad_value{absl::StrCat(quoted(s), " is no ", type_of<T>().name, why)};
}

view replaced(evaluation& ev, view s, view from, view to) {
  if (from.empty()) throw bad_value{"replace: the text to be replaced is empty"};
  std::size_t n = 0;
  for (std::size_t at = s.find(from); at != view::npos; at = s.find(from, at + from.size())) ++n;
  if (n == 0) return s;
  const std::size_t size = s.size() - n * from.size() + n * to.size();
  char* out = ev.kept_room(size);
  char* at = out;
  for (;;) {
    std::size_t next = std::min(s.find(from), s.size());
    at = std::copy_n(s.data(), next, at);
    if (next == s.size()) return {out, size};
    at = std::copy(to.begin(), to.end(), at);
    s.remove_prefix(next + from.size());
  }
}

/// Returns the texts between the separators. Their number is one more than the number of separators. An empty separator
/// splits at white space, and omits empty texts.
span_value split(evaluation& ev, view s, view by) {
  std::size_t n = 0;
  auto for_each_part = [&](auto visit) {
    view rest = s;
    if (by.empty()) {
      while (!(rest = trimmed(rest)).empty()) {
        std::size_t end = 0;
        while (end != rest.size() && !absl::ascii_isspace(static_cast<unsigned char>(rest[end]))) ++end;
        visit(rest.substr(0, end));
        rest.remove_prefix(end);
      }
      return;
    }
    for (;;) {
      std::size_t end = rest.find(by);
      visit(rest.substr(0, end));
      if (end == view::npos) return;
      rest.remove_prefix(end + by.size());
    }
  };
  for_each_part([&](view) { ++n; });
  evaluation::objects& made = ev.kept_objects(type_of<std::string>(), n, 1);
  ev.charge(s.size());
  for_each_part([&](view part) {
    ::new (static_cast<void*>(made.data + made.constructed * sizeof(std::string))) std::string(part);
    ++made.constructed;
  });
  return {made.data, n};
}

computed_ptr split_text(function_arguments& a) {
  a.need(1, 2);
  computed_ptr s = a.text(0);
  computed_ptr by = a.count() == 2 ? a.text(1) : std::make_unique<literal>(std::string());
  return from_two<span_value, view, view>(*list_of(&type_of<std::string>()), std::move(s), std::move(by), split);
}

view join(evaluation& ev, const element_type& item, span_value parts, view by) {
  std::size_t size = parts.n == 0 ? 0 : (parts.n - 1) * by.size();
  for (std::size_t i = 0; i != parts.n; ++i) size += item.text(parts.data + i * item.size).size();
  char* out = ev.kept_room(size);
  char* at = out;
  for (std::size_t i = 0; i != parts.n; ++i) {
    if (i != 0) at = std::copy(by.begin(), by.end(), at);
    view part = item.text(parts.data + i * item.size);
    at = std::copy(part.begin(), part.end(), at);
  }
  return {out, size};
}
computed_ptr join_texts(function_arguments& a) {
  a.need(2, 2);
  computed_ptr list = a.list(0);
  const element_type& item = *list->type().element;
  if (item.kind != kind::text) {
    a.parts[0] = std::move(list);
    a.expected(0, "a list of texts");
  }
  return from_two<view, span_value, view>(
      type_of<std::string>(), std::move(list), a.text(1),
      [&item](evaluation& ev, span_value parts, view by) { return join(ev, item, parts, by); });
}

computed_ptr number_of_text(function_arguments& a) {
  a.need(1, 1);
  return from_one<double, view>(type_of<double>(), a.text(0), [](evaluation&, view s) { return to_number<double>(s); });
}
computed_ptr integer_of_text(function_arguments& a) {
  a.need(1, 1);
  return from_one<std::int64_t, view>(type_of<std::int64_t>(), a.text(0),
                                      [](evaluation&, view s) { return to_number<std::int64_t>(s); });
}

/// Returns the value as JSON prints it; a text unchanged.
computed_ptr as_text(function_arguments& a) {
  a.need(1, 1);
  computed_ptr of = std::move(a.parts[0]);
  const element_type& t = of->type();
  if (t.kind == kind::text)
    return from_one<view, view>(type_of<std::string>(), std::move(of), [](evaluation&, view s) { return s; });
  if (number_of(t) == number::none) {
    a.parts[0] = std::move(of);
    a.expected(0, "a number or a text");
  }
  return with_number(number_of(t), [&]<class T>(std::type_identity<T>) {
    return from_one<view, T>(type_of<std::string>(), std::move(of),
                             [](evaluation& ev, T v) { return ev.kept(spelled(v)); });
  });
}

computed_ptr bucket_of(function_arguments& a) {
  a.need(2, 2);
  computed_ptr s = a.text(0);
  return from_two<std::int64_t, view, std::int64_t>(
      type_of<std::int64_t>(), std::move(s), a.as(1, number::i64), [](evaluation&, view key, std::int64_t n) {
        if (n < 1) throw bad_value{absl::StrCat("hash_bucket: ", n, " buckets; at least 1 is needed")};
        // Equals tf.strings.to_hash_bucket_fast(), whose numbers models use for words.
        return static_cast<std::int64_t>(util::Fingerprint64(key.data(), key.size()) % static_cast<std::uint64_t>(n));
      });
}

/// Returns the number of a word that a vocabulary lacks: one of the numbers after it, by its hash, or -1.
std::int64_t looked_up(const vocabulary& words, view word, std::int64_t buckets) {
  std::int64_t line = words.find(word);
  if (line >= 0 || buckets == 0) return line;
  return words.size() +
         static_cast<std::int64_t>(util::Fingerprint64(word.data(), word.size()) % static_cast<std::uint64_t>(buckets));
}

/// lookup(text, "words.txt") and lookup(text, "words.txt", buckets)
computed_ptr lookup(function_arguments& a) {
  a.need(2, 3);
  auto* path = dynamic_cast<const literal*>(a.parts[1].get());
  if (!path || path->type().kind != kind::text) a.expected(1, "the name of a file, in quotes");
  std::int64_t buckets = 0;
  if (a.count() == 3) {
    computed_ptr n = a.as(2, number::i64);
    if (!n->constant()) throw bad_value{"lookup: the number of buckets is the same for all elements"};
    std::memcpy(&buckets, n->constant(), sizeof buckets);
    if (buckets < 1) throw bad_value{absl::StrCat("lookup: ", buckets, " buckets; at least 1 is needed")};
  }
  auto words = std::make_shared<const vocabulary>(path->text());
  a.check.note_value(words->hash());
  return from_one<std::int64_t, view>(type_of<std::int64_t>(), a.text(0), [words, buckets](evaluation&, view word) {
    return looked_up(*words, word, buckets);
  });
}

computed_ptr found(function_arguments& a) {
  a.need(2, 2);
  computed_ptr s = a.text(0), part = a.text(1);
  return from_two<std::int64_t, view, view>(
      type_of<std::int64_t>(), std::move(s), std::move(part), [](evaluation&, view in, view what) {
        std::size_t at = in.find(what);
        return at == view::npos ? std::int64_t{-1} : static_cast<std::int64_t>(at);
      });
}

computed_ptr replace_text(function_arguments& a) {
  a.need(3, 3);
  computed_ptr s = a.text(0), from = a.text(1), to = a.text(2);
  return from_three<view, view, view, view>(type_of<std::string>(), std::move(s), std::move(from), std::move(to),
                                            replaced);
}

/// Counts a text's characters. Each byte that is not part of UTF-8 counts as one.
std::int64_t characters(view s) {
  std::int64_t n = 0;
  for (char c : s) n += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return n;
}

}  // namespace

const std::vector<built_in>& text_functions() {
  static const std::vector<built_in> all{
      {"lower",
       [](function_arguments& a) {
         return of_bytes(a, [](char c) { return absl::ascii_tolower(static_cast<unsigned char>(c)); });
       }},
      {"upper",
       [](function_arguments& a) {
         return of_bytes(a, [](char c) { return absl::ascii_toupper(static_cast<unsigned char>(c)); });
       }},
      {"trim", [](function_arguments& a) { return of_text<view>(a, [](evaluation&, view s) { return trimmed(s); }); }},
      {"starts_with",
       [](function_arguments& a) {
         return of_two_texts<bool>(a, [](evaluation&, view s, view t) { return s.starts_with(t); });
       }},
      {"ends_with",
       [](function_arguments& a) {
         return of_two_texts<bool>(a, [](evaluation&, view s, view t) { return s.ends_with(t); });
       }},
      {"find", found},
      {"replace", replace_text},
      {"split", split_text},
      {"join", join_texts},
      {"to_number", number_of_text},
      {"to_integer", integer_of_text},
      {"string", as_text},
      {"hash_bucket", bucket_of},
      {"lookup", lookup},
      {"characters",
       [](function_arguments& a) {
         return of_text<std::int64_t>(a, [](evaluation&, view s) { return characters(s); });
       }},
  };
  return all;
}

}  // namespace sluice::lib::expressions
