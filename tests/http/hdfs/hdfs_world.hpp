// SPDX-License-Identifier: Apache-2.0
// A simulated world with an HDFS in it: two name nodes, two data nodes, and a runtime whose files are HDFS's.
#pragma once

#include <catch2/catch.hpp>

#include "http/hdfs/simulated_hdfs.hpp"
#include "http/stores/store_world.hpp"
#include "io/hdfs/hdfs_file_system.hpp"

namespace sluice::lib::testing {

struct hdfs_files : store_world {
  hdfs_files() {
    nn1.answers([this](const asked_for& a) { return hdfs.name_node(0, a); });
    nn2.answers([this](const asked_for& a) { return hdfs.name_node(1, a); });
    for (scripted_server* dn : {&dn1, &dn2}) dn->answers([this](const asked_for& a) { return hdfs.data_node(a); });
    serving = {&nn1, &nn2, &dn1, &dn2};
    home.variables = {
        {"HOME", "/home"}, {"HADOOP_USER_NAME", "trainer"}, {"SLUICE_HDFS_NAME_NODES", "nn1.test,nn2.test"}};
  }
  /// At the first call.
  file_system& fs(hdfs_options options = {}) {
    if (!shared) {
      shared = std::make_shared<detail::hdfs_world>(world, lend(), std::move(options), 7, home.around());
      for (const char* scheme : {"hdfs", "webhdfs", "swebhdfs"})
        add_files(rt, scheme, std::make_unique<detail::hdfs_file_system>(rt, shared));
    }
    return files_of(rt);
  }
  std::string read(const std::string& path) { return run(read_store_file(fs(), path)); }
  status why_of_reading(const std::string& path, std::optional<file_info> known = {}) {
    std::optional<std::string> ignored;
    return try_run(http_world::keep<std::string>(read_store_file(fs(), path, std::move(known)), ignored));
  }
  status why_of_writing(const std::string& path, std::size_t bytes) {
    std::optional<file_info> ignored;
    return try_run(http_world::keep<file_info>(write_store_file(fs(), path, some_bytes(bytes)), ignored));
  }
  std::vector<std::string> listed(const std::string& pattern) {
    std::vector<std::string> all;
    for (const listed_file& f : run(list_all(fs(), pattern))) all.push_back(f.path);
    return all;
  }
  std::size_t asked(const std::string& op) const {
    std::size_t n = 0;
    for (const scripted_server* s : {&nn1, &nn2})
      for (const asked_for& a : s->log()) n += query_of(a.target)["op"] == op ? 1 : 0;
    return n;
  }

  simulated_hdfs hdfs;
  scripted_server nn1{*net, "nn1.test:9870"}, nn2{*net, "nn2.test:9870"}, dn1{*net, "dn1.test:9864"},
      dn2{*net, "dn2.test:9864"};
  std::shared_ptr<detail::hdfs_world> shared;
};

}  // namespace sluice::lib::testing
