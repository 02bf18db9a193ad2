// SPDX-License-Identifier: Apache-2.0
// Objects of S3 (sluice/io/s3.hpp), and of Google's store if its keys are for HMAC.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "io/s3/s3_bucket.hpp"
#include "io/stores/object_store.hpp"
#include "sluice/base/mutex.hpp"

namespace sluice::lib::detail {

class s3_store final : public object_store {
 public:
  /// `around`: the process's environment, which tests replace.
  s3_store(clock& time, network_maker connect, s3_options options, std::uint64_t seed, surroundings around);

  task<store_place> place_of(store_path path, time_point deadline) override;
  task<store_page> list_page(store_path where, bool by_folder, std::string from, time_point deadline) override;
  task<file_info> look_up(store_path path, time_point deadline) override;
  task<file_info> put(store_path path, std::span<const char> bytes, time_point deadline) override;
  task<file_info> put_if(store_path path, std::span<const char> bytes, std::string version,
                         time_point deadline) override;
  task<> remove(store_path path, time_point deadline) override;
  task<store_upload> begin_upload(store_path path, time_point deadline) override;
  task<std::string> put_part(const store_upload& to, std::size_t number, std::span<const char> bytes,
                             time_point deadline) override;
  task<file_info> finish_upload(store_upload upload, std::span<const char> last, time_point deadline) override;
  task<> abort_upload(store_upload upload, time_point deadline) override;
  std::size_t parts_at_once() const override { return 4; }
  http_client& client() override { return client_; }

 private:
  result<std::shared_ptr<s3_bucket>> bucket(const std::string& name);
  /// Sends the bytes with their MD5, and compares the ETag of the answer with it. Returns the ETag. Adds method, body
  /// and MD5 to `request`.
  task<std::string> send(store_path path, http_request request, std::span<const char> bytes, std::string what,
                         time_point deadline);
  /// Sends a request for the key in the bucket; empty: for the bucket.
  task<http_answer> ask(store_path path, http_request request, call_options how);

  const s3_options options_;
  const surroundings around_;
  http_client client_;
  mutex mutex_;
  std::shared_ptr<s3_account> account_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::shared_ptr<s3_bucket>> buckets_ ABSL_GUARDED_BY(mutex_);
};

/// Parses the answer to a listing. Errors: data_loss.
result<store_page> parse_s3_listing(std::string_view body);

}  // namespace sluice::lib::detail
