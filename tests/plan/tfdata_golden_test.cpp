// SPDX-License-Identifier: Apache-2.0
// Small pipelines of every verb give what tf.data gave when it was asked (tests/golden/make_golden_tfdata.py; the columns of
// its files are described in tests/golden/README.md). Each is run in plan text: with one and two workers, behind a channel,
// and resumed at every element.
//
//   SLUICE_TEST_ROWS=batching.017 build/plan_tests "small pipelines*"     # only rows whose id begins so
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "plan/text/spellings.hpp"
#include "sluice/engine/register.hpp"
#include "sluice/op/batch.hpp"
#include "sluice/pipeline/iterate.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/runtime/simulation.hpp"
#include "support/budget.hpp"

namespace sluice::lib::tfdata_golden_test {
namespace {

using nlohmann::json;
using test::cases;
using test::first_seed;

// What flat_map and interleave open: the functions of the same names in the generator.
dataset<std::int64_t> numbers(const std::string& plan) { return dataset<std::int64_t>(parse_plan(plan)); }
std::string text(std::int64_t x) { return std::to_string(x); }
SLUICE_FUNCTION(tfdata_up_to, [](std::int64_t x) { return numbers("range(" + text(x) + ")"); });
SLUICE_FUNCTION(tfdata_few, [](std::int64_t x) { return numbers("range(" + text(x % 5) + ")"); });
SLUICE_FUNCTION(tfdata_six, [](std::int64_t x) { return numbers("range(6) | map(it * 0 + " + text(x) + ")"); });
SLUICE_FUNCTION(tfdata_copies,
                [](std::int64_t x) { return numbers("range(" + text(x) + ") | map(it * 0 + " + text(x) + ")"); });
SLUICE_FUNCTION(tfdata_twice, [](std::int64_t x) { return numbers("range(" + text(x % 3) + ") | repeat(2)"); });
SLUICE_FUNCTION(tfdata_part, [](std::int64_t x) {
  return numbers("range(" + text(10 * x + x % 4) + ", start=" + text(10 * x) + ")");
});
SLUICE_FUNCTION(tfdata_failing,
                [](std::int64_t x) { return numbers("range(4) | map(12 / abs(it - " + text(x) + "))"); });
SLUICE_FUNCTION(tfdata_batches, [](std::int64_t x) {
  return dataset<batched<std::int64_t>>(parse_plan("range(" + text(x) + ") | batch(2)"));
});
SLUICE_FUNCTION(tfdata_nested,
                [](std::int64_t x) { return numbers("range(" + text(x) + ") | flat_map(tfdata_up_to)"); });

/// What one pipeline has to give.
struct row {
  std::string id, plan;
  json elements;
  std::string end;   ///< "end"; "...": there are more; or the code of an error
  std::string size;  ///< "5", "infinite", "unknown"; "-": there is no such plan
};

struct file_of_rows {
  std::string needs;  ///< an operator that may not be there yet
  std::vector<row> rows;
};

std::vector<std::string> columns_of(const std::string& line) {
  std::vector<std::string> columns;
  for (std::size_t from = 0, to = 0; to != std::string::npos; from = to + 1) {
    to = line.find('\t', from);
    columns.push_back(line.substr(from, to - from));
  }
  return columns;
}

file_of_rows rows_of(const std::filesystem::path& file) {
  file_of_rows all;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("# needs ")) all.needs = line.substr(8);
    if (line.starts_with("# ")) continue;
    std::vector<std::string> c = columns_of(line);
    if (c.size() != 5 && c.size() != 9) throw std::runtime_error(file.string() + ": " + line);
    // Where we differ on purpose our answer stands behind tf.data's.
    for (std::size_t i = 5; i + 1 < c.size(); ++i)
      if (c[i] != "=") c[i - 3] = c[i];
    all.rows.push_back({c[0], c[1], json::parse(c[2]), c[3], c[4]});
  }
  return all;
}

std::string size_of(const node& plan) {
  cardinality n = cardinality_of(plan);
  if (n.kind != cardinality::exact) return n.kind == cardinality::infinite ? "infinite" : "unknown";
  return std::to_string(n.elements);
}

/// What one run gave, and from where it could have gone on: places[i] is in front of element i, the last one at the end.
struct outcome {
  std::vector<std::string> elements;
  std::string end = "...";
  std::vector<checkpoint> places;
};

/// Saved at each element, or asked for several at once.
struct request {
  std::size_t elements_max = 0;
  bool save = false;
  checkpoint from = {};
};

task<void> run_on(runtime& rt, const node_ptr& plan, request r, outcome& o) {
  any_stream s = open_run(rt, plan, {.from = r.from, .seed = 1});
  for (std::uint32_t ask = 1; o.elements.size() < r.elements_max; ask = r.save ? 1 : ask % 7 + 2) {
    if (r.save) o.places.push_back(s.position());
    demand d;
    d.elements = static_cast<std::uint32_t>(std::min<std::size_t>(ask, r.elements_max - o.elements.size()));
    auto b = co_await s.try_next_block(d);
    if (!b.view) {
      o.end = b.why.ok() ? "end" : to_string(b.why.code());
      if (r.save && b.why.ok()) o.places.push_back(s.position());
      break;
    }
    for (std::uint32_t i = 0; i != b.view.size(); ++i) print(s.type(), b.view.at(i), o.elements.emplace_back());
  }
  auto end = cleanup(std::move(s));
  co_await end;
}

