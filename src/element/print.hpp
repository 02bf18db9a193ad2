// SPDX-License-Identifier: Apache-2.0
// The print kernels of element/type.cpp.
#pragma once

#include "sluice/element/type.hpp"

namespace sluice::lib::detail {

void print_scalar(std::int64_t v, std::string& out);
void print_scalar(std::uint64_t v, std::string& out);
void print_scalar(float v, std::string& out);
void print_scalar(double v, std::string& out);
void print_scalar(bool v, std::string& out);
void print_text(const element_type& t, const void* p, std::string& out);
void print_extent(const element_type& t, const void* p, std::string& out);
/// A structure as an object, a pair as an array.
void print_members(const element_type& t, const void* p, std::string& out);
void print_opaque(const element_type& t, const void* p, std::string& out);

}  // namespace sluice::lib::detail
