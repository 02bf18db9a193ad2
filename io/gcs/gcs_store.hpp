// SPDX-License-Identifier: Apache-2.0
// Objects of Google Cloud Storage, through its JSON protocol (sluice/io/gcs.hpp).
#pragma once

#include <memory>
#include <string>

#include "io/gcs/gcs_service.hpp"
#include "io/stores/object_store.hpp"
#include "sluice/base/mutex.hpp"

namespace sluice::lib::detail {

class gcs_store final : public object_store {
 public:
  /// `around`: the process's environment, which tests replace.
  gcs_store(clock& time, network_maker connect, gcs_options options, std::uint64_t seed, surroundings around);

  task<store_place> place_of(store_path path, time_point deadline) override;
  task<store_page> list_page(store_path where, bool by_folder, std::string from, time_point deadline) override;
  task<file_info> look_up(store_path path, time_point deadline) override;
  task<file_info> put(store_path path, std::span<const char> bytes, time_point deadline) override;
  task<file_info> put_if(store_path path, std::span<const char> bytes, std::string version,
                         time_point deadline) override;
  task<> remove(store_path path, time_point deadline) override;
  task<store_upload> begin_upload(store_path path, time_point deadline) override;
  /// Sends this part at the upload's present offset. Returns its checksum.
  task<std::string> put_part(const store_upload& to, std::size_t number, std::span<const char> bytes,
                             time_point deadline) override;
  task<file_info> finish_upload(store_upload upload, std::span<const char> last, time_point deadline) override;
  task<> abort_upload(store_upload upload, time_point deadline) override;
  std::size_t parts_at_once() const override { return 0; }
  http_client& client() override { return client_; }

 private:
  struct place {
    http_url base;
    std::shared_ptr<gcs_service> service;
  };
  result<place> find_place();
  /// Sends a piece whose bytes begin at `at`. If no usable answer arrives, asks the server for its state with
  /// `question` as Content-Range, and returns that answer. Fails with the piece's error if the server has no new bytes.
  task<http_answer> send_piece(const store_upload& to, std::uint64_t at, http_request piece, std::string question,
                               std::string what, time_point deadline);
  /// Returns the object if it equals the written bytes, because some servers forget an upload that has ended. Otherwise
  /// fails with `why`.
  task<file_info> look_for(store_path path, std::uint64_t bytes, std::uint32_t crc32c, status why, time_point deadline);
  /// `target`: path and query.
  task<http_answer> ask(std::string path, std::string target, http_request request, call_options how);

  const gcs_options options_;
  const surroundings around_;
  http_client client_;
  mutex mutex_;
  http_url base_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<gcs_service> service_ ABSL_GUARDED_BY(mutex_);
};

/// Errors: invalid_argument.
status check_gcs_options(const gcs_options& options);
/// Reads an answer about one object. Errors: data_loss.
result<file_info> parse_gcs_object(const answer_tree& object);

}  // namespace sluice::lib::detail
