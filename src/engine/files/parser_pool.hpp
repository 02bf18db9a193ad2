// SPDX-License-Identifier: Apache-2.0
// The parsers of a stage: one for each concurrent call. A parser is used again with what it has learned.
//
//   mutable parser_pool<example_parser> parsers_([schema] { return std::make_unique<example_parser>(schema); });
//   const parser_pool<example_parser>::lease parser(parsers_);      // parser->parse(…)
//
// Thread: any, at the same time; a leased parser belongs to its holder.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "sluice/base/mutex.hpp"

namespace sluice::lib {

template <class Parser> class parser_pool {
 public:
  explicit parser_pool(std::function<std::unique_ptr<Parser>()> make) : make_(std::move(make)) {}

  /// A parser for one call.
  class lease {
   public:
    explicit lease(parser_pool& from) : from_(from), parser_(from.take()) {}
    lease(const lease&) = delete;
    ~lease() { from_.put(std::move(parser_)); }
    Parser* operator->() const { return parser_.get(); }

   private:
    parser_pool& from_;
    std::unique_ptr<Parser> parser_;
  };

 private:
  std::unique_ptr<Parser> take() {
    mutex_lock lock(mutex_);
    if (idle_.empty()) {
      idle_.reserve(++made_);
      return make_();
    }
    auto parser = std::move(idle_.back());
    idle_.pop_back();
    return parser;
  }
  void put(std::unique_ptr<Parser> parser) {
    mutex_lock lock(mutex_);
    idle_.push_back(std::move(parser));  // has room for all
  }

  const std::function<std::unique_ptr<Parser>()> make_;
  mutex mutex_;
  std::vector<std::unique_ptr<Parser>> idle_ ABSL_GUARDED_BY(mutex_);
  std::size_t made_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace sluice::lib
