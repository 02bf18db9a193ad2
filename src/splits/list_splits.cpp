// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "plan/plan_parts.hpp"
#include "sluice/base/hash.hpp"
#include "sluice/base/random_bits.hpp"
#include "sluice/coro/any_stream.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/io/files.hpp"
#include "sluice/pipeline/iterate.hpp"
#include "sluice/plan/text.hpp"
#include "splits/layout.hpp"

namespace sluice::lib {
namespace {

/// A plan with more than 64 KiB of elements in memory has no text; a list in a split is a part of such a plan.
constexpr std::size_t kItemsBytesMax = 32 << 10;
/// The number of splits of a plan that is split by numbers, if its user does not say otherwise.
constexpr std::uint64_t kSplitsOfNumbers = 16;
/// The number of elements in each split of a plan without an end, likewise.
constexpr std::uint64_t kElementsWithoutEnd = 65'536;

/// A leaf of the parts, in one of its rounds.
struct leaf_round {
  const split_part* leaf = nullptr;
  std::uint64_t epoch = 0;  ///< of the repeats around it
  std::uint64_t round = 0;  ///< of a part without an end
};

void list_leaves(const split_part& p, std::uint64_t round, std::uint64_t epoch, bool is_trunk,
                 std::vector<leaf_round>& to) {
  if (p.is_leaf()) return to.push_back({&p, epoch, round});
  if (p.kind == split_part::sequence) {
    for (const split_part& input : p.inputs) list_leaves(input, 0, epoch, false, to);
    return;
  }
  auto nested = [](std::uint64_t outer, std::uint64_t inner) {
    return inner == 0 ? outer : outer == 0 ? inner : mix(outer) + inner;
  };
  const split_part& input = p.inputs[0];
  const cardinality inside = rounds_of(input);
  if (is_trunk) {
    const std::uint64_t per_epoch = inside.kind == cardinality::exact ? static_cast<std::uint64_t>(inside.elements) : 0;
    const std::uint64_t here = per_epoch ? round / per_epoch : 0;
    return list_leaves(input, per_epoch ? round % per_epoch : round, nested(epoch, here), true, to);
  }
  const auto epochs = static_cast<std::uint64_t>(epochs_of(*p.at).elements);
  for (std::uint64_t e = 0; e != epochs; ++e) list_leaves(input, 0, nested(epoch, e), false, to);
}

std::string path_in(const node& n) {
  struct paths final : part_visitor {
    std::string found;
    void path(const file_path& p) override { found = p.value; }
  } seen;
  visit_parts(n, seen);
  return seen.found;
}

std::uint64_t rounded_up(std::uint64_t a, std::uint64_t b) { return a / b + (a % b != 0); }

std::string quoted_item(std::string_view s) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : s) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') (out += '\\') += c;
    else if (u < 0x20 || u >= 0x7F) ((out += "\\x") += kHex[u >> 4]) += kHex[u & 15];
    else out += c;
  }
  return out + "\"";
}

/// Runs a list, and returns its elements as plan text. `names`: the same elements as they are, for names.
task<void> read_items(runtime* rt, node_ptr list, iterate_options how, std::vector<std::string>* items,
                      std::vector<std::string>* names) {
  any_stream in = open_run(*rt, list, how);
  const bool are_names = list->type == &type_of<std::string>();
  status why;
  for (;;) {
    demand d;
    d.elements = 1024;
    auto got = co_await in.try_next_block(d);
    if (!got.why.ok() || !got.view) {
      why = std::move(got.why);
      break;
    }
    for (std::uint32_t i = 0; i != got.view.size(); ++i) {
      const char* at = got.view.at(i);
      if (are_names) {
        names->push_back(*reinterpret_cast<const std::string*>(at));
        items->push_back(quoted_item(names->back()));
      } else {
        items->push_back(std::to_string(*reinterpret_cast<const std::int64_t*>(at)));
      }
    }
    if (items->size() <= kItemsMax) continue;
    why = resource_exhausted_error(absl::StrCat(stage_text(*list), ": more than ", kItemsMax,
                                                " items to open: a list of this length cannot be split by its items"));
    break;
  }
  auto end = cleanup(std::move(in));
  co_await end;
  if (!why.ok()) throw_status(why);
}

/// The sizes of files. A file that cannot be examined counts as 0 bytes: the run that reads it reports the reason.
task<void> read_sizes(runtime* rt, const std::vector<std::string>* names, std::vector<std::uint64_t>* sizes) {
  for (const std::string& name : *names) {
    auto looking = files_of(*rt).stat(name, io_deadline(*rt));
    auto info = co_await looking.as_result();
    sizes->push_back(info.ok() && info->has_size() ? info->size_bytes : 0);
  }
}

