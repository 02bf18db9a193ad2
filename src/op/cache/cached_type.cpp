// SPDX-License-Identifier: Apache-2.0
#include "op/cache/cached_type.hpp"

#include <absl/strings/str_cat.h>

#include "engine/lowering/types.hpp"
#include "engine/stored/frozen_input.hpp"
#include "engine/stored/plan_head.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/element/serialise.hpp"
#include "sluice/plan/stage_plan.hpp"
#include "store/cache_table.hpp"

namespace sluice::lib {

const element_type* cached_type(const node& n, std::string& why) {
  const element_type* type = same_type(n, why);
  if (!type) return nullptr;
  if (!type->copy) {
    why = absl::StrCat("elements of type ", type->name,
                       " cannot be copied, and a cache yields copies of what it keeps; give the type a copy "
                       "constructor, or put the cache before the stage that makes these elements");
    return nullptr;
  }
  if (is_or_has_upstream(*n.inputs[0], is_given)) {
    why =
        "the elements of a group exist once, so a cache of them is never read; put it before or after the stage that "
        "makes the groups";
    return nullptr;
  }
  const auto& a = n.as<cache_arguments>();
  if (a.path.empty() && a.options.on_mismatch == on_mismatch::rebuild) {
    why =
        "on_mismatch is about a file, and this cache is in memory; name the file first, as in cache(\"train.cache\", "
        "…)";
    return nullptr;
  }
  if (a.path.empty() && a.options.other_writer != other_writer::compute) {
    why =
        "other_writer is about a file, and this cache is in memory; name the file first, as in cache(\"train.cache\", "
        "…)";
    return nullptr;
  }
  if (!a.path.empty() && may_spill(a.options.over_budget)) {
    why = "over_budget=spill is about a cache in memory, and this one is in a file already; leave the option out";
    return nullptr;
  }
  if (may_spill(a.options.over_budget) && !can_serialise(*type)) {
    why = absl::StrCat("elements of type ", type->name,
                       " cannot be written to a temporary file; write over_budget=fail or stop_caching, or put the "
                       "cache before the stage that makes these elements");
    return nullptr;
  }
  if (a.path.empty()) return type;
  if (a.path.starts_with("http://") || a.path.starts_with("https://")) {
    why = absl::StrCat("a cache is a local file or objects of a store, and ", a.path,
                       " cannot be written; write a path, or s3://bucket/key");
    return nullptr;
  }
  if (a.path.find("://") != std::string::npos && a.path.find_first_of("*?[") != std::string::npos) {
    why = absl::StrCat("the objects of a cache are listed, so *, ? and [ cannot be in its path, as in ", a.path);
    return nullptr;
  }
  if (!can_serialise(*type)) {
    why = absl::StrCat("elements of type ", type->name,
                       " cannot be written to a file; write cache() to keep them in "
                       "memory, or put the cache before the stage that makes these elements");
    return nullptr;
  }
  why = why_not_identified(*n.inputs[0]);
  return why.empty() ? type : nullptr;
}

}  // namespace sluice::lib
