// SPDX-License-Identifier: Apache-2.0
// An output under a path with a scheme: bytes are kept until send() hands them to the scheme's file system, which a task
// awaits.
//
//   auto to = std::make_shared<remote_file>("mem://out/a.csv");
//   remote_output out(to);
//   status why = out.write(bytes, {}, accepted);    // kept
//   why = out.finish();
//   co_await to->send(rt);                          // created, written, and named: it is there now
//
// It is there when it is whole, and a remote_file that is destroyed before leaves nothing (file_writer).
// Nobody can add to such an object later: no checkpoint names it, and no format may change its first bytes in the end.
// Errors: of send(): those of file_system::create and file_writer; unimplemented where nothing can be written.
// Owns:   the bytes that are not sent yet: some MiB at most, if has_much() is asked after each block; the ledger does not
//         count them.
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
  /// Is it time to send? Also before the first bytes: whether the path can be written to is found out early.
  bool has_much() const;
  bool is_done() const { return is_done_; }
  /// What there is; after end() the file takes its name.
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
  /// Nothing that a resume could go on with.
  status commit(shard_place&) override { return {}; }
  status finish() override;

 private:
  const std::shared_ptr<remote_file> to_;
};

}  // namespace sluice::lib
