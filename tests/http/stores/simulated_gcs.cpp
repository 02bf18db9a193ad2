// SPDX-License-Identifier: Apache-2.0
#include "http/stores/simulated_gcs.hpp"

#if SLUICE_HAVE_STORES
#include <algorithm>

#include "io/http/messages/http_request.hpp"
#include "io/http/messages/http_text.hpp"
#include "io/stores/stored_crc32c.hpp"
#include "sluice/base/crc32c.hpp"

namespace sluice::lib::testing {
namespace {

using detail::joined;
using detail::percent_decoded;

std::string crc_of(const std::string& bytes) { return detail::stored_text(crc32c(bytes)); }

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < ' ') out += c == '\t' ? "\\t" : "?";
    else out += c;
  }
  return out + "\"";
}

}  // namespace

reply simulated_gcs::failed(int code, const std::string& reason, const std::string& message) {
  return {code, "X-GUploader-UploadID: UP1\r\n",
          joined("{\"error\": {\"code\": ", code, ", \"message\": ", quoted(message),
                 ", \"errors\": [{\"reason\": ", quoted(reason), "}]}}")};
}

std::optional<reply> simulated_gcs::answer(const asked_for& request) {
  const std::string authorization = field_of(request.head, "Authorization");
  if (!known_tokens.empty() && authorization.empty())
    return failed(401, "required", "Anonymous caller does not have storage.objects.get access");
  if (!known_tokens.empty() && known_tokens.count(authorization.substr(7)) == 0)
    return failed(401, "authError", "Invalid Credentials");
  auto query = query_of(request.target);
  const std::string path = request.target.substr(0, request.target.find('?'));
  const std::string here = joined("/storage/v1/b/", bucket, "/o");
  if (path == "/upload" + here || path.starts_with("/session/")) return write(request, query);
  if (path == here) return list(query);
  if (!path.starts_with(here + "/")) return failed(404, "notFound", "The specified bucket does not exist.");
  return get(request, percent_decoded(path.substr(here.size() + 1)), query);
}

std::string simulated_gcs::about(const std::string& key) const {
  const object& o = objects.at(key);
  return joined("{\"name\": ", quoted(key), ", \"size\": \"", o.bytes.size(), "\", \"generation\": \"", o.generation,
                "\", \"updated\": \"2026-11-24T10:00:00.123Z\", \"crc32c\": \"",
                wrong_crc ? detail::stored_text(wrong_crc) : crc_of(o.bytes), "\"}");
}

reply simulated_gcs::list(std::map<std::string, std::string> query) const {
  const std::string prefix = query["prefix"], delimiter = query["delimiter"], from = query["pageToken"];
  std::string items, prefixes, last_folder, next;
  std::size_t keys = 0;
  for (auto& [key, o] : objects) {
    if (!key.starts_with(prefix) || key < from) continue;
    const std::size_t slash = delimiter.empty() ? std::string::npos : key.find(delimiter, prefix.size());
    const std::string folder = slash == std::string::npos ? "" : key.substr(0, slash + 1);
    if (!folder.empty() && folder == last_folder) continue;
    if (keys++ == page_keys) {
      next = key;
      break;
    }
    last_folder = folder;
    if (folder.empty()) items += joined(items.empty() ? "" : ", ", about(key));
    else prefixes += joined(prefixes.empty() ? "" : ", ", quoted(folder));
  }
  return {200, "",
          joined("{\"items\": [", items, "], \"prefixes\": [", prefixes, "]",
                 next.empty() ? std::string() : joined(", \"nextPageToken\": ", quoted(next)), "}")};
}

reply simulated_gcs::get(const asked_for& request, const std::string& key,
                         std::map<std::string, std::string> query) const {
  auto found = objects.find(key);
  if (found == objects.end()) return failed(404, "notFound", joined("No such object: ", bucket, "/", key));
  const object& o = found->second;
  if (query["alt"] != "media") return {200, "", about(key)};
  if (query.count("ifGenerationMatch") != 0 && query["ifGenerationMatch"] != std::to_string(o.generation))
    return failed(412, "conditionNotMet", "At least one of the pre-conditions you specified did not hold.");
  std::uint64_t first = 0, last = 0;
  const std::size_t dash = request.range.find('-');
  (void)detail::parse_digits(request.range.substr(6, dash - 6), first);
  (void)detail::parse_digits(request.range.substr(dash + 1), last);
  if (first >= o.bytes.size())
    return {416, joined("Content-Range: bytes */", o.bytes.size(), "\r\nX-Goog-Generation: ", o.generation, "\r\n"),
            "no"};
  last = std::min<std::uint64_t>(last, o.bytes.size() - 1);
  std::string fields =
      joined("X-Goog-Generation: ", o.generation,
             "\r\nX-Goog-Hash: crc32c=", wrong_crc ? detail::stored_text(wrong_crc) : crc_of(o.bytes),
             "\r\nX-Goog-Hash: md5=AAAA\r\nETag: CJ==\r\nLast-Modified: Tue, 24 Nov 2026 10:00:00 GMT\r\n"
             "Content-Range: bytes ",
             first, "-", last, "/", o.bytes.size(), "\r\n");
  if (!o.content_encoding.empty()) fields += joined("Content-Encoding: ", o.content_encoding, "\r\n");
  return {206, fields, o.bytes.substr(first, last - first + 1)};
}

reply simulated_gcs::write(const asked_for& request, std::map<std::string, std::string> query) {
  if (query["uploadType"] == "media") {
    if (field_of(request.head, "X-Goog-Hash") != "crc32c=" + crc_of(request.body))
      return failed(400, "invalid", "hash");
    put(query["name"], request.body);
    return {200, "", about(query["name"])};
  }
  if (query["uploadType"] == "resumable") {
    const std::size_t number = uploads.size() + ended.size() + 1;
    const std::string id = joined("/session/", number, "?upload_id=x%2F", number);
    uploads[id].key = query["name"];
    return {200, joined("Location: http://elsewhere.test", id, "\r\n"), ""};
  }
  if (ended.count(request.target) != 0 && !forgets_ended) return {200, "", about(ended[request.target])};
  auto found = uploads.find(request.target);
  if (found == uploads.end()) return failed(404, "notFound", "no upload");
  upload& u = found->second;
  if (request.method == "DELETE") {
    uploads.erase(found);
    ++aborted;
    return {499, "", ""};
  }
  const std::string range = field_of(request.head, "Content-Range");  // "bytes 0-99/*"
  const std::string total = range.substr(range.find('/') + 1);
  std::uint64_t first = u.bytes.size();
  (void)detail::parse_digits(range.substr(6, range.find('-') - 6), first);
  if (first > u.bytes.size()) return failed(503, "backendError", "a gap");
  // What it has already it takes no notice of.
  std::string_view fresh =
      std::string_view(request.body).substr(std::min<std::size_t>(request.body.size(), u.bytes.size() - first));
  u.bytes += fresh.substr(0, takes_at_once);
  if (total != std::to_string(u.bytes.size()))
    return {308, u.bytes.empty() ? "" : joined("Range: bytes=0-", u.bytes.size() - 1, "\r\n"), ""};
  if (field_of(request.head, "X-Goog-Hash") != "crc32c=" + crc_of(u.bytes)) return failed(400, "invalid", "hash");
  const std::string key = u.key;
  put(key, std::move(u.bytes));
  ended[found->first] = key;
  uploads.erase(found);
  return {200, "", about(key)};
}

}  // namespace sluice::lib::testing
#endif
