// SPDX-License-Identifier: Apache-2.0
#include "io/hdfs/hadoop_conf.hpp"

#include "io/http/messages/http_text.hpp"
#include "io/stores/answer_tree.hpp"

namespace sluice::lib::detail {
namespace {

/// The same limit as Hadoop's. It ends the replacement in a value that names itself.
constexpr int kReplacedMax = 20;

std::string_view without_space(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace

std::vector<std::string> split_at_commas(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view part = without_space(text.substr(0, comma));
    if (!part.empty()) parts.emplace_back(part);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return parts;
}

status hadoop_conf::add(std::string_view xml) {
  auto tree = parse_xml(xml);
  if (!tree.ok()) return invalid_argument_error(joined("is no configuration of Hadoop: ", tree.why().message()));
  if (tree->name != "configuration")
    return invalid_argument_error(joined("is no configuration of Hadoop: it begins with <", tree->name, ">"));
  for (const answer_tree* p : tree->all("property")) {
    const std::string name(without_space(p->at("name")));
    value& to = values_[name];
    if (to.is_final) continue;
    to.text = without_space(p->at("value"));
    to.is_final = without_space(p->at("final")) == "true";
  }
  return {};
}

std::string hadoop_conf::text(const std::string& name) const {
  auto found = values_.find(name);
  if (found == values_.end()) return {};
  std::string text = found->second.text;
  for (int i = 0; i != kReplacedMax; ++i) {
    const std::size_t begin = text.find("${");
    const std::size_t end = begin == std::string::npos ? begin : text.find('}', begin);
    if (end == std::string::npos) break;
    auto other = values_.find(std::string_view(text).substr(begin + 2, end - begin - 2));
    if (other == values_.end()) break;
    text.replace(begin, end - begin + 1, other->second.text);
  }
  return text;
}

std::vector<std::string> hadoop_conf::list(const std::string& name) const { return split_at_commas(text(name)); }

result<hadoop_conf> read_hadoop_conf(const surroundings& around) {
  std::string folder = around.text("HADOOP_CONF_DIR");
  if (folder.empty() && !around.text("HADOOP_HOME").empty()) folder = around.text("HADOOP_HOME") + "/etc/hadoop";
  if (folder.empty()) folder = "/etc/hadoop/conf";
  hadoop_conf conf;
  for (const char* name : {"core-site.xml", "hdfs-site.xml"}) {
    const std::string path = joined(folder, "/", name);
    auto xml = around.read_file(path);
    if (!xml.ok() && xml.why().code() == status_code::not_found) continue;
    if (!xml.ok()) return xml.why();
    status why = conf.add(*xml);
    if (!why.ok()) return why.in_file(path);
  }
  return conf;
}

}  // namespace sluice::lib::detail
