// SPDX-License-Identifier: Apache-2.0
// Checkpoints that pass the seal but were changed inside: a resume from one ends, in an error or with elements, stops when
// it is asked to, and gives back what it has charged. What elements it gives nobody can say.
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>
#include <vector>

#include <unistd.h>

#include "format/compressed.hpp"
#include "fuzz/plan_functions.hpp"
#include "fuzz/target.hpp"
#include "sluice/base/crc32c.hpp"
#include "sluice/format/tfrecord_frames.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/sluice.hpp"
#include "support/tree_of.hpp"

namespace sluice::lib::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSealedFrom = 7 + 8;  // before the fingerprint's end nothing is changed (src/pipeline/seal.hpp)
constexpr std::size_t kChecksumBytes = 4;
constexpr std::size_t kElementsMax = 100;
constexpr auto kStopAfter = std::chrono::milliseconds(200);

/// One for each operator and kind of channel that saves something; DIR is a folder with a few small files.
constexpr std::string_view kPlans[] = {
    "range(40) | skip(3) | take(30)",
    "range(24) | batch(5) | unbatch",
    "range(30) | filter(is_even) | prefetch(4)",
    "range(40) | shuffle(5, seed=3)",
    "range(6) | repeat(4)",
    "range(9) | shuffle(4, seed=1) | repeat(3) | batch(4)",
    "range(6) | flat_map(numbers_to)",
    "range(6) | interleave(numbers_to, cycle_length=3, block_length=2)",
    "range(6) | interleave(numbers_to, cycle_length=3, block_length=2, parallelism=2)",
    "range(6) | interleave(numbers_to, cycle_length=3, parallelism=2, order=sloppy)",
    "range(24) | map(inc, parallelism=3)",
    "range(24) | map(inc, parallelism=3, order=sloppy)",
    "generate(counted) | transform(doubled) | repeat(3)",
    "range(1000000000000) | shuffle(3, seed=1) | prefetch(2)",
    "list_files(\"DIR/*.tfrecord\") | interleave(tfrecord, cycle_length=2) | map(length_of)",
    "list_files(\"DIR/*.tfrecord\") | interleave(tfrecord, cycle_length=2, parallelism=2) | map(length_of, "
    "parallelism=2) "
    "| shuffle(5, seed=7) | batch(3) | prefetch(2)",
    "list_files(\"DIR/*.txt\") | flat_map(lines)",
    "tfrecord(\"DIR/a.tfrecord\") | repeat(2) | skip(3)",
    "fixed_length(\"DIR/a.bin\", record_bytes=5, header_bytes=3) | prefetch(2)",
    "fixed_length(\"DIR/b.bin.gz\", record_bytes=5, header_bytes=3)",
};

/// Files that all runs of this process read; removed at its end.
class folder {
 public:
  folder() {
    std::string made = (fs::temp_directory_path() / "sluice-fuzz-XXXXXX").string();
    expect(::mkdtemp(made.data()) != nullptr, "cannot make " + made);
    path_ = made;
    std::string records, text;
    for (int i = 0; i != 12; ++i) {
      append_tfrecord(records, std::string(static_cast<std::size_t>(i * 7), 'r'));
      text += "line " + std::to_string(i) + "\n";
    }
    put("a.tfrecord", records);
    put("b.tfrecord", testing::gzipped(records));
    put("a.txt", text);
    put("b.txt", testing::zlibbed(text));
    put("a.bin", "abc" + std::string(60, 'x'));
    put("b.bin.gz", testing::gzipped("abc" + std::string(60, 'x')));
  }
  folder(const folder&) = delete;
  ~folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string path() const { return path_.string(); }

 private:
  void put(const char* name, const std::string& bytes) { std::ofstream(path_ / name, std::ios::binary) << bytes; }
  fs::path path_;
};

