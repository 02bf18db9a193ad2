// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "io/http/messages/http_url.hpp"

namespace sluice::lib::url_test {
using detail::follow_redirect;
using detail::parse_http_url;

namespace {

std::string parsed(std::string_view text) {
  auto url = parse_http_url(text);
  return url.ok() ? url->text() : url.why().to_string();
}
std::string led(std::string_view from, std::string_view location) {
  auto base = parse_http_url(from);
  auto to = follow_redirect(*base, location);
  return to.ok() ? to->text() : to.why().to_string();
}

}  // namespace

TEST_CASE("a URL is parsed, and characters that a request line must not have are escaped") {
  auto url = parse_http_url("https://Objects.Example:8443/train/a b.tfrecord?version=3#part");
  REQUIRE(url.ok());
  CHECK(url->tls);
  CHECK(url->host == "objects.example");
  CHECK(url->port == 8443);
  CHECK(url->target == "/train/a%20b.tfrecord?version=3");
  CHECK(url->address() == "objects.example:8443");
  CHECK(parsed("http://h") == "http://h/");
  CHECK(parsed("http://h?q=1") == "http://h/?q=1");
  CHECK(parsed("HTTP://H:80/a") == "http://h/a");
  CHECK(parsed("https://h:80/a") == "https://h:80/a");
  CHECK(parsed("http://[::1]:99/a") == "http://[::1]:99/a");
  CHECK(parsed("http://h/100%25/\xc3\xa4\r\n") == "http://h/100%25/%c3%a4%0d%0a");
  CHECK(parse_http_url("http://[::1]:99/a")->host == "::1");
  CHECK(parse_http_url("http://[::1]:99/a")->address() == "[::1]:99");
}

TEST_CASE("an invalid URL is refused with the reason") {
  CHECK_THAT(parsed("ftp://h/a"), Catch::Contains("neither http:// nor https://"));
  CHECK_THAT(parsed("http:///a"), Catch::Contains("names no host"));
  CHECK_THAT(parsed("http://h:/a"), Catch::Contains("no port"));
  CHECK_THAT(parsed("http://h:0/a"), Catch::Contains("\"0\" is no port"));
  CHECK_THAT(parsed("http://h:65536/a"), Catch::Contains("\"65536\" is no port"));
  CHECK_THAT(parsed("http://h:+80/a"), Catch::Contains("no port"));
  CHECK_THAT(parsed("http://me:secret@h/a"), Catch::Contains("a user or a password") && !Catch::Contains("secret"));
  CHECK_THAT(parsed("http://[::1/a"), Catch::Contains("a [ without"));
  CHECK_THAT(parsed("http://a b/a"), Catch::Contains("no host name has"));
  CHECK_THAT(parsed("http://[::1]x/a"), Catch::Contains("something else than a port"));
}

TEST_CASE("this machine is recognized by addresses, not by the beginning of a name") {
  for (const char* here : {"http://localhost:80/a", "http://127.0.0.1/a", "http://127.9.8.7:1/a", "http://[::1]/a"})
    CHECK(is_this_machine(*parse_http_url(here)));
  for (const char* elsewhere : {"http://127.evil.example/a", "http://localhost.example/a", "http://128.0.0.1/a"})
    CHECK_FALSE(is_this_machine(*parse_http_url(elsewhere)));
}

TEST_CASE("redirects follow their location, never out of TLS") {
  CHECK(led("http://h/a/b?q", "/c") == "http://h/c");
  CHECK(led("http://h/a/b?q=/x", "c d") == "http://h/a/c%20d");
  CHECK(led("http://h/a", "https://other/x?y") == "https://other/x?y");
  CHECK(led("https://h/a", "//other:99/x") == "https://other:99/x");
  CHECK(led("http://h/a", "?q=http://x") == "http://h/a?q=http://x");
  CHECK(led("http://h/a/b/c", "../d/./e") == "http://h/a/d/e");
  CHECK(led("http://h/a/b", "../../../d?x=/../y") == "http://h/d?x=/../y");
  CHECK(led("http://h/a/b", "/x/../y/.") == "http://h/y/");
  CHECK(led("http://h/a/b", "..") == "http://h/");
  CHECK(led("http://h/a/b", "a//b/...") == "http://h/a/a//b/...");
  CHECK_THAT(led("https://h/a", "http://h/a"), Catch::Contains("failed_precondition") && Catch::Contains("out of TLS"));
  CHECK_THAT(led("https://h/a", "ftp://h/a"), Catch::Contains("neither http:// nor https://"));
  CHECK(led("http://h/a", "file:///etc/x") ==
        "failed_precondition: the server redirects to file:///etc/x, which is not accepted: it begins with neither "
        "http:// nor https://");
  for (const char* user : {"http://me:secret@h/a", "//me:secret@h/a", "http:/me:secret@h/a"})
    CHECK_THAT(led("http://h/a", user), Catch::Contains("the server redirects to ") && !Catch::Contains("secret") &&
                                            !Catch::Contains("http_options"));
  CHECK_THAT(led("http://h/a", "s3://b/\x1b[31m"), Catch::Contains("s3://b/ [31m"));
  CHECK_THAT(led("http://h/a", ""), Catch::Contains("without a Location"));
}

}  // namespace sluice::lib::url_test
