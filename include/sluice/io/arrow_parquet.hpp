// SPDX-License-Identifier: Apache-2.0
// Parquet by Arrow C++ for the operator `parquet` and the output format `parquet`, in the library sluice-parquet.
//
//   register_parquet();                                         // once, before plans are made
//   auto rows = parquet<passenger>("a.parquet");
//
// Thread: any.
#pragma once

namespace sluice::lib {

/// Makes Arrow C++ read and write the Parquet files of this program.
void register_parquet();

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::register_parquet;

}  // namespace sluice
