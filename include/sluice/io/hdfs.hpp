// SPDX-License-Identifier: Apache-2.0
// Files of hdfs://, webhdfs:// and swebhdfs://: HDFS, through the HTTP gateway of its name nodes and data nodes.
//
//   runtime rt;
//   add_hdfs(rt, make_asio_network);                                  // sluice/io/asio_network.hpp
//   auto ds = list_files("hdfs://warehouse/train/**/*.tfrecord") | interleave(tfrecord);
//
//   hdfs_options own;
//   own.name_nodes = {"http://nn1.example:9870", "http://nn2.example:9870"};
//   own.user = "trainer";
//
// Paths:   webhdfs://host:port/path names the web server of a name node (port 9870 by default), swebhdfs:// the same
//          over TLS (9871). hdfs://name/path uses the same gateway, at the first of these that is known:
//          hdfs_options::name_nodes; SLUICE_HDFS_NAME_NODES (URLs, separated by commas); the web servers of the name
//          nodes of `name` in hdfs-site.xml and core-site.xml (dfs.ha.namenodes.NAME,
//          dfs.namenode.http-address.NAME.NN, dfs.http.policy); port 9870 of the host. The port of an hdfs:// URL
//          belongs to another protocol and is ignored. hdfs:///path is on fs.defaultFS. The configuration files are
//          read from HADOOP_CONF_DIR, HADOOP_HOME/etc/hadoop or /etc/hadoop/conf.
// Reads:   as described in http.hpp: ranges, read-ahead, retries, parallel requests. Each range is requested at the
//          name node, which names a data node; the data node sends the bytes.
// Version: a reader reads one version of a file, identified by its number (fileId), time of change and length. These
//          are compared at the name node for each range, after the data node has found the blocks and before any byte
//          is delivered. A different version is failed_precondition, "the object has changed". A file that is still
//          being written is read up to its length when it was opened.
// Listing: folders are read page by page (LISTSTATUS_BATCH; as a whole if the server does not support that) and visited
//          like local folders, each once.
// Writing: into a file of another name in the same folder (.NAME.sluice-NUMBER), 8 MiB at a time. commit() compares its
//          length and renames it, replacing an existing file. Without a commit the file is removed. Missing folders are
//          created. Files longer than 8 MiB need appending, which folders with erasure coding reject.
// Two name nodes: if one is in standby or not reachable, requests go to the other one, which is used first from then
//   on.
// Credentials: the first of these that exists: hdfs_options::user or delegation_token; the token
//   WEBHDFS_DELEGATION_TOKEN; the token in the file HADOOP_TOKEN_FILE_LOCATION; the name HADOOP_USER_NAME; the login's
//   name, which a cluster without Kerberos accepts. Data nodes receive only what the name node has written into its
//   redirect. http_options::headers are sent to name nodes only. Kerberos itself (SPNEGO) is not supported: a cluster
//   that requires it requires a token here.
// Errors:  those of http.hpp, with the node, its exception and message. unavailable: standby, safe mode or a file in
//          recovery, after all attempts. failed_precondition: a redirect from TLS to plain HTTP or to another protocol.
//          data_loss: an invalid answer. unauthenticated: Kerberos, an expired token. Messages contain no tokens.
// See:     docs/remote.md, docs/internals/decisions/object_stores.md
#pragma once

#include <string>
#include <vector>

#include "sluice/io/http.hpp"

namespace sluice::lib {

struct hdfs_options {
  /// The name nodes for all hdfs:// paths, whatever name they contain: "http://host:port", or "host:port".
  std::vector<std::string> name_nodes;
  std::string user;              ///< instead of HADOOP_USER_NAME and the login
  std::string delegation_token;  ///< the text in GETDELEGATIONTOKEN's answer (`urlString`)
  http_options http;             ///< its headers are added to every request to a name node
};

/// Adds hdfs://, webhdfs:// and swebhdfs:// to the runtime's file systems (files.hpp). Errors: throws invalid_argument:
/// they exist already, a name node is not a URL, some name nodes use TLS and others do not, both a user and a token are
/// set, or the token contains an invalid character.
void add_hdfs(runtime& rt, network_maker connect, hdfs_options options = {});

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::add_hdfs;
using lib::hdfs_options;

}  // namespace sluice
