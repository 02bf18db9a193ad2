// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/unique.hpp"

#include <farmhash.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "element/batches/blocks.hpp"
#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "op/unique/trace_runs.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "runtime/held_memory.hpp"
#include "sluice/base/assert.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"
#include "sluice/coro/task.hpp"
#include "sluice/element/serialise.hpp"
#include "sluice/runtime/blocking.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib {
namespace {

/// The elements seen so far: in memory, and in files if the budget is too small.
class element_set {
 public:
  element_set(const element_type& t, std::shared_ptr<run_context> run, const error_gate& gate,
              const spill_folder& spill)
      : type_(t),
        spills_(spill.path != spill_folder::kOff),
        memory_(std::move(run), gate.line(purpose::state), gate.label(), "the hashes of its elements",
                spills_ ? "reduce the number of different elements"
                        : "reduce the number of different elements, or use unique(spill=\"FOLDER\")"),
        seen_(words_of(t)),
        runs_(folder_of(spill)) {}

  struct outcome {
    std::uint32_t seen = 0;  ///< examined elements at the front of the block
    std::uint32_t kept =
        0;       ///< the new elements among these, which are at its front now; the others stay constructed after them
    status why;  ///< of the element after those that were examined
  };
  /// Adds elements of a block, until the block ends or the set is full.
  void add(const block& in, outcome& o) {
    while (o.seen != in.size() && make_room(o.why)) {
      const auto n =
          static_cast<std::uint32_t>(std::min<std::uint64_t>({in.size() - o.seen, kTracedAtOnce, seen_.room()}));
      insert(in, o.seen, n, is_new_.data());
      o.kept = move_up(in, o.kept, o.seen, is_new_.data(), n);
      o.seen += n;
    }
  }

  // If files exist: call ask(), then look_up() if it left questions, then answer().

  bool has_files() const { return !runs_.empty(); }
  /// Adds elements that are not in memory, and records questions for those that the files may contain.
  void ask(const block& in, const outcome& o, status& why) {
    const std::uint32_t most = std::min(in.size() - o.seen, kAtOnce);
    questions_.clear();
    for (asked_ = 0; asked_ != most && make_room(why);) {
      const auto n = static_cast<std::uint32_t>(std::min<std::uint64_t>({most - asked_, kTracedAtOnce, seen_.room()}));
      insert(in, o.seen + asked_, n, is_new_.data() + asked_);
      for (std::uint32_t i = 0; i != n; ++i, ++asked_)
        if (is_new_[asked_] && runs_.may_have(traces_[i])) questions_.push_back({traces_[i], asked_});
    }
  }
  bool has_questions() const { return !questions_.empty(); }
  /// Call it on a thread that may block.
  status look_up() { return labelled(runs_.look_up(questions_)); }
  void answer(const block& in, outcome& o) {
    for (const asked_trace& a : questions_) {
      if (!a.exists) continue;
      is_new_[a.which] = false;
      seen_.erase(a.trace);
    }
    o.kept = move_up(in, o.kept, o.seen, is_new_.data(), asked_);
    o.seen += asked_;
  }

  // If the memory is full: call begin_spilling(), write_run() and end_spilling(); then join() while may_join().

  bool is_full() const { return is_full_; }
  status begin_spilling() {
    has_filter_ = memory_.has_room_for(memory_.bytes() + spilling_bytes(seen_.size(), true));
    return memory_.resize(memory_.bytes() + spilling_bytes(seen_.size(), has_filter_));
  }
  /// Call it on a thread that may block.
  status write_run() { return labelled(runs_.add(seen_, has_filter_)); }
  void end_spilling() {
    seen_ = trace_table(words_of(type_));  // the set grows again, as far as the files' filters leave memory
    memory_.shrink_by(memory_.bytes() - runs_.memory_bytes());
    is_full_ = false;
  }
  bool may_join() {
    const std::uint64_t n = runs_.to_join();
    if (n == 0) return false;
    has_filter_ = memory_.has_room_for(memory_.bytes() + joining_bytes(n, true));
    if (!has_filter_ && !memory_.has_room_for(memory_.bytes() + joining_bytes(n, false))) return false;
    return memory_.resize(memory_.bytes() + joining_bytes(n, has_filter_)).ok();
  }
  /// Call it on a thread that may block, and end_spilling() afterwards.
  status join() { return labelled(runs_.join(has_filter_)); }

