// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/inputs/remote_files.hpp"
#include "cli/messages/exit_status.hpp"
#include "cli/verb_options/cache_verb.hpp"
#include "cli/verbs.hpp"
#include "engine/stored/plan_head.hpp"
#include "sluice/runtime/runtime.hpp"
#include "store/block_store.hpp"

namespace sluice::lib::cli {
namespace {

using shared_blocks = std::shared_ptr<block_store>;

shared_blocks opened(runtime& rt, const std::string& path) {
  result<shared_blocks> file = open_blocks_to_read(path, rt);
  if (file.why().code() == status_code::failed_precondition)
    throw misuse(absl::StrCat(
        path, " is no cache of sluice: cache(\"PATH\") in a plan writes one, and sluice cache takes its path"));
  if (!file.ok()) throw_status(file.why());
  return std::move(*file);
}

/// The elements from the first one on, without a gap, and those of all blocks.
struct contents {
  std::vector<stored_block> blocks;
  std::uint64_t elements = 0, bytes = 0;
};

contents contents_of(block_store& file) {
  contents c;
  status why = file.look(false);
  if (why.ok()) why = file.scan(c.blocks);
  if (!why.ok()) throw_status(why);
  for (const stored_block& b : c.blocks) {
    c.elements += b.count;
    c.bytes += b.bytes;
  }
  return c;
}

int show(runtime& rt, const std::string& path) {
  const shared_blocks file = opened(rt, path);
  const contents c = contents_of(*file);
  std::string head;
  if (!describe_head(file->head(), head))
    throw_status(data_loss_error("the cache has no head that this version reads").in_file(path));
  std::fputs(head.c_str(), stdout);
  const std::uint64_t length = file->length();
  const std::string of =
      length == block_store::kUnknown ? ", and perhaps more to come" : " of " + std::to_string(length);
  std::printf("elements: %llu%s, in %zu blocks of %llu bytes together\n", static_cast<unsigned long long>(c.elements),
              of.c_str(), c.blocks.size(), static_cast<unsigned long long>(c.bytes));
  return kOk;
}

int verify_cache(runtime& rt, const std::string& path) {
  const shared_blocks file = opened(rt, path);
  const contents c = contents_of(*file);
  int outcome = kOk;
  for (const stored_block& b : c.blocks) {
    result<std::string> elements = file->read(b);
    if (elements.ok()) continue;
    std::fprintf(stderr, "sluice: %s\n", elements.why().to_string().c_str());
    outcome = exit_status_of(elements.why());
  }
  if (outcome == kOk)
    std::printf("%s: %llu elements in %zu blocks, no problems found\n", path.c_str(),
                static_cast<unsigned long long>(c.elements), c.blocks.size());
  return outcome;
}

int drop(runtime& rt, const std::string& path) {
  opened(rt, path);  // only a cache is removed
  result<shared_blocks> file = open_blocks(path, false, rt);
  if (!file.ok()) throw_status(file.why());
  status why = (*file)->drop();
  if (!why.ok()) throw_status(why);
  return kOk;
}

}  // namespace

int cache(const std::string& action, const std::string& path) {
  runtime rt({.workers = 1});
  add_remote_files(rt);
  if (action == "show") return show(rt, path);
  if (action == "verify") return verify_cache(rt, path);
  return drop(rt, path);
}

}  // namespace sluice::lib::cli
