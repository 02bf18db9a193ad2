// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/load.hpp"

#include <absl/strings/str_cat.h>

#include <filesystem>
#include <string>
#include <utility>

#include "engine/files/folder_plan.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/element/batched.hpp"
#include "sluice/element/type_text.hpp"
#include "sluice/output/output_format.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib {
namespace {

[[noreturn]] void refuse_folder(const std::string& folder, const std::string& why) {
  throw_status(failed_precondition_error(why).in_file(folder));
}

const element_type& type_in(const data_folder& d, const std::string& folder, const element_type* wanted) {
  auto read = type_from_text(d.type);
  if (!read.ok())
    refuse_folder(folder, absl::StrCat("its elements are of type ", d.type,
                                       ", which this program does not have: ", std::string(read.why().message())));
  if (wanted && !is_same_type(**read, *wanted))
    throw_status(
        invalid_argument_error(absl::StrCat("the elements of the folder are of type ", d.type, ", and load asks for ",
                                            type_text(*wanted), "; name the type of the elements"))
            .in_file(folder));
  return wanted ? *wanted : **read;
}

}  // namespace

status detail::why_not_loadable(output_format format, const element_type& type) {
  return lib::why_not_loadable(format, type);
}

node_ptr detail::plan_of_folder(std::string_view path, const load_options& o, const element_type* wanted) {
  std::string folder(path);
  if (folder.starts_with("file://")) folder.erase(0, 7);
  if (folder.find("://") != folder.npos)
    throw_status(invalid_argument_error("load reads local folders; name the files and their format, as in "
                                        "list_files(\"s3://bucket/out/part*\") | interleave(tfrecord)")
                     .in_file(folder));
  std::error_code unknown;
  if (std::filesystem::is_regular_file(folder, unknown))
    throw_status(invalid_argument_error("load reads a folder, and this is a file; name its format, as in "
                                        "jsonl(\"FILE\"); `sluice head FILE` shows its elements")
                     .in_file(folder));
  if (!names_data_folder(folder)) folder += '/';
  auto d = read_data_folder(folder);
  if (!d.ok() && d.why().code() == status_code::not_found)
    throw_status(not_found_error(std::filesystem::is_directory(folder, unknown)
                                     ? "the folder has no manifest of sluice; write(…, \"DIR/\") and `--output DIR/` "
                                       "write one, and files without it are read by their format, as in "
                                       "list_files(\"DIR/*.csv\") | interleave(csv(header=true))"
                                     : "no such folder")
                     .in_file(folder));
  if (!d.ok()) throw_status(d.why());
  if (!d->is_complete)
    refuse_folder(folder,
                  "the output in this folder is not complete: the run that writes it has not ended, or has failed; end "
                  "it, resume it with its checkpoint, or write the folder again");
  const element_type& type = type_in(*d, folder, wanted);
  check_files(*d, folder);
  return plan_of_data_folder(*d, folder, {.cardinality = o.cardinality, .index = o.index, .reader_func = {}}, &type,
                             wanted != nullptr);
}

namespace {

node_ptr folder_in(const node& n) {
  const auto& a = n.as<load_arguments>();
  return a.path.is_given ? detail::plan_of_folder(a.path.value, a.options, nullptr) : nullptr;
}

const element_type* unnamed_folder(const node&, std::string& why) {
  why = "the folder is missing: its manifest states what its elements are; write load(\"DIR\")";
  return nullptr;
}

}  // namespace

const op_info load_op{
    .name = "load",
    .doc = "the elements of a folder that write() or --output DIR/ wrote",
    .shape = op_info::source,
    .arguments = arguments_of<load_arguments>,
    .of_matches = folder_in,
    .type = unnamed_folder,
    .splits = {.rule = split_rule::one_file},
    .lowering = {},
};

}  // namespace sluice::lib
