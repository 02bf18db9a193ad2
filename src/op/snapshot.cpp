// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/snapshot.hpp"

#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/files/locked_target.hpp"
#include "engine/batching/key_numbers.hpp"
#include "engine/files/folder_plan.hpp"
#include "engine/inner/inner_input.hpp"
#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "engine/stored/frozen_input.hpp"
#include "engine/stored/plan_head.hpp"
#include "output/file_sink.hpp"
#include "plan/codecs/argument_codec.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/base/hash.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/coro/task.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/runtime/blocking.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib {
namespace {

constexpr duration kOtherWriterLooks = std::chrono::milliseconds(50);

/// Reads and prints a function that may be missing. An expression is bound to the type of the elements.
class shard_function_codec final : public codec {
 public:
  void print(const void* p, printer& to) const override {
    if (get(p)) to.function(*get(p));
  }
  void read(void* p, const argument& a, reading& r) const override {
    static_cast<shard_function*>(p)->value =
        r.function(a, detail::is_form<key_function>, "a function of the element, such as it % 4");
  }
  void bind(void* p, bind_context& context) const override {
    function_ptr& f = static_cast<shard_function*>(p)->value;
    if (const auto* unbound = dynamic_cast<const unbound_function*>(f.get()))
      f = unbound->bind(context, detail::is_form<key_function>);
  }
  bool equal(const void* a, const void* b) const override { return codec_of<function_arg<key_function>>().equal(a, b); }
  void visit(const void* p, part_visitor& v) const override {
    if (get(p)) v.function(get(p));
  }
  bool takes_function(const stage_function& f) const override { return detail::is_form<key_function>(f); }
  bool takes_functions() const override { return true; }
  std::string type_name() const override { return "function"; }

 private:
  static const function_ptr& get(const void* p) { return static_cast<const shard_function*>(p)->value; }
};

/// A stage chooses between computing and reading at its first request. A resumed stage keeps that choice.
enum class snapshot_mode : std::uint8_t { undecided, computing, reading };

struct snapshot_state {
  snapshot_mode mode = snapshot_mode::undecided;
  std::uint64_t folder = 0;  ///< a hash of the manifest that is read
  inner_input input;         ///< of the stage, or the plan that reads the folder

  void save(position_writer& w) {
    w.number(static_cast<std::uint64_t>(mode));
    w.number(folder);
    input.save(w);
  }
  void load(position_reader& r) {
    const std::uint64_t number = r.number();
    if (number > static_cast<std::uint64_t>(snapshot_mode::reading)) return r.fail();
    mode = static_cast<snapshot_mode>(number);
    folder = r.number();
    input.load(r);
  }
  bool may_wait() const { return true; }
};

/// The folder of one stage, on threads for blocking calls.
class snapshot_folder {
 public:
  snapshot_folder(const node& n, std::shared_ptr<const plan_head> head, std::string label)
      : options_(n.as<snapshot_arguments>().options),
        folder_(folder_of(n)),
        type_(*n.type),
        head_(std::move(head)),
        label_(std::move(label)) {}

  /// Sets `plan` to the plan that reads the folder if it has the elements of this plan. `is_busy`: another process writes it.
  /// `may_write`: this stage writes the folder if it has none.
  status look(bool may_write, node_ptr& plan, std::uint64_t& hash, bool& is_busy) {
    is_busy = false;
    status why = read(plan, hash);
    if (!why.ok() || plan || !may_write) return why;
    std::error_code failed;
    std::filesystem::create_directories(folder_, failed);
    if (failed) return errno_error(failed.value(), "cannot create the folder").in_file(folder_).in_stage(label_);
    why = lock_.take(absl::StrCat(folder_, "snapshot"));
    is_busy = why.code() == status_code::unavailable;
    if (!why.ok()) lock_.release();
    if (is_busy) return options_.other_writer == other_writer::fail ? why.in_stage(label_) : status();
    if (!why.ok()) return why.in_stage(label_);
    why = read(plan, hash);  // another process may have ended in the meantime
    if (why.ok() && !plan) return begin();
    lock_.release();
    return why;
  }

  bool is_writing() const { return sink_ != nullptr; }
  status write(const block& some) {
    status why;
    if (!options_.shard_func.value) {
      why = sink_->take(some);
    } else {
      const auto& shard_of = static_cast<const key_function&>(*options_.shard_func.value);
      codes_.clear();
      applied a = shard_of.codes(some, codes_);
      why = a.why;
      for (std::uint32_t i = 0; why.ok() && i != some.size(); ++i) {
        const std::int64_t shard = number_of_code(codes_[i], is_signed_number(*shard_of.out));
        if (shard < 0 || shard >= options_.shards.value)
          why = invalid_argument_error(absl::StrCat("shard_func returns ", shard, ", and there are ",
                                                    options_.shards.value, " files, from 0 on; set shards, or write % ",
                                                    options_.shards.value));
        else why = sink_->take_to(static_cast<std::size_t>(shard), some, i);
      }
    }
    if (why.ok()) return {};
    sink_ = nullptr;
    return why.in_stage(label_);
  }
  status finish() {
    output_place unused;
    status why = sink_->commit(unused);
    if (why.ok()) why = sink_->finish(false);
    sink_ = nullptr;
    lock_.release();
    return why.ok() ? why : why.in_stage(label_);
  }
  const std::string& folder() const { return folder_; }

