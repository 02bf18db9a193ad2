// SPDX-License-Identifier: Apache-2.0
// Where name nodes are looked for, and who asks them: options, variables, Hadoop's own files.
#include <catch2/catch.hpp>

#if SLUICE_HAVE_STORES
#include "http/hdfs/hdfs_world.hpp"
#include "io/hdfs/hadoop_tokens.hpp"
#include "io/stores/digest.hpp"

namespace sluice::lib::hdfs_settings_test {
using namespace sluice::lib::testing;
using texts = std::vector<std::string>;

namespace {

std::string conf_of(const std::vector<std::pair<std::string, std::string>>& properties) {
  std::string xml = "<?xml version=\"1.0\"?>\n<!-- a comment -->\n<configuration>\n";
  for (auto& [name, value] : properties)
    xml += "  <property><name>" + name + "</name>\n<value> " + value + " </value></property>\n";
  return xml + "</configuration>\n";
}

struct settings_world {
  detail::hdfs_settings settings(hdfs_options o = {}) { return detail::hdfs_settings(std::move(o), home.around()); }
  result<texts> nodes_of(const std::string& path, hdfs_options o = {}) {
    auto s = settings(std::move(o));
    auto nodes = s.nodes_of(*detail::parse_hdfs_path(path));
    if (!nodes.ok()) return nodes.why();
    texts all;
    for (const detail::http_url& url : (*nodes)->all()) all.push_back(url.origin());
    return all;
  }
  result<detail::hdfs_asker> asker(const std::string& path, hdfs_options o = {}) {
    auto s = settings(std::move(o));
    auto nodes = s.nodes_of(*detail::parse_hdfs_path(path));
    if (!nodes.ok()) return nodes.why();
    return (*nodes)->who();
  }
  simulation world{1};
  simulated_surroundings home{world};
};

/// Lengths below 128 are a byte.
std::string with_length(const std::string& bytes) {
  if (bytes.size() < 128) return std::string(1, static_cast<char>(bytes.size())) + bytes;
  return std::string("\x8e") + static_cast<char>(bytes.size() >> 8) + static_cast<char>(bytes.size() & 255) + bytes;
}

struct token_parts {
  std::string identifier, password, kind, service;
  std::string bytes() const {
    return with_length(identifier) + with_length(password) + with_length(kind) + with_length(service);
  }
};

std::string token_file(const std::vector<token_parts>& tokens) {
  std::string file = std::string("HDTS") + '\0' + static_cast<char>(tokens.size());
  for (const token_parts& t : tokens) file += with_length("alias") + t.bytes();
  return file + '\0';  // no other secrets
}

}  // namespace

TEST_CASE("name nodes come from the path, options, a variable, or Hadoop's files") {
  settings_world w;
  CHECK(*w.nodes_of("webhdfs://nn:1234/a") == texts{"http://nn:1234"});
  CHECK(*w.nodes_of("webhdfs://nn/a") == texts{"http://nn:9870"});
  CHECK(*w.nodes_of("swebhdfs://nn/a") == texts{"https://nn:9871"});
  CHECK(*w.nodes_of("hdfs://nn:8020/a") == texts{"http://nn:9870"});  // 8020 is the port of another protocol
  CHECK(*w.nodes_of("HDFS://nn") == texts{"http://nn:9870"});
  CHECK(*w.nodes_of("webhdfs://[::1]:50070/a") == texts{"http://[::1]:50070"});
  CHECK(*w.nodes_of("webhdfs://[::1]/a") == texts{"http://[::1]:9870"});
  hdfs_options o;
  o.name_nodes = {"nn1:1", "http://nn2"};
  CHECK(*w.nodes_of("hdfs://any/a", o) == texts{"http://nn1:1", "http://nn2:9870"});
  CHECK(*w.nodes_of("webhdfs://nn/a", o) == texts{"http://nn:9870"});
  w.home.variables["SLUICE_HDFS_NAME_NODES"] = " https://nn3 , https://nn4:7,";
  CHECK(*w.nodes_of("hdfs:///a") == texts{"https://nn3:9871", "https://nn4:7"});
  CHECK(*w.nodes_of("hdfs://any/a", o) == texts{"http://nn1:1", "http://nn2:9870"});
}

TEST_CASE("Hadoop's files locate the name nodes of a name") {
  settings_world w;
  w.home.variables["HADOOP_CONF_DIR"] = "/conf";
  w.home.files["/conf/core-site.xml"] = conf_of({{"fs.defaultFS", "hdfs://${the.name}"}, {"the.name", "warehouse"}});
  w.home.files["/conf/hdfs-site.xml"] = conf_of({{"dfs.nameservices", "warehouse, other"},
                                                 {"dfs.ha.namenodes.warehouse", "nn1,nn2"},
                                                 {"dfs.namenode.http-address.warehouse.nn1", "m1.test:50070"},
                                                 {"dfs.namenode.http-address.warehouse.nn2", "0.0.0.0:50071"},
                                                 {"dfs.namenode.rpc-address.warehouse.nn2", "m2.test:8020"},
                                                 {"dfs.namenode.https-address.warehouse.nn1", "m1.test:50470"},
                                                 {"dfs.namenode.rpc-address.other", "m3.test:8020"}});
  const texts both{"http://m1.test:50070", "http://m2.test:50071"};
  CHECK(*w.nodes_of("hdfs://warehouse/a") == both);
  CHECK(*w.nodes_of("hdfs:///a") == both);
  CHECK(*w.nodes_of("webhdfs://warehouse/a") == both);
  CHECK(*w.nodes_of("swebhdfs://warehouse/a") == texts{"https://m1.test:50470", "https://m2.test:9871"});
  CHECK(*w.nodes_of("hdfs://other/a") == texts{"http://m3.test:9870"});
  CHECK(*w.nodes_of("hdfs://elsewhere:8020/a") == texts{"http://elsewhere:9870"});
  w.home.files["/conf/core-site.xml"] = conf_of({{"fs.defaultFS", "hdfs://m4.test:8020"}});
  w.home.files["/conf/hdfs-site.xml"] =
      conf_of({{"dfs.namenode.http-address", "0.0.0.0:1"}, {"dfs.http.policy", "HTTP_ONLY"}});
  CHECK(*w.nodes_of("hdfs:///a") == texts{"http://m4.test:1"});
  CHECK(*w.nodes_of("hdfs://m5.test/a") == texts{"http://m5.test:9870"});
  w.home.files["/conf/hdfs-site.xml"] = conf_of({{"dfs.http.policy", "HTTPS_ONLY"}});
  CHECK(*w.nodes_of("hdfs:///a") == texts{"https://m4.test:9871"});
  w.home.variables = {{"HADOOP_HOME", "/opt/hadoop"}};
  w.home.files = {{"/opt/hadoop/etc/hadoop/core-site.xml", conf_of({{"fs.defaultFS", "webhdfs://m6.test:5"}})}};
  CHECK(*w.nodes_of("hdfs:///a") == texts{"http://m6.test:5"});
}

TEST_CASE("invalid settings are reported with their names") {
  struct wrong {
    std::string core, hdfs, path, words;
  };
  for (const wrong& x :
       {wrong{"<configuration>", "", "hdfs:///a", "/conf/core-site.xml"},
        wrong{"<other/>", "", "hdfs:///a", "begins with <other>"},
        wrong{"", conf_of({{"dfs.nameservices", "w"}}), "hdfs://w/a", "has no dfs.namenode.http-address.w"},
        wrong{"", conf_of({{"dfs.nameservices", "w"}, {"dfs.namenode.http-address.w", "a b:1"}}), "hdfs://w/a",
              "dfs.namenode.http-address.w"},
        wrong{conf_of({{"fs.defaultFS", "file:///"}}), "", "hdfs:///a", "there is no fs.defaultFS of HDFS"},
        wrong{conf_of({{"fs.defaultFS", "${fs.defaultFS}"}}), "", "hdfs:///a", "no fs.defaultFS of HDFS"},
        wrong{"", "<!DOCTYPE x [<!ENTITY e 'v'>]><configuration/>", "hdfs://w/a", "DOCTYPE"}}) {
    settings_world w;
    w.home.variables["HADOOP_CONF_DIR"] = "/conf";
    if (!x.core.empty()) w.home.files["/conf/core-site.xml"] = x.core;
    if (!x.hdfs.empty()) w.home.files["/conf/hdfs-site.xml"] = x.hdfs;
    auto nodes = w.nodes_of(x.path);
    CHECK(nodes.why().code() == status_code::invalid_argument);
    CHECK_THAT(nodes.why().to_string(), Catch::Contains(x.words));
  }
  settings_world w;
  w.home.variables["SLUICE_HDFS_NAME_NODES"] = "http://a,https://b";
  CHECK_THAT(w.nodes_of("hdfs://w/a").why().to_string(), Catch::Contains("with TLS and others without"));
  w.home.variables["SLUICE_HDFS_NAME_NODES"] = "ftp://a";
  CHECK_THAT(w.nodes_of("hdfs://w/a").why().to_string(), Catch::Contains("SLUICE_HDFS_NAME_NODES"));
}

TEST_CASE("the user is the first one found in option, variable, token's file and name") {
  settings_world w;
  w.home.variables = {{"HADOOP_USER_NAME", "of-variable"}};
  CHECK(w.asker("hdfs://w/a")->user == "of-variable");
  hdfs_options user;
  user.user = "of-option";
  CHECK(w.asker("hdfs://w/a", user)->user == "of-option");
  w.home.variables.clear();
  CHECK(!w.asker("hdfs://w/a")->user.empty());  // the login's

  const token_parts of_pair{std::string(200, 'i'), "pass", "HDFS_DELEGATION_TOKEN", "ha-hdfs:warehouse"};
  const token_parts of_host{"id2", "pass2", "WEBHDFS delegation", "nn9.test:9870"};
  const token_parts of_yarn{"id3", "pass3", "YARN_AM_RM_TOKEN", "rm.test:1"};
  auto text_of = [](const token_parts& t) { return detail::base64_url(t.bytes()); };
  w.home.variables["HADOOP_TOKEN_FILE_LOCATION"] = "/tokens";
  w.home.files["/tokens"] = token_file({of_yarn, of_pair, of_host});
  CHECK(w.asker("hdfs://warehouse/a")->token == text_of(of_pair));
  CHECK(w.asker("webhdfs://nn9.test/a")->token == text_of(of_host));
  CHECK(w.asker("hdfs://elsewhere/a")->token.empty());
  CHECK(w.asker("hdfs://warehouse/a", user)->token.empty());
  // The only one there is goes to the HDFS that is configured, and not to any host.
  w.home.files["/tokens"] = token_file({of_yarn, {"id4", "pass4", "HDFS_DELEGATION_TOKEN", "10.1.2.3:8020"}});
  CHECK(w.asker("hdfs://any/a")->token.empty());
  w.home.variables["SLUICE_HDFS_NAME_NODES"] = "http://nn1";
  CHECK(!w.asker("hdfs://any/a")->token.empty());
  CHECK(w.asker("webhdfs://any/a")->token.empty());
  w.home.variables.erase("SLUICE_HDFS_NAME_NODES");
  w.home.variables["HADOOP_CONF_DIR"] = "/conf";
  w.home.files["/conf/core-site.xml"] = conf_of({{"fs.defaultFS", "hdfs://m1.test:8020"}});
  CHECK(!w.asker("hdfs:///a")->token.empty());
  CHECK(!w.asker("hdfs://m1.test:8020/a")->token.empty());
  CHECK(w.asker("hdfs://m2.test:8020/a")->token.empty());
  w.home.variables["WEBHDFS_DELEGATION_TOKEN"] = "of-variable";
  CHECK(w.asker("hdfs://warehouse/a")->token == "of-variable");
  hdfs_options token;
  token.delegation_token = "of-option";
  CHECK(w.asker("hdfs://warehouse/a", token)->token == "of-option");
  w.home.variables["WEBHDFS_DELEGATION_TOKEN"] = "of variable";
  const status why = w.asker("hdfs://warehouse/a").why();
  CHECK(why.code() == status_code::unauthenticated);
  CHECK_THAT(why.to_string(), Catch::Contains("WEBHDFS_DELEGATION_TOKEN") && !Catch::Contains("of variable"));
}

TEST_CASE("a truncated or foreign file of tokens is an error that omits its contents") {
  const std::string whole = token_file({{std::string(150, 's'), "secret", "HDFS_DELEGATION_TOKEN", "s"}});
  REQUIRE(detail::parse_hadoop_tokens(whole).ok());
  for (std::size_t n = 0; n + 1 < whole.size(); ++n) {
    auto cut = detail::parse_hadoop_tokens(std::string_view(whole).substr(0, n));
    INFO(n);
    CHECK(cut.why().code() == status_code::data_loss);
  }
  std::string other = whole;
  other[4] = 1;
  CHECK(detail::parse_hadoop_tokens(other).why().code() == status_code::unimplemented);
  settings_world w;
  w.home.variables["HADOOP_TOKEN_FILE_LOCATION"] = "/tokens";
  CHECK_THAT(w.asker("hdfs://w/a").why().to_string(), Catch::Contains("no token from the file /tokens"));
  w.home.files["/tokens"] = whole.substr(0, 100);
  const status why = w.asker("hdfs://w/a").why();
  CHECK(why.code() == status_code::unauthenticated);
  CHECK_THAT(why.to_string(), Catch::Contains("/tokens") && !Catch::Contains("ssss"));
}

TEST_CASE("options of HDFS that contradict each other are refused") {
  runtime rt;
  auto none = []() -> std::shared_ptr<network> { return {}; };
  hdfs_options o;
  o.user = "me";
  o.delegation_token = "hidden";
  CHECK_THROWS_WITH(add_hdfs(rt, none, o), Catch::Contains("only one of them") && !Catch::Contains("hidden"));
  o.user.clear();
  o.delegation_token = "hid den";
  CHECK_THROWS_WITH(add_hdfs(rt, none, o),
                    Catch::Contains("a character that no token has") && !Catch::Contains("hid den"));
  o.delegation_token.clear();
  o.name_nodes = {"http://nn/path"};
  CHECK_THROWS_WITH(add_hdfs(rt, none, o), Catch::Contains("has a path"));
  o.name_nodes = {"http://a", "https://b"};
  CHECK_THROWS_WITH(add_hdfs(rt, none, o), Catch::Contains("all or none"));
  o.name_nodes.clear();
  add_hdfs(rt, none, o);
  CHECK_THROWS_WITH(add_hdfs(rt, none, o), Catch::Contains("a file system for hdfs:// was added before"));
}
#endif

}  // namespace sluice::lib::hdfs_settings_test
