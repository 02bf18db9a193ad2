// SPDX-License-Identifier: Apache-2.0
#include "io/gcs/gcs_store.hpp"

#include "io/http/messages/dates.hpp"
#include "io/http/messages/http_text.hpp"
#include "io/http/messages/whole_checksum.hpp"
#include "io/s3/s3_store.hpp"
#include "io/stores/store_file_system.hpp"
#include "io/stores/stored_crc32c.hpp"
#include "sluice/base/crc32c.hpp"
#include "sluice/io/files.hpp"

namespace sluice::lib::detail {
namespace {

constexpr std::string_view kGoogle = "https://storage.googleapis.com";
/// The scheme of an emulator, which is given as host:port.
constexpr std::string_view kPlain = "http://";
constexpr std::string_view kOfObject = "fields=size,generation,updated,crc32c";

std::string of_bucket(std::string_view before, const store_path& path) {
  return joined(before, "storage/v1/b/", percent_encoded(path.bucket), "/o");
}
std::string of_object(const store_path& path) { return joined(of_bucket("/", path), "/", percent_encoded(path.key)); }

/// Returns true for 308, the answer to a piece of an upload, and for 200, the answer to the last one.
bool is_piece_taken(const response_head& head) { return head.code == 308 || head.code == 200 || head.code == 201; }
/// Returns true for any code below 500: the answer to a deleted upload is 499, "client closed request".
bool is_gone(const response_head& head) { return head.code < 500; }

/// Returns true for the answers to a conditional write: 412 if another version is there.
bool is_answer_to_condition(const response_head& head) { return head.code / 100 == 2 || head.code == 412; }
bool is_answer_to_removal(const response_head& head) { return head.code / 100 == 2 || head.code == 404; }

/// Returns the number of bytes that the server has, from "bytes=0-99".
std::uint64_t bytes_taken(const response_head& head) {
  const std::string_view range = head.field("range");
  const std::size_t dash = range.rfind('-');
  std::uint64_t last = 0;
  if (dash == std::string_view::npos || !parse_digits(range.substr(dash + 1), last)) return 0;
  return last + 1;
}

/// Returns the offset at which an upload continues after the bytes from `at` to `end` were sent. The server may have
/// accepted fewer and reports their number.
result<std::uint64_t> taken_of(const http_answer& answer, std::uint64_t at, std::uint64_t end, std::string_view what) {
  const std::uint64_t taken = bytes_taken(answer.head);
  if (answer.head.code == 308 && taken > at && taken <= end) return taken;
  return data_loss_error(joined("the answer to ", what, " says that the server has ", taken, " of ", end, " bytes"));
}

/// Returns true if the server may have carried out a request whose answer was lost.
bool may_be_done(status_code code) {
  return code == status_code::unavailable || code == status_code::not_found || code == status_code::out_of_range ||
         code == status_code::invalid_argument || code == status_code::failed_precondition;
}

/// Returns the written file from the answer. Errors: data_loss: the answer differs from the bytes sent.
result<file_info> written(const http_answer& answer, std::uint64_t bytes, std::uint32_t crc32c) {
  auto object = parse_json(answer.body);
  if (!object.ok()) return object.why();
  auto info = parse_gcs_object(*object);
  if (!info.ok()) return info.why();
  auto reply = stored_crc32c(object->at("crc32c"));
  if (info->size_bytes != bytes || (reply && *reply != crc32c))
    return data_loss_error(joined("the server has stored other bytes than were sent: ", info->size_bytes, " of ", bytes,
                                  " bytes; write it again"));
  return info;
}

}  // namespace

status check_gcs_options(const gcs_options& o) {
  if (o.hmac_access_id.empty() != o.hmac_secret.empty())
    return invalid_argument_error("gcs_options: hmac_access_id and hmac_secret go together, and one is missing");
  const int ways = (o.anonymous ? 1 : 0) + (o.credentials_file.empty() ? 0 : 1) + (o.access_token.empty() ? 0 : 1) +
                   (o.hmac_access_id.empty() ? 0 : 1);
  if (ways > 1)
    return invalid_argument_error(
        "gcs_options: only one of anonymous, credentials_file, access_token and keys of HMAC");
  if (o.endpoint.empty()) return {};
  auto url = parse_endpoint(o.endpoint, "gcs_options::endpoint", kPlain);
  return url.ok() ? status() : url.why();
}

result<file_info> parse_gcs_object(const answer_tree& object) {
  file_info info;
  if (!parse_digits(object.at("size"), info.size_bytes))
    return data_loss_error(joined("the answer has the object's size \"", object.at("size"), "\""));
  info.version = object.at("generation");
  info.modified_ns = iso_time_in_seconds(object.at("updated"));
  return info;
}

gcs_store::gcs_store(clock& time, network_maker connect, gcs_options options, std::uint64_t seed, surroundings around)
    : options_(std::move(options)),
      around_(std::move(around)),
      client_(time, std::move(connect), options_.http, seed) {}

result<gcs_store::place> gcs_store::find_place() {
  mutex_lock lock(mutex_);
  if (!service_) {
    const std::string emulator = options_.endpoint.empty() ? around_.text("STORAGE_EMULATOR_HOST") : options_.endpoint;
    auto url = parse_endpoint(emulator.empty() ? kGoogle : std::string_view(emulator), "STORAGE_EMULATOR_HOST", kPlain);
    if (!url.ok()) return url.why();
    const bool has_own = !options_.credentials_file.empty() || !options_.access_token.empty();
    const bool anonymous =
        options_.anonymous || (!has_own && (!emulator.empty() || around_.flag("GS_NO_SIGN_REQUEST")));
    std::unique_ptr<google_tokens> tokens;
    if (!anonymous)
      tokens = std::make_unique<google_tokens>(client_, around_, options_.credentials_file, options_.access_token);
    base_ = *std::move(url);
    service_ = std::make_shared<gcs_service>(std::move(tokens));
  }
  return place{base_, service_};
}

task<store_place> gcs_store::place_of(store_path path, time_point) {
  auto found = find_place();
  if (!found.ok()) co_await fail(found.why().in_file(path.text));
  store_place p;
  p.url = found->base;
  p.url.target = joined(of_object(path), "?alt=media");
  p.service = found->service;
  co_return p;
}

task<http_answer> gcs_store::ask(std::string path, std::string target, http_request request, call_options how) {
  auto found = find_place();
  if (!found.ok()) co_await fail(found.why().in_file(path));
  request.to = found->base;
  request.to.target = std::move(target);
  for (const auto& [name, value] : options_.http.headers) request.fields.emplace_back(name, value);
  how.of.path = std::move(path);
  auto asking = http_call(unowned(client_), found->service, std::move(request), std::move(how));
  co_return co_await asking;
}

task<store_page> gcs_store::list_page(store_path where, bool by_folder, std::string from, time_point deadline) {
  std::string target =
      joined(of_bucket("/", where), "?fields=items(name,size,generation,updated),prefixes,nextPageToken");
  if (by_folder) target += "&delimiter=%2F";
  if (!where.key.empty()) target += joined("&prefix=", percent_encoded(where.key));
  if (!from.empty()) target += joined("&pageToken=", percent_encoded(from));
  call_options how;
  how.of.what = "listing";
  how.deadline = deadline;
  auto asking = ask(where.text, std::move(target), http_request(), std::move(how));
  const http_answer answer = co_await asking;
  auto parsed = parse_json(answer.body);
  if (!parsed.ok()) co_await fail(parsed.why().in_file(where.text));
  store_page page;
  if (const answer_tree* items = parsed->find("items"))
    for (const answer_tree& item : items->children) {
      auto info = parse_gcs_object(item);
      if (!info.ok()) co_await fail(info.why().in_file(where.text));
      page.objects.push_back({std::string(item.at("name")), *std::move(info)});
    }
  if (const answer_tree* prefixes = parsed->find("prefixes"))
    for (const answer_tree& p : prefixes->children) page.folders.push_back(p.text);
  page.next = parsed->at("nextPageToken");
  co_return page;
}

task<file_info> gcs_store::look_up(store_path path, time_point deadline) {
  call_options how;
  how.of.what = "look-up";
  how.deadline = deadline;
  auto asking = ask(path.text, joined(of_object(path), "?", kOfObject), http_request(), std::move(how));
  const http_answer answer = co_await asking;
  auto parsed = parse_json(answer.body);
  auto info = parsed.ok() ? parse_gcs_object(*parsed) : result<file_info>(parsed.why());
  if (!info.ok()) co_await fail(info.why().in_file(path.text));
  co_return *std::move(info);
}

task<file_info> gcs_store::put(store_path path, std::span<const char> bytes, time_point deadline) {
  const std::uint32_t crc = crc32c({bytes.data(), bytes.size()});
  http_request r;
  r.method = "POST";
  r.body = bytes;
  r.set("Content-Type", "application/octet-stream");
  r.set("X-Goog-Hash", joined("crc32c=", stored_text(crc)));
  call_options how;
  how.of.what = "write";
  how.deadline = deadline;
  std::string target =
      joined(of_bucket("/upload/", path), "?uploadType=media&name=", percent_encoded(path.key), "&", kOfObject);
  auto asking = ask(path.text, std::move(target), std::move(r), std::move(how));
  const http_answer answer = co_await asking;
  auto info = written(answer, bytes.size(), crc);
  if (!info.ok()) co_await fail(info.why().in_file(path.text));
  co_return *std::move(info);
}

task<file_info> gcs_store::put_if(store_path path, std::span<const char> bytes, std::string version,
                                  time_point deadline) {
  const std::uint32_t crc = crc32c({bytes.data(), bytes.size()});
  http_request r;
  r.method = "POST";
  r.body = bytes;
  r.set("Content-Type", "application/octet-stream");
  r.set("X-Goog-Hash", joined("crc32c=", stored_text(crc)));
  call_options how;
  how.of.what = "conditional write";
  how.deadline = deadline;
  how.is_answer = is_answer_to_condition;
  std::string target = joined(of_bucket("/upload/", path), "?uploadType=media&name=", percent_encoded(path.key), "&",
                              kOfObject, "&ifGenerationMatch=", version.empty() ? "0" : version);
  auto asking = ask(path.text, std::move(target), std::move(r), std::move(how));
  const http_answer answer = co_await asking;
  if (answer.head.code == 412)
    co_await fail(status(status_code::already_exists, "another version is there").in_file(path.text));
  auto info = written(answer, bytes.size(), crc);
  if (!info.ok()) co_await fail(info.why().in_file(path.text));
  co_return *std::move(info);
}

task<> gcs_store::remove(store_path path, time_point deadline) {
  http_request r;
  r.method = "DELETE";
  call_options how;
  how.of.what = "removal";
  how.deadline = deadline;
  how.is_answer = is_answer_to_removal;
  auto asking = ask(path.text, of_object(path), std::move(r), std::move(how));
  co_await asking;
}

task<store_upload> gcs_store::begin_upload(store_path path, time_point deadline) {
  http_request r;
  r.method = "POST";
  r.set("X-Upload-Content-Type", "application/octet-stream");
  call_options how;
  how.of.what = "begin of an upload";
  how.deadline = deadline;
  std::string target =
      joined(of_bucket("/upload/", path), "?uploadType=resumable&name=", percent_encoded(path.key), "&", kOfObject);
  auto asking = ask(path.text, std::move(target), std::move(r), std::move(how));
  const http_answer answer = co_await asking;
  auto session = parse_http_url(answer.head.location);
  if (!session.ok())
    co_await fail(
        data_loss_error("the answer to the begin of an upload has no Location that is a URL").in_file(path.text));
  store_upload upload;
  upload.id = std::move(session->target);  // always at the configured server, whatever host the answer names
  upload.to = std::move(path);
  co_return upload;
}

task<std::string> gcs_store::put_part(const store_upload& to, std::size_t number, std::span<const char> bytes,
                                      time_point deadline) {
  const std::uint64_t end = to.bytes + bytes.size();
  const std::string what = joined("part ", number);
  for (std::uint64_t at = to.bytes; at != end;) {
    http_request r;
    r.set("Content-Range", joined("bytes ", at, "-", end - 1, "/*"));
    r.body = bytes.subspan(static_cast<std::size_t>(at - to.bytes));
    auto sending = send_piece(to, at, std::move(r), "bytes */*", what, deadline);
    const http_answer answer = co_await sending;
    auto taken = taken_of(answer, at, end, what);
    if (!taken.ok()) co_await fail(taken.why().in_file(to.to.text));
    at = *taken;
  }
  co_return stored_text(crc32c({bytes.data(), bytes.size()}));
}

task<http_answer> gcs_store::send_piece(const store_upload& to, std::uint64_t at, http_request piece,
                                        std::string question, std::string what, time_point deadline) {
  piece.method = "PUT";
  http_request asked = piece;
  call_options how;
  how.of.what = what;
  how.deadline = deadline;
  how.is_answer = is_piece_taken;
  auto sending = ask(to.to.text, to.id, std::move(piece), how);
  auto sent = co_await sending.as_result();
  if (sent.ok()) co_return *std::move(sent);
  if (!may_be_done(sent.why().code())) co_await fail(sent.why());
  // Perhaps only the answers were lost: the server reports how much it has.
  asked.set("Content-Range", std::move(question));
  asked.body = {};
  auto asking = ask(to.to.text, to.id, std::move(asked), std::move(how));
  auto reply = co_await asking.as_result();
  if (!reply.ok()) co_await fail(sent.why());
  const bool has_none = reply->head.code == 308 && bytes_taken(reply->head) <= at;
  if (has_none) co_await fail(sent.why());
  co_return *std::move(reply);
}

task<file_info> gcs_store::finish_upload(store_upload upload, std::span<const char> last, time_point deadline) {
  std::uint32_t crc = 0;
  for (std::size_t i = 0; i != upload.tags.size(); ++i)
    crc = joined_crc32c(crc, stored_crc32c(upload.tags[i]).value_or(0), upload.part_bytes[i]);
  crc = joined_crc32c(crc, crc32c({last.data(), last.size()}), last.size());
  const std::uint64_t total = upload.bytes + last.size();
  const std::string what = "end of an upload";
  const std::string question = joined("bytes */", total);
  for (std::uint64_t at = upload.bytes;;) {
    http_request r;
    r.set("Content-Range", at == total ? question : joined("bytes ", at, "-", total - 1, "/", total));
    r.set("X-Goog-Hash", joined("crc32c=", stored_text(crc)));
    r.body = last.subspan(static_cast<std::size_t>(at - upload.bytes));
    auto sending = send_piece(upload, at, std::move(r), question, what, deadline);
    auto answer = co_await sending.as_result();
    if (!answer.ok()) {
      auto looking = look_for(upload.to, total, crc, answer.why(), deadline);
      co_return co_await looking;
    }
    if (answer->head.code != 308) {
      auto info = written(*answer, total, crc);
      if (!info.ok()) co_await fail(info.why().in_file(upload.to.text));
      co_return *std::move(info);
    }
    auto taken = taken_of(*answer, at, total, what);
    if (!taken.ok()) co_await fail(taken.why().in_file(upload.to.text));
    at = *taken;
  }
}

task<file_info> gcs_store::look_for(store_path path, std::uint64_t bytes, std::uint32_t crc32c, status why,
                                    time_point deadline) {
  if (!may_be_done(why.code())) co_await fail(why);
  call_options how;
  how.of.what = "look-up";
  how.deadline = deadline;
  auto asking = ask(path.text, joined(of_object(path), "?", kOfObject), http_request(), std::move(how));
  auto answer = co_await asking.as_result();
  if (!answer.ok()) co_await fail(why);
  auto info = written(*answer, bytes, crc32c);
  auto object = parse_json(answer->body);
  const bool has_checksum = object.ok() && stored_crc32c(object->at("crc32c"));
  if (!info.ok() || !has_checksum) co_await fail(why);
  co_return *std::move(info);
}

task<> gcs_store::abort_upload(store_upload upload, time_point deadline) {
  http_request r;
  r.method = "DELETE";
  call_options how;
  how.of.what = "abort of an upload";
  how.deadline = deadline;
  how.is_answer = is_gone;
  auto asking = ask(upload.to.text, upload.id, std::move(r), std::move(how));
  co_await asking;
}

}  // namespace sluice::lib::detail

