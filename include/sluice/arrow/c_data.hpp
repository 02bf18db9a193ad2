// SPDX-License-Identifier: Apache-2.0
// The structs of Arrow's C Data Interface and C Stream Interface: a stable ABI, declared here so that no Arrow library
// is needed. Guarded as the specification requires, so that a program may include Arrow's own header, too.
//
// The producer of a struct sets `release`. The consumer calls `release` once, or moves the struct: copies the bytes,
// and sets the source's `release` to null. A struct whose `release` is null is released.
// See:    https://arrow.apache.org/docs/format/CDataInterface.html and CStreamInterface.html
#pragma once

#include <cstdint>

extern "C" {

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

// The type of a stream, an array, or a child.
struct ArrowSchema {
  const char* format;    // "l", "u", "+s" …
  const char* name;      // of the field; may be null
  const char* metadata;  // may be null
  std::int64_t flags;
  std::int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};

// Values of a type.
struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;  // -1: unknown
  std::int64_t offset;      // values before the first one, in the buffers
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};

#endif  // ARROW_C_DATA_INTERFACE

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

// Arrays of one type, one after the other.
struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);  // a released array marks the end
  const char* (*get_last_error)(struct ArrowArrayStream*);
  void (*release)(struct ArrowArrayStream*);
  void* private_data;
};

#endif  // ARROW_C_STREAM_INTERFACE

}  // extern "C"
