// SPDX-License-Identifier: Apache-2.0
// The workers of this process, so that consumers in it read their splits without messages.
//
//   local_workers::add(link, "127.0.0.1:4000", host);                 // when the worker starts
//   std::shared_ptr<worker_host> w = local_workers::find(link, "127.0.0.1:4000");   // null: it is in another process
//
// A worker and a consumer are together if they have the same transport, that is the same runtime, and the same dispatcher.
// Thread: any.
#pragma once

#include <memory>
#include <string>

namespace sluice::lib {

class service_link;
class worker_host;

struct local_workers {
  static void add(const service_link& link, const std::string& address, const std::shared_ptr<worker_host>& host);
  /// Returns null if the worker is unknown, or is being destroyed.
  static std::shared_ptr<worker_host> find(const service_link& link, const std::string& address);
  static void remove(const worker_host* host);
};

}  // namespace sluice::lib
