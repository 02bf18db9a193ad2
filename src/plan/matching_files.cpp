// SPDX-License-Identifier: Apache-2.0
#include "plan/matching_files.hpp"

#include <string>
#include <utility>
#include <vector>

#include <absl/strings/str_cat.h>

#include "io/paths/glob.hpp"
#include "io/plan_file_reader.hpp"
#include "plan/codecs/argument_codec.hpp"
#include "plan/plan_parts.hpp"
#include "sluice/base/assert.hpp"

namespace sluice::lib {
namespace {

/// list_files separates patterns at commas outside sets.
std::string without_commas(const std::string& pattern) {
  const std::vector<std::string> parts = detail::split_patterns(pattern);
  std::string out;
  for (const std::string& part : parts) absl::StrAppend(&out, &part == parts.data() ? "" : "[,]", part);
  return out;
}

const op_info& known_op(std::string_view name) {
  const op_info* op = find_op(name);
  SLUICE_REQUIRES(op != nullptr, "the table of operators lacks one");
  return *op;
}

/// The source without its path, and with the type of all files.
node_ptr reader_like(const node& source, const std::string& pattern) {
  node n = source;
  if (n.op->for_files) {
    auto files = detail::list_for_plan(pattern);
    if (!files.ok() && files.why().code() == status_code::not_found)
      throw_status(not_found_error("no file matches this pattern").in_file(pattern));
    if (!files.ok()) throw_status(files.why());
    n.arguments = n.op->for_files(n, *files);
  }
  const argument_list& list = n.op->arguments();
  std::shared_ptr<void> without = list.copy(n.arguments.get());
  for (const field& f : list.fields)
    if (f.type->is_later()) *static_cast<required_text*>(argument_list::at(without.get(), f)) = required_text();
  n.arguments = arguments(list.tag, std::move(without));
  return make_node(std::move(n));
}

}  // namespace

std::string path_of_source(const node& n) {
  struct look final : part_visitor {
    std::string found;
    void path(const file_path& p) override { found = p.value; }
  } seen;
  visit_parts(n, seen);
  return seen.found;
}

node_ptr plan_of_matching_files(const node& source) {
  if (source.site != 0) return nullptr;
  const std::string pattern = path_of_source(source);
  if (!detail::is_pattern_for_plan(pattern)) return nullptr;
  const op_info& lists = known_op("list_files");
  const argument_list& none = lists.arguments();
  node_ptr files = with_path(make_node({.op = &lists, .arguments = arguments(none.tag, none.copy(none.defaults))}),
                             without_commas(pattern));
  const op_info& opens = known_op("flat_map");
  const argument_list& list = opens.arguments();
  std::shared_ptr<void> inner = list.copy(list.defaults);
  for (const field& f : list.fields)
    if (f.type->takes_plan())
      *static_cast<plan_or_function*>(argument_list::at(inner.get(), f)) =
          plan_or_function(reader_like(source, pattern));
  return make_node({.op = &opens, .arguments = arguments(list.tag, std::move(inner)), .inputs = {std::move(files)}});
}

}  // namespace sluice::lib
