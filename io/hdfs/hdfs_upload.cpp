// SPDX-License-Identifier: Apache-2.0
#include "io/hdfs/hdfs_upload.hpp"

#include <sys/random.h>

#include <cerrno>

#include "io/hdfs/hdfs_status.hpp"
#include "io/http/messages/http_text.hpp"
#include "io/stores/digest.hpp"

namespace sluice::lib::detail {
namespace {

/// The limit of a temporary name. HDFS allows 255 bytes by default.
constexpr std::size_t kNameBytesMax = 200;
/// Additional attempts. A data node that dies during an append retains the file for another minute; four more attempts
/// outlast it.
constexpr std::uint32_t kAttemptsMore = 4;

/// Returns a hidden name in the folder of `path`, so that no folder with other rules lies between the two, and no
/// pattern matches it. Two processes that write the same file, perhaps with the same seed, get different names.
result<std::string> other_name(const std::string& path) {
  std::string number(16, '\0');
  if (::getrandom(number.data(), number.size(), 0) != static_cast<ssize_t>(number.size()))
    return errno_error(errno, "cannot draw a name for the file until it is whole");
  const std::size_t name = path.rfind('/') + 1;
  std::string kept = path.substr(name);
  if (kept.size() > kNameBytesMax) kept = "long";
  return joined(path.substr(0, name), ".", kept, ".sluice-", hexadecimal(number));
}

/// Returns a failure if the file was not renamed. HttpFS refuses to replace a file, and reports this in the body of a
/// good answer.
std::optional<http_failure> was_renamed(const http_answer& answer) {
  auto tree = parse_json(answer.body);
  if (!tree.ok() || tree->at("boolean") != "false") return {};
  return http_failure{
      .why = failed_precondition_error(
          "the server does not give the file its name: something has it, and this server cannot replace it")};
}

}  // namespace

hdfs_place hdfs_upload::place_of(const store_upload& upload) const {
  hdfs_place place = target_;
  place.path = upload.id;
  return place;
}

task<> hdfs_upload::create(hdfs_place at, std::span<const char> bytes, time_point deadline) {
  http_request r;
  r.method = "PUT";
  r.to.target = webhdfs_target({"PUT", at.path, "CREATE", {{"overwrite", "true"}}});
  r.body = bytes;
  call_options how;
  how.of = {at.text, "write"};
  how.deadline = deadline;
  auto service = std::make_shared<data_node_service>(at);
  auto asking = http_call(at.servers, std::move(service), std::move(r), std::move(how));
  co_await asking;
}

task<> hdfs_upload::append(hdfs_place at, std::uint64_t from, std::string what, std::span<const char> bytes,
                           time_point deadline) {
  http_request r;
  r.method = "POST";
  r.to.target = webhdfs_target({"POST", at.path, "APPEND"});
  r.body = bytes;
  r.on_new_connection = true;
  call_options how;
  how.of = {at.text, std::move(what)};
  how.attempts_max = at.servers->context().options.attempts_max + kAttemptsMore;
  how.deadline = deadline;
  auto service = std::make_shared<hdfs_appending>(at, from);
  auto asking = http_call(at.servers, std::move(service), std::move(r), std::move(how));
  co_await asking;
}

task<> hdfs_upload::rename(hdfs_place from, hdfs_entry written, time_point deadline) {
  hdfs_question q{"PUT", from.path, "RENAME", {{"destination", target_.path}, {"renameoptions", "OVERWRITE"}}};
  call_options how;
  how.of = {target_.text, "end of the write"};
  how.deadline = deadline;
  how.check = was_renamed;
  auto asking = ask_name_node(from.servers, from.nodes, std::move(q), std::move(how));
  auto answer = co_await asking.as_result();
  if (answer.ok()) co_return;
  // An earlier attempt whose answer was lost may have renamed the file, and this one then finds no such file. HttpFS
  // reports only that nothing was renamed.
  const status_code why = answer.why().code();
  if (why != status_code::not_found && why != status_code::failed_precondition) co_await fail(answer.why());
  auto looking = look_up_hdfs(target_, deadline);
  auto now = co_await looking.as_result();
  if (!now.ok() || now->info != written.info) co_await fail(answer.why());
}

task<file_info> hdfs_upload::put(store_path path, std::span<const char> bytes, time_point deadline) {
  auto beginning = begin_upload(std::move(path), deadline);
  store_upload upload = co_await beginning;
  auto finishing = finish_upload(std::move(upload), bytes, deadline);
  co_return co_await finishing;
}

task<store_upload> hdfs_upload::begin_upload(store_path path, time_point) {
  auto name = other_name(target_.path);
  if (!name.ok()) co_await fail(name.why().in_file(target_.text));
  store_upload upload;
  upload.id = *std::move(name);
  upload.to = std::move(path);
  co_return upload;
}

task<std::string> hdfs_upload::put_part(const store_upload& to, std::size_t number, std::span<const char> bytes,
                                        time_point deadline) {
  if (number == 1) {
    auto creating = create(place_of(to), bytes, deadline);
    co_await creating;
  } else {
    auto appending = append(place_of(to), to.bytes, joined("part ", number), bytes, deadline);
    co_await appending;
  }
  co_return std::string();
}

task<file_info> hdfs_upload::finish_upload(store_upload upload, std::span<const char> last, time_point deadline) {
  if (upload.tags.empty() || !last.empty()) {
    auto writing = put_part(upload, upload.tags.size() + 1, last, deadline);
    co_await writing;
  }
  const hdfs_place place = place_of(upload);
  const std::uint64_t bytes = upload.bytes + last.size();
  auto looking = look_up_hdfs(place, deadline);
  const hdfs_entry written = co_await looking;
  if (written.info.size_bytes != bytes)
    co_await fail(data_loss_error(joined("the server has stored other bytes than were sent: ", written.info.size_bytes,
                                         " of ", bytes, " bytes; write it again"))
                      .in_file(target_.text));
  auto renaming = rename(place, written, deadline);
  co_await renaming;
  co_return written.info;
}

task<> hdfs_upload::abort_upload(store_upload upload, time_point deadline) {
  hdfs_question q{"DELETE", upload.id, "DELETE"};
  call_options how;
  how.of = {target_.text, "end of a write that was given up"};
  how.deadline = deadline;
  auto asking = ask_name_node(target_.servers, target_.nodes, std::move(q), std::move(how));
  co_await asking;
}

}  // namespace sluice::lib::detail
