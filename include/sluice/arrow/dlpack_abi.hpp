// SPDX-License-Identifier: Apache-2.0
// The structs of DLPack 1.0, an ABI: declared here so that its header is not needed. A program that also includes
// dlpack.h (1.0 or later) must include it first.
// See:    https://dmlc.github.io/dlpack/latest/c_api.html
#pragma once

#include <cstdint>

#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_

extern "C" {

#define DLPACK_FLAG_BITMASK_READ_ONLY (UINT64_C(1) << 0)
#define DLPACK_FLAG_BITMASK_IS_COPIED (UINT64_C(1) << 1)

// A consumer that knows another major version may only read `deleter`.
typedef struct {  // NOLINT(modernize-use-using): as C has it
  std::uint32_t major;
  std::uint32_t minor;
} DLPackVersion;

typedef enum : std::int32_t { kDLCPU = 1 } DLDeviceType;  // NOLINT(modernize-use-using)

typedef struct {  // NOLINT(modernize-use-using)
  DLDeviceType device_type;
  std::int32_t device_id;
} DLDevice;

typedef enum {
  kDLInt = 0U,
  kDLUInt = 1U,
  kDLFloat = 2U,
  kDLBfloat = 4U,
  kDLBool = 6U
} DLDataTypeCode;  // NOLINT(modernize-use-using)

typedef struct {  // NOLINT(modernize-use-using)
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
} DLDataType;

typedef struct {  // NOLINT(modernize-use-using)
  void* data;
  DLDevice device;
  std::int32_t ndim;
  DLDataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements
  std::uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensor {  // NOLINT(modernize-use-using)
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensor* self);
} DLManagedTensor;

typedef struct DLManagedTensorVersioned {  // NOLINT(modernize-use-using)
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned* self);
  std::uint64_t flags;
  DLTensor dl_tensor;
} DLManagedTensorVersioned;

}  // extern "C"

#endif  // DLPACK_DLPACK_H_
