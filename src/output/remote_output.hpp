// SPDX-License-Identifier: Apache-2.0
// An output under a path with a scheme. Bytes are buffered until send() transfers them to the scheme's file system; a
// task awaits send().
//
//   auto to = std::make_shared<remote_file>("mem://out/a.csv");
//   remote_output out(to);
// buffered
//   why = out.finish();
// created, written, and named: it exists now
//
// The output exists once it is complete. A remote_file that is destroyed before that leaves nothing (file_writer).
// Such an object cannot be appended to later: no checkpoint names it, and no format may change its first bytes at the
// end.
// Errors: for send(): those of file_system::create and file_writer; unimplemented if the file system cannot write.
// Owns:   the bytes that are not sent yet: some MiB at most, if has_much() is checked after each block; the ledger does
//         not count them.
// Thread: one caller.
#pragma once

#include <memory>
#include <string>

#include "output/byte_output.hpp"
#include "sluice/coro/task.hpp"
#include "sluice/io/file_system.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib {

class remote_file {
 public:
  explicit remote_file(std::string path) : path_(std::move(path)) {}

  void append(std::string_view bytes) { unsent_ += bytes; }
  void end() { is_ended_ = true; }
  /// Returns true if send() should be called. It also returns true before the first bytes, so that a path that cannot
  /// be written is detected early.
  bool has_much() const;
  bool is_done() const { return is_done_; }
  /// Sends the buffered bytes. After end(), the file takes its name.
  task<> send(runtime& rt);

 private:
  const std::string path_;
  std::string unsent_;
  std::unique_ptr<file_writer> writer_;
  bool is_ended_ = false, is_done_ = false;
};

class remote_output final : public byte_output {
 public:
  explicit remote_output(std::shared_ptr<remote_file> to) : to_(std::move(to)) {}

  status write(std::string_view bytes, const std::vector<std::size_t>& ends, std::size_t& accepted) override;
  status reserve_head(std::size_t size) override;
  status write_head(std::string_view bytes) override;
  /// Returns no place, since a remote output cannot be resumed.
  status commit(shard_place&) override { return {}; }
  status finish() override;

 private:
  const std::shared_ptr<remote_file> to_;
};

}  // namespace sluice::lib
