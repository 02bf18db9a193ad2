// SPDX-License-Identifier: Apache-2.0
#include "plan/member_map.hpp"

#include "sluice/engine/pad_value.hpp"

namespace sluice::lib {

template class member_map<pad_value>;
template class member_map<std::vector<std::int64_t>>;

}  // namespace sluice::lib