/// Makes a runtime for each run of a simulation, or is a real one.
struct machine {
  runtime* real = nullptr;
  std::uint64_t seed = 0;

  outcome run(const node_ptr& plan, const request& r) const {
    outcome o;
    if (real) {
      sync_wait(*real, run_on(*real, plan, r, o));
    } else {
      simulation world(seed);
      runtime rt(world, {.workers = 2});
      sync_wait(rt, run_on(rt, plan, r, o));
    }
    return o;
  }
};

/// What is wrong with the elements from number `from` on; empty where nothing is.
std::string complaint(const row& wanted, const outcome& o, std::size_t from) {
  std::string given = "[";
  for (const std::string& e : o.elements) given += (given.size() > 1 ? "," : "") + e;
  given += "]";
  json rest = json::array();
  for (std::size_t i = from; i < wanted.elements.size(); ++i) rest.push_back(wanted.elements[i]);
  if (json::parse(given) == rest && o.end == wanted.end) return {};
  return "gives " + given + " " + o.end + " where " + rest.dump() + " " + wanted.end + " is to come";
}

std::string try_run(const row& wanted, const node_ptr& plan, const machine& on) {
  return complaint(wanted, on.run(plan, {.elements_max = wanted.elements.size() + (wanted.end != "...")}), 0);
}

/// Saved at every element, and resumed there.
std::string try_resumes(const row& wanted, const node_ptr& plan, const machine& on) {
  std::size_t elements_max = wanted.elements.size() + (wanted.end != "...");
  outcome whole = on.run(plan, {.elements_max = elements_max, .save = true});
  std::string why = complaint(wanted, whole, 0);
  for (std::size_t i = 0; why.empty() && i != whole.places.size(); ++i) {
    std::size_t passed = std::min(i, wanted.elements.size());
    why = complaint(wanted, on.run(plan, {.elements_max = elements_max - passed, .from = whole.places[i]}), passed);
    if (!why.empty()) why = "resumed at element " + text(static_cast<std::int64_t>(i)) + " " + why;
  }
  return why;
}

struct replayer {
  runtime one{{.workers = 1}}, two{{.workers = 2}};

  std::string replay(const row& wanted, std::uint64_t seed) {
    node_ptr plan, behind_channel;
    try {
      plan = parse_plan(wanted.plan);
      behind_channel = parse_plan(wanted.plan + " | prefetch(2)");
    } catch (const error& e) {
      bool is_to_be_refused = wanted.elements.empty() && wanted.size == "-" && wanted.end == to_string(e.code());
      return is_to_be_refused ? "" : e.what();
    }
    if (size_of(*plan) != wanted.size) return "has the size " + size_of(*plan) + " and not " + wanted.size;
    // A simulation has other files than those on the disk.
    bool reads_files = wanted.plan.find("tests/golden/") != std::string::npos;
    std::string why;
    for (const node_ptr& p : {plan, behind_channel}) {
      std::string form = p == plan ? "" : "behind prefetch(2) ";
      if (why = try_run(wanted, p, {.real = &one}); !why.empty()) return form + "on one worker " + why;
      if (why = try_resumes(wanted, p, {.real = &two}); !why.empty()) return form + "on two workers " + why;
      if (reads_files) continue;
      if (why = try_run(wanted, p, {.seed = seed}); !why.empty()) return form + "in the simulation " + why;
      if (why = try_resumes(wanted, p, {.seed = seed}); !why.empty()) return form + "in the simulation " + why;
    }
    return why;
  }
};

bool is_wanted(const row& r) {
  const char* ids = std::getenv("SLUICE_TEST_ROWS");
  return !ids || r.id.starts_with(ids);
}

}  // namespace

TEST_CASE("small pipelines give what tf.data gives, and go on from every element", "[tfdata]") {
  replayer all;
  std::vector<std::filesystem::path> files;
  for (auto& entry : std::filesystem::directory_iterator("tests/golden/tfdata"))
    if (entry.path().extension() == ".tsv") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::size_t replayed = 0, waiting = 0;
  std::string missing;
  for (auto& file : files) {
    file_of_rows given = rows_of(file);
    if (!given.needs.empty() && !find_op(given.needs) && !detail::is_spelling(given.needs)) {
      waiting += given.rows.size();
      missing += " " + given.needs;
      continue;
    }
    // One row in ten, where each costs ten times as much.
    std::size_t every = std::max<std::size_t>(1, 10 / cases(10));
    for (std::size_t i = first_seed() % every; i < given.rows.size(); i += every) {
      const row& r = given.rows[i];
      if (!is_wanted(r)) continue;
      std::uint64_t seed = first_seed() + i;
      INFO(r.id << ": " << r.plan << " # seed " << seed);
      CHECK(all.replay(r, seed) == "");
      ++replayed;
    }
  }
  CHECK(replayed > 0);
  if (waiting) WARN(replayed << " pipelines replayed; " << waiting << " wait for operators:" << missing);
}

}  // namespace sluice::lib::tfdata_golden_test