/// Asks a run to stop when its time is over. Real time: a stage that never looks is to be found.
class stopwatch {
 public:
  stopwatch() : thread_([this] { watch(); }) {}
  ~stopwatch() {
    {
      std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  void start(std::shared_ptr<run_base> run) {
    std::lock_guard lock(mutex_);
    run_ = std::move(run);
    due_ = std::chrono::steady_clock::now() + kStopAfter;
    changed_.notify_one();
  }
  void end() {
    std::lock_guard lock(mutex_);
    run_.reset();
  }

 private:
  void watch() {
    std::unique_lock lock(mutex_);
    while (!over_) {
      if (!run_) {
        changed_.wait(lock);
      } else if (std::chrono::steady_clock::now() < due_) {
        changed_.wait_until(lock, due_);
      } else {
        run_->request_stop();
        run_.reset();
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<run_base> run_;
  std::chrono::steady_clock::time_point due_;
  bool over_ = false;
  std::thread thread_;
};

struct world {
  folder files;
  stopwatch watch;
  runtime rt{{.workers = 1, .memory_budget_bytes = 4 << 20, .io = "threads", .blocking_threads_max = 2}};
};
world& the_world() {
  static world w;
  return w;
}

struct outcome {
  std::size_t elements = 0;
  std::vector<std::string> places;
  status why;
};

task<void> consume(world& w, node_ptr plan, iterate_options o, bool save, outcome& got) {
  erased_stream s = test::tree_of(open_run(w.rt, plan, o));
  if (!save) w.watch.start(s.shared_run());
  while (got.elements < kElementsMax) {
    if (save) {
      position_writer where;
      s.position(where);
      got.places.push_back(s.run()->seal(where.bytes()));
    }
    auto b = co_await s.try_next_block({0, 1});
    if (!b.view) {
      got.why = b.why;
      break;
    }
    got.elements += b.view.size();
  }
  w.watch.end();
  auto end = cleanup(std::move(s));
  co_await end;
}

outcome run(const node_ptr& plan, const iterate_options& o, bool save) {
  outcome got;
  try {
    sync_wait(the_world().rt, consume(the_world(), plan, o, save, got));
  } catch (const error& e) { got.why = e.why(); }
  return got;
}

std::string with_folder(std::string plan, const std::string& path) {
  for (auto at = plan.find("DIR"); at != plan.npos; at = plan.find("DIR", at + path.size())) plan.replace(at, 3, path);
  return plan;
}

/// A plan, and the checkpoints of one run of it.
struct saved_run {
  node_ptr plan;
  std::vector<std::string> places;
};
const saved_run& saved_run_of(std::size_t index) {
  static std::vector<saved_run> runs(std::size(kPlans));
  saved_run& r = runs[index];
  if (r.plan) return r;
  r.plan = parse_plan(with_folder(std::string(kPlans[index]), the_world().files.path()));
  r.places = run(r.plan, {.seed = 1}, true).places;
  expect(r.places.size() > 1, "the plan gives nothing: " + sluice::lib::plan_text(*r.plan));
  return r;
}

std::string varint(std::uint64_t n) {
  std::string s;
  for (; n >= 0x80; n >>= 7) s += static_cast<char>(n | 0x80);
  return s + static_cast<char>(n);
}

/// Changes what is behind the fingerprint, as the input says.
void change(std::string& body, const saved_run& r, input& in) {
  for (int edits = 0; edits != 16 && !in.done(); ++edits) {
    auto what = in.byte();
    std::size_t at = in.byte() % (body.size() + 1);
    switch (what % 8) {
      case 0:
      case 1:
        if (at < body.size()) body[at] = static_cast<char>(in.byte());
        break;
      case 2: body.replace(at, 1, varint(in.number(8))); break;
      case 3: body.replace(at, 1, varint(std::uint64_t{1} << in.byte() % 64)); break;
      case 4: body.erase(at, 1 + in.byte() % 8); break;
      case 5: body.insert(at, in.take(1 + in.byte() % 8)); break;
      case 6: {  // as another place has it
        const std::string& other = r.places[in.byte() % r.places.size()];
        auto piece = std::string_view(other).substr(kSealedFrom).substr(0, other.size() - kSealedFrom - kChecksumBytes);
        std::size_t size = in.byte() % 16;
        if (at < piece.size()) body.replace(at, size, piece.substr(at, size));
        break;
      }
      default: body.resize(at);
    }
  }
}

}  // namespace

void checkpoint(std::string_view bytes) {
  register_plan_functions();
  input in(bytes);
  const saved_run& r = saved_run_of(in.byte() % std::size(kPlans));
  iterate_options o;
  o.on_error = in.chance() ? error_policy::skip : error_policy::stop;
  std::string sealed = r.places[in.byte() % r.places.size()];
  std::string body = sealed.substr(kSealedFrom, sealed.size() - kSealedFrom - kChecksumBytes);
  change(body, r, in);
  sealed.replace(kSealedFrom, sealed.size() - kSealedFrom, body);
  std::uint32_t crc = crc32c(sealed);
  sealed.append(reinterpret_cast<const char*>(&crc), sizeof crc);
  o.from.bytes = std::move(sealed);
  outcome got = run(r.plan, o, false);
  expect(got.why.code() != status_code::internal && got.why.code() != status_code::unknown, got.why.to_string());
  std::size_t charged = the_world().rt.ledger().used_bytes();
  expect(charged == 0, std::to_string(charged) + " bytes are still charged after the run");
}

}  // namespace sluice::lib::fuzz
