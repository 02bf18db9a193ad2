// SPDX-License-Identifier: Apache-2.0
#include "engine/held/state_box.hpp"

#include "sluice/engine/detail/state_functions.hpp"

namespace sluice::lib {
namespace {

/// A state that is destroyed with its scope.
class scoped_state {
 public:
  explicit scoped_state(const state_function& f) : function_(f), state_(f.make()) {}
  scoped_state(const scoped_state&) = delete;
  ~scoped_state() { function_.destroy(state_); }
  void* get() const { return state_; }

 private:
  const state_function& function_;
  void* state_;
};

status other_version(std::string_view label, std::uint64_t version, const state_function& f) {
  return failed_precondition_error(std::string(label) + ": the checkpoint holds the function's state in version " +
                                   std::to_string(version) + ", and this program reads versions " +
                                   std::to_string(f.state_version_oldest) + " to " + std::to_string(f.state_version) +
                                   "; resume it with the program that wrote it");
}

constexpr std::string_view kHex = "0123456789abcdef";

std::string in_hex(std::string_view bytes) {
  std::string text;
  for (char c : bytes) {
    auto byte = static_cast<unsigned char>(c);
    text += kHex[byte >> 4];
    text += kHex[byte & 15];
  }
  return text;
}

/// Returns false if the text is not hexadecimal.
bool from_hex(std::string_view text, std::string& bytes) {
  if (text.size() % 2) return false;
  for (std::size_t i = 0; i != text.size(); i += 2) {
    std::size_t high = kHex.find(text[i]), low = kHex.find(text[i + 1]);
    if (high == kHex.npos || low == kHex.npos) return false;
    bytes += static_cast<char>(high << 4 | low);
  }
  return true;
}

}  // namespace

std::string state_too_large(std::size_t bytes) {
  return "the function's state takes " + std::to_string(bytes) + " bytes in a checkpoint, and the limit is " +
         std::to_string(kStateBytesMax) +
         "; keep counts, sums or a few elements in it, and the elements themselves in a window, a batch "
         "or a file";
}

std::string saved_state(const state_function& f, const void* state) {
  position_writer w;
  w.number(f.state_version);
  f.save(state, w);
  return w.bytes();
}

void load_state(const state_function& f, void* state, position_reader& r, std::string_view bytes,
                std::string_view label) {
  position_reader head(bytes);
  std::uint64_t version = head.number();
  if (head.ok() && (version > f.state_version || version < f.state_version_oldest))
    return r.refuse(other_version(label, version, f));
  position_reader body(head.remaining(), static_cast<std::uint32_t>(version));
  if (head.ok()) f.load(state, body);
  if (!body.why().ok()) r.refuse(body.why());
  if (!head.ok() || !body.ok() || !body.done()) r.fail();
}

void load_initial_state(const state_function& f, void* state, std::string_view initial_state, std::string_view label) {
  if (initial_state.empty()) return;
  std::string bytes;
  from_hex(initial_state, bytes);
  position_reader r({});
  load_state(f, state, r, bytes, label);
}

status finish_state(const state_function& f, const function_ptr& finish, void* state, void* to) {
  if (!finish) {
    f.move_state(state, to);
    return {};
  }
  block last(nullptr, f.state_type, static_cast<char*>(state), 1);
  return static_cast<const block_function&>(*finish).apply(last, to, {}).why;
}

namespace detail {

std::string initial_state_text(const state_function& f, const void* state, const void* begun) {
  std::string bytes = saved_state(f, state);
  return bytes == saved_state(f, begun) ? std::string() : in_hex(bytes);
}

}  // namespace detail

std::string initial_state_mistake(const state_function& f, std::string_view initial_state) {
  if (initial_state.empty()) return {};
  std::string bytes;
  if (!from_hex(initial_state, bytes)) return "initial_state is not hexadecimal";
  if (bytes.size() > kStateBytesMax) return state_too_large(bytes.size());
  scoped_state state(f);
  position_reader r({});
  load_state(f, state.get(), r, bytes, "initial_state");
  if (!r.why().ok()) return "initial_state was written by another version of its function's state";
  return r.ok() ? "" : "initial_state is no state of its function";
}

std::string initial_mistake(const initial_value& initial, const stage_function& f) {
  if (!initial.value || f.is_expression) return {};
  return "initial goes with an expression, as in scan(0, state + it); the state of a registered function begins as its "
         "type does, or as initial_state says";
}

void check_can_undo(const state_function& f, const error_gate& gate) {
  if (!gate.skips() || !f.can_fail || f.can_undo) return;
  throw_status(gate.located(invalid_argument_error(
      "error_policy::skip drops an element whose call fails, and so has to copy the function's state before each "
      "element; this state cannot be copied: make it copyable, or the function noexcept")));
}

state_box::state_box(function_ptr f, std::string_view initial_state, std::shared_ptr<run_context> run,
                     const error_gate& gate)
    : function_(std::move(f)), state_(function().make()), label_(gate.label()) {
  load_initial_state(function(), state_, initial_state, label_);
  if (function().owns_memory)
    memory_ = std::make_unique<held_memory>(std::move(run), gate.line(purpose::state), label_, "the function's state",
                                            "store less in it, or use fewer states at once");
}

state_box::~state_box() {
  if (state_) function().destroy(state_);
}

void state_box::save(position_writer& w) const {
  std::string bytes = saved_state(function(), state_);
  if (bytes.size() > kStateBytesMax)
    throw_status(resource_exhausted_error(state_too_large(bytes.size())).in_stage(label_));
  w.text(bytes);
}

void state_box::load(position_reader& r) { load_state(function(), state_, r, r.text(), label_); }

status state_box::charge_now() {
  std::size_t now = function().owned_bytes(state_);
  return memory_->change(now, measure_.measured(now));
}

}  // namespace sluice::lib
