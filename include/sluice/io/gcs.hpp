// SPDX-License-Identifier: Apache-2.0
// Files of gs://bucket/key: objects of Google Cloud Storage.
//
//   runtime rt;
//   add_gcs(rt, make_asio_network);                                   // sluice/io/asio_network.hpp
//   auto ds = list_files("gs://bucket/train-*.tfrecord") | interleave(tfrecord);
//
//   gcs_options own;
//   own.credentials_file = "service-account.json";
//
// Reads:   as described in http.hpp: ranges of one generation, read-ahead, retries, parallel requests. When a whole
//          object has been read, its CRC-32C is compared with the server's. Compressed objects (Content-Encoding: gzip)
//          are read as they are stored; the reader of the format decompresses them.
// Listing: as described in s3.hpp.
// Writing: an object is visible only after commit(). An object of up to 8 MiB is one request. A longer one is sent in
//          consecutive pieces of 8 MiB; without a commit they are discarded. The server compares the CRC-32C of the
//          bytes that it received with ours.
// Credentials: the first of these that exists: gcs_options, CLOUDSDK_AUTH_ACCESS_TOKEN, the file
//   GOOGLE_APPLICATION_CREDENTIALS, the file of `gcloud auth application-default login`, the machine's account (unless
//   NO_GCE_CHECK=true). Files may have the types service_account and authorized_user. HMAC keys (in gcs_options, or
//   GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY) have precedence over all of these: with them requests use S3's protocol.
//   Requests are anonymous only with `anonymous` or GS_NO_SIGN_REQUEST=1.
// Server:  https://storage.googleapis.com; gcs_options::endpoint or STORAGE_EMULATOR_HOST name an emulator, which gets
//          anonymous requests.
// Errors:  those of http.hpp, with the server's reason, message and request id; unauthenticated: no credentials, or
//          credentials that the server does not know. Messages contain no secrets.
// See:     docs/remote.md, docs/internals/decisions/object_stores.md
#pragma once

#include <string>

#include "sluice/io/http.hpp"

namespace sluice::lib {

struct gcs_options {
  std::string endpoint;          ///< the URL of an emulator, without a path
  bool anonymous = false;        ///< requests are not signed
  std::string credentials_file;  ///< instead of GOOGLE_APPLICATION_CREDENTIALS
  std::string access_token;      ///< as `gcloud auth print-access-token` prints it; expires after an hour
  std::string hmac_access_id;    ///< used with hmac_secret
  std::string hmac_secret;
  http_options http;  ///< its headers are added to every request
};

/// Adds gs:// to the runtime's file systems (files.hpp). Errors: throws invalid_argument: gs:// exists already, the
/// endpoint is not a URL, one of a pair of keys is missing, or several kinds of credentials are set.
void add_gcs(runtime& rt, network_maker connect, gcs_options options = {});

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::add_gcs;
using lib::gcs_options;

}  // namespace sluice
