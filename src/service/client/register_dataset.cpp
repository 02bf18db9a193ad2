// SPDX-License-Identifier: Apache-2.0
#include "sluice/service/register_dataset.hpp"

#include <absl/strings/str_cat.h>

#include <memory>
#include <utility>

#include "op/from_dataset_id/registered_plan.hpp"
#include "service/client/absolute_paths.hpp"
#include "service/client/sent_plan.hpp"
#include "service/client/service_link.hpp"
#include "sluice/coro/sync_wait.hpp"
#include "sluice/element/serialise.hpp"
#include "sluice/element/type_text.hpp"
#include "sluice/io/open_transport.hpp"
#include "sluice/op/distribute.hpp"
#include "sluice/plan/stage_plan.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib {
namespace {

constexpr std::chrono::nanoseconds kPlanPatience = std::chrono::seconds(5);

/// The whole plan, as written. A consumer's distribute cuts it by its own options.
dataset_info info_of_whole(const node& plan) {
  check_sends(plan);
  if (!can_serialise(*plan.type))
    throw error(invalid_argument_error(
        absl::StrCat("elements of ", type_text(*plan.type), " cannot be sent to another process")));
  std::string text = plan_text_with_absolute_paths(plan);
  const std::uint64_t fingerprint_there = fingerprint(*parse_plan(text));
  dataset_info info = info_of_plan(std::move(text), *plan.type, fingerprint_there);
  if (const cardinality size = cardinality_of(plan); size.kind == cardinality::exact)
    info.cardinality = static_cast<std::uint64_t>(size.elements);
  return info;
}

task<dataset_info> find_dataset(std::shared_ptr<message_transport> transport, std::string address, std::string id,
                                std::chrono::nanoseconds patience) {
  service_link link(std::move(transport), std::move(address), patience);
  auto asking = link.ask(get_dataset_request{.dataset = std::move(id)});
  result<get_dataset_reply> reply = co_await asking;
  if (!reply.ok()) {
    status why = reply.why();
    co_await fail(std::move(why));
  }
  dataset_info info = std::move(reply->info);
  co_return std::move(info);
}

}  // namespace

node_ptr registered_plan(const std::string& address, const std::string& dataset_id, const distribute_options& o) {
  dataset_info info;
  try {
    runtime_options small;
    small.workers = 1;
    runtime rt(small);
    const auto patience = o.patience.is_given() ? std::chrono::nanoseconds(o.patience.value) : kPlanPatience;
    info = sync_wait(rt, find_dataset(transport_of(rt), address, dataset_id, patience));
  } catch (const error& e) { throw error(e.why().in_file(address)); }
  node_ptr plan;
  try {
    plan = plan_of_dataset(info, "this program");
  } catch (const error& e) {
    throw error(failed_precondition_error(absl::StrCat("dataset '", dataset_id, "': ", std::string(e.why().message())))
                    .in_file(address));
  }
  return make_stage(distribute_op, arguments::of(distribute_arguments{address, o}), plan);
}

task<std::string> detail::register_plan(runtime& rt, std::string address, node_ptr plan, std::string dataset_id,
                                        std::chrono::nanoseconds patience) {
  dataset_info info = info_of_whole(*plan);
  service_link link(transport_of(rt), std::move(address), patience);
  auto asking = link.ask(register_dataset_request{.dataset = std::move(dataset_id), .info = std::move(info)});
  result<register_dataset_reply> reply = co_await asking;
  if (!reply.ok()) {
    status why = reply.why();
    co_await fail(std::move(why));
  }
  std::string id = std::move(reply->dataset);
  co_return std::move(id);
}

task<std::string> register_dataset(runtime& rt, std::string address, const plan_holder& dataset, std::string dataset_id,
                                   std::chrono::nanoseconds patience) {
  return detail::register_plan(rt, std::move(address), dataset.plan(), std::move(dataset_id), patience);
}

}  // namespace sluice::lib
