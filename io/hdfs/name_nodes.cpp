// SPDX-License-Identifier: Apache-2.0
#include "io/hdfs/name_nodes.hpp"

#include <algorithm>

#include "io/hdfs/hdfs_answers.hpp"
#include "io/http/messages/http_text.hpp"

namespace sluice::lib::detail {
namespace {

/// The context of one request, and of all its attempts.
class name_node_call final : public object_service {
 public:
  name_node_call(std::shared_ptr<http_servers> servers, std::shared_ptr<name_nodes> nodes)
      : servers_(std::move(servers)), nodes_(std::move(nodes)) {}

  task<> sign(http_request& request, time_point) override {
    asked_ = nodes_->active();
    const http_url& at = nodes_->all()[asked_];
    request.to.tls = at.tls;
    request.to.host = at.host;
    request.to.port = at.port;
    if (nodes_->who().token.empty()) request.add_query("user.name", nodes_->who().user);
    else request.add_query("delegation", nodes_->who().token);
    for (const auto& [name, value] : servers_->context().options.headers) request.fields.emplace_back(name, value);
    co_return;
  }

  std::optional<http_failure> explain(const http_request& sent, const response_head& head,
                                      std::string_view body) override {
    const hdfs_exception e = parse_hdfs_exception(body);
    hdfs_asked asked{"name node", sent.to.address(), nodes_->who().words(), !nodes_->who().token.empty()};
    http_failure f = hdfs_failure(head, body, asked);
    f.why = status(f.why.code(), nodes_->without_secrets(std::string(f.why.message())));
    if (!is_standby(e)) return f;
    nodes_->leave(asked_);
    f.at_once = ++left_ < nodes_->all().size();  // each node is tried once without a wait
    return f;
  }

  void unanswered(const http_request&) override { nodes_->leave(asked_); }

 private:
  const std::shared_ptr<http_servers> servers_;
  const std::shared_ptr<name_nodes> nodes_;
  std::size_t asked_ = 0, left_ = 0;
};

}  // namespace

std::string name_nodes::without_secrets(std::string text) const {
  constexpr std::string_view kHidden = "(a token)";
  const std::string& secret = who_.token;
  for (std::size_t at = secret.empty() ? text.npos : text.find(secret); at != text.npos; at = text.find(secret, at))
    text.replace(at, secret.size(), kHidden);
  return text;
}

std::string webhdfs_target(const hdfs_question& q) {
  http_request r;
  r.to.target = joined("/webhdfs/v1", percent_encoded(q.path, true));
  r.add_query("op", q.op);
  for (const auto& [name, value] : q.more) r.add_query(name, value);
  return std::move(r.to.target);
}

task<http_answer> ask_name_node(std::shared_ptr<http_servers> servers, std::shared_ptr<name_nodes> nodes,
                                hdfs_question q, call_options how) {
  http_request r;
  r.method = q.method;
  r.to.target = webhdfs_target(q);
  return ask_name_node(std::move(servers), std::move(nodes), std::move(r), std::move(how));
}

task<http_answer> ask_name_node(std::shared_ptr<http_servers> servers, std::shared_ptr<name_nodes> nodes,
                                http_request r, call_options how) {
  auto service = std::make_shared<name_node_call>(servers, std::move(nodes));
  return http_call(std::move(servers), std::move(service), std::move(r), std::move(how));
}

}  // namespace sluice::lib::detail
