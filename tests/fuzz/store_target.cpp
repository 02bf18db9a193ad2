// SPDX-License-Identifier: Apache-2.0
// Answers of stores and files of credentials: trees, listings and profiles, or an error; and what is escaped comes back.
#include "fuzz/target.hpp"

#if SLUICE_HAVE_STORES
#include "io/gcs/gcs_store.hpp"
#include "io/s3/s3_store.hpp"
#include "io/stores/stored_crc32c.hpp"
#endif

namespace sluice::lib::fuzz {

#if SLUICE_HAVE_STORES

namespace {

std::size_t depth_of(const detail::answer_tree& t) {
  std::size_t deepest = 0;
  for (const detail::answer_tree& c : t.children) deepest = std::max(deepest, depth_of(c));
  return deepest + 1;
}

void check_tree(const result<detail::answer_tree>& t) {
  if (!t.ok()) {
    expect(t.why().code() == status_code::data_loss, "a broken answer is told as " + t.why().to_string());
    return;
  }
  expect(depth_of(*t) <= 33, "a tree is too deep");
  (void)detail::parse_credentials(*t);
  auto object = detail::parse_gcs_object(*t);
  if (object.ok()) expect(object->has_size() || t->at("size") == "18446744073709551615", "an object has no size");
}

void check_listing(std::string_view text) {
  auto page = detail::parse_s3_listing(text);
  if (!page.ok()) {
    expect(page.why().code() == status_code::data_loss, "a broken listing is told as " + page.why().to_string());
    return;
  }
  for (const detail::store_entry& e : page->objects)
    expect(e.info.version.empty() || e.info.version.find('"') != std::string::npos, "a version is no ETag");
}

}  // namespace

void store_answers(std::string_view bytes) {
  input in(bytes);
  const std::uint8_t mode = in.byte();
  const std::string text(in.rest());
  switch (mode % 5) {
    case 0: check_tree(detail::parse_xml(text)); break;
    case 1: check_tree(detail::parse_json(text)); break;
    case 2: check_listing(text); break;
    case 3: {
      auto values = detail::section_of(text, "default");
      if (values)
        for (auto& [key, value] : *values) expect(value.find('\n') == std::string::npos, "a value has a line break");
      break;
    }
    default:
      expect(detail::percent_decoded(detail::percent_encoded(text)) == text, "what is escaped does not come back");
      expect(detail::percent_decoded(detail::percent_encoded(text, true), true) == text,
             "what is escaped does not come back");
      auto path = detail::parse_store_path("s3://" + text);
      if (path.ok()) expect(!path->bucket.empty() && path->bucket.find('/') == std::string::npos, "a bucket is none");
      (void)detail::crc32c_of_hashes(text);
      (void)detail::parse_iso_time(text);
  }
}

#else

void store_answers(std::string_view) {}

#endif

}  // namespace sluice::lib::fuzz
