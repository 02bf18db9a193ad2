// SPDX-License-Identifier: Apache-2.0
// Messages between processes: calls, and streams of frames. One of the seams (docs/architecture.md).
//
//   class squares final : public message_handler {
//     task<std::string> on_call(std::string method, std::string request) override { … co_return answer; }
//     task<> on_stream(std::string method, std::string request, frame_writer& out) override {
//       for (int i = 0; i != 10; ++i) co_await out.write(slice::copy_of(std::to_string(i * i)));
//     }
//   };
//   squares handler;
//   auto server = co_await transport.listen("127.0.0.1:0", handler);
//   s.spawn(server->serve());                                          // in a scope; until server->close()
//
//   auto channel = transport.connect(server->address());
//   result<std::string> answer = co_await channel->call("add", "1 2", deadline);   // throws if the transport fails
//   auto reader = co_await channel->open("squares", "", {.credit_bytes = 1 << 20}, deadline);
//   for (;;) {
//     result<std::optional<slice>> frame = co_await reader->next(deadline);
//     if (!frame.ok()) …                                                // the handler failed with frame.why()
//     if (!*frame) break;                                              // the handler has returned: the end
//   }
//
// Errors: a task of a channel or reader fails (throws) if the transport fails: unavailable (refused, broken, the server
//         is closed; the message names the address), deadline_exceeded, data_loss (bytes that are not of this protocol,
//         or a wrong checksum; the message names peer and reason), invalid_argument (not an address, a limit that is
//         too large), resource_exhausted (a message above its limit). The result that it returns is what the handler
//         answered: its value, or the error that it threw, with code and message. So an `unavailable` of a handler and
//         one of the transport are never confused.
// Order:  frames arrive in the order of their writes. After a failure, the frames received are a prefix of the
//         frames written: none of these is lost, repeated or changed.
// Limits: a method name has at most kMethodBytesMax bytes, a request or answer kCallBytesMax, a frame
//         stream_options::frame_bytes_max. The receiver checks them before it allocates memory.
// Deadlines: moments on the environment's own clock.
// Cancel: a stop of the environment fails any wait with `cancelled`. If it was the wait of a call, the server stops
//         the call's handler; a reader may be used again.
// Real: io/message_transport.hpp over a network, io/grpc_transport.hpp. In one process: io/message_transport.hpp.
//       Simulated: io/message_transport.hpp over a simulated_network.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "sluice/base/result.hpp"
#include "sluice/coro/task.hpp"
#include "sluice/element/slice.hpp"
#include "sluice/io/deadline.hpp"

namespace sluice::lib {

inline constexpr std::size_t kMethodBytesMax = 255;
inline constexpr std::size_t kCallBytesMax = std::size_t{64} << 20;
/// The largest permitted stream_options::frame_bytes_max.
inline constexpr std::size_t kFrameBytesMax = std::size_t{1} << 30;
/// A frame uses its size and this number of bytes of the credit, so that tiny frames are bounded, too.
inline constexpr std::size_t kFrameOverheadBytes = 64;

struct stream_options {
  /// The sum of the frames that the server may have sent and next() has not returned. A frame larger than three
  /// quarters of it may exceed it, when at most a quarter is on its way.
  std::size_t credit_bytes = std::size_t{4} << 20;
  /// A larger frame is an error (resource_exhausted) in the handler's write().
  std::size_t frame_bytes_max = std::size_t{16} << 20;
};

/// The client's end of a stream of frames.
/// Thread: one next() at a time, on any thread; cancel() on any thread.
class frame_reader {
 public:
  /// Cancels the stream. REQUIRES: no next() is running.
  virtual ~frame_reader() = default;
  /// Returns the next frame; nullopt if the handler has returned; an error if the handler has thrown it. The last two
  /// are returned again by later calls. Returning a frame gives its bytes back to the server as credit.
  /// Errors: unavailable, data_loss: the transport failed, and later calls fail alike. deadline_exceeded, and
  /// `cancelled` after a stop: nothing was consumed, and the call may be repeated. A frame that has arrived is returned
  /// even if the deadline has passed.
  virtual task<result<std::optional<slice>>> next(time_point deadline = kNever) = 0;
  /// Ends the stream: the handler is stopped. A next() that waits, and later ones, fail with `cancelled`.
  virtual void cancel() noexcept = 0;
};

/// The handler's end of a stream of frames.
/// Thread: any. Several tasks may write at the same time, for example one of them to show that the handler is alive.
class frame_writer {
 public:
  /// Waits for credit, and passes the frame to the transport, which does not copy it if it can. Errors: `cancelled` if
  /// the client is gone or the server is closed; resource_exhausted if the frame is larger than the client permits.
  virtual task<> write(slice frame) = 0;
  /// Returns true if the client is gone or the server is closed. All waits of the handler then fail with `cancelled`.
  virtual bool is_cancelled() const noexcept = 0;

