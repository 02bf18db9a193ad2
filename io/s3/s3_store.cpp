// SPDX-License-Identifier: Apache-2.0
#include "io/s3/s3_store.hpp"

#include "io/http/messages/dates.hpp"
#include "io/http/messages/http_text.hpp"
#include "io/http/messages/printable.hpp"
#include "io/s3/s3_tags.hpp"
#include "io/stores/digest.hpp"
#include "io/stores/store_file_system.hpp"
#include "sluice/io/files.hpp"

namespace sluice::lib::detail {
namespace {

/// Returns the failure in the body of an answer with a good code: S3 begins to answer before it has joined the parts.
std::optional<http_failure> failure_in_body(const http_answer& answer) {
  auto parsed = parse_xml(answer.body);
  if (!parsed.ok()) return http_failure{.why = parsed.why(), .again = true};
  if (parsed->name != "Error") return {};
  const std::string_view code = parsed->at("Code");
  http_failure f;
  f.again = code == "InternalError" || code == "SlowDown" || code == "ServiceUnavailable";
  f.throttled = code == "SlowDown";
  f.why = status(f.again ? status_code::unavailable : status_code::failed_precondition,
                 joined("the server says ", answer.head.status_text(), ": ", printable(code), ": ",
                        printable(parsed->at("Message"))));
  return f;
}

file_info info_of(const response_head& head) {
  file_info info;
  if (head.length) info.size_bytes = *head.length;
  info.version = head.version();
  info.modified_ns = parse_http_date(head.last_modified).value_or(0);
  return info;
}

s3_options with_roots(s3_options options, const surroundings& around) {
  if (options.http.ca_file.empty()) options.http.ca_file = around.text("AWS_CA_BUNDLE");
  return options;
}

std::string escaped_xml(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '&') out += "&amp;";
    else if (c == '<') out += "&lt;";
    else if (c == '"') out += "&quot;";
    else out += c;
  }
  return out;
}

/// Returns true for the answers to a conditional write: 412 and 409 if another version is there, 404 if none is.
bool is_conditional_answer(const response_head& head) {
  return head.code / 100 == 2 || head.code == 404 || head.code == 409 || head.code == 412;
}
bool is_removal_answer(const response_head& head) { return head.code / 100 == 2 || head.code == 404; }

}  // namespace

s3_store::s3_store(clock& time, network_maker connect, s3_options options, std::uint64_t seed, surroundings around)
    : options_(with_roots(std::move(options), around)),
      around_(std::move(around)),
      client_(time, std::move(connect), options_.http, seed) {}

result<std::shared_ptr<s3_bucket>> s3_store::bucket(const std::string& name) {
  mutex_lock lock(mutex_);
  if (!account_) {
    auto settings = settings_of(options_, around_);
    if (!settings.ok()) return settings.why();
    account_ = std::make_shared<s3_account>(client_, around_, options_, *std::move(settings));
  }
  auto& found = buckets_[name];
  if (!found) found = std::make_shared<s3_bucket>(account_, name);
  return found;
}

task<store_place> s3_store::place_of(store_path path, time_point) {
  auto of = bucket(path.bucket);
  if (!of.ok()) co_await fail(of.why().in_file(path.text));
  store_place place;
  place.url = (*of)->url_of(path.key);
  place.service = *std::move(of);
  co_return place;
}

task<http_answer> s3_store::ask(store_path path, http_request request, call_options how) {
  auto of = bucket(path.bucket);
  if (!of.ok()) co_await fail(of.why().in_file(path.text));
  const std::string query = std::exchange(request.to.target, {});
  request.to = (*of)->url_of(path.key);
  request.to.target += query;
  for (const auto& [name, value] : options_.http.headers) request.fields.emplace_back(name, value);
  how.of.path = path.text;
  auto asking = http_call(unowned(client_), *std::move(of), std::move(request), std::move(how));
  co_return co_await asking;
}