namespace sluice::lib {
namespace {

/// Converts the options to S3's protocol, which HMAC keys require.
s3_options as_s3(gcs_options o) {
  s3_options s;
  s.endpoint = o.endpoint.empty() ? std::string(detail::kGoogle) : o.endpoint;
  s.region = "auto";
  s.path_style = true;
  s.access_key_id = std::move(o.hmac_access_id);
  s.secret_access_key = std::move(o.hmac_secret);
  s.http = std::move(o.http);
  return s;
}

/// Removes the environment's settings for Amazon, which do not apply to Google.
detail::surroundings without_amazons(detail::surroundings around) {
  around.variable = [](const char*) -> std::optional<std::string> { return {}; };
  around.read_file = [](const std::string& path) -> result<std::string> {
    return not_found_error("left out").in_file(path);
  };
  return around;
}

}  // namespace

void add_gcs(runtime& rt, network_maker connect, gcs_options options) {
  status why = detail::check_gcs_options(options);
  if (why.ok()) why = detail::check_headers(options.http);
  if (!why.ok()) throw_status(why);
  const detail::surroundings around = detail::surroundings::of_process();
  const bool decided = options.anonymous || !options.credentials_file.empty() || !options.access_token.empty();
  if (!decided && options.hmac_access_id.empty() && around.text("STORAGE_EMULATOR_HOST").empty()) {
    options.hmac_access_id = around.text("GS_ACCESS_KEY_ID");
    options.hmac_secret = around.text("GS_SECRET_ACCESS_KEY");
    if (options.hmac_secret.empty()) options.hmac_access_id.clear();
  }
  std::shared_ptr<detail::object_store> store;
  const std::uint64_t seed = rt.options().seed;
  if (!options.hmac_access_id.empty())
    store = std::make_shared<detail::s3_store>(rt.time(), std::move(connect), as_s3(std::move(options)), seed,
                                               without_amazons(around));
  else store = std::make_shared<detail::gcs_store>(rt.time(), std::move(connect), std::move(options), seed, around);
  add_files(rt, "gs", std::make_unique<detail::store_file_system>(rt, std::move(store)));
}

}  // namespace sluice::lib
