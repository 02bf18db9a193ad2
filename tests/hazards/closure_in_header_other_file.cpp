// SPDX-License-Identifier: Apache-2.0
#include "closure_in_header.hpp"

const void* there() { return address(); }