 private:
  static constexpr std::uint32_t kAtOnce = 4096;
  static constexpr std::uint32_t kTracedAtOnce = 256;
  static constexpr std::size_t kSpilledMin = 512;  ///< the least number of traces that is worth a file

  status labelled(status why) const { return why.ok() ? std::move(why) : why.in_stage(memory_.label()); }
  static std::string folder_of(const spill_folder& spill) {
    if (!spill.path.empty()) return spill.path;
    const char* temporary = std::getenv("TMPDIR");
    return temporary && *temporary ? temporary : "/tmp";
  }
  static std::size_t spilling_bytes(std::uint64_t n, bool with_filter) {
    return trace_runs::work_bytes_of(n) + trace_runs::memory_bytes_of(n, with_filter);
  }
  static std::size_t joining_bytes(std::uint64_t n, bool with_filter) {
    return trace_runs::work_bytes_of(0) + trace_runs::memory_bytes_of(n, with_filter);
  }

  static std::uint32_t words_of(const element_type& t) {
    return t.kind == kind::scalar && t.size <= sizeof(std::uint64_t) ? 1 : 2;
  }
  /// Adds n elements from `first` on, and stores their traces in `traces_`. REQUIRES: n <= kTracedAtOnce, and there is
  /// room.
  void insert(const block& in, std::uint32_t first, std::uint32_t n, bool* is_new) {
    SLUICE_REQUIRES(n <= kTracedAtOnce, "more elements are traced than there is room for");
    if (type_.kind != kind::scalar)
      for (std::uint32_t i = 0; i != n; ++i) traces_[i] = trace_of(in.at(first + i));
    else if (type_.size == sizeof(std::uint64_t)) trace_numbers<sizeof(std::uint64_t)>(in.at(first), n);
    else trace_numbers<0>(in.at(first), n);
    seen_.insert(traces_.data(), n, is_new);
  }
  /// Computes the traces of numbers of kBytes bytes each; 0: of the type's size.
  template <std::size_t kBytes> void trace_numbers(const char* p, std::uint32_t n) {
    const std::size_t size = kBytes ? kBytes : type_.size;
    for (std::uint32_t i = 0; i != n; ++i) {
      traces_[i] = {};
      std::memcpy(&traces_[i], p + i * size, std::min(size, sizeof(element_trace)));
    }
  }
  element_trace trace_of(const char* p) {
    std::string_view bytes;
    if (type_.kind == kind::text) {
      bytes = type_.text(p);
    } else {
      bytes_.clear();
      serialise_bare(type_, p, bytes_);
      bytes = bytes_;
    }
    auto hash = util::Fingerprint128(bytes.data(), bytes.size());
    return {util::Uint128Low64(hash), util::Uint128High64(hash)};
  }
  /// Makes room for one more trace. The growth is charged first, for the time in which both tables exist. Returns false
  /// if the memory is full, or after an error in `why`.
  bool make_room(status& why) { return seen_.room() != 0 || grow(why); }
  bool grow(status& why) {
    if (!why.ok()) return false;
    const std::size_t slot = seen_.slot_bytes(), slots = seen_.slots(), grown = seen_.slots_grown();
    const std::size_t others = runs_.memory_bytes();
    std::size_t needed = (slots + grown) * slot;
    if (spills_) needed = std::max(needed, grown * slot + spilling_bytes(grown, true));
    if (!memory_.has_room_for(others + needed)) {
      is_full_ = spills_ && seen_.size() >= kSpilledMin;
      if (!is_full_) why = memory_.refused(absl::StrCat("the hashes of its ", seen_.size(), " different elements"));
      return false;
    }
    why = memory_.resize(others + (slots + grown) * slot);
    seen_.grow(grown);
    memory_.shrink_by(slots * slot);
    return why.ok();
  }

  const element_type& type_;
  const bool spills_;
  held_memory memory_;
  trace_table seen_;
  trace_runs runs_;
  bool is_full_ = false, has_filter_ = false;
  std::array<bool, kAtOnce> is_new_{};
  std::array<element_trace, kTracedAtOnce> traces_{};  ///< traces of the last insert()
  std::uint32_t asked_ = 0;
  std::vector<asked_trace> questions_;
  std::string bytes_;
};

/// The number of delivered elements. A stage that has files may wait for them.
struct unique_state {
  std::uint64_t delivered = 0;
  bool has_files = false;

