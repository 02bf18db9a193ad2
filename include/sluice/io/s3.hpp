// SPDX-License-Identifier: Apache-2.0
// Files of s3://bucket/key: objects of Amazon S3, and of the many servers that speak its protocol.
//
//   runtime rt;
//   add_s3(rt, make_asio_network);                                    // sluice/io/asio_network.hpp
//   auto ds = list_files("s3://bucket/train-*.tfrecord") | interleave(tfrecord);
//
//   s3_options own;
//   own.endpoint = "http://127.0.0.1:9000";                           // MinIO, Ceph, versitygw, …
//   own.anonymous = true;                                             // a public bucket: nothing is signed
//
// Reads:   as http.hpp: ranges of one version (If-Match), ahead, again, at once. An object that a listing has told of
//          is opened without a request of its own.
// Listing: `*`, `?`, `[…]` within a name of the key, `**` for any number of them; a thousand keys a request. What
//          stands before the first of them is all that the server is asked for. Objects only; a pattern that ends
//          with / gives folders. The bucket is no pattern.
// Writing: nobody sees an object before commit(). One of up to 8 MiB is one request, a longer one goes in parts of 8
//          MiB, four of them at the same time; dropped without a commit its parts are thrown away. Each goes with its MD5
//          (Content-MD5), and the ETag of the answer is compared with it: a difference is data_loss.
// Who asks: s3_options, else AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (AWS_SESSION_TOKEN), else the profile AWS_PROFILE of
//          ~/.aws/credentials and ~/.aws/config (AWS_SHARED_CREDENTIALS_FILE, AWS_CONFIG_FILE), else a web identity
//          (AWS_WEB_IDENTITY_TOKEN_FILE, AWS_ROLE_ARN), else the container's (AWS_CONTAINER_CREDENTIALS_RELATIVE_URI
//          or _FULL_URI), else the machine's (IMDSv2, unless AWS_EC2_METADATA_DISABLED): the first of them that is
//          there. Credentials that end are fetched anew five minutes before. Nothing is asked anonymously unless
//          `anonymous` or AWS_NO_SIGN_REQUEST=1 says so.
// TLS:     as http.hpp; AWS_CA_BUNDLE, too, names a file of roots.
// Where:   s3_options::endpoint, AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, the profile's endpoint_url, else Amazon's of
//          the region: s3_options::region, AWS_REGION, AWS_DEFAULT_REGION, the profile's, us-east-1. A bucket of
//          another region is asked for there.
// Errors:  those of http.hpp, with S3's code, message and request id: not_found (NoSuchKey, NoSuchBucket),
//          permission_denied (AccessDenied), unauthenticated (no credentials; InvalidAccessKeyId,
//          SignatureDoesNotMatch). Secrets are in no message.
// See:     docs/remote.md, docs/internals/decisions/object_stores.md
#pragma once

#include <optional>
#include <string>

#include "sluice/io/http.hpp"

namespace sluice::lib {

struct s3_options {
  std::string region;
  std::string endpoint;  ///< a URL without a path: instead of Amazon's
  std::optional<bool>
      path_style;  ///< the bucket is in the path, not in the name of the host; nullopt: with an endpoint of one's own
  bool anonymous = false;     ///< nothing is signed
  std::string access_key_id;  ///< with secret_access_key: instead of what the environment has
  std::string secret_access_key;
  std::string session_token;
  std::string profile;  ///< instead of AWS_PROFILE
  /// An ETag that looks like an MD5 is taken for that of what was written; false for a server whose tags look so, and are not.
  bool tags_are_md5 = true;
  http_options http;  ///< its headers go with every request
};

/// Adds s3:// to the runtime's file systems (files.hpp). Errors: throws invalid_argument: it is there already, an
/// endpoint that is no URL, half of a pair of keys, anonymous with keys.
void add_s3(runtime& rt, network_maker connect, s3_options options = {});

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::add_s3;
using lib::s3_options;

}  // namespace sluice
