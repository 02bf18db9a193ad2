// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/inputs/transport_choice.hpp"
#include "cli/verbs.hpp"
#include "io/local/kernel_features.hpp"
#include "sluice/base/field_types.hpp"
#include "sluice/format/inflate.hpp"
#include "sluice/io/open_file_system.hpp"
#include "sluice/io/parquet_files.hpp"
#include "sluice/version.hpp"
#if SLUICE_HAVE_IMAGES
#include "sluice/format/image_codecs.hpp"
#endif

namespace sluice::lib::cli {
namespace {

#if SLUICE_HAVE_ASIO
constexpr bool kHasAsio = true;
#else
constexpr bool kHasAsio = false;
#endif
#if SLUICE_HAVE_SQLITE
constexpr bool kHasSqlite = true;
#else
constexpr bool kHasSqlite = false;
#endif

constexpr int kNameWidth = 26;
/// The number of open files that a large interleave, its listings and a server beside it use.
constexpr rlim_t kOpenFilesWanted = 4096;

/// Possible improvements, each with the name of its line; printed at the end.
using advice = std::vector<std::string>;

void line(std::string_view name, std::string_view value) {
  absl::PrintF("  %-*s %s\n", kNameWidth, std::string(name), std::string(value));
}
void heading(std::string_view text) { absl::PrintF("%s\n", std::string(text)); }

/// Returns the first line of a file; empty if it has none.
std::string first_line(const char* path) {
  std::ifstream in(path);
  std::string text;
  std::getline(in, text);
  return text;
}

std::string limit_text(rlim_t n) { return n == RLIM_INFINITY ? "no limit" : std::to_string(n); }
std::string bytes_limit_text(rlim_t n) {
  return n == RLIM_INFINITY ? "no limit" : print_byte_size(static_cast<std::int64_t>(n));
}

void print_features(const std::vector<detail::kernel_feature>& features) {
  for (const detail::kernel_feature& f : features)
    line(f.name, absl::StrCat(f.exists ? "yes" : "no ", "  ", std::string(f.what)));
}

void print_machine() {
  heading("machine");
  utsname name{};
  ::uname(&name);
  line("kernel", absl::StrCat(name.sysname, " ", name.release, " ", name.machine));
  cpu_set_t mine;
  CPU_ZERO(&mine);
  const bool knows = ::sched_getaffinity(0, sizeof mine, &mine) == 0;
  const long there = ::sysconf(_SC_NPROCESSORS_ONLN);
  line("processors", absl::StrCat(knows ? CPU_COUNT(&mine) : there, " of ", there, " may be used by this process"));
  auto cache = [](int name) {
    const long bytes = ::sysconf(name);
    return bytes > 0 ? print_byte_size(bytes) : std::string("unknown");
  };
  line("L2 cache", cache(_SC_LEVEL2_CACHE_SIZE));
  line("L3 cache", cache(_SC_LEVEL3_CACHE_SIZE));
  const std::int64_t pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGE_SIZE);
  line("memory", absl::StrCat(pages * page >> 20, " MiB in pages of ", page, " bytes"));
  const std::string huge = first_line("/sys/kernel/mm/transparent_hugepage/enabled");
  line("transparent huge pages", huge.empty() ? "unknown" : huge);
}

void print_limits(advice& better) {
  heading("limits");
  rlimit files{}, locked{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  ::getrlimit(RLIMIT_MEMLOCK, &locked);
  line("open files", absl::StrCat(limit_text(files.rlim_cur), " (at most ", limit_text(files.rlim_max), ")"));
  line("locked memory", bytes_limit_text(locked.rlim_cur));
  if (files.rlim_cur < kOpenFilesWanted)
    better.push_back(absl::StrCat("open files: ", limit_text(files.rlim_cur),
                                  " are few for an interleave with a large cycle_length: ulimit -n ",
                                  limit_text(files.rlim_max < kOpenFilesWanted ? files.rlim_max : kOpenFilesWanted)));
}

/// Prints how files are read. Returns false if the requested way is not available.
bool print_io(advice& better) {
  heading("files");
  const char* asked = std::getenv("SLUICE_IO");
  auto files = open_file_system();
  line("back end", files.ok() ? (*files)->description() : files.why().to_string());
  line("chosen by", asked && *asked
                        ? absl::StrCat("SLUICE_IO=", asked)
                        : std::string("the program: SLUICE_IO=uring or threads, or sluice run --io, chooses another"));
  const detail::uring_report ring = detail::look_at_uring();
  line("io_uring", ring.why.ok() ? "yes" : absl::StrCat("no   ", std::string(ring.why.message())));
  print_features(ring.features);
  print_features(detail::look_at_reads());
  if (!ring.why.ok())
    better.push_back(
        "io_uring: files are read by threads, which costs more for each read. Containers: a seccomp profile that "
        "allows "
        "io_uring_setup, io_uring_enter and io_uring_register. Else: sysctl kernel.io_uring_disabled=0, a kernel from "
        "5.15 on");
  if (!files.ok()) better.push_back("back end: unset SLUICE_IO, or set it to auto or threads");
  return files.ok();
}

void print_formats(advice& better) {
  heading("built in");
  std::string there, missing;
  for (compression c : {compression::gzip, compression::zlib, compression::zstd, compression::lz4, compression::snappy,
                        compression::bzip2, compression::xz})
    absl::StrAppend(is_built_in(c) ? &there : &missing, " ", std::string(to_string(c)));
  line("compression", there.substr(1));
  if (!missing.empty())
    better.push_back("compression: files of" + missing + " cannot be read: build sluice with their libraries");
#if SLUICE_HAVE_IMAGES
  std::string images = "BMP", images_missing;
  for (image_format f : {image_format::jpeg, image_format::png, image_format::webp, image_format::gif})
    absl::StrAppend(is_available(f) ? &images : &images_missing, " ", std::string(to_string(f)));
  line("images", images);
  if (!images_missing.empty())
    better.push_back("images:" + images_missing + " cannot be decoded: build sluice with their libraries");
#else
  line("images", "no (meson option -Dimages=enabled)");
#endif
  line("sockets (asio)", kHasAsio ? "yes" : "no (meson option -Dasio=enabled)");
  const std::string grpc = grpc_module();
  line("gRPC (--transport grpc)", grpc.empty() ? "no (meson option -Dgrpc=enabled)" : absl::StrCat("yes  ", grpc));
  line("Parquet", has_parquet() ? "yes" : "no (meson option -Dparquet=enabled)");
  line("metadata in a file (sqlite)", kHasSqlite ? "yes" : "no (meson option -Dsqlite=enabled)");
}

}  // namespace

int doctor() {
  advice better;
  absl::PrintF("sluice %s\n", SLUICE_VERSION_STRING);
  print_machine();
  print_limits(better);
  const bool works = print_io(better);
  print_formats(better);
  heading(better.empty() ? "no problems found" : "possible improvements");
  for (const std::string& text : better) absl::PrintF("  %s\n", text);
  return works ? kOk : kFailed;
}

}  // namespace sluice::lib::cli
