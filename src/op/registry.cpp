// SPDX-License-Identifier: Apache-2.0
// The one list of operators. A new one is added here and nowhere else: a static library drops objects that nobody
// names, so operators do not register themselves.
#include "sluice/plan/node.hpp"

namespace sluice::lib {

extern const op_info range_op, from_elements_op, generate_op, list_files_op, tfrecord_op, lines_op, fixed_length_op;
extern const op_info map_op, filter_op, flat_map_op, interleave_op, shuffle_op, repeat_op, batch_op, unbatch_op,
    take_op, skip_op, prefetch_op, transform_op, parse_example_op, enumerate_op, zip_op, concatenate_op, scan_op,
    reduce_op;

std::span<const op_info* const> operators() {
  static const op_info* const all[] = {
      &range_op,   &from_elements_op, &generate_op, &list_files_op, &tfrecord_op,  &lines_op,         &fixed_length_op,
      &map_op,     &filter_op,        &flat_map_op, &interleave_op, &shuffle_op,   &repeat_op,        &batch_op,
      &unbatch_op, &take_op,          &skip_op,     &prefetch_op,   &transform_op, &parse_example_op, &enumerate_op,
      &zip_op,     &concatenate_op,   &scan_op,     &reduce_op,
  };
  return all;
}

}  // namespace sluice::lib
