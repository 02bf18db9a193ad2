// SPDX-License-Identifier: Apache-2.0
// Messages of the transport as gRPC's byte buffers.
//
//   head (8 bytes, little-endian): u32 crc32c of the rest; u8 kind (io/messages/message_bytes.hpp); u8 code of a status;
//   u16 bytes of the method's name. Then the payload, as in message_bytes.hpp.
//
// gRPC keeps the limits of whole messages, and the order. HTTP/2 has no checksum of its own.
#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>

#include "io/messages/message_bytes.hpp"

namespace sluice::lib {

inline constexpr std::size_t kGrpcHeadBytes = 8;

/// Copies the payload.
grpc::ByteBuffer grpc_message(message_kind kind, status_code code, std::size_t method_bytes, std::string_view first,
                              std::string_view rest);
/// Shares the frame's buffer, if it is not small.
grpc::ByteBuffer grpc_frame(slice frame);
/// Errors: data_loss.
result<message> read_grpc_message(const grpc::ByteBuffer& bytes);

status status_of(const grpc::Status& s);
grpc::Status grpc_status_of(const status& why);

}  // namespace sluice::lib
