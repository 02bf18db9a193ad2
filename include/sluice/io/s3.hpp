// SPDX-License-Identifier: Apache-2.0
// Files of s3://bucket/key: objects of Amazon S3, and of servers with the same protocol.
//
//   runtime rt;
//   add_s3(rt, make_asio_network);                                    // sluice/io/asio_network.hpp
//   auto ds = list_files("s3://bucket/train-*.tfrecord") | interleave(tfrecord);
//
//   s3_options own;
//   own.endpoint = "http://127.0.0.1:9000";                           // MinIO, Ceph, versitygw, …
//   own.anonymous = true;                                             // a public bucket: nothing is signed
//
// Reads:   as described in http.hpp: ranges of one version (If-Match), read-ahead, retries, parallel requests. An
//          object from a listing is opened without a request.
// Listing: `*`, `?`, `[…]` match within a name of the key, `**` any number of names; a thousand keys per request. The
//          server is asked for the keys that begin with the part before the first wildcard. Only objects are listed; a
//          pattern that ends with / yields folders. The bucket must not contain wildcards.
// Writing: an object is visible only after commit(). An object of up to 8 MiB is one request. A longer one is sent in
//          parts of 8 MiB, four at the same time; without a commit they are discarded. Each part is sent with its MD5
//          (Content-MD5), and the ETag of the answer is compared with it: a difference is data_loss.
// Credentials: the first of these that exists: s3_options, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY
//   (AWS_SESSION_TOKEN), the profile AWS_PROFILE of ~/.aws/credentials and ~/.aws/config (AWS_SHARED_CREDENTIALS_FILE,
//   AWS_CONFIG_FILE), a web identity (AWS_WEB_IDENTITY_TOKEN_FILE, AWS_ROLE_ARN), the container's
//   (AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or _FULL_URI), the machine's (IMDSv2, unless AWS_EC2_METADATA_DISABLED).
//   Credentials that expire are renewed five minutes earlier. Requests are anonymous only with `anonymous` or
//   AWS_NO_SIGN_REQUEST=1.
// TLS:     as described in http.hpp; AWS_CA_BUNDLE also names a file of roots.
// Server:  the first of these that is set: s3_options::endpoint, AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, the profile's
//          endpoint_url; otherwise Amazon's endpoint of the region: s3_options::region, AWS_REGION, AWS_DEFAULT_REGION,
//          the profile's region, us-east-1. Requests for a bucket of another region are sent there.
// Errors:  those of http.hpp, with S3's code, message and request id: not_found (NoSuchKey, NoSuchBucket),
//          permission_denied (AccessDenied), unauthenticated (no credentials; InvalidAccessKeyId,
//          SignatureDoesNotMatch). Messages contain no secrets.
// See:     docs/remote.md, docs/internals/decisions/object_stores.md
#pragma once

#include <optional>
#include <string>

#include "sluice/io/http.hpp"

namespace sluice::lib {

struct s3_options {
  std::string region;
  std::string endpoint;  ///< a URL without a path, instead of Amazon's
  /// True if the bucket is in the path, not in the host name. nullopt: true if an endpoint is set.
  std::optional<bool> path_style;
  bool anonymous = false;     ///< requests are not signed
  std::string access_key_id;  ///< used with secret_access_key, instead of the environment's keys
  std::string secret_access_key;
  std::string session_token;
  std::string profile;  ///< instead of AWS_PROFILE
  /// Treats an ETag that looks like an MD5 as the MD5 of the written bytes. Set it to false for a server whose tags
  /// only look so.
  bool tags_are_md5 = true;
  http_options http;  ///< its headers are added to every request
};

/// Adds s3:// to the runtime's file systems (files.hpp). Errors: throws invalid_argument: s3:// exists already, the
/// endpoint is not a URL, one of a pair of keys is missing, or `anonymous` is set together with keys.
void add_s3(runtime& rt, network_maker connect, s3_options options = {});

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::add_s3;
using lib::s3_options;

}  // namespace sluice
