// SPDX-License-Identifier: Apache-2.0
#include "ahead/any_input.hpp"

#include <utility>

#include "ahead/open_channel.hpp"

namespace sluice::lib {
namespace {

/// The number of blocks that a channel buffers: one that the stage reads, and the next one.
constexpr std::uint32_t kBlocksAhead = 2;

}  // namespace

any_input::any_input(std::shared_ptr<run_context> run, channel_memory memory, std::size_t inputs)
    : run_(std::move(run)),
      memory_(std::move(memory)),
      signal_(std::make_shared<ready_signal>(run_)),
      sources_(inputs) {}

task<std::size_t> any_input::next(input_set& in, demand d) {
  for (;;) {
    std::uint64_t seen = signal_->count();  // read before the channels are checked
    bool some_wait = false;
    for (std::size_t k = 0; k != in.size(); ++k) {
      std::size_t i = (turn_ + k) % in.size();
      source& s = sources_[i];
      if (s.ended) continue;
      if (in[i].may_wait() && !s.channel) give_channel(in[i], s);
      if (in[i].may_wait()) {
        some_wait = true;
        continue;
      }
      turn_ = i + 1;
      bool more = co_await in[i].ready(d);
      s.ended = !more;
      co_return i;
    }
    if (!some_wait) co_return kNone;
    urge_one(in.size(), [this](std::size_t i) { return sources_[i].ended ? nullptr : sources_[i].channel.get(); });
    co_await signal_->changed_since(seen);
  }
}

void any_input::give_channel(erased_stream& in, source& s) {
  const element_type& type = in.type();
  channel_options options;
  options.limits = {kBlocksAhead};
  options.signal = signal_;
  opened_channel opened = open_channel(memory_, std::move(in), type, std::move(options));
  s.channel = std::move(opened.link);
  in = std::move(opened.out);
  in.may_go_back();
  s.channel->start();
}

}  // namespace sluice::lib
