// SPDX-License-Identifier: Apache-2.0
#include "http/hdfs/simulated_hdfs.hpp"

#if SLUICE_HAVE_STORES
#include <algorithm>

#include "io/http/messages/http_request.hpp"
#include "io/http/messages/http_text.hpp"

namespace sluice::lib::testing {
namespace {

using detail::joined;
using detail::percent_decoded;

constexpr std::string_view kRoot = "/webhdfs/v1";
constexpr std::uint64_t kBegan = 1795514400'000;

std::string in_json(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') out += "\\n";
    else if (c == '\t') out += "\\t";
    else out += c;
  }
  return out + "\"";
}

std::string path_of(const asked_for& request) {
  const std::string target = request.target.substr(0, request.target.find('?'));
  if (!target.starts_with(kRoot)) return {};
  std::string path = percent_decoded(target.substr(kRoot.size()));
  if (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path.empty() ? "/" : path;
}

std::string folder_of(const std::string& path) { return path.substr(0, std::max<std::size_t>(1, path.rfind('/'))); }

/// As name nodes compare names: bytes have a sign.
bool is_before(const std::string& a, const std::string& b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return static_cast<signed char>(x) < static_cast<signed char>(y);
  });
}

reply not_there(const std::string& path) {
  return simulated_hdfs::failed(404, "FileNotFoundException", "File does not exist: " + path);
}

}  // namespace

reply simulated_hdfs::failed(int code, const std::string& exception, const std::string& message) {
  return {code, "Content-Type: application/json\r\n",
          joined("{\"RemoteException\":{\"exception\":", in_json(exception),
                 ",\"javaClassName\":", in_json("org.x." + exception), ",\"message\":", in_json(message), "}}")};
}

void simulated_hdfs::put(const std::string& path, std::string bytes) {
  ++numbers;
  files[path] = {std::move(bytes), numbers, kBegan + numbers};
  for (std::string folder = folder_of(path); folder != "/"; folder = folder_of(folder)) folders.insert(folder);
}

std::string simulated_hdfs::about(const std::string& path, const std::string& name) const {
  auto found = files.find(path);
  const bool is_file = found != files.end();
  return joined("{\"accessTime\":0,\"blockSize\":134217728,\"fileId\":", is_file ? found->second.id : 1,
                ",\"length\":", is_file ? found->second.bytes.size() : 0,
                ",\"modificationTime\":", is_file ? found->second.changed_ms : kBegan,
                ",\"owner\":\"o\",\"pathSuffix\":", in_json(name), ",\"permission\":\"644\",\"type\":\"",
                is_file ? "FILE" : "DIRECTORY", "\"}");
}

reply simulated_hdfs::list(const std::string& path, std::map<std::string, std::string> query) const {
  const bool in_pages = query["op"] == "LISTSTATUS_BATCH";
  std::vector<std::string> names;
  auto add = [&](const std::string& one) {
    if (one != path && folder_of(one) == path) names.push_back(one.substr(one.rfind('/') + 1));
  };
  for (auto& [one, unused] : files) add(one);
  for (auto& one : folders) add(one);
  if (files.count(path) != 0) names = {""};
  if (signed_order) std::sort(names.begin(), names.end(), is_before);
  else std::sort(names.begin(), names.end());
  std::string statuses;
  std::size_t given = 0, left = 0;
  for (const std::string& name : names) {
    const bool is_over = signed_order ? !is_before(query["startAfter"], name) : name <= query["startAfter"];
    if (in_pages && is_over && !name.empty()) continue;
    if (in_pages && given == page_entries) {
      ++left;
      continue;
    }
    ++given;
    const std::string whole = name.empty() ? path : joined(path == "/" ? "" : path, "/", name);
    statuses += joined(statuses.empty() ? "" : ",", about(whole, name));
  }
  const std::string list = joined("{\"FileStatuses\":{\"FileStatus\":[", statuses, "]}}");
  if (!in_pages) return {200, "", list};
  return {200, "", joined("{\"DirectoryListing\":{\"partialListing\":", list, ",\"remainingEntries\":", left, "}}")};
}

reply simulated_hdfs::rename(const std::string& path, std::map<std::string, std::string> query) {
  auto found = files.find(path);
  const std::string to = query["destination"];
  if (found == files.end())
    return failed(404, "FileNotFoundException", joined("rename source ", path, " is not found."));
  if (!replaces && files.count(to) != 0) return {200, "", "{\"boolean\":false}"};
  if (query["renameoptions"] != "OVERWRITE") return failed(400, "IllegalArgumentException", "tests want OVERWRITE");
  if (folders.count(to) != 0)
    return failed(403, "FileAlreadyExistsException", "rename destination directory is not empty: " + to);
  file moved = std::move(found->second);
  files.erase(found);
  files[to] = std::move(moved);
  return {200, "", replaces ? "" : "{\"boolean\":true}"};
}

