// SPDX-License-Identifier: Apache-2.0
#include "io/hdfs/data_node_service.hpp"

#include <utility>
#include <vector>

#include "io/hdfs/hdfs_status.hpp"
#include "io/http/messages/http_text.hpp"

namespace sluice::lib::detail {
namespace {

constexpr std::size_t kPlaceBytesMax = 1 << 20;

/// Returns true for a redirect or JSON, both of which name the data node.
bool is_place(const response_head& head) { return head.code == 200 || head.is_redirect(); }

/// Returns true for an error of this data node's disks. Another data node may have the block.
bool is_of_its_disks(const hdfs_exception& e) { return e.name == "IOException" || e.name == "BlockMissingException"; }

/// Returns the offset of a requested range, as ask_for_range writes it; 0 if the target has none.
std::uint64_t offset_in(std::string_view target) {
  constexpr std::string_view kName = "&offset=";
  std::uint64_t offset = 0;
  const std::size_t at = target.find(kName);
  if (at == target.npos) return 0;
  const std::string_view digits = target.substr(at + kName.size());
  return parse_digits(digits.substr(0, digits.find('&')), offset) ? offset : 0;
}

}  // namespace

task<hdfs_entry> look_up_hdfs(hdfs_place of, time_point deadline) {
  call_options how;
  how.of = {of.text, "look-up"};
  how.deadline = deadline;
  hdfs_question question{"GET", of.path, "GETFILESTATUS"};
  auto asking = ask_name_node(of.servers, of.nodes, std::move(question), std::move(how));
  const http_answer answer = co_await asking;
  auto entry = parse_hdfs_status(answer.body);
  if (!entry.ok()) co_await fail(entry.why().in_file(of.text));
  co_return *std::move(entry);
}

std::string data_node_service::excluded() {
  mutex_lock lock(mutex_);
  std::string names;
  for (const auto& [address, name] : lost_) names += joined(names.empty() ? "" : ",", name);
  return names;
}

task<> data_node_service::name_lost(std::uint64_t byte, time_point deadline) {
  std::vector<std::string> unnamed;
  {
    mutex_lock lock(mutex_);
    for (const auto& [address, name] : lost_)
      if (name.empty()) unnamed.push_back(address);
  }
  if (unnamed.empty()) co_return;
  call_options how;
  how.of = {place_.text, "places of a block"};
  how.deadline = deadline;
  how.answer_bytes_max = kPlaceBytesMax;
  how.attempts_max = 1;
  hdfs_question question{
      "GET", place_.path, "GET_BLOCK_LOCATIONS", {{"offset", std::to_string(byte)}, {"length", "1"}}};
  auto asking = ask_name_node(place_.servers, place_.nodes, std::move(question), std::move(how));
  auto answer = co_await asking.as_result();
  std::vector<hdfs_location> all;
  if (answer.ok()) all = parse_hdfs_locations(answer->body);
  mutex_lock lock(mutex_);
  for (const std::string& address : unnamed) {
    std::string name = address.substr(0, address.rfind(':'));  // gateways do not report addresses, and accept hosts
    for (const hdfs_location& l : all)
      if (l.has(address)) name = l.of_blocks;
    if (auto lost = lost_.find(address); lost != lost_.end()) lost->second = std::move(name);
  }
}

task<http_url> data_node_service::find_node(std::string method, std::string target, time_point deadline) {
  for (std::string without = excluded();; without.clear()) {
    http_request r;
    r.method = method;
    r.to.target = target;
    r.add_query("noredirect", "true");
    if (!without.empty()) r.add_query("excludedatanodes", without);
    call_options how;
    how.of = {place_.text, "place of the bytes"};
    how.deadline = deadline;
    how.is_answer = is_place;
    how.answer_bytes_max = kPlaceBytesMax;
    how.attempts_max = without.empty() ? 0 : 1;
    const std::size_t active = place_.nodes->active();
    asked_.store(active, std::memory_order_relaxed);
    const http_url from = place_.nodes->all()[active];
    auto asking = ask_name_node(place_.servers, place_.nodes, std::move(r), std::move(how));
    auto answer = co_await asking.as_result();
    if (!answer.ok() && !without.empty() && answer.why().code() == status_code::unavailable) {
      mutex_lock lock(mutex_);  // every data node with these bytes was excluded
      lost_.clear();
      continue;
    }
    if (!answer.ok()) co_await fail(answer.why());
    auto place = parse_hdfs_place(from, answer->head, answer->body);
    if (!place.ok()) co_await fail(place.why());
    mutex_lock lock(mutex_);
    if (lost_.count(place->address()) != 0) lost_.clear();  // the name node has ignored the exclusion
    co_return *std::move(place);
  }
}

task<> data_node_service::send_to_node(http_request& request, std::uint64_t byte, time_point deadline) {
  auto naming = name_lost(byte, deadline);
  co_await naming;
  auto finding = find_node(request.method, std::move(request.to.target), deadline);
  request.to = co_await finding;
  request.fields.clear();  // fields for the name node
  if (request.method == "GET") request.set("Accept-Encoding", "identity");
  else request.set("Content-Type", "application/octet-stream");
}

task<> data_node_service::sign(http_request& request, time_point deadline) {
  return send_to_node(request, offset_in(request.to.target), deadline);
}

std::optional<http_failure> data_node_service::explain(const http_request& sent, const response_head& head,
                                                       std::string_view body) {
  hdfs_asked asked{"data node", sent.to.address(), place_.nodes->who().words()};
  http_failure f = hdfs_failure(head, body, asked);
  f.why = status(f.why.code(), place_.nodes->without_secrets(std::string(f.why.message())));
  const hdfs_exception e = parse_hdfs_exception(body);
  if (is_of_its_disks(e)) unanswered(sent);
  if (is_standby(e)) {  // some name nodes in standby name a data node, which then reports the standby
    place_.nodes->leave(asked_.load(std::memory_order_relaxed));
    f.at_once = place_.nodes->all().size() > 1;
  }
  return f;
}

void data_node_service::unanswered(const http_request& sent) {
  mutex_lock lock(mutex_);
  lost_.emplace(sent.to.address(), "");
}

void hdfs_reading::ask_for_range(byte_range range, http_request& request) const {
  request.add_query("offset", std::to_string(range.first));
  request.add_query("length", std::to_string(range.bytes()));
}

std::optional<response_head> hdfs_reading::as_range(const response_head& head, byte_range range,
                                                    const object_pin& pin) const {
  if (head.code != 200) return {};
  response_head partial = head;
  partial.code = 206;
  content_range& got = partial.range.emplace();
  got.first = range.first;
  got.last = range.last;
  got.total = pin.size_bytes;
  return partial;
}

task<> hdfs_reading::confirm(object_pin pin, time_point deadline) {
  auto looking = look_up_hdfs(place_, deadline);
  const hdfs_entry now = co_await looking;
  if (now.what == hdfs_entry::type::file && now.info.version == pin.version && now.info.size_bytes == pin.size_bytes)
    co_return;
  co_await fail(failed_precondition_error(joined("the object has changed since it was opened: its version was ",
                                                 pin.version, " of ", pin.size_bytes, " bytes, and is ",
                                                 now.info.version, " of ", now.info.size_bytes)));
}

task<> hdfs_appending::sign(http_request& request, time_point deadline) {
  if (was_sent_) {
    // Some bytes of the piece may have arrived. Only the file's length shows how many.
    auto looking = look_up_hdfs(place_, deadline);
    const hdfs_entry now = co_await looking;
    const std::uint64_t had = now.info.size_bytes;
    if (had < at_ || had > at_ + request.body.size())
      co_await fail(data_loss_error(joined("the file that is being written has ", had, " bytes, and was to have ", at_,
                                           " to ", at_ + request.body.size(), ": write it again")));
    request.body = request.body.subspan(static_cast<std::size_t>(had - at_));
  }
  was_sent_ = true;
  auto sending = send_to_node(request, at_ == 0 ? 0 : at_ - 1, deadline);
  co_await sending;
}

}  // namespace sluice::lib::detail
