// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/from_dataset_id.hpp"

#include <string>

#include "engine/service/dispatcher_address.hpp"
#include "engine/service/frame_compression_codec.hpp"
#include "engine/service/sharding_codec.hpp"
#include "op/from_dataset_id/registered_plan.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "plan/codecs/pace_codecs.hpp"

namespace sluice::lib {
namespace {

/// The registered plan on the workers of its dispatcher; null: an argument is missing or wrong.
node_ptr distributed_plan(const node& n) {
  const auto& a = n.as<from_dataset_id_arguments>();
  const std::string& address = a.address.value;
  if (address.empty() || a.dataset_id.value.empty() || !mistake_in_address(address).empty()) return nullptr;
  return registered_plan(address, a.dataset_id.value, a.options);
}

const element_type* unnamed_dataset(const node& n, std::string& why) {
  const auto& a = n.as<from_dataset_id_arguments>();
  if (a.address.value.empty()) why = "the address is missing: name the dispatcher, as in \"127.0.0.1:7700\"";
  else if (a.dataset_id.value.empty())
    why = "dataset_id is missing: name the dataset as it was registered (`sluice register` prints the id)";
  else why = mistake_in_address(a.address.value);
  return nullptr;
}

}  // namespace

const op_info from_dataset_id_op{
    .name = "from_dataset_id",
    .doc = "the elements of a dataset that was registered with a dispatcher",
    .shape = op_info::source,
    .arguments = arguments_of<from_dataset_id_arguments>,
    .of_matches = distributed_plan,
    .type = unnamed_dataset,
    .splits = {.rule = split_rule::one_split},
    .lowering = {},
};

}  // namespace sluice::lib
