// SPDX-License-Identifier: Apache-2.0
// Kernels that many types share: on bytes, by size, and on members, by descriptor.
#pragma once

#include "sluice/element/type.hpp"

namespace sluice::lib::detail {

using relocate_kernel = decltype(element_type::relocate);
using exchange_kernel = decltype(element_type::exchange);

relocate_kernel relocate_bytes_kernel(std::size_t size);
exchange_kernel exchange_bytes_kernel(std::size_t size);

// For types with parts: members of a structure or pair, elements of an array.
void relocate_parts(const element_type&, void* to, void* from, std::size_t n, std::size_t to_stride,
                    std::size_t from_stride);
void exchange_one_by_one(const element_type&, void* out, void* slots, void* in, const std::uint32_t* at, std::size_t n);
void destroy_parts(const element_type&, void* p, std::size_t n);
void copy_parts(const element_type&, void* to, const void* from, std::size_t n, std::size_t to_stride,
                std::size_t from_stride);
void construct_parts(const element_type&, void* p, std::size_t n, std::size_t stride);
std::size_t footprint_parts(const element_type&, const void* p, std::size_t n);
void compact_parts(const element_type&, void* p, std::size_t n);

void destroy_nothing(const element_type&, void* p, std::size_t n);
std::size_t no_footprint(const element_type&, const void* p, std::size_t n);

}  // namespace sluice::lib::detail
