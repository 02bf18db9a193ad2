// SPDX-License-Identifier: Apache-2.0
#include "http/stores/simulated_s3.hpp"

#if SLUICE_HAVE_STORES
#include <algorithm>

#include "io/http/messages/http_request.hpp"
#include "io/http/messages/http_text.hpp"
#include "io/stores/digest.hpp"

namespace sluice::lib::testing {
namespace {

using detail::joined;
using detail::percent_decoded;
using detail::percent_encoded;

std::string between(const std::string& text, const std::string& before, const std::string& after) {
  const std::size_t at = text.find(before);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + before.size();
  return text.substr(begin, text.find(after, begin) - begin);
}

}  // namespace

std::map<std::string, std::string> query_of(const std::string& target) {
  std::map<std::string, std::string> out;
  std::size_t at = target.find('?');
  while (at != std::string::npos) {
    const std::size_t end = target.find('&', at + 1);
    const std::string part = target.substr(at + 1, end == std::string::npos ? end : end - at - 1);
    const std::size_t equals = part.find('=');
    out[percent_decoded(part.substr(0, equals))] =
        equals == std::string::npos ? "" : percent_decoded(part.substr(equals + 1));
    at = end;
  }
  return out;
}

reply simulated_s3::failed(int code, const std::string& name, const std::string& more) {
  return {code, "x-amz-request-id: REQ1\r\nContent-Type: application/xml\r\n",
          joined("<?xml version=\"1.0\"?>\n<Error><Code>", name, "</Code><Message>Words &amp; ", name, "</Message>",
                 more, "</Error>")};
}

void simulated_s3::put(const std::string& key, std::string bytes) {
  objects[key] = {std::move(bytes), joined("\"v", ++versions, "\"")};
}

std::optional<reply> simulated_s3::refused(const asked_for& request) const {
  const std::string signature = field_of(request.head, "Authorization");
  const std::string key = between(signature, "Credential=", "/");
  if (!signature.empty() && between(signature, key + "/", "/s3/").substr(9) != region)
    return failed(400, "AuthorizationHeaderMalformed", joined("<Region>", region, "</Region>"));
  if (expired_keys.count(key) != 0) return failed(400, "ExpiredToken");
  if (!known_keys.empty() && signature.empty()) return failed(403, "AccessDenied");
  if (!known_keys.empty() && known_keys.count(key) == 0) return failed(403, "InvalidAccessKeyId");
  return {};
}

std::optional<reply> simulated_s3::answer(const asked_for& request) {
  if (auto no = refused(request)) return no;
  const std::string path = request.target.substr(0, request.target.find('?'));
  const std::string here = "/" + bucket;
  if (path != here && !path.starts_with(here + "/")) return failed(404, "NoSuchBucket");
  const auto query = query_of(request.target);
  const std::string key = path == here ? "" : percent_decoded(path.substr(here.size() + 1));
  if (query.count("list-type") != 0) return list(query);
  if (request.method == "GET" || request.method == "HEAD") return get(request, key);
  return write(request, key, query);
}

reply simulated_s3::list(const std::map<std::string, std::string>& query) const {
  auto text = [&](const char* name) {
    auto found = query.find(name);
    return found == query.end() ? std::string() : found->second;
  };
  const std::string prefix = text("prefix"), delimiter = text("delimiter"), from = text("continuation-token");
  std::string body, last, last_folder;
  std::size_t keys = 0;
  bool more = false;
  for (auto& [key, o] : objects) {
    if (!key.starts_with(prefix) || (!from.empty() && key <= from)) continue;
    const std::size_t slash = delimiter.empty() ? std::string::npos : key.find(delimiter, prefix.size());
    const std::string folder = slash == std::string::npos ? "" : key.substr(0, slash + 1);
    if (!folder.empty() && (folder == last_folder || (!from.empty() && from.starts_with(folder)))) {
      last = key;
      continue;
    }
    if (keys == page_keys) {
      more = true;
      break;
    }
    ++keys;
    last = key;
    last_folder = folder;
    if (folder.empty())
      body += joined("<Contents><Key>", percent_encoded(key, true), "</Key><LastModified>2026-11-24T10:00:00.123Z",
                     "</LastModified><ETag>&quot;", o.etag.substr(1, o.etag.size() - 2), "&quot;</ETag><Size>",
                     o.bytes.size(), "</Size></Contents>");
    else body += joined("<CommonPrefixes><Prefix>", percent_encoded(folder, true), "</Prefix></CommonPrefixes>");
  }
  return {200, "",
          joined("<ListBucketResult "
                 "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><EncodingType>url</EncodingType><IsTruncated>",
                 more ? "true" : "false", "</IsTruncated>",
                 more ? joined("<NextContinuationToken>", last, "</NextContinuationToken>") : std::string(), body,
                 "</ListBucketResult>")};
}

reply simulated_s3::get(const asked_for& request, const std::string& key) const {
  auto found = objects.find(key);
  if (found == objects.end()) return failed(404, "NoSuchKey");
  const object& o = found->second;
  std::string fields = joined("ETag: ", o.etag, "\r\nLast-Modified: Tue, 24 Nov 2026 10:00:00 GMT\r\n");
  if (request.method == "HEAD") return {200, joined(fields, "Content-Length: ", o.bytes.size(), "\r\n"), ""};
  if (!request.if_match.empty() && request.if_match != o.etag) return failed(412, "PreconditionFailed");
  if (request.range.empty()) return {200, fields, o.bytes};
  std::uint64_t first = 0, last = 0;
  const std::size_t dash = request.range.find('-');
  (void)detail::parse_digits(request.range.substr(6, dash - 6), first);
  (void)detail::parse_digits(request.range.substr(dash + 1), last);
  if (first >= o.bytes.size()) {
    reply r = failed(416, "InvalidRange");
    if (tells_range_of_empty) r.fields += joined("Content-Range: bytes */", o.bytes.size(), "\r\n");
    return r;
  }
  last = std::min<std::uint64_t>(last, o.bytes.size() - 1);
  fields += joined("Content-Range: bytes ", first, "-", last, "/", o.bytes.size(), "\r\n");
  return {206, fields, o.bytes.substr(first, last - first + 1)};
}

std::string simulated_s3::tag_of(const std::string& bytes) const {
  const std::string salted = encryption == "aws:kms" ? "salt" + bytes : bytes;
  return joined("\"", detail::hexadecimal(detail::md5(salted)), "\"");
}

reply simulated_s3::write(const asked_for& request, const std::string& key, std::map<std::string, std::string> query) {
  const std::string id = query["uploadId"];
  const std::string told = field_of(request.head, "Content-MD5");
  if (!told.empty() && told != detail::base64(detail::md5(request.body))) return failed(400, "BadDigest");
  const std::string encrypted =
      encryption.empty() ? std::string() : joined("x-amz-server-side-encryption: ", encryption, "\r\n");
  if (request.method == "PUT" && id.empty()) {
    const std::string bytes = stored(request.body);
    objects[key] = {bytes, tag_of(bytes)};
    return {200, joined(encrypted, "ETag: ", objects[key].etag, "\r\n"), ""};
  }
  if (request.method == "POST" && id.empty()) {
    const std::string made = joined("up/", uploads.size() + 1, "+=");
    uploads[made].key = key;
    return {200, "",
            joined("<InitiateMultipartUploadResult><UploadId>", made, "</UploadId></InitiateMultipartUploadResult>")};
  }
  auto found = uploads.find(id);
  if (found == uploads.end()) return failed(404, "NoSuchUpload");
  if (request.method == "DELETE") {
    uploads.erase(found);
    ++aborted;
    return {204, "", ""};
  }
  if (request.method == "PUT") {
    const int number = std::stoi(query["partNumber"]);
    std::string& part = found->second.parts[number];
    part = stored(request.body);
    return {200, joined(encrypted, "ETag: ", tag_of(part), "\r\n"), ""};
  }
  std::string all, sums;
  std::size_t parts = 0;
  for (std::size_t at = 0; (at = request.body.find("<PartNumber>", at)) != std::string::npos; ++parts) {
    at += 12;
    const std::string& part = found->second.parts.at(std::stoi(request.body.substr(at)));
    if (!all.empty() && parts + 1 < found->second.parts.size() && part.size() < (5u << 20))
      return failed(400, "EntityTooSmall");
    all += part;
    sums += detail::md5(part);
  }
  std::string tag = tag_of(sums);
  tag.insert(tag.size() - 1, joined("-", parts));
  objects[found->second.key] = {std::move(all), tag};
  uploads.erase(found);
  return {200, encrypted,
          joined("<CompleteMultipartUploadResult><ETag>&quot;", tag.substr(1, tag.size() - 2),
                 "&quot;</ETag></CompleteMultipartUploadResult>")};
}

}  // namespace sluice::lib::testing
#endif
