// SPDX-License-Identifier: Apache-2.0
#include "engine/files/parsed_texts.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "ahead/open_channel.hpp"
#include "element/batches/blocks.hpp"
#include "engine/lowering/slot_rows.hpp"
#include "engine/lowering/types.hpp"
#include "sluice/base/assert.hpp"
#include "sluice/coro/demand.hpp"
#include "sluice/element/type_of.hpp"

namespace sluice::lib {
namespace {

/// A parser with the places of its errors.
struct located_parser {
  std::shared_ptr<const text_parser> parser;
  std::string path;
  error_gate gate;

  /// Elements are numbered from the start of the file, and each text is an element, so `ordinal` is the record's number.
  status located(const status& why, const cut_text& text, std::uint64_t ordinal) const {
    return gate.located(why.in_file(path, text.offset, ordinal));
  }
  applied append(const block& in, column& rows, std::uint64_t first) const {
    auto* texts = reinterpret_cast<const cut_text*>(in.data());
    applied a;
    a.done = parser->append(texts, in.size(), rows, a.why);
    if (!a.why.ok()) a.why = located(a.why, texts[a.done], first + a.done);
    return a;
  }
};

/// Returns how many of n texts are parsed before the size of the outputs is checked: those of so many bytes, at least one.
std::uint32_t texts_at_once(const cut_text* texts, std::uint32_t n, std::size_t bytes_max) {
  std::size_t bytes = 0;
  for (std::uint32_t i = 0; i != n; ++i) {
    bytes += texts[i].text.size();
    if (bytes > bytes_max) return std::max(i, 1u);
  }
  return n;
}

class parsing final : public slot_computation {
 public:
  parsing(const element_type& out, located_parser how)
      : how_(std::move(how)),
        most_here_(static_cast<std::uint32_t>(std::max<std::size_t>(1, demand::kBytes / out.size))) {}
  bool awaits() const override { return false; }
  task<void> compute(slot_supply& ring, ring_slot* slot) const override { return parse_slot(ring, slot, &how_); }
  block compute_here(outlet& out, block inputs, std::uint64_t first, status& why) const override {
    auto* texts = reinterpret_cast<const cut_text*>(inputs.data());
    char* to = out.room(inputs.size());
    const std::uint32_t done = how_.parser->parse(texts, inputs.size(), to, why);
    if (!why.ok()) why = how_.located(why, texts[done], first + done);
    return out.made(done);
  }
  /// The memory that outputs own is a small multiple of their texts, whose bytes the reader limits.
  std::uint32_t most_here() const override { return most_here_; }

 private:
  static constexpr std::size_t kBytesAtOnce = std::size_t{16} << 10;

  /// The loop of a parallel map (engine/lowering/mapped_stage.cpp) over texts.
  static task<void> parse_slot(slot_supply& ring, ring_slot* slot, const located_parser* how) {
    const element_type& out = slot->output.type();
    auto* texts = reinterpret_cast<const cut_text*>(slot->input.begin()) + slot->input_at;
    char* to = slot->output.reserve(slot->count);
    const bool is_sized = owns_bytes(out);  // the size of an output is unknown before it is made
    const std::size_t bytes_at_once = std::min<std::size_t>(kBytesAtOnce, ring.memory().block_bytes() / 4);
    std::size_t made_bytes = payload_bytes(slot->input);
    for (std::uint32_t done = 0; done < slot->count;) {
      std::uint32_t n = slot->count - done;
      if (is_sized) n = texts_at_once(texts + done, n, bytes_at_once);
      status why;
      const std::uint32_t made = how->parser->parse(texts + done, n, to, why);
      if (is_sized) made_bytes += made * out.size + (out.footprint ? out.footprint(out, to, made) : 0);
      done += made;
      slot->output.set_live(0, done);
      to += made * out.size;
      if (!why.ok()) {
        slot->why = how->located(why, texts[done], slot->first + done);
        break;
      }
      if (is_sized && done && done < slot->count && !ring.has_room(slot, made_bytes, made_bytes / done)) {
        ring.cut_short(slot, done);
        break;
      }
    }
    co_return;
  }