task<store_page> s3_store::list_page(store_path where, bool by_folder, std::string from, time_point deadline) {
  http_request r;
  r.add_query("list-type", "2");
  r.add_query("encoding-type", "url");
  if (by_folder) r.add_query("delimiter", "/");
  if (!where.key.empty()) r.add_query("prefix", where.key);
  if (!from.empty()) r.add_query("continuation-token", from);
  call_options how;
  how.of.what = "listing";
  how.deadline = deadline;
  store_path of_bucket = where;
  of_bucket.key.clear();
  auto asking = ask(std::move(of_bucket), std::move(r), std::move(how));
  const http_answer answer = co_await asking;
  auto page = parse_s3_listing(answer.body);
  if (!page.ok()) co_await fail(page.why().in_file(where.text));
  co_return *std::move(page);
}

task<file_info> s3_store::look_up(store_path path, time_point deadline) {
  http_request r;
  r.method = "HEAD";
  call_options how;
  how.of.what = "look-up";
  how.deadline = deadline;
  auto asking = ask(std::move(path), std::move(r), std::move(how));
  const http_answer answer = co_await asking;
  co_return info_of(answer.head);
}

task<std::string> s3_store::send(store_path path, http_request request, std::span<const char> bytes, std::string what,
                                 time_point deadline) {
  const std::string sum = md5(std::string_view(bytes.data(), bytes.size()));
  request.method = "PUT";
  request.body = bytes;
  if (!sum.empty()) request.set("Content-MD5", base64(sum));
  call_options how;
  how.of.what = what;
  how.deadline = deadline;
  auto asking = ask(path, std::move(request), std::move(how));
  http_answer answer = co_await asking;
  status wrong;
  if (options_.tags_are_md5) wrong = check_tag(answer.head, answer.head.etag, part_tag(sum));
  if (!wrong.ok()) co_await fail(status(wrong.code(), joined(what, ": ", wrong.message())).in_file(path.text));
  co_return std::move(answer.head.etag);
}

task<file_info> s3_store::put(store_path path, std::span<const char> bytes, time_point deadline) {
  auto sending = send(path, http_request(), bytes, "write", deadline);
  co_await sending;
  auto looking = look_up(std::move(path), deadline);
  co_return co_await looking;
}

task<file_info> s3_store::put_if(store_path path, std::span<const char> bytes, std::string version,
                                 time_point deadline) {
  const std::string sum = md5(std::string_view(bytes.data(), bytes.size()));
  http_request r;
  r.method = "PUT";
  r.body = bytes;
  if (!sum.empty()) r.set("Content-MD5", base64(sum));
  if (version.empty()) r.set("If-None-Match", "*");
  else r.set("If-Match", version);
  call_options how;
  how.of.what = "conditional write";
  how.deadline = deadline;
  how.is_answer = is_conditional_answer;
  auto asking = ask(path, std::move(r), std::move(how));
  const http_answer answer = co_await asking;
  status wrong;
  // A missing bucket is the only reason for 404 if the object may be missing.
  if (answer.head.code == 404 && version.empty())
    wrong = not_found_error(joined("the server says ", answer.head.status_text()));
  else if (answer.head.code / 100 != 2) wrong = status(status_code::already_exists, "another version is there");
  else if (options_.tags_are_md5) wrong = check_tag(answer.head, answer.head.etag, part_tag(sum));
  if (!wrong.ok()) co_await fail(std::move(wrong).in_file(path.text));
  file_info info;
  info.size_bytes = bytes.size();
  info.version = answer.head.etag;
  if (info.version.empty()) {
    auto looking = look_up(std::move(path), deadline);
    info = co_await looking;
  }
  co_return info;
}

task<> s3_store::remove(store_path path, time_point deadline) {
  http_request r;
  r.method = "DELETE";
  call_options how;
  how.of.what = "removal";
  how.deadline = deadline;
  how.is_answer = is_removal_answer;
  auto asking = ask(std::move(path), std::move(r), std::move(how));
  co_await asking;
}

