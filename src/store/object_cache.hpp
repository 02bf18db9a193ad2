// SPDX-License-Identifier: Apache-2.0
// object_cache: a block_store in objects of a store, for processes that share no kernel.
//
// Objects: PATH/head has the head and the name of its generation. PATH/GENERATION/ORDINAL is a block, and is written only if
//         it does not exist. PATH/GENERATION/end has the number of elements and the headers of all blocks. PATH/lease names
//         the writer.
// Lease:  a writer renews the lease while a stage adds elements, also if it pauses, and leaves it as free. A lease that has not
//         changed for kLease, by the reader's own clock, belongs to a writer that has ended: the next one replaces it. All
//         its writes are conditional, so one of several succeeds. A writer that was paused for longer may still add a
//         block: the block is right, and if its place is taken, the writer finds that out and writes no more.
// Format: frames (store/cache_frame.hpp), one an object.
// Errors: those of block_store; unimplemented: the file system has no conditional writes, or the server ignores them.
// See:    block_store
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/run_task.hpp"
#include "sluice/base/mutex.hpp"
#include "sluice/coro/task.hpp"
#include "sluice/runtime/runtime.hpp"
#include "store/block_store.hpp"

namespace sluice::lib {

class object_cache final : public block_store, public std::enable_shared_from_this<object_cache> {
 public:
  static constexpr duration kLease = std::chrono::seconds(10);
  static constexpr duration kLooks = std::chrono::milliseconds(500);  ///< between two listings

  static result<std::shared_ptr<object_cache>> open(std::string path, bool rebuilds, runtime& rt);
  ~object_cache() override;

  const std::string& path() const override { return path_; }
  bool is_damaged() const override;
  std::string head() const override;
  std::uint64_t length() const override;
  std::uint64_t size_bytes() const override;
  bool can_write() override;
  bool is_written_elsewhere() const override;
  status look(bool takes) override;
  bool has_grown() const override;
  status scan(std::vector<stored_block>& found) override;
  result<std::string> read(const stored_block& b) override;
  status begin(std::string_view head) override;
  status replace(std::string_view head) override;
  status append(stored_block& b, const byte_parts& elements) override;
  status finish(std::uint64_t length) override;
  bool is_left() const override { return true; }
  void leave(unwritten blocks) noexcept override;
  status drop() override;

 private:
  object_cache(std::string path, runtime& rt);

  // Tasks; their errors are those above.

  task<> read_head();
  task<> look_now(bool takes);
  task<bool> take_lease();
  /// Returns false if another process has the lease.
  task<bool> has_lease();
  /// Returns false if the lease is lost, or given up.
  task<bool> renew_lease();
  /// Renews the lease until it is given up.
  static run_task keep_lease(std::shared_ptr<run_context>& run, std::weak_ptr<object_cache> of);
  task<> release_lease();
  task<> list_blocks();
  task<> read_end();
  task<> add_headers(std::vector<std::uint64_t> ordinals);
  task<std::string> read_block(stored_block b);
  task<> put_head(std::string head);
  task<> replace_now(std::string head);
  task<stored_block> append_now(stored_block b, std::string elements);
  task<> finish_now(std::uint64_t length);
  /// Gives up the lease, after writing the end again if it is known and blocks have been added.
  task<> end_again();
  task<> remove_objects(std::string except);
  task<> drop_now();
  static run_task leave_now(std::shared_ptr<run_context>& run, std::shared_ptr<object_cache> of, unwritten blocks);

  /// Blocks until the task has ended.
  status wait_for(task<> work) const;
  std::string at(std::string_view name) const { return path_ + "/" + std::string(name); }
  std::string in_generation(std::string_view name) const;
  std::string block_path(std::uint64_t ordinal) const;
  /// Adds what a header or an index says.
  void add_known(stored_block b) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  status damage(const std::string& object, std::string_view what) const;
  status lost() const;

  /// The lease of another process, as it was seen last.
  struct seen_lease {
    std::string version;
    time_point since{};
    bool is_held = false, is_of_this_process = false;
  };

  const std::string path_;
  runtime& rt_;
  const std::weak_ptr<runtime_part> alive_;  ///< expires with the runtime
  std::shared_ptr<run_context> leaving_;     ///< the run of work that remains after the last stage
  mutable mutex looking_;                    ///< one look at a time
  mutable mutex mutex_;
  std::string head_ ABSL_GUARDED_BY(mutex_), head_version_ ABSL_GUARDED_BY(mutex_);
  std::string generation_ ABSL_GUARDED_BY(mutex_);
  bool is_damaged_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_leaving_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_changed_ ABSL_GUARDED_BY(mutex_) = false;    ///< blocks were added since the end was written
  std::string lease_version_ ABSL_GUARDED_BY(mutex_);  ///< empty: this object is not the writer
  bool is_renewing_ ABSL_GUARDED_BY(mutex_) = false;
  std::shared_ptr<run_context> keeping_ ABSL_GUARDED_BY(mutex_);  ///< the run of keep_lease()
  seen_lease seen_ ABSL_GUARDED_BY(mutex_);
  time_point looked_ ABSL_GUARDED_BY(mutex_){};
  bool has_looked_ ABSL_GUARDED_BY(mutex_) = false;
  std::map<std::uint64_t, stored_block> known_ ABSL_GUARDED_BY(mutex_);
  std::vector<stored_block> pending_ ABSL_GUARDED_BY(mutex_);             ///< for the next scan()
  std::map<std::uint64_t, std::string> damaged_ ABSL_GUARDED_BY(mutex_);  ///< versions of blocks, by ordinals
  std::uint64_t length_ ABSL_GUARDED_BY(mutex_) = kUnknown;
  std::string end_version_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice::lib
