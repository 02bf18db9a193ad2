// SPDX-License-Identifier: Apache-2.0
#include "io/hdfs/hdfs_answers.hpp"

#include <algorithm>

#include "io/http/messages/dates.hpp"
#include "io/http/messages/http_text.hpp"
#include "io/http/messages/printable.hpp"
#include "io/http/messages/response_check.hpp"

namespace sluice::lib::detail {
namespace {

constexpr std::int64_t kMillisecond = kSecondNs / 1000;
/// The limit of an exception's message. Servers append the stack line by line, and only the first line is used.
constexpr std::size_t kMessageBytes = 300;

bool is_any_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string first_line(std::string_view text) {
  std::string line;
  for (char c : text.substr(0, std::min(text.find('\n'), kMessageBytes))) line += c >= ' ' && c < 0x7f ? c : ' ';
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

result<hdfs_entry> entry_of(const answer_tree& t) {
  hdfs_entry e;
  const std::string_view type = t.at("type");
  if (type == "DIRECTORY") e.what = hdfs_entry::type::folder;
  else if (type == "SYMLINK") e.what = hdfs_entry::type::link;
  else if (type != "FILE")
    return data_loss_error(joined("the answer has a file status of the unknown type \"", first_line(type), "\""));
  std::uint64_t changed_ms = 0, number = 0;
  constexpr std::uint64_t kMsMax = INT64_MAX / kMillisecond;
  if (!parse_digits(t.at("length"), e.info.size_bytes) || e.info.size_bytes >= INT64_MAX)
    return data_loss_error(joined("the answer has a status with the length \"", first_line(t.at("length")), "\""));
  if (!parse_digits(t.at("modificationTime"), changed_ms) || changed_ms > kMsMax)
    return data_loss_error(
        joined("the answer has a status with the time \"", first_line(t.at("modificationTime")), "\""));
  if (t.find("fileId") && !parse_digits(t.at("fileId"), number))  // HttpFS has none
    return data_loss_error(joined("the answer has a status with the number \"", first_line(t.at("fileId")), "\""));
  e.info.modified_ns = static_cast<std::int64_t>(changed_ms) * kMillisecond;
  e.info.version = joined(number, "-", changed_ms);
  e.name = t.at("pathSuffix");
  if (e.name.find('/') != std::string::npos || e.name.find('\0') != std::string::npos || e.name == "." ||
      e.name == "..")
    return data_loss_error("the answer has a name that no file has");
  return e;
}

struct hdfs_meaning {
  status_code code;
  bool again = false;
};

hdfs_meaning meaning_of(const hdfs_exception& e, int code, bool of_data_node) {
  const std::string_view n = e.name;
  if (is_standby(e) || is_any_of(n, {"RetriableException", "SafeModeException", "AlreadyBeingCreatedException",
                                     "RecoveryInProgressException", "NotReplicatedYetException",
                                     "LeaseExpiredException", "RetryStartFileException", "ConnectException",
                                     "SocketTimeoutException", "BlockMissingException", "NoRouteToHostException"}))
    return {status_code::unavailable, true};
  if (n == "FileNotFoundException") return {status_code::not_found};
  if (is_any_of(n, {"AccessControlException", "AuthorizationException"})) return {status_code::permission_denied};
  if (is_any_of(n, {"InvalidToken", "SecurityException", "AuthenticationException"}) || code == 401)
    return {status_code::unauthenticated};
  if (is_any_of(
          n, {"InvalidPathException", "IllegalArgumentException", "ParamException", "MaxPathComponentLengthException"}))
    return {status_code::invalid_argument};
  if (n == "UnsupportedOperationException") return {status_code::unimplemented};
  if (n.ends_with("QuotaExceededException")) return {status_code::resource_exhausted};
  if (n == "IOException") {
    if (e.message.find("out of the range") != std::string::npos) return {status_code::out_of_range};
    return {status_code::unavailable, true};  // no data node is available now, or one cannot read its disk
  }
  if (of_data_node && code != 400 && code != 404) return {status_code::unavailable, true};
  return {status_code::failed_precondition};
}

std::string advice_for(const hdfs_exception& e, const response_head& head, const hdfs_asked& asked) {
  if (head.code == 401 && head.field("www-authenticate").find("Negotiate") != std::string_view::npos)
    return "; the cluster requires Kerberos (SPNEGO), which is not supported: give a delegation token "
           "(WEBHDFS_DELEGATION_TOKEN, or hdfs_options::delegation_token) from `hdfs fetchdt` or op=GETDELEGATIONTOKEN";
  if (e.name == "InvalidToken" || (head.code == 401 && asked.has_token))
    return "; the delegation token has expired or is unknown: get a new one";
  if (e.name == "AccessControlException" || e.name == "AuthorizationException")
    return joined("; the request was made as ", asked.asked_as,
                  ": check the permissions of the path and of the folders above it");
  if (e.name == "UnsupportedOperationException")
    return "; if append is not supported: files in a folder with erasure coding cannot be larger than 8 MiB";
  if (e.name.empty() && head.code == 404)
    return "; this is not an answer of WebHDFS: check that the address is the web server of a name node (usually port "
           "9870)";
  return {};
}

}  // namespace

result<hdfs_entry> parse_hdfs_status(std::string_view body) {
  auto tree = parse_json(body);
  if (!tree.ok()) return tree.why();
  const answer_tree* found = tree->find("FileStatus");
  if (!found) return data_loss_error("the answer has no FileStatus");
  return entry_of(*found);
}

result<hdfs_page> parse_hdfs_listing(std::string_view body) {
  hdfs_page page;
  auto take = [&page](const answer_tree& one) -> status {
    auto e = entry_of(one);
    if (!e.ok()) return e.why();
    page.entries.push_back(*std::move(e));
    return {};
  };
  auto tree = parse_json(body, "FileStatus", take);
  if (!tree.ok()) return tree.why();
  const answer_tree* of = &*tree;
  if (const answer_tree* batch = tree->find("DirectoryListing")) {
    if (!parse_digits(batch->at("remainingEntries"), page.remaining))
      return data_loss_error("the answer lacks the number of remaining entries");
    of = batch->find("partialListing");
  }
  const answer_tree* statuses = of ? of->find("FileStatuses") : nullptr;
  const answer_tree* list = statuses ? statuses->find("FileStatus") : nullptr;
  if (!list) return data_loss_error("the answer has no FileStatuses");
  return page;
}

result<http_url> parse_hdfs_place(const http_url& asked, const response_head& head, std::string_view body) {
  std::string location = head.location;
  if (!head.is_redirect()) {
    auto tree = parse_json(body);
    if (!tree.ok()) return tree.why();
    location = tree->at("Location");
  }
  if (location.find("://") == std::string::npos) return data_loss_error("the answer names no data node");
  auto to = follow_redirect(asked, location);
  if (to.ok()) return to;
  return failed_precondition_error(
      joined("the name node ", asked.address(), " redirects to an address that is not accepted: ", to.why().message()));
}

std::vector<hdfs_location> parse_hdfs_locations(std::string_view body) {
  auto tree = parse_json(body);
  const answer_tree* blocks = tree.ok() ? tree->find("LocatedBlocks") : nullptr;
  if (blocks) blocks = blocks->find("locatedBlocks");
  std::vector<hdfs_location> all;
  if (!blocks) return all;
  for (const answer_tree& block : blocks->children) {
    const answer_tree* nodes = block.find("locations");
    if (!nodes) continue;
    for (const answer_tree& node : nodes->children) {
      hdfs_location& l = all.emplace_back();
      l.of_blocks = joined(node.at("ipAddr"), ":", node.at("xferPort"));
      for (const char* host : {"hostName", "ipAddr"})
        for (const char* port : {"infoPort", "infoSecurePort"})
          l.of_http.push_back(joined(node.at(host), ":", node.at(port)));
    }
  }
  return all;
}

hdfs_exception parse_hdfs_exception(std::string_view body) {
  hdfs_exception e;
  auto tree = parse_json(body);
  const answer_tree* reason = tree.ok() ? tree->find("RemoteException") : nullptr;
  if (!reason) return e;
  e.name = first_line(reason->at("exception"));
  e.message = first_line(reason->at("message"));
  return e;
}

bool is_standby(const hdfs_exception& e) {
  return e.name == "StandbyException" || e.name == "ObserverRetryOnActiveException";
}

http_failure hdfs_failure(const response_head& head, std::string_view body, const hdfs_asked& asked) {
  http_failure f = failure_of(head, {});
  const hdfs_exception e = parse_hdfs_exception(body);
  status_code code = f.why.code();
  if (!e.name.empty()) {
    const hdfs_meaning m = meaning_of(e, head.code, asked.node == "data node");
    code = m.code;
    f.again = m.again || (f.again && code == status_code::failed_precondition);
    if (f.again) code = status_code::unavailable;
  }
  if (head.is_redirect()) code = status_code::failed_precondition;
  const std::string reason =
      e.name.empty() ? std::string() : joined(": ", e.name, e.message.empty() ? "" : ": ", e.message);
  f.why = status(code, joined("the ", asked.node, " ", asked.address, " says ", head.status_text(), printable(reason),
                              f.again ? std::string() : advice_for(e, head, asked)));
  return f;
}

}  // namespace sluice::lib::detail
