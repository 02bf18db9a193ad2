// SPDX-License-Identifier: Apache-2.0
// Registers the functions of images and sound, for plan text and expressions (docs/images.md lists them):
//
//   register_image_functions();
//   auto ds = parse_plan("list_files(\"*.jpg\") | map(resize(decode_jpeg(read_file(it)), 224, 224))");
//
// The program `sluice` calls it; a library registers nothing by itself
// (docs/internals/decisions/operators_and_libraries.md).
// Errors: throws already_exists: the program has registered another function under one of the names.
// Thread: any. Later calls do nothing.
#pragma once

namespace sluice::lib {

void register_image_functions();

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::register_image_functions;

}  // namespace sluice
