// SPDX-License-Identifier: Apache-2.0
#include "io/http/messages/dates.hpp"
#include "io/http/messages/http_text.hpp"
#include "io/s3/s3_store.hpp"

namespace sluice::lib::detail {

result<store_page> parse_s3_listing(std::string_view body) {
  auto parsed = parse_xml(body);
  if (!parsed.ok()) return parsed.why();
  if (parsed->name != "ListBucketResult")
    return data_loss_error(joined("the answer to a listing is a ", parsed->name, " instead of a ListBucketResult"));
  const bool is_encoded = parsed->at("EncodingType") == "url";
  auto decoded = [is_encoded](std::string_view text) {
    return is_encoded ? percent_decoded(text, true) : std::string(text);
  };
  store_page page;
  for (const answer_tree* item : parsed->all("Contents")) {
    store_entry e;
    e.key = decoded(item->at("Key"));
    if (!parse_digits(item->at("Size"), e.info.size_bytes))
      return data_loss_error(joined("the listing has for ", e.key, " the size \"", item->at("Size"), "\""));
    e.info.version = item->at("ETag");
    if (!e.info.version.empty() && e.info.version.find('"') == std::string::npos)
      e.info.version = joined("\"", e.info.version, "\"");
    e.info.modified_ns = iso_time_in_seconds(item->at("LastModified"));
    page.objects.push_back(std::move(e));
  }
  for (const answer_tree* item : parsed->all("CommonPrefixes")) page.folders.push_back(decoded(item->at("Prefix")));
  if (parsed->at("IsTruncated") == "true") {
    page.next = parsed->at("NextContinuationToken");
    if (page.next.empty()) return data_loss_error("the listing is incomplete, and has no NextContinuationToken");
  }
  return page;
}

}  // namespace sluice::lib::detail