  static std::string folder_of(const node& n) {
    std::string folder = n.as<snapshot_arguments>().path.value;
    return names_data_folder(folder) ? folder : folder + '/';
  }
  node_ptr reading_plan(const data_folder& d) const {
    return plan_of_data_folder(
        d, folder_, {.cardinality = true, .index = file_index::none, .reader_func = options_.reader_func}, &type_);
  }

 private:
  /// Sets `plan` if the folder has the elements of this plan. Errors: it has others, and must not be replaced.
  status read(node_ptr& plan, std::uint64_t& hash) const {
    const bool replaces = options_.on_mismatch == snapshot_mismatch::rebuild;
    std::string text;
    auto there = read_data_folder(folder_, &text);
    if (!there.ok()) {
      const bool is_none = there.why().code() == status_code::not_found || replaces;
      return is_none ? status() : there.why().in_stage(label_);
    }
    if (!there->is_complete) return {};
    std::uint64_t unused = 0;
    status why = there->origin.empty() ? failed_precondition_error(
                                             "the folder was written by write() and not by a snapshot; name another "
                                             "one, or write on_mismatch=rebuild to replace it")
                                       : head_->compare(absl::HexStringToBytes(there->origin), unused);
    try {
      if (why.ok()) check_files(*there, folder_);
    } catch (const error& e) { why = e.why(); }
    if (!why.ok()) return replaces ? status() : why.in_file(folder_).in_stage(label_);
    hash = stable_hash(text);
    plan = reading_plan(*there);
    return {};
  }
  status begin() {
    output_options o;
    o.format = output_format::arrow;
    o.buffers = options_.compression;
    o.path = folder_;
    o.shards = static_cast<std::uint64_t>(options_.shards.value);
    o.origin = absl::BytesToHexString(head_->bytes(0));
    o.by_function = options_.shard_func.value != nullptr;
    status why = place_in_folder(o);
    std::uint64_t unused = 0;
    if (!why.ok()) return why;
    auto sink = file_sink::open(o, type_, {}, unused);
    if (!sink.ok()) return sink.why().in_stage(label_);
    sink_ = *std::move(sink);
    return {};
  }