task<store_upload> s3_store::begin_upload(store_path path, time_point deadline) {
  http_request r;
  r.method = "POST";
  r.to.target = "?uploads=";
  call_options how;
  how.of.what = "begin of an upload";
  how.deadline = deadline;
  auto asking = ask(path, std::move(r), std::move(how));
  const http_answer answer = co_await asking;
  auto parsed = parse_xml(answer.body);
  store_upload upload;
  if (parsed.ok()) upload.id = parsed->at("UploadId");
  if (upload.id.empty()) {
    status why = parsed.ok() ? data_loss_error("the answer to the begin of an upload has no UploadId") : parsed.why();
    co_await fail(why.in_file(path.text));
  }
  upload.to = std::move(path);
  co_return upload;
}

task<std::string> s3_store::put_part(const store_upload& to, std::size_t number, std::span<const char> bytes,
                                     time_point deadline) {
  http_request r;
  r.add_query("partNumber", std::to_string(number));
  r.add_query("uploadId", to.id);
  auto sending = send(to.to, std::move(r), bytes, joined("part ", number), deadline);
  std::string tag = co_await sending;
  if (tag.empty())
    co_await fail(data_loss_error(joined("the answer to part ", number, " has no ETag")).in_file(to.to.text));
  co_return tag;
}

task<file_info> s3_store::finish_upload(store_upload upload, std::span<const char>, time_point deadline) {
  std::string list = "<CompleteMultipartUpload>";
  for (std::size_t i = 0; i != upload.tags.size(); ++i)
    list += joined("<Part><PartNumber>", i + 1, "</PartNumber><ETag>", escaped_xml(upload.tags[i]), "</ETag></Part>");
  list += "</CompleteMultipartUpload>";
  http_request r;
  r.method = "POST";
  r.add_query("uploadId", upload.id);
  r.set("Content-Type", "application/xml");
  r.body = std::span<const char>(list);
  call_options how;
  how.of.what = "end of an upload";
  how.deadline = deadline;
  how.check = failure_in_body;
  auto asking = ask(upload.to, std::move(r), std::move(how));
  auto answer = co_await asking.as_result();
  // An earlier attempt whose answer was lost may have done it, and this one then finds no upload.
  if (!answer.ok() && answer.why().code() != status_code::not_found) co_await fail(answer.why());
  const std::string expected = options_.tags_are_md5 ? whole_tag(upload.tags) : std::string();
  if (answer.ok()) {
    auto answer_text = parse_xml(answer->body);
    status wrong = answer_text.ok() ? check_tag(answer->head, answer_text->at("ETag"), expected) : status();
    if (!wrong.ok()) co_await fail(std::move(wrong).in_file(upload.to.text));
  }
  auto looking = look_up(upload.to, deadline);
  auto info = co_await looking.as_result();
  if (!answer.ok()) {
    const std::string ends = joined("-", upload.tags.size(), "\"");
    if (!info.ok() || info->size_bytes != upload.bytes || !info->version.ends_with(ends)) co_await fail(answer.why());
  }
  if (!info.ok()) co_await fail(info.why());
  co_return *std::move(info);
}

task<> s3_store::abort_upload(store_upload upload, time_point deadline) {
  http_request r;
  r.method = "DELETE";
  r.add_query("uploadId", upload.id);
  call_options how;
  how.of.what = "abort of an upload";
  how.deadline = deadline;
  auto asking = ask(std::move(upload.to), std::move(r), std::move(how));
  co_await asking;
}

}  // namespace sluice::lib::detail

namespace sluice::lib {

void add_s3(runtime& rt, network_maker connect, s3_options options) {
  status why = detail::check_s3_options(options);
  if (why.ok()) why = detail::check_headers(options.http);
  if (!why.ok()) throw_status(why);
  auto store = std::make_shared<detail::s3_store>(rt.time(), std::move(connect), std::move(options), rt.options().seed,
                                                  detail::surroundings::of_process());
  add_files(rt, "s3", std::make_unique<detail::store_file_system>(rt, std::move(store)));
}

}  // namespace sluice::lib
