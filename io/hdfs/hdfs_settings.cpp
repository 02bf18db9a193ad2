// SPDX-License-Identifier: Apache-2.0
#include "io/hdfs/hdfs_settings.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "io/hdfs/hadoop_tokens.hpp"
#include "io/http/messages/http_text.hpp"
#include "io/stores/secret_call.hpp"

namespace sluice::lib::detail {
namespace {

constexpr std::uint16_t kHttpPort = 9870, kHttpsPort = 9871;

/// "host:port", "host" or a URL without a path.
result<http_url> parse_node(const std::string& text, std::string_view from, bool tls = false) {
  auto url = parse_endpoint(text, from, tls ? "https://" : "http://");
  if (!url.ok()) return url.why();
  const std::size_t scheme = text.find("://");
  const std::size_t host = scheme == std::string::npos ? 0 : scheme + 3;
  const std::size_t bracket = text.find(']', host);
  const bool has_port = text.find(':', bracket == std::string::npos ? host : bracket) != std::string::npos;
  if (!has_port) url->port = url->tls ? kHttpsPort : kHttpPort;
  return url;
}

result<std::vector<http_url>> parse_nodes(const std::vector<std::string>& texts, std::string_view from) {
  std::vector<http_url> nodes;
  for (const std::string& text : texts) {
    auto url = parse_node(text, from);
    if (!url.ok()) return url.why();
    if (!nodes.empty() && nodes.front().tls != url->tls)
      return invalid_argument_error(joined(from, " has name nodes with TLS and others without: all or none"));
    nodes.push_back(*std::move(url));
  }
  return nodes;
}

std::string login_name() {
  std::array<char, 4096> room;
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(::geteuid(), &entry, room.data(), room.size(), &found) != 0 || !found) return {};
  return found->pw_name;
}

bool is_token(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const char l = lower(c);
    return (l >= 'a' && l <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '+' || c == '/' || c == '=';
  });
}

std::string host_of(const std::string& address) { return address.substr(0, address.rfind(':')); }

}  // namespace

status check_hdfs_options(const hdfs_options& o) {
  if (!o.user.empty() && !o.delegation_token.empty())
    return invalid_argument_error(
        "hdfs_options: user and delegation_token: set only one of them, because a token contains its user");
  if (!is_token(o.delegation_token))
    return invalid_argument_error("hdfs_options::delegation_token has a character that no token has");
  auto nodes = parse_nodes(o.name_nodes, "hdfs_options::name_nodes");
  return nodes.ok() ? status() : nodes.why();
}

result<std::vector<http_url>> hdfs_settings::addresses_of_name(const std::string& name, bool tls) const {
  const hadoop_conf& conf = **conf_;
  const std::string key = tls ? "dfs.namenode.https-address" : "dfs.namenode.http-address";
  const std::uint16_t port = tls ? kHttpsPort : kHttpPort;
  std::vector<std::string> ids = conf.list("dfs.ha.namenodes." + name);
  if (ids.empty()) ids.emplace_back();
  std::vector<http_url> nodes;
  for (const std::string& id : ids) {
    const std::string suffix = joined(".", name, id.empty() ? "" : ".", id);
    std::string address = conf.text(key + suffix);
    if (address.empty() && id.empty()) address = conf.text(key);
    const std::string rpc = host_of(conf.text("dfs.namenode.rpc-address" + suffix));
    if (address.empty() && !rpc.empty()) address = joined(rpc, ":", port);
    if (address.starts_with("0.0.0.0:") && !rpc.empty()) address.replace(0, 7, rpc);
    if (address.empty())
      return invalid_argument_error(joined("hdfs-site.xml names \"", name, "\" and has no ", key, suffix));
    auto url = parse_node(address, key + suffix, tls);
    if (!url.ok()) return url.why();
    nodes.push_back(*std::move(url));
  }
  return nodes;
}

