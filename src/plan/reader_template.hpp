// SPDX-License-Identifier: Apache-2.0
// A reader that is completed with one path after the other: with_path(), prepared once.
//
//   const reader_template reader(plan);                  // when the stage is opened
//   node_ptr complete = reader.with_path("a.tfrecord");   // for each element
//
// Cost:   copies the nodes from the reader's source on, without checking them again: they were checked when the reader
//         was made, and a path changes no type, depth or site. A reader with several sources is completed by
//         lib::with_path().
// Thread: any.
#pragma once

#include <string_view>
#include <vector>

#include "sluice/plan/node.hpp"

namespace sluice::lib {

class reader_template {
 public:
  explicit reader_template(node_ptr reader);
  /// Returns the same plan as lib::with_path(reader, path).
  node_ptr with_path(std::string_view path) const;
  /// Returns true if the plan has one source, which gets the path.
  bool is_chain() const { return !chain_.empty(); }

 private:
  node_ptr reader_;
  std::vector<const node*> chain_;  ///< the reader's nodes, the source first; empty: it is no chain that lacks a path
};

}  // namespace sluice::lib
