// SPDX-License-Identifier: Apache-2.0
#include "cli/remote_files.hpp"

#if SLUICE_HAVE_HTTP && SLUICE_HAVE_ASIO
#include "sluice/io/asio_network.hpp"
#include "sluice/io/http.hpp"
#if SLUICE_HAVE_STORES
#include "sluice/io/gcs.hpp"
#include "sluice/io/s3.hpp"
#endif
#endif

namespace sluice::lib::cli {

void add_remote_files([[maybe_unused]] runtime& rt) {
#if SLUICE_HAVE_HTTP && SLUICE_HAVE_ASIO
  add_http(rt, make_asio_network);
#if SLUICE_HAVE_STORES
  add_s3(rt, make_asio_network);
  add_gcs(rt, make_asio_network);
#endif
#endif
}

}  // namespace sluice::lib::cli