  const snapshot_options options_;
  const std::string folder_;
  const element_type& type_;
  const std::shared_ptr<const plan_head> head_;
  const std::string label_;
  locked_target lock_;
  std::unique_ptr<file_sink> sink_;
  key_codes codes_;
};

using shared_folder = std::shared_ptr<snapshot_folder>;

struct folder_look {
  node_ptr plan = {};
  std::uint64_t hash = 0;
  bool is_busy = false;
  status why = {};
};

task<folder_look> look_at(shared_folder folder, bool may_write, runtime& rt) {
  folder_look found;
  blocking looking(rt.blocking_calls(), [&] { return folder->look(may_write, found.plan, found.hash, found.is_busy); });
  found.why = co_await looking;
  co_return std::move(found);
}
task<status> write_to(shared_folder folder, const block& some, runtime& rt) {
  blocking writing(rt.blocking_calls(), [&] { return folder->write(some); });
  status why = co_await writing;
  co_return why;
}
task<status> finish_of(shared_folder folder, runtime& rt) {
  blocking finishing(rt.blocking_calls(), [&] { return folder->finish(); });
  status why = co_await finishing;
  co_return why;
}

struct snapshot_input {
  open_context input, reader;
  node_ptr plan;
  shared_folder folder;
  lib::other_writer other_writer;
};

erased_stream snapshot_loop(outlet out, saved<snapshot_state> st, snapshot_input from) {
  runtime& rt = *from.input.run->rt;
  const bool is_new = st->mode == snapshot_mode::undecided;
  node_ptr plan = from.plan;
  while (st->mode != snapshot_mode::computing) {
    auto looking = look_at(from.folder, is_new, rt);
    folder_look found = co_await looking;
    if (!found.why.ok()) co_await fail(std::move(found.why));
    const bool is_same = found.plan && (is_new || found.hash == st->folder);
    if (!is_new && !is_same) {
      status gone = failed_precondition_error(
          "the checkpoint was made while this snapshot was read, and it has been written again or removed since; start "
          "without the checkpoint");
      co_await fail(gone.in_file(from.folder->folder()));
    }
    if (found.is_busy && from.other_writer == other_writer::wait) {
      const time_point later = from.input.run->time->now() + kOtherWriterLooks;
      auto waiting = sleep_until(later);
      co_await waiting;
      continue;
    }
    st->mode = found.plan ? snapshot_mode::reading : snapshot_mode::computing;
    st->folder = found.plan ? found.hash : 0;
    if (found.plan) plan = found.plan;
    break;
  }
  const bool reads = st->mode == snapshot_mode::reading;
  status opened = st->input.open(reads ? from.reader : from.input, plan, 0);
  if (!opened.ok()) co_await fail(std::move(opened));
  erased_stream& in = st->input.in;
  std::uint64_t left_out = 0;  // elements that the consumer skips; a stage that writes makes them, too
  for (;;) {
    const bool writes = from.folder->is_writing();
    const std::uint64_t passed = out.pass(demand::kAll);
    if (writes) left_out = passed;
    demand wanted{writes ? 0 : passed, out.wanted(), out.wanted_bytes()};
    auto b = co_await in.next_block(wanted);
    if (!b) {
      if (writes) {
        auto finishing = finish_of(from.folder, rt);
        status why = co_await finishing;
        if (!why.ok()) co_await fail(std::move(why));
        out.unpass(left_out);
      } else if (passed) {
        out.unpass(std::min(passed, in.skip_left()));
      }
      break;
    }
    if (writes) {
      auto writing = write_to(from.folder, b, rt);
      status why = co_await writing;
      if (!why.ok()) {
        if (left_out == 0) out.hold(b);
        co_await fail(std::move(why));
      }
      if (left_out >= b.size()) {
        out.unpass(left_out - b.size());
        continue;
      }
      if (left_out != 0) b.drop_front(static_cast<std::uint32_t>(left_out));
    }
    co_yield b;
  }
}

erased_stream open_snapshot(const node& n, open_context& context) {
  const auto& a = n.as<snapshot_arguments>();
  outlet out(*n.type);
  std::string label = context.gate(n).label();
  const cache_key key = key_of_input(*n.inputs[0], context);
  auto head = std::make_shared<const plan_head>(n.inputs[0], key, context.run, "snapshot");
  snapshot_input from{of_first_epoch(context), context.inside_of(n), n.inputs[0],
                      std::make_shared<snapshot_folder>(n, std::move(head), std::move(label)), a.options.other_writer};
  saved<snapshot_state> st;
  return snapshot_loop(out, std::move(st), std::move(from));
}

const element_type* snapshot_type(const node& n, std::string& why) {
  const element_type* type = same_type(n, why);
  if (!type) return nullptr;
  const auto& a = n.as<snapshot_arguments>();
  const key_function* shard = dynamic_cast<const key_function*>(a.options.shard_func.value.get());
  if (a.path.value.find("://") != std::string::npos) {
    why = absl::StrCat("a snapshot is a local folder, and ", a.path.value, " is a URL; write a path");
  } else if (shard && !is_whole_number(*shard->out)) {
    why = absl::StrCat("shard_func has to give a whole number, and gives ", shard->out->name);
  } else if (const lib::compression c = a.options.compression;
             c != compression::none && !compresses_buffers(output_format::arrow, c)) {
    why = "compression of a snapshot is zstd, lz4 or none";
  } else if (status fits = why_not_loadable(output_format::arrow, *type); !fits.ok()) {
    why = absl::StrCat("elements of type ", type->name, " cannot be in a snapshot: ", std::string(fits.message()));
  } else {
    why = why_not_identified(*n.inputs[0]);
  }
  if (why.empty() && !a.options.reader_func.empty()) {
    data_folder d{.is_complete = true,
                  .format = "arrow",
                  .compression = "none",
                  .type = {},
                  .elements = 0,
                  .alternates = false,
                  .files = {{"part-00000-of-00002.arrow", 0}, {"part-00001-of-00002.arrow", 0}},
                  .origin = {}};
    try {
      plan_of_data_folder(
          d, "/", {.cardinality = false, .index = file_index::none, .reader_func = a.options.reader_func}, type);
    } catch (const error& e) { why = absl::StrCat("reader_func: ", std::string(e.why().message())); }
  }
  return why.empty() ? type : nullptr;
}

}  // namespace

template <> const codec& codec_of<shard_function>() {
  static const shard_function_codec c;
  return c;
}

const op_info snapshot_op{
    .name = "snapshot",
    .doc = "writes its input to a folder in the first run, and reads the folder in later ones",
    .arguments = arguments_of<snapshot_arguments>,
    .type = snapshot_type,
    .facts = {.always = {.outputs = output_count::one_per_input, .forwards = true, .keeps_order = false},
              .size = [](const node& n) { return cardinality_of(*n.inputs[0]); },
              .rows = [](const node& n) { return row_cardinality_of(*n.inputs[0]); },
              .opens_input_again = true,
              .freezes_epochs = true},
    .splits = {.rule = split_rule::all_before},
    .lowering = {.open = open_snapshot},
};

preserving snapshot(std::string path, snapshot_options o) {
  return {snapshot_op, arguments::of(snapshot_arguments{std::move(path), std::move(o)})};
}

}  // namespace sluice::lib
