// SPDX-License-Identifier: Apache-2.0
#include "ahead/open_channel.hpp"

#include <utility>

#include "ahead/ordered_reader.hpp"
#include "ahead/unordered_reader.hpp"
#include "runtime/warm_channels.hpp"

namespace sluice::lib {

opened_channel open_channel(channel_memory memory, erased_stream in, const element_type& type,
                            channel_options options) {
  outlet out(type);
  std::shared_ptr<run_context> run = memory.run();
  opened_channel opened;
  if (options.order == order::sloppy) {
    opened.out = read_unordered(out, std::move(memory), std::move(in), std::move(options));
  } else {
    opened.link = std::make_shared<reader_link>(std::move(memory), std::move(in), type, std::move(options));
    opened.out = read_ahead(out, opened.link);
    if (run->to_warm) run->to_warm->add(opened.out.stage(), [link = opened.link] { link->start(); });
  }
  opened.out.set_environment(run.get());
  return opened;
}

}  // namespace sluice::lib
