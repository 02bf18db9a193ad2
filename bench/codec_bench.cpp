// SPDX-License-Identifier: Apache-2.0
// Compressed TFRecords, both CRCs checked, from the page cache on one thread, beside what only undoes the compression: the program
// igzip, zlib, and one call of zstd and lz4 over the whole file in memory.
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/harness.hpp"
#include "sluice/base/random_bits.hpp"
#include "sluice/format/tfrecord_frames.hpp"
#include "sluice/sluice.hpp"
#if SLUICE_HAVE_ZSTD
#include <zstd.h>
#endif
#if SLUICE_HAVE_LZ4
#include <lz4frame.h>
#endif

namespace sluice::lib::bench {
namespace {

constexpr std::size_t kPlainBytes = std::size_t{32} << 20;
constexpr std::size_t kRecordBytes = 1000;
constexpr int kCodecPairs = 5;

/// Records of words: gzip makes a third of them.
std::string plain_records(double& records) {
  std::string all;
  for (std::uint64_t i = 0; all.size() < kPlainBytes; ++i, ++records) {
    std::string data;
    for (std::uint64_t k = 0; data.size() < kRecordBytes; ++k)
      data += "word" + std::to_string(draw(derive(57, i), k) % 5000) + ' ';
    append_tfrecord(all, data);
  }
  return all;
}

std::string gzipped(const std::string& plain) {
  z_stream z{};
  if (deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::runtime_error("deflateInit2");
  std::string out(deflateBound(&z, plain.size()) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  z.avail_in = static_cast<uInt>(plain.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

class packed_file {
 public:
  packed_file(const std::string& suffix, const std::string& bytes)
      : path_(
            (std::filesystem::temp_directory_path() / ("sluice_bench_" + std::to_string(getpid()) + suffix)).string()) {
    std::ofstream out(path_, std::ios::binary);
    if (!out.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush())
      throw std::runtime_error("cannot write " + path_);
  }
  ~packed_file() { std::remove(path_.c_str()); }
  packed_file(const packed_file&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// The bytes of all records with their frames: what undoing the compression alone gives, too.
task<pass> read_records(any_stream s) {
  pass p;
  stopwatch watch(timed::cpu);
  while (auto b = co_await s.next_block({.elements = 256})) {
    const record* r = b.as<record>();
    for (std::uint32_t i = 0; i != b.size(); ++i) p.answer += r[i].size() + kTfrecordFramingBytes;
  }
  p.ns = watch.ns();
  co_return p;
}
workload reading(const std::string& path, double records) {
  return [path, records] {
    pass p = sync_wait(one_worker(), read_records(open_run(one_worker(), tfrecord(path).plan(), {})));
    p.elements = records;
    return p;
  };
}

double children_ns() {
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  auto ns = [](const timeval& t) { return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_usec) * 1e3; };
  return ns(used.ru_utime) + ns(used.ru_stime);
}

/// How many bytes a command prints.
std::size_t bytes_from(const std::string& command) {
  std::FILE* out = ::popen(command.c_str(), "r");
  if (!out) throw std::runtime_error(command);
  std::vector<char> room(std::size_t{1} << 16);
  std::size_t bytes = 0;
  while (std::size_t n = std::fread(room.data(), 1, room.size(), out)) bytes += n;
  ::pclose(out);
  return bytes;
}

std::uint64_t undone_by_zlib(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  z_stream z{};
  if (inflateInit2(&z, 31) != Z_OK) throw std::runtime_error("inflateInit2");
  std::vector<char> room(std::size_t{256} << 10);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  std::uint64_t plain = 0;
  for (int code = Z_OK; code == Z_OK;) {
    z.next_out = reinterpret_cast<Bytef*>(room.data());
    z.avail_out = static_cast<uInt>(room.size());
    code = ::inflate(&z, Z_NO_FLUSH);
    plain += room.size() - z.avail_out;
  }
  inflateEnd(&z);
  return plain;
}

void gzip_files(report& r, const std::string& plain, double records) {
  packed_file file(".tfrecord.gz", gzipped(plain));
  workload ours = reading(file.path(), records);
  workload by_zlib = [&] { return on_worker([&] { return undone_by_zlib(file.path()); }, records); };
  r.at_least("tfrecord in gzip, both CRCs", "zlib, without records", compare(ours, by_zlib, kCodecPairs).speedup(), 2,
             "times as fast");
  if (std::system("igzip --version >/dev/null 2>&1") != 0)  // NOLINT: a bench has one thread here
    return r.skipped("tfrecord in gzip, both CRCs", "there is no program igzip (package isal)");
  if (bytes_from("igzip -d -c " + file.path()) != plain.size())
    return r.failed("tfrecord in gzip, both CRCs", "igzip gives other bytes");
  const std::string command = "igzip -d -c " + file.path() + " >/dev/null";
  workload by_igzip = [&] {
    pass p;
    const double before = children_ns();
    if (std::system(command.c_str()) != 0) throw std::runtime_error(command);  // NOLINT: as above
    p.ns = children_ns() - before;
    p.elements = records;
    p.answer = plain.size();
    return p;
  };
  r.at_least("tfrecord in gzip, both CRCs", "igzip -d, CPU time", compare(ours, by_igzip, kCodecPairs).speedup(), 0.9,
             "of its speed");
}

/// `undo`: the whole file at once, from memory to memory.
void one_shot(report& r, std::string_view name, const std::string& suffix, const std::string& packed,
              std::size_t plain_bytes, double records,
              const std::function<std::size_t(const std::string& from, std::string& to)>& undo) {
  packed_file file(suffix, packed);
  workload at_once = [&] {
    return on_worker(
        [&] {
          std::string room(plain_bytes, '\0');
          return std::uint64_t{undo(packed, room)};
        },
        records);
  };
  r.at_least("tfrecord in " + std::string(name) + ", both CRCs", "one call of the library, into fresh memory",
             compare(reading(file.path(), records), at_once, kCodecPairs).speedup(), 0.5, "of its speed");
}

void codecs(report& r) {
  double records = 0;
  const std::string plain = plain_records(records);
  gzip_files(r, plain, records);
#if SLUICE_HAVE_ZSTD
  std::string zstd(ZSTD_compressBound(plain.size()), '\0');
  zstd.resize(ZSTD_compress(zstd.data(), zstd.size(), plain.data(), plain.size(), 3));
  one_shot(r, "zstd", ".tfrecord.zst", zstd, plain.size(), records, [](const std::string& from, std::string& to) {
    return ZSTD_decompress(to.data(), to.size(), from.data(), from.size());
  });
#endif
#if SLUICE_HAVE_LZ4
  std::string lz4(LZ4F_compressFrameBound(plain.size(), nullptr), '\0');
  lz4.resize(LZ4F_compressFrame(lz4.data(), lz4.size(), plain.data(), plain.size(), nullptr));
  one_shot(r, "lz4", ".tfrecord.lz4", lz4, plain.size(), records, [](const std::string& from, std::string& to) {
    LZ4F_dctx* context = nullptr;
    LZ4F_createDecompressionContext(&context, LZ4F_VERSION);
    std::size_t produced = to.size(), consumed = from.size();
    LZ4F_decompress(context, to.data(), &produced, from.data(), &consumed, nullptr);
    LZ4F_freeDecompressionContext(context);
    return produced;
  });
#endif
}
SLUICE_BENCH(codecs);

}  // namespace
}  // namespace sluice::lib::bench
