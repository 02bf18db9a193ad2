// SPDX-License-Identifier: Apache-2.0
// Writes Arrow's IPC stream: a schema, record batches, and an end, from the structs of the C data interface.
//
//   append_ipc_schema(out, schema);
//   append_ipc_batch(out, schema, array);      // as often as there are batches
//   append_ipc_end(out);
//
// Arrays may begin at any offset: the stream contains the values from there on, with offsets that begin at 0 and
// validity that begins with a byte's first bit. The length of every message is a multiple of 64 bytes, and each buffer
// begins at such a multiple: a reader that maps the file uses the values in place. Little-endian, metadata version 5.
// Buffers may be compressed, each on its own; those that would not become smaller are not.
// Errors: invalid_argument, naming the column: a type that is not written (a dictionary, a union, a view, a decimal …).
//         Nothing is appended then.
// Thread: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "arrow/ipc_reader.hpp"
#include "sluice/arrow/c_data.hpp"
#include "sluice/base/status.hpp"

namespace sluice::lib::arrow {

/// `s`: the schema of a record batch, a struct.
status append_ipc_schema(std::string& out, const ArrowSchema& s);
/// Appends the compressed bytes to `out`.
using ipc_deflate = status (*)(ipc_codec codec, std::string_view in, std::string& out);
struct ipc_packing {
  ipc_codec codec = ipc_codec::none;
  ipc_deflate deflate = nullptr;  ///< required with a codec
};

/// REQUIRES: the array has that schema, and follows the rules of the C data interface: it comes from this program.
status append_ipc_batch(std::string& out, const ArrowSchema& s, const ArrowArray& a, const ipc_packing& packing = {});
void append_ipc_end(std::string& out);

}  // namespace sluice::lib::arrow
