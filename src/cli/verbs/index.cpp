// SPDX-License-Identifier: Apache-2.0
#include "sluice/pipeline/index_file.hpp"

#include <cstdio>

#include "base/text/redacted.hpp"
#include "cli/inputs/matched_files.hpp"
#include "cli/inputs/plan_argument.hpp"
#include "cli/inputs/remote_files.hpp"
#include "cli/reports/figures.hpp"
#include "cli/verbs.hpp"
#include "sluice/coro/sync_wait.hpp"

namespace sluice::lib::cli {
namespace {

/// Inflating this number of plain bytes takes some milliseconds.
constexpr std::uint64_t kInflatedFew = std::uint64_t{4} << 20;

}  // namespace

int index(const index_arguments& a) {
  runtime rt(runtime_of(a.reading));
  add_remote_files(rt);
  for (const std::string& file : matched_files(rt, a.files, is_file_pattern_and_no_plan)) {
    const written_index w = sync_wait(rt, write_index(rt, plan_or_reader(file, a.format), {a.every}));
    std::printf("%s: %s, %s for %s\n", detail::redacted(w.path).c_str(), counted(w.elements, "element").c_str(),
                short_bytes(static_cast<double>(w.size_bytes)).c_str(),
                short_bytes(static_cast<double>(w.file_bytes)).c_str());
    std::fflush(stdout);
    if (w.seek_points == 0 && w.plain_bytes > kInflatedFew)
      std::fprintf(stderr,
                   "warning: %s can only be inflated from its start, so skips inflate all bytes before: compress it in "
                   "several frames or members, or by gzip\n",
                   detail::redacted(file).c_str());
  }
  return kOk;
}

}  // namespace sluice::lib::cli
