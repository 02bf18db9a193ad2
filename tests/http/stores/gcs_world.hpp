// SPDX-License-Identifier: Apache-2.0
// A simulated world with Google's store in it, and a runtime whose files are that store's.
#pragma once

#include "http/stores/simulated_gcs.hpp"
#include "http/stores/store_world.hpp"
#include "io/gcs/gcs_store.hpp"

namespace sluice::lib::testing {

struct gcs_world : store_world {
  gcs_world() {
    server.answers([this](const asked_for& a) { return gcs.answer(a); });
    home.variables = {{"HOME", "/home"}, {"STORAGE_EMULATOR_HOST", "s3.test:80"}};
  }
  file_system& gs(gcs_options options = {}) {
    if (!store) {
      store = std::make_shared<detail::gcs_store>(world, lend(), std::move(options), 7, home.around());
      add_files(rt, "gs", std::make_unique<detail::store_file_system>(rt, store));
    }
    return files_of(rt);
  }
  status why(gcs_options options = {}) {
    std::optional<std::string> ignored;
    return try_run(http_world::keep<std::string>(read_store_file(gs(std::move(options)), "gs://bucket/a"), ignored));
  }
  simulated_gcs gcs{"bucket"};
};

}  // namespace sluice::lib::testing