std::string simulated_hdfs::address_of(const std::string& data_node) const {
  const auto at = std::find(data_nodes.begin(), data_nodes.end(), data_node) - data_nodes.begin();
  return tells_locations ? joined("10.0.0.", at + 1, ":9866") : data_node.substr(0, data_node.find(':'));
}

std::optional<reply> simulated_hdfs::name_node(std::size_t index, const asked_for& request) {
  auto query = query_of(request.target);
  const std::string path = path_of(request);
  if (path.empty()) return reply{404, "", "<html>no such page</html>"};
  if (!known_tokens.empty() && query.count("delegation") == 0)
    return reply{401, "WWW-Authenticate: Negotiate\r\n", "<html>Authentication required</html>"};
  if (!known_tokens.empty() && known_tokens.count(query["delegation"]) == 0)
    return failed(403, "InvalidToken", joined("token (", query["delegation"], ") can't be found in cache"));
  if (in_standby.count(index) != 0)
    return failed(
        403, "StandbyException",
        "Operation category READ is not supported in state standby. Visit https://x\n\tat org.apache.hadoop.x");
  const std::string op = query["op"];
  if (op == "OPEN" && files.count(path) == 0) return not_there(path);
  if (op == "APPEND" && files.count(path) == 0) return not_there(path);
  if (op == "OPEN" || op == "CREATE" || op == "APPEND") {
    std::string at = data_nodes[turns_++ % data_nodes.size()];
    for (std::size_t i = 0; i != data_nodes.size() && query["excludedatanodes"] == address_of(at); ++i)
      at = data_nodes[turns_++ % data_nodes.size()];
    std::string location = joined("http://", at, request.target.substr(0, request.target.find('?')), "?op=", op);
    for (const char* name : {"offset", "length", "overwrite"})
      if (query.count(name) != 0) location += joined("&", name, "=", query[name]);
    location += known_tokens.empty() ? "&user.name=" + query["user.name"] : std::string("&delegation=of-the-data-node");
    if (!place.empty()) location = place;
    const std::string field = place == "none" ? std::string() : joined("Location: ", location, "\r\n");
    if (query["noredirect"] != "true" || !answers_in_json) return reply{307, field, ""};
    return reply{200, "", place == "none" ? std::string("{}") : joined("{\"Location\":", in_json(location), "}")};
  }
  if (op == "GET_BLOCK_LOCATIONS" && tells_locations) {
    if (files.count(path) == 0) return not_there(path);
    std::string locations;
    for (const std::string& node : data_nodes)
      locations += joined(locations.empty() ? "" : ",", R"({"hostName":)", in_json(node.substr(0, node.find(':'))),
                          R"(,"infoPort":)", node.substr(node.find(':') + 1), R"(,"infoSecurePort":0,"ipAddr":")",
                          address_of(node).substr(0, address_of(node).find(':')), R"(","xferPort":9866})");
    return reply{200, "", joined(R"({"LocatedBlocks":{"locatedBlocks":[{"locations":[)", locations, "]}]}}")};
  }
  if (op == "GETFILESTATUS") {
    if (files.count(path) == 0 && folders.count(path) == 0) return not_there(path);
    return reply{200, "", joined("{\"FileStatus\":", about(path, ""), "}")};
  }
  if (op == "LISTSTATUS" || (op == "LISTSTATUS_BATCH" && lists_in_pages)) {
    if (files.count(path) == 0 && folders.count(path) == 0) return not_there(path);
    return list(path, query);
  }
  if (op == "RENAME" && request.method == "PUT") return rename(path, query);
  if (op == "DELETE" && request.method == "DELETE")
    return reply{200, "", joined("{\"boolean\":", files.erase(path) ? "true" : "false", "}")};
  return failed(
      400, "IllegalArgumentException",
      joined("Invalid value for webhdfs parameter \"op\": ", op, " is not a valid ", request.method, " operation."));
}

std::optional<reply> simulated_hdfs::data_node(const asked_for& request) {
  auto query = query_of(request.target);
  const std::string path = path_of(request), op = query["op"];
  auto found = files.find(path);
  if (op == "CREATE" && request.method == "PUT") {
    put(path, request.body);
    return reply{201, "Location: hdfs://nn" + path + "\r\n", ""};
  }
  if (found == files.end()) return not_there(path);
  if (op == "APPEND" && request.method == "POST") {
    found->second.bytes += request.body.substr(0, takes_of_append);
    found->second.changed_ms += 1;
    return reply{200, "", ""};
  }
  std::uint64_t offset = 0, length = 0;
  const bool is_right = op == "OPEN" && detail::parse_digits(query["offset"], offset) &&
                        detail::parse_digits(query["length"], length) && request.range.empty();
  if (!is_right) return failed(400, "IllegalArgumentException", "offset and length");
  const std::string& bytes = found->second.bytes;
  if (offset >= bytes.size()) return failed(403, "IOException", joined("Offset=", offset, " out of the range"));
  return reply{200, "Content-Type: application/octet-stream\r\n", bytes.substr(offset, length)};
}

}  // namespace sluice::lib::testing
#endif