  void save(position_writer& w) { w.number(delivered); }
  void load(position_reader& r) { delivered = r.number(); }
  bool may_wait() const { return has_files; }
};

/// Writes the traces in memory to a file, and joins files of one size.
task<status> spill(element_set& seen, blocking_service& service) {
  status why = seen.begin_spilling();
  if (!why.ok()) co_return why;
  blocking writing(service, [&seen] { return seen.write_run(); });
  why = co_await writing;
  if (!why.ok()) co_return why;
  seen.end_spilling();
  while (seen.may_join()) {
    blocking joining(service, [&seen] { return seen.join(); });
    why = co_await joining;
    if (!why.ok()) co_return why;
    seen.end_spilling();
  }
  co_return status();
}

task<status> look_up(element_set& seen, blocking_service& service) {
  blocking looking(service, [&seen] { return seen.look_up(); });
  status why = co_await looking;
  co_return why;
}

/// The number of additional inputs requested while the elements before a resume are read again.
constexpr std::uint64_t kAgainAtOnce = 4096;

erased_stream unique_loop(outlet out, saved<unique_state> st, erased_stream in, std::shared_ptr<run_context> run,
                          error_gate gate, spill_folder folder) {
  in.hold_from(in.consumed());
  blocking_service& service = run->rt->blocking_calls();
  auto seen = std::make_unique<element_set>(in.type(), std::move(run), gate, folder);
  std::uint64_t again = st->delivered;
  for (;;) {
    const auto more = static_cast<std::uint32_t>(std::min(again, kAgainAtOnce));
    auto b = co_await in.next_block({0, out.ask() + more, out.wanted_bytes()});
    if (!b) break;
    element_set::outcome o;
    while (o.seen != b.size() && o.why.ok()) {
      if (!seen->has_files()) {
        seen->add(b, o);
      } else {
        seen->ask(b, o, o.why);
        status found;
        if (seen->has_questions()) {
          auto looking = look_up(*seen, service);
          found = co_await looking;
        }
        if (found.ok()) seen->answer(b, o);
        else o.why = std::move(found);
      }
      if (!seen->is_full() || !o.why.ok()) continue;
      auto spilling = spill(*seen, service);
      o.why = co_await spilling;
      st->has_files = true;
    }
    block kept = b.first(o.kept);
    const auto known = static_cast<std::uint32_t>(std::min<std::uint64_t>(again, o.kept));
    kept.drop_front(known);
    again -= known;
    st->delivered += kept.size();
    if (!o.why.ok()) {
      out.hold(kept);
      co_await fail(std::move(o.why));
    }
    if (kept) co_yield kept;
  }
  if (again) co_await fail(damaged_position());
}

erased_stream open_unique(const node& n, open_context& context) {
  outlet out(*n.type);
  saved<unique_state> st;
  return unique_loop(out, std::move(st), context.open(n.inputs[0]), context.run, context.gate(n),
                     n.as<unique_arguments>().options.spill);
}

const element_type* comparable_type(const node& n, std::string& why) {
  const element_type& in = *n.inputs[0]->type;
  if (in.kind == kind::text || can_serialise(in)) return same_type(n, why);
  return why = "elements of " + in.name + " cannot be compared: the library does not know what is in them", nullptr;
}

/// A text that does not influence the elements, so their identity ignores it.
class spill_folder_codec final : public codec {
 public:
  void print(const void* p, printer& to) const override { text().print(&get(p).path, to); }
  void read(void* p, const argument& a, reading& r) const override {
    text().read(&static_cast<spill_folder*>(p)->path, a, r);
  }
  bool equal(const void* a, const void* b) const override { return get(a) == get(b); }
  bool is_knob() const override { return true; }
  bool takes_text() const override { return true; }
  std::string type_name() const override { return "folder"; }

 private:
  static const codec& text() { return codec_of<std::string>(); }
  static const spill_folder& get(const void* p) { return *static_cast<const spill_folder*>(p); }
};

}  // namespace

template <> const codec& codec_of<spill_folder>() {
  static const spill_folder_codec c;
  return c;
}

const op_info unique_op{
    .name = "unique",
    .doc = "each element once",
    .arguments = arguments_of<unique_arguments>,
    .type = comparable_type,
    .spec = same_spec,
    .facts = {.always = {.outputs = output_count::at_most_one_per_input,
                         .forwards = true,
                         .keeps_order = true,
                         .may_fail = false}},
    .splits = {.rule = split_rule::all_before},
    .lowering = {.open = open_unique},
};

preserving unique(unique_options o) { return {unique_op, arguments::of(unique_arguments{std::move(o)})}; }

}  // namespace sluice::lib
