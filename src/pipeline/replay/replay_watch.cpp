// SPDX-License-Identifier: Apache-2.0
#include "pipeline/replay/replay_watch.hpp"

#include <algorithm>

#include "sluice/base/hash.hpp"
#include "sluice/coro/outlet.hpp"
#include "sluice/element/type.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib {
namespace {

/// The elements of a stage that are remembered: more than usual shuffles hold.
constexpr std::size_t kSeenMax = std::size_t{1} << 16;
constexpr std::size_t kSeenTextMax = 400;
/// Errors at the place of the element whose elements may arrive later at the end of the run, for example behind a batch.
constexpr std::size_t kCandidatesMax = 256;
constexpr std::size_t kStepsDepthMax = 256;

std::string shown_text(const std::string& text) {
  if (text.size() <= kSeenTextMax) return text;
  std::size_t end = kSeenTextMax;
  while (end != 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // not within a character
  return text.substr(0, end) + "… (" + std::to_string(text.size()) + " bytes)";
}

bool is_same_place(const provenance& a, const provenance& b) {
  return a.stage == b.stage && a.file == b.file && a.offset_bytes == b.offset_bytes &&
         a.record_index == b.record_index && a.element == b.element;
}
/// A reader that continues within a file does not know the number of the line.
std::string_view without_line(std::string_view message) {
  if (!message.starts_with("line ")) return message;
  const std::size_t digits = message.find_first_not_of("0123456789", 5);
  return digits != message.npos && digits > 5 && message.substr(digits).starts_with(": ") ? message.substr(digits + 2)
                                                                                          : message;
}
bool is_same_error(const status& a, const status& b) {
  return a.code() == b.code() && without_line(a.message()) == without_line(b.message()) &&
         is_same_place(a.where(), b.where());
}

/// Errors after which nothing of an input can be read.
bool loses_inputs(status_code code) {
  return code == status_code::not_found || code == status_code::permission_denied || code == status_code::unavailable ||
         code == status_code::deadline_exceeded;
}

/// Returns true if the stage delivers elements of its input, as a shuffle does.
bool forwards_elements(const site_record& site) {
  const std::string_view name = site.name();
  const op_info* op = find_op(name.substr(0, name.find('(')));
  return op && op->facts.always.forwards;
}

erased_stream watch_loop(outlet out, one_to_one, erased_stream in, std::shared_ptr<replay_watch> watch,
                         const site_record* site) {
  for (;;) {
    auto b = co_await in.next_block({0, 1, out.wanted_bytes()});
    if (!b) break;
    watch->left(*site, in.consumed() - b.size(), b);
    co_yield b;
  }
}

}  // namespace

erased_stream replay_watch::watched(erased_stream made, const site_record& site) {
  if (site.name() == bad_.why.where().stage) {
    mutex_lock lock(mutex_);
    readers_.insert(&site);
  }
  outlet out(made.type());
  return watch_loop(out, one_to_one{}, std::move(made), shared_from_this(), &site);
}

void replay_watch::left(const site_record& site, std::uint64_t ordinal, const block& one) {
  for (std::size_t i = 0; i != one.size(); ++i) {
    std::string text;
    print(one.type(), one.at(i), text);
    mutex_lock lock(mutex_);
    seen_element e{ordinal + i, stable_hash(text), elements_++, shown_text(text)};
    std::deque<seen_element>& seen = seen_[&site];
    if (seen.size() == kSeenMax) seen.pop_front();
    seen.push_back(std::move(e));
  }
  const std::uint64_t wanted = bad_.why.where().element;
  if (wanted == provenance::kUnknown || wanted >= ordinal + one.size()) return;
  replay_step step;
  {
    mutex_lock lock(mutex_);
    if (!is_input(site)) return;
    if (ordinal > wanted) has_passed_ = true;
    if (ordinal > wanted || !before_) return;
    const seen_element& entering = seen_[&site].back();
    step.stage = bad_.why.where().stage;
    step.entered_as = entering.ordinal;
    step.entered = entering.text;
  }
  before_(step);
}

bool replay_watch::is_input(const site_record& site) const {
  return std::any_of(readers_.begin(), readers_.end(), [&](const site_record* reader) {
    const std::vector<const site_record*> inputs = reader->inputs();
    return std::find(inputs.begin(), inputs.end(), &site) != inputs.end();
  });
}

bool replay_watch::has_passed() const {
  mutex_lock lock(mutex_);
  return has_passed_ || bad_.why.where().element == provenance::kUnknown;
}

bool replay_watch::is_place_of_bad(const status& why) const {
  const provenance &now = why.where(), &then = bad_.why.where();
  // A reader adds the place in the file after it has located the error.
  return now.stage == then.stage && now.element == then.element;
}

void replay_watch::failed(const site_record& site, const status& located) {
  if (!is_place_of_bad(located)) return;
  mutex_lock lock(mutex_);
  if (candidates_.size() == kCandidatesMax) candidates_.erase(candidates_.begin());
  candidates_.push_back({located, steps_to(site, located)});
}

status replay_watch::keep(const dropped_error& e) {
  mutex_lock lock(mutex_);
  if (!is_same_place(e.why.where(), bad_.why.where())) {
    if (lost_.ok() && loses_inputs(e.why.code())) lost_ = e.why;
    return {};
  }
  auto found = std::find_if(candidates_.begin(), candidates_.end(), [&](const failing& f) {
    return f.why.code() == e.why.code() && f.why.message() == e.why.message() &&
           f.why.where().element == e.why.where().element &&
           (f.why.where().offset_bytes == e.why.where().offset_bytes ||
            f.why.where().offset_bytes == provenance::kUnknown);
  });
  std::vector<replay_step> steps;
  if (found != candidates_.end()) {
    steps = std::move(found->steps);
    candidates_.erase(found);
  }
  const bool is_same = is_same_error(e.why, bad_.why) && (!e.bytes || bad_.bytes.empty() || *e.bytes == bad_.bytes);
  if (report_.has_failed && !is_same) return {};
  report_ = {true, is_same, e.why, std::move(steps)};
  return is_same ? cancelled_error("the element has failed again") : status();
}

replay_report replay_watch::report() const {
  mutex_lock lock(mutex_);
  return report_;
}

status replay_watch::lost() const {
  mutex_lock lock(mutex_);
  return lost_;
}

const replay_watch::seen_element* replay_watch::find_source(const site_record& site, const seen_element& made,
                                                            bool is_forwarded) const {
  const auto all = seen_.find(&site);
  if (all == seen_.end()) return nullptr;
  const seen_element* last = nullptr;
  for (auto e = all->second.rbegin(); e != all->second.rend(); ++e) {
    if (e->when >= made.when) continue;
    if (!last) last = &*e;
    if (!is_forwarded || e->digest == made.digest) return &*e;
  }
  return last;
}

void replay_watch::add_steps(const site_record& site, const seen_element& made, bool is_same, std::size_t depth,
                             std::vector<replay_step>& to) const {
  replay_step step;
  step.stage = site.name();
  step.left_as = made.ordinal;
  step.left = made.text;
  step.is_same = is_same;
  const bool forwards = forwards_elements(site);
  for (const site_record* in : site.inputs()) {
    const seen_element* entered = depth == kStepsDepthMax ? nullptr : find_source(*in, made, forwards);
    if (!entered) continue;
    add_steps(*in, *entered, !forwards || entered->digest == made.digest, depth + 1, to);
    step.entered_as = entered->ordinal;
    step.entered = entered->text;
  }
  to.push_back(std::move(step));
}

std::vector<replay_step> replay_watch::steps_to(const site_record& site, const status& why) const {
  std::vector<replay_step> steps;
  replay_step last;
  last.stage = why.where().stage;
  last.error = why.message();
  for (const site_record* in : site.inputs()) {
    const auto all = seen_.find(in);
    if (all == seen_.end() || all->second.empty()) continue;
    const auto own = std::find_if(all->second.rbegin(), all->second.rend(),
                                  [&](const seen_element& e) { return e.ordinal == why.where().element; });
    const seen_element& entered = own != all->second.rend() ? *own : all->second.back();
    add_steps(*in, entered, true, 0, steps);
    last.entered_as = entered.ordinal;
    last.entered = entered.text;
  }
  steps.push_back(std::move(last));
  return steps;
}

}  // namespace sluice::lib
