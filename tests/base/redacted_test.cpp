// SPDX-License-Identifier: Apache-2.0
#include "base/text/redacted.hpp"

#include <catch2/catch.hpp>

#include "sluice/base/status.hpp"

namespace sluice::lib::detail::redacted_test {
namespace {

TEST_CASE("the text before the host of a URL is hidden") {
  CHECK(redacted("https://ann:pw@host/x") == "https://***@host/x");
  CHECK(redacted("https://ghp_token@host:8443/x@y") == "https://***@host:8443/x@y");
  CHECK(redacted("webhdfs://a:b@c@host") == "webhdfs://***@host");
  CHECK(redacted("tfrecord(\"https://ann:pw@host/x\") | batch(2)") == "tfrecord(\"https://***@host/x\") | batch(2)");
  CHECK(redacted("https://ann:p/w@host/x") == "https://***@host/x");  // no URL, and a password all the same
  CHECK(redacted("https://ann:p#w@host/x") == "https://***@host/x");
}

TEST_CASE("a slash too few or too many shows no password") {
  CHECK(redacted("http:/bob:hunter2@host/x") == "http:/***@host/x");
  CHECK(redacted("HTTPS:///bob:hunter2@host/x") == "HTTPS:///***@host/x");
  CHECK(redacted("s3:/AKIA:s3cr3t@bucket/x") == "s3:/***@bucket/x");
  for (const char* same : {"file:/a@b", "C:/a@b", "quarantine:/a@b/c", "http:/host/a@b", "http:/"})
    CHECK(redacted(same) == same);
}

TEST_CASE("an @ of a path, a port and words are no user") {
  for (const char* same : {"https://host/@scope/pkg", "https://host:80/a@b", "s3://bucket/a@b", "http://[::1]:80/a@b",
                           "mail a@b", "https://host and a@b", "a/b//c@d", "x=1", "", "=", "@", "://@", "file:///a@b"})
    CHECK(redacted(same) == same);
}

TEST_CASE("values of parameters that contain credentials are hidden, in any order and case") {
  for (const char* name : {"X-Amz-Signature", "X-Amz-Credential", "X-Amz-Security-Token", "X-Goog-Signature",
                           "X-Goog-Credential", "Signature", "sig", "token", "access_token", "delegation",
                           "AWSAccessKeyId", "auth", "code", "key", "st", "x-amz-signature", "X%2DAmz%2dSignature"}) {
    const std::string url = std::string("https://h/a?part=3&") + name + "=s3cr%2Bet/+=";
    CHECK(redacted(url) == std::string("https://h/a?part=3&") + name + "=***");
    CHECK(redacted(url + "&z=1#top") == std::string("https://h/a?part=3&") + name + "=***&z=1#top");
    CHECK(redacted(std::string("https://h/a?") + name + "=s") == std::string("https://h/a?") + name + "=***");
  }
  CHECK(redacted("https://h/a#access_token=abc") == "https://h/a#access_token=***");
  CHECK(redacted("https://u:p@h/a?sig=x&sig=y") == "https://***@h/a?sig=***&sig=***");
  CHECK(redacted("/webhdfs/v1/a?op=OPEN&delegation=abc") == "/webhdfs/v1/a?op=OPEN&delegation=***");
}

TEST_CASE("other parameters stay, and so do empty ones") {
  for (const char* same : {"https://h/a?signal=1", "https://h/a?state=1&keys=2&encode=3&author=4",
                           "https://h/a?part=3&max-keys=2", "https://h/a?sig", "https://h/a?sig=", "https://h/sig=1",
                           "a?b=c", "https://h/a?=x", "https://h/a?%=1", "sig=1", "a &sigma=2"})
    CHECK(redacted(same) == same);
}

TEST_CASE("words around a URL stay") {
  CHECK(redacted("not_found: https://h/a?sig=abc: bytes 0-9, attempt 1") ==
        "not_found: https://h/a?sig=***: bytes 0-9, attempt 1");
  CHECK(redacted("map(https://h/a?token=abc) at element 7") == "map(https://h/a?token=***) at element 7");
  CHECK(redacted("'https://h/a?token=abc', and\n\"http://a:b@h/?token=d\"!") ==
        "'https://h/a?token=***', and\n\"http://***@h/?token=***\"!");
}

TEST_CASE("hiding twice is hiding once") {
  for (const char* text : {"https://ann:pw@host/x?sig=abc: bytes", "https://u:p/w@h/?token=a&b=c"})
    CHECK(redacted(redacted(text)) == redacted(text));
}

TEST_CASE("a status has no secret in its message, its file and its stage") {
  const status why = not_found_error("no https://ann:s3cret@h/")
                         .in_file("https://h/a?X-Amz-Signature=s3cret", 3)
                         .in_stage("lines(https://h/a?sig=s3cret)", 2);
  CHECK(why.to_string() ==
        "not_found: lines(https://h/a?sig=***) at element 2: https://h/a?X-Amz-Signature=*** at byte 3: no "
        "https://***@h/");
  CHECK(why.message().find("s3cret") == std::string_view::npos);
  CHECK(why.where().file == "https://h/a?X-Amz-Signature=***");
  CHECK(std::string(error(why).what()).find("s3cret") == std::string::npos);
}

}  // namespace
}  // namespace sluice::lib::detail::redacted_test
