// SPDX-License-Identifier: Apache-2.0
// Answers of stores and files of credentials: trees, listings and profiles, or an error; and what is escaped comes back.
#include "fuzz/target.hpp"

#if SLUICE_HAVE_STORES
#include "io/gcs/gcs_store.hpp"
#include "io/hdfs/hadoop_conf.hpp"
#include "io/hdfs/hadoop_tokens.hpp"
#include "io/hdfs/hdfs_answers.hpp"
#include "io/http/messages/dates.hpp"
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

void check_hdfs_listing(std::string_view text) {
  auto page = detail::parse_hdfs_listing(text);
  auto one = detail::parse_hdfs_status(text);
  for (const status& why : {page.why(), one.why()})
    expect(why.ok() || why.code() == status_code::data_loss, "a broken status is told as " + why.to_string());
  if (!page.ok()) return;
  for (const detail::hdfs_entry& e : page->entries)
    expect(e.name.find('/') == std::string::npos && e.info.has_size() && e.info.modified_ns >= 0, "an entry is none");
}

/// What an answer says goes into messages, and where it sends nobody goes but to http and https, and not out of TLS.
void check_hdfs_answer(std::string_view text) {
  detail::http_url asked;
  asked.tls = !text.empty() && text.front() % 2 == 0;
  asked.host = "nn";
  detail::response_head head;
  head.code = 307;
  head.location = std::string(text);
  auto place = detail::parse_hdfs_place(asked, head, {});
  if (place.ok()) expect(!place->host.empty() && (place->tls || !asked.tls), "a place is none");
  head.code = 403;
  const detail::http_failure failed = detail::hdfs_failure(head, text, {"data node", "dn:1", "the user u"});
  const std::string told(failed.why.message());
  for (char c : told) expect(c >= ' ' && c < 0x7f, "a message has a control character");
  expect(told.size() < 2000, "a message is too long");
}

void check_hadoop_files(std::string_view text) {
  auto tokens = detail::parse_hadoop_tokens(text);
  if (tokens.ok())
    for (const detail::hadoop_token& t : *tokens) expect(!t.text.empty(), "a token is empty");
  detail::hadoop_conf conf;
  const status why = conf.add(text);
  expect(why.ok() || why.code() == status_code::invalid_argument,
         "a broken configuration is told as " + why.to_string());
  for (const std::string& part : conf.list("a")) expect(!part.empty(), "a part is empty");
}

}  // namespace

void store_answers(std::string_view bytes) {
  input in(bytes);
  const std::uint8_t mode = in.byte();
  const std::string text(in.rest());
  switch (mode % 8) {
    case 0: check_tree(detail::parse_xml(text)); break;
    case 1: check_tree(detail::parse_json(text)); break;
    case 2: check_listing(text); break;
    case 3: {
      auto values = detail::section_of(text, "default");
      if (values)
        for (auto& [key, value] : *values) expect(value.find('\n') == std::string::npos, "a value has a line break");
      break;
    }
    case 5: check_hdfs_listing(text); break;
    case 6: check_hdfs_answer(text); break;
    case 7: check_hadoop_files(text); break;
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
