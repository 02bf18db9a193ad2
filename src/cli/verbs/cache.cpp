// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "cli/messages/exit_status.hpp"
#include "cli/verb_options/cache_verb.hpp"
#include "cli/verbs.hpp"
#include "engine/stored/plan_head.hpp"
#include "store/cache_file.hpp"

namespace sluice::lib::cli {
namespace {

std::unique_ptr<cache_file> opened(const std::string& path) {
  result<std::unique_ptr<cache_file>> file = cache_file::open_to_read(path);
  if (file.why().code() == status_code::failed_precondition)
    throw misuse(absl::StrCat(path, " is no cache of sluice: it is left as it is"));
  if (!file.ok()) throw_status(file.why());
  return std::move(*file);
}

/// The elements from the first one on, without a gap, and those of all blocks.
struct contents {
  std::vector<stored_block> blocks;
  std::uint64_t elements = 0, bytes = 0;
};

contents contents_of(cache_file& file) {
  contents c;
  status why = file.scan(c.blocks);
  if (!why.ok()) throw_status(why);
  for (const stored_block& b : c.blocks) {
    c.elements += b.count;
    c.bytes += b.bytes;
  }
  return c;
}

int show(const std::string& path) {
  const std::unique_ptr<cache_file> file = opened(path);
  const contents c = contents_of(*file);
  std::string head;
  if (!describe_head(file->head(), head))
    throw_status(data_loss_error("the cache has no head that this version reads").in_file(path));
  std::fputs(head.c_str(), stdout);
  const std::uint64_t length = file->length();
  const std::string of =
      length == cache_file::kUnknown ? ", and perhaps more to come" : " of " + std::to_string(length);
  std::printf("elements: %llu%s, in %zu blocks of %llu bytes together\n", static_cast<unsigned long long>(c.elements),
              of.c_str(), c.blocks.size(), static_cast<unsigned long long>(c.bytes));
  return kOk;
}

int verify_cache(const std::string& path) {
  const std::unique_ptr<cache_file> file = opened(path);
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

int drop(const std::string& path) {
  opened(path);  // only a cache is removed
  result<std::unique_ptr<cache_file>> file = cache_file::open(path);
  if (!file.ok()) throw_status(file.why());
  if (!(*file)->can_write())
    throw_status(unavailable_error("another process writes this cache; try again when it has ended").in_file(path));
  if (::unlink(path.c_str()) != 0) throw_status(errno_error(errno, "the cache cannot be removed").in_file(path));
  return kOk;
}

}  // namespace

int cache(const std::string& action, const std::string& path) {
  if (action == "show") return show(path);
  if (action == "verify") return verify_cache(path);
  return drop(path);
}

}  // namespace sluice::lib::cli