/// Counts the elements of a file without reading them.
task<std::uint64_t> count_elements_of(runtime* rt, node_ptr source) {
  constexpr std::uint64_t kStep = std::uint64_t{1} << 40;
  any_stream in = open_run(*rt, source);
  std::uint64_t all = 0;
  status why;
  for (;;) {
    demand d;
    d.skip = kStep - 1;
    auto got = co_await in.try_next_block(d);
    why = std::move(got.why);
    if (!why.ok() || !got.view) break;
    all += kStep - 1 + got.view.size();
  }
  // Of a file that fails, the run that reads it reports the reason.
  if (why.ok()) all += kStep - 1 - detail::engine_access::of(in).skip_left();
  auto end = cleanup(std::move(in));
  co_await end;
  co_return why.ok() ? all : 0;
}

/// Makes the splits of one round.
class splitter {
 public:
  splitter(const split_layout& layout, std::uint32_t stream, std::uint64_t round)
      : options_(layout.options), stream_(layout.streams[stream]), round_(round) {
    proto_.stream = stream;
    proto_.round = round;
  }

  std::vector<leaf_round> leaves() const {
    std::vector<leaf_round> all;
    const cardinality each = rounds_of(stream_.parts);
    const auto rounds = each.kind == cardinality::exact ? static_cast<std::uint64_t>(each.elements) : 0;
    if (rounds) list_leaves(stream_.parts, round_ % rounds, round_ / rounds, true, all);
    else list_leaves(stream_.parts, round_, 0, true, all);
    return all;
  }

  /// For the run that reads a list.
  iterate_options options_for(const leaf_round& l) const {
    iterate_options how;
    how.seed = seed_of(*l.leaf);
    how.epoch = epoch_of(l);
    return how;
  }

  void add_numbers(const leaf_round& l, std::uint64_t share) {
    const cardinality size = cardinality_of(*l.leaf->at);
    if (size.kind == cardinality::infinite) {
      const std::uint64_t each = elements_of_each(*l.leaf->at, kElementsWithoutEnd);
      return add(l, [&](plan_split& s) {
        s.first = l.round * each;
        s.elements = each;
      });
    }
    const auto all = static_cast<std::uint64_t>(size.elements);
    const std::uint64_t some = rounded_up(all, options_.splits ? share : kSplitsOfNumbers);
    const std::uint64_t each = std::max<std::uint64_t>(1, elements_of_each(*l.leaf->at, some));
    for (std::uint64_t first = 0; first < all; first += each)
      add(l, [&](plan_split& s) {
        s.first = first;
        s.elements = std::min(each, all - first);
      });
  }

  /// `sizes`: of the files with these names, for split_bytes.
  void add_items(const leaf_round& l, std::uint64_t share, const std::vector<std::string>& items,
                 const std::vector<std::uint64_t>& sizes) {
    std::uint64_t each = options_.split_elements ? options_.split_elements : 1;
    if (options_.splits) each = std::max<std::uint64_t>(1, rounded_up(items.size(), share));
    for (std::size_t from = 0; from != items.size();) {
      std::size_t to = from, text_bytes = 0;
      std::uint64_t bytes = 0;
      auto is_full = [&] {
        if (to == items.size() || text_bytes + items[to].size() > kItemsBytesMax) return true;
        return options_.split_bytes ? bytes >= options_.split_bytes : to - from == each;
      };
      do {
        text_bytes += items[to].size() + 2;
        bytes += to < sizes.size() ? sizes[to] : 0;
        ++to;
      } while (!is_full());
      add(l, [&](plan_split& s) {
        s.items.assign(items.begin() + static_cast<std::ptrdiff_t>(from),
                       items.begin() + static_cast<std::ptrdiff_t>(to));
      });
      from = to;
    }
  }

  /// Ranges of the elements of one file. `all`: their number; 0: unknown. `item`: the file, if it is one of several.
  void add_ranges(const leaf_round& l, std::uint64_t all, std::uint64_t bytes, std::uint64_t share,
                  const std::vector<std::string>& item = {}) {
    std::uint64_t each = std::max<std::uint64_t>(1, rounded_up(all, share));
    if (options_.split_bytes)
      each = std::max<std::uint64_t>(
          1, rounded_up(all, rounded_up(std::max<std::uint64_t>(1, bytes), options_.split_bytes)));
    if (options_.split_elements) each = options_.split_elements;
    std::uint64_t first = 0;
    do {
      const bool is_last = all - first <= each;  // it has no end, so that it reports the errors of the end of the file
      add(l, [&](plan_split& s) {
        s.items = item;
        s.first = first;
        if (!is_last) s.elements = each;
      });
      first += each;
    } while (first < all);
  }

  void add_whole(const leaf_round& l) {
    add(l, [](plan_split&) {});
  }