 protected:
  ~frame_writer() = default;
};

/// A connection to one server, made when it is needed, and again after a failure. A failed call is not repeated:
/// whether the server has seen it is unknown.
/// Thread: any; any number of calls and streams at the same time. They do not wait for each other.
class message_channel {
 public:
  /// REQUIRES: its calls have ended, and its readers are destroyed.
  virtual ~message_channel() = default;
  /// Calls on_call() of the server's handler. Returns its answer or its error.
  virtual task<result<std::string>> call(std::string method, std::string request, time_point deadline = kNever) = 0;
  /// Begins on_stream() of the server's handler. An error of the handler is returned by next(). The deadline is that of
  /// this task alone, not of the stream.
  virtual task<std::unique_ptr<frame_reader>> open(std::string method, std::string request, stream_options options = {},
                                                   time_point deadline = kNever) = 0;
  virtual const std::string& address() const noexcept = 0;
};

/// What a server does. Its functions run as tasks of the server's serve(), any number at the same time.
/// Errors: what they throw is the answer; a `cancelled` of a stop is not sent to anybody.
/// Cancel: the environment of a handler is stopped when its client is gone (cancelled, disconnected, or its call's
///         deadline has passed) or the server is closed.
class message_handler {
 public:
  virtual task<std::string> on_call(std::string method, std::string request) = 0;
  /// `out` is valid until this task has ended.
  virtual task<> on_stream(std::string method, std::string request, frame_writer& out) = 0;

 protected:
  ~message_handler() = default;
};

class message_server {
 public:
  /// REQUIRES: serve() has returned or was never called.
  virtual ~message_server() = default;
  /// The address, with the actual port.
  virtual const std::string& address() const noexcept = 0;
  /// Serves clients until close(). Returns when all handlers have ended. Clients that call before it begins wait.
  /// Errors: `cancelled` after a stop of the environment; the error of the listener. Call it once.
  virtual task<> serve() = 0;
  /// Health checks of the transport, if it has any, answer from now on that this server accepts no new work. It serves as
  /// before. Thread: any.
  virtual void report_draining() noexcept {}
  /// Ends serve(): refuses new clients and stops all handlers. Thread: any; may be called several times.
  virtual void close() noexcept = 0;
};

class message_transport {
 public:
  /// REQUIRES: its servers and channels are destroyed.
  virtual ~message_transport() = default;
  /// REQUIRES: `handler` outlives the server. Errors: invalid_argument, unavailable (the address is in use).
  virtual task<std::unique_ptr<message_server>> listen(std::string address, message_handler& handler) = 0;
  /// Does not wait, and does not fail: the first call connects.
  virtual std::unique_ptr<message_channel> connect(std::string address) = 0;
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::frame_reader;
using lib::frame_writer;
using lib::message_channel;
using lib::message_handler;
using lib::message_server;
using lib::message_transport;
using lib::stream_options;

}  // namespace sluice
