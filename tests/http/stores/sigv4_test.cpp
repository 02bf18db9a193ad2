// SPDX-License-Identifier: Apache-2.0
// Signatures: the published vectors of Amazon (the suite "aws4_testsuite", and the examples of S3's manual).
#include <catch2/catch.hpp>

#include "io/s3/sigv4.hpp"
#include "io/stores/digest.hpp"

namespace sluice::lib::sigv4_test {

#if SLUICE_HAVE_STORES

using namespace sluice::lib::detail;

namespace {

const std::string kEmptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr std::int64_t kSecond = 1'000'000'000;

std::string field(const http_request& r, std::string_view name) {
  for (const auto& [n, value] : r.fields)
    if (n == name) return value;
  return {};
}

/// Of "…,Signature=x".
std::string signature(const http_request& r) {
  const std::string all = field(r, "Authorization");
  return all.substr(all.rfind('=') + 1);
}

sigv4_signing suite() {
  sigv4_signing how;
  how.credentials = {"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", ""};
  how.region = "us-east-1";
  how.service = "service";
  how.now_ns = 1440938160 * kSecond;  // 20150830T123600Z
  how.payload = kEmptyHash;
  how.sends_payload_hash = false;
  return how;
}

http_request to(const std::string& url, std::string method = "GET") {
  http_request r;
  r.method = std::move(method);
  r.to = parse_http_url(url).value();
  return r;
}

sigv4_signing manual() {
  sigv4_signing how;
  how.credentials = {"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ""};
  how.region = "us-east-1";
  how.service = "s3";
  how.now_ns = 1369353600 * kSecond;  // 20130524T000000Z
  how.payload = kEmptyHash;
  return how;
}

}  // namespace

TEST_CASE("signatures equal those of the published suite") {
  http_request vanilla = to("https://example.amazonaws.com/");
  sign_v4(vanilla, suite());
  CHECK(field(vanilla, "Authorization") ==
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request,SignedHeaders=host;x-amz-date,"
        "Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
  CHECK(field(vanilla, "X-Amz-Date") == "20150830T123600Z");

  http_request post = to("https://example.amazonaws.com/", "POST");
  sign_v4(post, suite());
  CHECK(signature(post) == "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b");

  http_request ordered = to("https://example.amazonaws.com/?Param2=value2&Param1=value1");
  sign_v4(ordered, suite());
  CHECK(signature(ordered) == "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500");
}

TEST_CASE("signatures equal the examples of S3's manual") {
  http_request get = to("https://examplebucket.s3.amazonaws.com/test.txt");
  get.set("Range", "bytes=0-9");
  sign_v4(get, manual());
  CHECK(signature(get) == "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");

  http_request put = to("https://examplebucket.s3.amazonaws.com/test%24file.text", "PUT");
  put.set("Date", "Fri, 24 May 2013 00:00:00 GMT");
  put.set("x-amz-storage-class", "REDUCED_REDUNDANCY");
  sigv4_signing how = manual();
  how.payload = hexadecimal(sha256("Welcome to Amazon S3."));
  sign_v4(put, how);
  CHECK(signature(put) == "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");

  http_request lifecycle = to("https://examplebucket.s3.amazonaws.com/?lifecycle");
  sign_v4(lifecycle, manual());
  CHECK(signature(lifecycle) == "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");

  http_request list = to("https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J");
  sign_v4(list, manual());
  CHECK(signature(list) == "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

TEST_CASE("a session's token is signed, headers that proxies change are not, and the secret appears nowhere") {
  http_request plain = to("https://b.s3.us-east-1.amazonaws.com/k");
  http_request changed = plain;
  changed.set("Accept-Encoding", "gzip");
  sigv4_signing how = manual();
  sign_v4(plain, how);
  sign_v4(changed, how);
  CHECK(signature(plain) == signature(changed));

  how.credentials.session_token = "token";
  http_request session = to("https://b.s3.us-east-1.amazonaws.com/k");
  sign_v4(session, how);
  CHECK(field(session, "X-Amz-Security-Token") == "token");
  CHECK_THAT(field(session, "Authorization"), Catch::Contains("x-amz-security-token"));
  CHECK(session.message().head.find(how.credentials.secret_key) == std::string::npos);
  // Signed once more, it is the same: fields are replaced.
  http_request again = session;
  sign_v4(again, how);
  CHECK(again.message().head == session.message().head);
}

TEST_CASE("digests and encodings are the known ones") {
  CHECK(hexadecimal(sha256("")) == kEmptyHash);
  // RFC 4231, case 2.
  CHECK(hexadecimal(hmac_sha256("Jefe", "what do ya want for nothing?")) ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  for (auto& [plain, coded] : {std::pair<std::string, std::string>{"", ""},
                               {"f", "Zg=="},
                               {"fo", "Zm8="},
                               {"foo", "Zm9v"},
                               {"foob", "Zm9vYg=="}}) {
    CHECK(base64(plain) == coded);
    CHECK(from_base64(coded).value() == plain);
  }
  CHECK(base64_url("\xff\xfe?") == "__4_");
  CHECK(!from_base64("abc").ok());
  CHECK(!from_base64("ab!=").ok());
  CHECK(percent_encoded("a b/c+\xc3\xa9~") == "a%20b%2Fc%2B%C3%A9~");
  CHECK(percent_encoded("a b/c", true) == "a%20b/c");
  CHECK(percent_decoded("a%20b%2fc+%zz%") == "a b/c+%zz%");
  CHECK(percent_decoded("a+b", true) == "a b");
}

#endif

}  // namespace sluice::lib::sigv4_test