  const located_parser how_;
  const std::uint32_t most_here_;
};

/// Builds rows in columns (engine/lowering/mapped_rows.cpp does the same for functions).
class parsing_rows final : public slot_computation {
 public:
  parsing_rows(const element_type& row, located_parser how, std::shared_ptr<row_landing> landing)
      : row_(row), how_(std::move(how)), landing_(std::move(landing)) {}
  bool awaits() const override { return false; }
  task<void> compute(slot_supply& ring, ring_slot* slot) const override {
    slot_rows rows(ring, slot, row_, landing_->rows_of_batch);
    while (!rows.is_done()) {
      slot->why =
          rows.build([this](const block& in, column& to, std::uint64_t first) { return how_.append(in, to, first); });
      if (!slot->why.ok() || rows.is_cut_short()) break;
    }
    rows.finish_part();
    co_return;
  }
  std::uint32_t most_here() const override {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(kRowsAtOnceInSlots, landing_->at_once));
  }
  block compute_here(outlet& out, block inputs, std::uint64_t first, status& why) const override {
    auto append = [&](column& rows) { return how_.append(inputs, rows, first); };
    return rows_built_here(out, inputs, row_, *landing_, append, why);
  }

 private:
  const element_type& row_;
  const located_parser how_;
  const std::shared_ptr<row_landing> landing_;
};

/// Opens the stage that cuts, and the channel whose tasks compute. `options`: those besides knob and computation.
template <class Make>
erased_stream open_cut(const node& n, open_context& context, byte_source_options o,
                       std::shared_ptr<const element_format> cutter, std::shared_ptr<const text_parser> parser,
                       const knob& parallelism, const element_type& outputs, channel_options options,
                       Make computation) {
  error_gate gate = context.gate(n);
  SLUICE_REQUIRES(!gate.skips(), "a position would count dropped elements");
  std::string path = o.path;
  erased_stream texts = open_file_elements(n, context, std::move(o), std::move(cutter), type_of<cut_text>());
  texts.stage()->set_label(gate.label());
  texts.stage()->set_identity(identity_of(n));  // its record is that of the node
  channel_memory memory = context.memory_of(n, gate.label());
  memory.expect_inputs_in_buffers();
  options.follows = {&context.live(n, parallelism, context.tuned_parallelism()),
                     [](std::int64_t most) { return slot_supply::limits{static_cast<std::uint32_t>(most)}; }};
  options.direct_where_light = true;
  options.pump.computation = computation(located_parser{std::move(parser), std::move(path), gate});
  erased_stream out = open_channel(std::move(memory), std::move(texts), outputs, std::move(options)).out;
  out.stage()->stay_nameless();
  return out;
}

}  // namespace

void cut_text::sluice_destroy(cut_text* p, std::size_t n) noexcept {
  for (std::size_t i = 0; i != n;) {
    buffer* const owner = p[i].text.owner();
    const std::size_t from = i;
    while (i != n && p[i].text.owner() == owner) ++i;
    if (owner) owner->drop_references(static_cast<std::uint32_t>(i - from));
  }
}

std::size_t cut_text::sluice_footprint(const cut_text* p, std::size_t n) noexcept {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i != n; ++i) bytes += p[i].text.size();
  return bytes;
}

bool parses_ahead(const node& n, const open_context& context, const knob& parallelism) {
  if (parallelism.is_autotuned() && context.run->workers == 1) return false;
  return parallelism.value != 1 && !context.on_demand && !context.gate(n).skips();
}

std::uint32_t text_parser::append(const cut_text*, std::uint32_t, column&, status& why) const {
  why = internal_error("this parser makes elements, and no rows");
  return 0;
}

erased_stream open_parsed_texts(const node& n, open_context& context, byte_source_options o,
                                std::shared_ptr<const element_format> cutter, std::shared_ptr<const text_parser> parser,
                                const knob& parallelism) {
  return open_cut(n, context, std::move(o), std::move(cutter), std::move(parser), parallelism, *n.type, {},
                  [&](located_parser how) { return std::make_shared<parsing>(*n.type, std::move(how)); });
}

erased_stream open_parsed_rows(const node& n, open_context& context, byte_source_options o,
                               std::shared_ptr<const element_format> cutter, std::shared_ptr<const text_parser> parser,
                               const knob& parallelism, std::shared_ptr<row_landing> landing) {
  landing->is_ahead = true;
  channel_options options;
  options.group = landing->rows_of_batch;
  return open_cut(n, context, std::move(o), std::move(cutter), std::move(parser), parallelism, type_of<built_row>(),
                  std::move(options), [&](located_parser how) {
                    return std::make_shared<parsing_rows>(*n.type, std::move(how), std::move(landing));
                  });
}

}  // namespace sluice::lib
