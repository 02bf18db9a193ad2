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
// Reads:   as http.hpp: ranges of one generation, ahead, again, at once. When all of an object has been read, its
//          CRC-32C is compared with the server's. What is stored packed (Content-Encoding: gzip) is read as it is
//          stored, and unpacked by the reader of the format.
// Listing: as s3.hpp.
// Writing: nobody sees an object before commit(). One of up to 8 MiB is one request, a longer one goes in pieces of 8
//          MiB, one after the other; dropped without a commit they are thrown away. The server compares the CRC-32C
//          of what it got with ours.
// Who asks: gcs_options, else CLOUDSDK_AUTH_ACCESS_TOKEN, else the file GOOGLE_APPLICATION_CREDENTIALS, else the
//          one of `gcloud auth application-default login`, else the machine's account (unless NO_GCE_CHECK=true): the
//          first of them that is there. Files of the types service_account and authorized_user. Keys of HMAC (gcs_options, or
//          GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY) go before all of these: with them Google's store is asked by
//          S3's protocol. Nothing is asked anonymously unless `anonymous` or GS_NO_SIGN_REQUEST=1 says so.
// Where:   https://storage.googleapis.com; gcs_options::endpoint or STORAGE_EMULATOR_HOST: an emulator, which is
//          asked anonymously.
// Errors:  those of http.hpp, with the server's reason, message and request id; unauthenticated: no credentials, or
//          ones that it does not know. Secrets are in no message.
// See:     docs/remote.md, docs/internals/decisions/object_stores.md
#pragma once

#include <string>

#include "sluice/io/http.hpp"

namespace sluice::lib {

struct gcs_options {
  std::string endpoint;          ///< a URL without a path, of an emulator
  bool anonymous = false;        ///< nothing is signed
  std::string credentials_file;  ///< instead of GOOGLE_APPLICATION_CREDENTIALS
  std::string access_token;      ///< as `gcloud auth print-access-token` prints it; it ends after an hour
  std::string hmac_access_id;    ///< with hmac_secret
  std::string hmac_secret;
  http_options http;  ///< its headers go with every request
};

/// Adds gs:// to the runtime's file systems (files.hpp). Errors: throws invalid_argument: it is there already, an
/// endpoint that is no URL, half of a pair of keys, several answers to who asks.
void add_gcs(runtime& rt, network_maker connect, gcs_options options = {});

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::add_gcs;
using lib::gcs_options;

}  // namespace sluice
