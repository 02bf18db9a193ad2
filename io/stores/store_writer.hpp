// SPDX-License-Identifier: Apache-2.0
// Writes an object: in one request if it is small, else in parts, several of them in flight. The object becomes visible
// as a whole at commit().
//
// Memory: one part, or as many as are in flight; charged to the ledger. Parts have 8 MiB, and twice as much after each
//         thousand of them, because stores accept ten thousand.
// A writer that is dropped without a commit deletes its parts in the background. The end of the runtime waits for that,
// some seconds at most.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/stores/object_store.hpp"
#include "sluice/io/file_system.hpp"
#include "sluice/runtime/ledger.hpp"
#include "sluice/runtime/run_context.hpp"

namespace sluice::lib::detail {

class store_writer final : public file_writer {
 public:
  static constexpr std::size_t kPartBytes = std::size_t{8} << 20;
  static constexpr std::size_t kPartsMax = 10'000;

  /// `cleaning`: the run that deletes the parts of dropped uploads.
  store_writer(std::shared_ptr<upload_store> store, store_path path, std::shared_ptr<memory_ledger> ledger,
               std::shared_ptr<run_context> cleaning)
      : store_(std::move(store)), path_(std::move(path)), ledger_(std::move(ledger)), cleaning_(std::move(cleaning)) {}
  ~store_writer() override;

  task<> write(buffer_ref from, std::size_t at, std::size_t n, time_point deadline) override;
  task<file_info> commit(time_point deadline) override;

 private:
  std::size_t part_bytes() const;
  std::size_t room() const;
  /// Sends the parts that are full; `all`: also the last one, whatever its length.
  task<> send(bool all, time_point deadline);
  task<> begin(time_point deadline);
  task<std::string> send_part(std::size_t number, std::span<const char> bytes, time_point deadline);
  void add(std::span<const char> bytes);
  void charge();

  const std::shared_ptr<upload_store> store_;
  const store_path path_;
  const std::shared_ptr<memory_ledger> ledger_;
  const std::shared_ptr<run_context> cleaning_;
  std::string held_;  ///< bytes not sent yet
  std::size_t charged_ = 0;
  std::optional<store_upload> upload_;
  bool committed_ = false;
};

}  // namespace sluice::lib::detail