  /// Returns true if files of this number should be split into ranges of their elements.
  bool wants_ranges(const split_part& p, std::size_t files, std::uint64_t share) const {
    const bool wants_more = options_.split_bytes || options_.split_elements || (options_.splits && share > files);
    return wants_more && ranged_source(p) != nullptr;
  }

  bool wants_sizes() const { return options_.split_bytes != 0; }
  std::uint64_t share_of(std::size_t leaves) const {
    return std::max<std::uint64_t>(1, options_.splits / std::max<std::size_t>(1, leaves));
  }
  std::vector<plan_split> take() { return std::move(splits_); }

 private:
  std::uint64_t elements_of_each(const node& n, std::uint64_t otherwise) const {
    if (options_.split_elements) return options_.split_elements;
    if (options_.split_bytes)
      return std::max<std::uint64_t>(1, options_.split_bytes / std::max<std::size_t>(1, n.type->size));
    return otherwise;
  }

  /// Lists under several inputs have the same sites, and must not draw alike.
  std::uint64_t seed_of(const split_part& leaf) const {
    const bool draws_apart = leaf.is_beside && (leaf.draws || stream_.draws_by_split);
    return draws_apart ? derive(derive(options_.seed, proto_.stream + std::uint64_t{1}), leaf.leaf) : options_.seed;
  }
  std::uint64_t epoch_of(const leaf_round& l) const {
    if (options_.epoch == 0) return l.epoch;
    return l.epoch == 0 ? options_.epoch : mix(options_.epoch) + l.epoch;
  }

  template <class F> void add(const leaf_round& l, F set) {
    if (splits_.size() == kSplitsMax)
      throw error(resource_exhausted_error(absl::StrCat("splits: a round has more than ", kSplitsMax,
                                                        " splits; give each of them more elements or bytes")));
    plan_split s = proto_;
    s.part = l.leaf->leaf;
    s.number = splits_.size();
    s.seed = seed_of(*l.leaf);
    s.epoch = epoch_of(l);
    // The draws of an epoch that no other split has. The only split of a round draws as the plan does.
    if (stream_.draws_by_split && s.number + round_ != 0) s.epoch = mix(mix(s.epoch + 1) + round_) + s.number;
    set(s);
    splits_.push_back(std::move(s));
  }

  const split_options& options_;
  const stream_layout& stream_;
  const std::uint64_t round_;
  plan_split proto_;
  std::vector<plan_split> splits_;
};

}  // namespace

namespace {

/// The splits of a list of items.
task<void> add_items(runtime* rt, splitter* to, leaf_round l, std::uint64_t share) {
  std::vector<std::string> items, names;
  std::vector<std::uint64_t> sizes;
  auto reading = read_items(rt, l.leaf->at, to->options_for(l), &items, &names);
  co_await reading;
  if (to->wants_sizes()) {
    auto looking = read_sizes(rt, &names, &sizes);
    co_await looking;
  }
  if (names.empty() || !to->wants_ranges(*l.leaf, names.size(), share)) {
    to->add_items(l, share, items, sizes);
    co_return;
  }
  const node_ptr source = ranged_source(*l.leaf);
  for (std::size_t i = 0; i != names.size(); ++i) {
    const std::uint64_t bytes = i < sizes.size() ? sizes[i] : 0;
    auto counting = count_elements_of(rt, with_path(source, names[i]));
    const std::uint64_t all = co_await counting;
    to->add_ranges(l, all, bytes, rounded_up(share, names.size()), {items[i]});
  }
}

/// The splits of one file.
task<void> add_file(runtime* rt, splitter* to, leaf_round l, std::uint64_t share) {
  if (!to->wants_ranges(*l.leaf, 1, share)) {
    to->add_whole(l);
    co_return;
  }
  const std::vector<std::string> names = {path_in(*l.leaf->at)};
  std::vector<std::uint64_t> sizes;
  auto looking = read_sizes(rt, &names, &sizes);
  co_await looking;
  auto counting = count_elements_of(rt, l.leaf->at);
  const std::uint64_t all = co_await counting;
  to->add_ranges(l, all, sizes[0], share);
}

}  // namespace

task<std::vector<plan_split>> list_splits(runtime& rt, std::shared_ptr<const split_layout> layout, std::uint32_t stream,
                                          std::uint64_t round) {
  splitter to(*layout, stream, round);
  const std::vector<leaf_round> leaves = to.leaves();
  const std::uint64_t share = to.share_of(leaves.size());
  for (const leaf_round& l : leaves) {
    if (l.leaf->kind == split_part::numbers) {
      to.add_numbers(l, share);
    } else if (l.leaf->kind == split_part::items) {
      auto adding = add_items(&rt, &to, l, share);
      co_await adding;
    } else if (l.leaf->kind == split_part::file) {
      auto adding = add_file(&rt, &to, l, share);
      co_await adding;
    } else {
      to.add_whole(l);
    }
  }
  co_return to.take();
}

}  // namespace sluice::lib
