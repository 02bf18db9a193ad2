// SPDX-License-Identifier: Apache-2.0
// Files of hdfs://, webhdfs:// and swebhdfs://: HDFS, by the HTTP gateway that every name node and data node of it has.
//
//   runtime rt;
//   add_hdfs(rt, make_asio_network);                                  // sluice/io/asio_network.hpp
//   auto ds = list_files("hdfs://warehouse/train/**/*.tfrecord") | interleave(tfrecord);
//
//   hdfs_options own;
//   own.name_nodes = {"http://nn1.example:9870", "http://nn2.example:9870"};
//   own.user = "trainer";
//
// Paths:   webhdfs://host:port/path names the web server of a name node (9870 where there is no port), swebhdfs:// the same
//          over TLS (9871). hdfs://name/path is asked for at the same gateway: at hdfs_options::name_nodes, else at
//          SLUICE_HDFS_NAME_NODES (URLs with commas between them), else where hdfs-site.xml and core-site.xml say that the
//          name nodes of `name` have their web servers (dfs.ha.namenodes.NAME, dfs.namenode.http-address.NAME.NN,
//          dfs.http.policy), else at port 9870 of the host: the port in an hdfs:// URL is that of another protocol, and is not
//          used. hdfs:///path is on fs.defaultFS. The files are looked for in HADOOP_CONF_DIR, HADOOP_HOME/etc/hadoop,
//          /etc/hadoop/conf.
// Reads:   as http.hpp: ranges ahead, again, at once. Each range is asked for at the name node, which names a data node; the
//          bytes come from there.
// Version: one version of a file is read: its number (fileId), time of change and length. They are compared at the name node for
//          each range, once the data node has found its blocks and before any byte is given. Another one is
//          failed_precondition, "the object has changed". Of a file that is still being written, what was there when it was
//          opened.
// Listing: folders are read page by page (LISTSTATUS_BATCH; where the server does not know that, whole) and walked as local
//          ones are, each once.
// Writing: into a file of another name in the same folder (.NAME.sluice-NUMBER), 8 MiB at a time; commit() compares its length
//          and gives it its name, over what had it. Dropped without a commit, the file is removed. Folders are made. What is
//          longer than 8 MiB is appended to, which folders with erasure coding refuse.
// Two name nodes: one that is in standby, or not there, has the other asked, which is asked first from then on.
// Who asks: hdfs_options::user or delegation_token; else the token WEBHDFS_DELEGATION_TOKEN, else that of the file
//          HADOOP_TOKEN_FILE_LOCATION; else the name HADOOP_USER_NAME, else the login's, which a cluster without Kerberos
//          believes. To data nodes goes what the name node has written into its redirect, and nothing else;
//          http_options::headers go to name nodes only. Kerberos itself (SPNEGO) is not spoken: a cluster that wants it wants a
//          token here.
// Errors:  those of http.hpp, with the node that was asked, its exception and message; unavailable: standby, safe mode, a
//          file that is being recovered, for as many attempts as there are; failed_precondition: a redirect out of TLS or to
//          something else than http; data_loss: an answer that is none; unauthenticated: Kerberos, a token that is over.
//          Tokens are in no message.
// See:     docs/remote.md, docs/internals/decisions/object_stores.md
#pragma once

#include <string>
#include <vector>

#include "sluice/io/http.hpp"

namespace sluice::lib {

struct hdfs_options {
  /// What hdfs:// paths are asked at, whatever name stands in them: "http://host:port", or "host:port".
  std::vector<std::string> name_nodes;
  std::string user;              ///< instead of HADOOP_USER_NAME and the login
  std::string delegation_token;  ///< the text that GETDELEGATIONTOKEN answers (`urlString`)
  http_options http;             ///< its headers go with every request to a name node
};

/// Adds hdfs://, webhdfs:// and swebhdfs:// to the runtime's file systems (files.hpp). Errors: throws invalid_argument: they are
/// there already, a name node that is no URL, some with TLS and some without, a user and a token, a token with a character that
/// none has.
void add_hdfs(runtime& rt, network_maker connect, hdfs_options options = {});

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::add_hdfs;
using lib::hdfs_options;

}  // namespace sluice