result<std::vector<http_url>> hdfs_settings::addresses_of(const hdfs_path& path) const {
  if (path.scheme == "hdfs") {
    if (!options_.name_nodes.empty()) return parse_nodes(options_.name_nodes, "hdfs_options::name_nodes");
    const std::string nodes = around_.text("SLUICE_HDFS_NAME_NODES");
    if (!nodes.empty()) return parse_nodes(split_at_commas(nodes), "SLUICE_HDFS_NAME_NODES");
  }
  if (!conf_->ok()) return conf_->why();
  const hadoop_conf& conf = **conf_;
  const std::string default_fs = conf.text("fs.defaultFS");
  auto parsed = parse_hdfs_path(default_fs);
  std::string authority = path.authority, scheme = path.scheme;
  const bool of_hdfs = parsed.ok() && parsed->scheme.ends_with("hdfs") && !parsed->authority.empty();
  if (authority.empty()) {
    if (!of_hdfs)
      return invalid_argument_error(
          "names no host, and there is no fs.defaultFS of HDFS: write hdfs://host/path, or set HADOOP_CONF_DIR to the "
          "folder "
          "with core-site.xml and hdfs-site.xml");
    authority = parsed->authority;
    scheme = parsed->scheme;
  }
  const bool tls = scheme == "swebhdfs" || (scheme == "hdfs" && conf.text("dfs.http.policy") == "HTTPS_ONLY");
  const std::vector<std::string> names = conf.list("dfs.nameservices");
  const bool is_name = std::find(names.begin(), names.end(), authority) != names.end();
  if (is_name || !conf.text("dfs.ha.namenodes." + authority).empty()) return addresses_of_name(authority, tls);
  std::string address = authority;
  if (scheme == "hdfs") {
    address = authority.ends_with("]") ? authority : authority.substr(0, authority.rfind(':'));
    if (of_hdfs && parsed->authority == authority) {
      const std::string configured = conf.text(tls ? "dfs.namenode.https-address" : "dfs.namenode.http-address");
      if (!configured.empty())
        address = configured.starts_with("0.0.0.0:") ? joined(address, configured.substr(7)) : configured;
    }
  }
  auto url = parse_node(address, "the host of the path", tls);
  if (!url.ok())  // the text is not quoted: it may be a user with a password that contains a /
    return invalid_argument_error("the host of the path is no host with or without a port");
  return std::vector<http_url>{*std::move(url)};
}

bool hdfs_settings::is_configured(const hdfs_path& path) const {
  if (path.authority.empty()) return true;
  const bool has_nodes = !options_.name_nodes.empty() || !around_.text("SLUICE_HDFS_NAME_NODES").empty();
  if (path.scheme == "hdfs" && has_nodes) return true;
  if (!conf_->ok()) return false;
  const std::vector<std::string> names = (*conf_)->list("dfs.nameservices");
  auto default_fs = parse_hdfs_path((*conf_)->text("fs.defaultFS"));
  return std::find(names.begin(), names.end(), path.authority) != names.end() ||
         (default_fs.ok() && default_fs->authority == path.authority);
}

result<hdfs_asker> hdfs_settings::asker_for(const hdfs_path& path, const std::vector<http_url>& nodes) const {
  hdfs_asker who;
  who.token = options_.delegation_token;
  if (who.token.empty() && options_.user.empty()) {
    who.token = around_.text("WEBHDFS_DELEGATION_TOKEN");
    const std::string file = around_.text("HADOOP_TOKEN_FILE_LOCATION");
    if (who.token.empty() && !file.empty()) {
      auto bytes = around_.read_file(file);
      auto tokens = bytes.ok() ? parse_hadoop_tokens(*bytes) : result<std::vector<hadoop_token>>(bytes.why());
      if (!tokens.ok()) return unauthenticated(joined("no token from the file ", file, ": ", tokens.why().message()));
      // By the name in the path, or else by the host. The only token serves as a default, but not for any host that a
      // path names.
      for (const hadoop_token& t : *tokens) {
        const std::string host = host_of(t.service);
        const bool is_of_host =
            std::any_of(nodes.begin(), nodes.end(), [&host](const http_url& n) { return n.host == host; });
        if (t.service == "ha-hdfs:" + path.authority || t.service == path.authority || is_of_host) who.token = t.text;
      }
      if (who.token.empty() && tokens->size() == 1 && is_configured(path)) who.token = tokens->front().text;
    }
    if (!is_token(who.token)) return unauthenticated("WEBHDFS_DELEGATION_TOKEN has a character that no token has");
  }
  if (!who.token.empty()) return who;
  who.user = options_.user;
  if (who.user.empty()) who.user = around_.text("HADOOP_USER_NAME");
  if (who.user.empty()) who.user = login_name();
  if (who.user.empty()) return unauthenticated("no user is known: set HADOOP_USER_NAME");
  return who;
}

result<std::shared_ptr<name_nodes>> hdfs_settings::nodes_of(const hdfs_path& path) {
  mutex_lock lock(mutex_);
  std::shared_ptr<name_nodes>& made = of_authority_[joined(path.scheme, "://", path.authority)];
  if (made) return made;
  if (!conf_) conf_ = read_hadoop_conf(around_);
  auto nodes = addresses_of(path);
  if (!nodes.ok()) return nodes.why().in_file(path.text);
  auto who = asker_for(path, *nodes);
  if (!who.ok()) return who.why().in_file(path.text);
  made = std::make_shared<name_nodes>(*std::move(nodes), *std::move(who));
  return made;
}

}  // namespace sluice::lib::detail
