// SPDX-License-Identifier: Apache-2.0
// Objects of Google's store, over a server in virtual time: read, checked, listed; and whose tokens are taken.
#include <catch2/catch.hpp>

#if SLUICE_HAVE_STORES
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "http/stores/gcs_world.hpp"
#include "io/http/messages/whole_checksum.hpp"
#include "io/stores/digest.hpp"
#include "io/stores/stored_crc32c.hpp"
#include "sluice/base/crc32c.hpp"
#include "sluice/coro/sleep_until.hpp"

namespace sluice::lib::gcs_test {
using namespace sluice::lib::testing;
using namespace std::chrono_literals;

namespace {

using texts = std::vector<std::string>;

std::string new_key() {
  EVP_PKEY* pair = EVP_RSA_gen(2048);
  BIO* out = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(out, pair, nullptr, nullptr, 0, nullptr, nullptr);
  char* bytes = nullptr;
  const long n = BIO_get_mem_data(out, &bytes);
  std::string text(bytes, static_cast<std::size_t>(n));
  BIO_free(out);
  EVP_PKEY_free(pair);
  return text;
}

/// Has the key signed this? By OpenSSL's own check.
bool is_signed(const std::string& key, const std::string& text, const std::string& signature) {
  BIO* in = BIO_new_mem_buf(key.data(), static_cast<int>(key.size()));
  EVP_PKEY* pair = PEM_read_bio_PrivateKey(in, nullptr, nullptr, nullptr);
  BIO_free(in);
  EVP_MD_CTX* checking = EVP_MD_CTX_new();
  EVP_DigestVerifyInit(checking, nullptr, EVP_sha256(), nullptr, pair);
  const int holds =
      EVP_DigestVerify(checking, reinterpret_cast<const unsigned char*>(signature.data()), signature.size(),
                       reinterpret_cast<const unsigned char*>(text.data()), text.size());
  EVP_MD_CTX_free(checking);
  EVP_PKEY_free(pair);
  return holds == 1;
}

std::string from_base64_url(std::string text) {
  for (char& c : text) c = c == '-' ? '+' : c == '_' ? '/' : c;
  while (text.size() % 4 != 0) text += '=';
  return detail::from_base64(text).value();
}

/// A text of JSON in one line.
std::string in_json(const std::string& text) {
  std::string out;
  for (char c : text) out += c == '\n' ? std::string("\\n") : std::string(1, c);
  return out;
}

struct token_world : gcs_world {
  token_world() {
    home.variables = {
        {"HOME", "/home"}, {"GCE_METADATA_HOST", "machine.test"}, {"STORAGE_EMULATOR_HOST", "s3.test:80"}};
    gcs.put("a", "hello");
    serving.push_back(&tokens);
    serving.push_back(&machine);
    tokens.answers([this](const asked_for& a) -> std::optional<reply> {
      if (a.body.find("refresh_token=bad") != std::string::npos)
        return reply{400, "", "{\"error\": \"invalid_grant\"}"};
      return answer(a);
    });
    machine.answers([this](const asked_for& a) -> std::optional<reply> {
      if (field_of(a.head, "Metadata-Flavor") != "Google") return reply{403, "", ""};
      return answer(a);
    });
  }
  std::optional<reply> answer(const asked_for& a) {
    asked.push_back(a);
    const std::string token = "T" + std::to_string(asked.size());
    gcs.known_tokens = {token};
    return reply{200, "", "{\"access_token\": \"" + token + "\", \"expires_in\": 3599, \"token_type\": \"Bearer\"}"};
  }
  /// Not anonymous, though it is an emulator.
  gcs_options with_file(std::string text) {
    home.files["/c.json"] = std::move(text);
    gcs_options o;
    o.credentials_file = "/c.json";
    return o;
  }
  std::string read(gcs_options o) { return run(read_store_file(gs(std::move(o)), "gs://bucket/a")); }

  scripted_server tokens{*net, "localhost:80"}, machine{*net, "machine.test:80"};
  std::vector<asked_for> asked;
};

}  // namespace

TEST_CASE("an object of Google's store has its bytes, of one generation") {
  for (std::size_t size : {std::size_t{0}, std::size_t{1}, kMiB, 3 * kMiB + 5}) {
    gcs_world w;
    w.gcs.put("dir/a b+c", some_bytes(size));
    INFO(size);
    CHECK((w.run(read_store_file(w.gs(), "gs://bucket/dir/a b+c")) == some_bytes(size)));
    CHECK(w.server.log().at(0).target == "/storage/v1/b/bucket/o/dir%2Fa%20b%2Bc?alt=media");
    for (std::size_t i = 1; i < w.server.log().size(); ++i)
      CHECK_THAT(w.server.log()[i].target, Catch::EndsWith("&ifGenerationMatch=1001"));
    CHECK_THAT(w.server.log().at(0).head,
               Catch::Contains("Accept-Encoding: gzip") && !Catch::Contains("Authorization"));
    const file_info info = w.run(w.gs().stat("gs://bucket/dir/a b+c"));
    CHECK(info.size_bytes == size);
    CHECK(info.version == "1001");
    CHECK(info.modified_ns == 1795514400'000'000'000);
    auto listed = w.run(list_all(w.gs(), "gs://bucket/dir/*"));
    REQUIRE(listed.size() == 1);
    CHECK(listed[0].info == info);
    const std::size_t before = w.server.log().size();
    CHECK((w.run(read_store_file(w.gs(), listed[0].path, listed[0].info)) == some_bytes(size)));
    CHECK(w.server.log().size() == before + (size + kMiB - 1) / kMiB);
  }
}

TEST_CASE("bytes that differ from the stored ones are detected when the last of them has arrived") {
  gcs_world w;
  w.gcs.put("a", some_bytes(3 * kMiB));
  w.gcs.wrong_crc = 12345;
  const status why = w.why();
  CHECK(why.code() == status_code::data_loss);
  CHECK_THAT(why.to_string(), Catch::Contains("gs://bucket/a") && Catch::Contains("the server's 12345"));
}

TEST_CASE("with keys of HMAC Google's store is asked by S3's protocol, and its checksums are looked at") {
  for (std::uint32_t wrong : {0u, 7u}) {
    store_world w;
    scripted_server google(*w.net, "storage.googleapis.com:80");
    w.serving.push_back(&google);
    google.answers([&](const asked_for& a) -> std::optional<reply> {
      std::optional<reply> r = w.s3.answer(a);
      if (r->code == 206)
        r->fields += "x-goog-hash: crc32c=" + detail::stored_text(crc32c(w.s3.objects["a"].bytes) ^ wrong) + "\r\n";
      return r;
    });
    w.s3.region = "auto";
    w.s3.put("a", some_bytes(3 * kMiB));
    s3_options o;
    o.endpoint = "http://storage.googleapis.com";
    o.region = "auto";
    o.access_key_id = "GOOG1";
    o.secret_access_key = "s";
    std::optional<std::string> got;
    const status why = w.try_run(http_world::keep<std::string>(read_store_file(w.files(o), "s3://bucket/a"), got));
    CHECK(why.code() == (wrong ? status_code::data_loss : status_code::ok));
    CHECK(google.log().size() == 3);
    CHECK_THAT(field_of(google.log()[0].head, "Authorization"), Catch::Contains("Credential=GOOG1/20261124/auto/s3/"));
  }
}

TEST_CASE("an object that is stored compressed is read as it is stored") {
  gcs_world w;
  w.gcs.put("a", "\x1f\x8b bytes");
  w.gcs.objects["a"].content_encoding = "gzip";
  CHECK(w.run(read_store_file(w.gs(), "gs://bucket/a")) == "\x1f\x8b bytes");
}

TEST_CASE("checksums of pieces in any order are that of the whole") {
  const std::string bytes = some_bytes(100'000);
  const std::uint32_t right = crc32c(bytes);
  CHECK(crc32c("123456789") == 0xe3069283);
  for (std::size_t at : {0u, 1u, 77u, 65536u, 100000u}) {
    const std::string_view first = std::string_view(bytes).substr(0, at), rest = std::string_view(bytes).substr(at);
    CHECK(detail::joined_crc32c(crc32c(first), crc32c(rest), rest.size()) == right);
  }
  std::vector<std::size_t> starts;
  for (std::size_t at = 0; at < bytes.size(); at += 777) starts.push_back(at);
  std::uint32_t x = 1;
  for (std::size_t i = starts.size(); i > 1; --i) std::swap(starts[i - 1], starts[(x = x * 1664525 + 1013904223) % i]);
  detail::whole_checksum seen(bytes.size());
  for (std::size_t i = 0; i != starts.size(); ++i) {
    const auto piece =
        std::span<const char>(bytes).subspan(starts[i], std::min<std::size_t>(777, bytes.size() - starts[i]));
    const auto whole = seen.add(starts[i], piece);
    CHECK(whole.has_value() == (i + 1 == starts.size()));
    if (whole) CHECK(*whole == right);
  }
  detail::whole_checksum twice(4);
  CHECK(!twice.add(0, std::string("ab")).has_value());
  CHECK(!twice.add(1, std::string("bc")).has_value());
  CHECK(!twice.add(2, std::string("cd")).has_value());  // nothing is said any more
}

TEST_CASE("a reader that jumps to and fro has no checksum of the whole, and no map of all its jumps") {
  using detail::whole_checksum;
  const std::string bytes = some_bytes(4 * whole_checksum::kPiecesMax);
  for (std::size_t pieces : {whole_checksum::kPiecesMax, whole_checksum::kPiecesMax + 1}) {
    whole_checksum seen(2 * pieces);
    std::optional<std::uint32_t> whole;
    for (std::size_t i = 0; i != pieces; ++i) seen.add(2 * i, std::span<const char>(&bytes[2 * i], 1));
    for (std::size_t i = 0; i != pieces; ++i) whole = seen.add(2 * i + 1, std::span<const char>(&bytes[2 * i + 1], 1));
    if (pieces > whole_checksum::kPiecesMax) CHECK(!whole);
    else CHECK(whole == crc32c(std::string_view(bytes).substr(0, 2 * pieces)));
  }
}

TEST_CASE("listings of Google's store come in pages and by folders") {
  gcs_world w;
  w.gcs.page_keys = 2;
  for (const char* key : {"a/x.csv", "a/b/x.csv", "a/b/c/y.csv", "b.csv", "c\t\"d\".csv"}) w.gcs.put(key, key);
  auto listed = [&w](const std::string& pattern) {
    texts all;
    for (const listed_file& f : w.run(list_all(w.gs(), pattern))) all.push_back(f.path);
    return all;
  };
  CHECK(listed("gs://bucket/*.csv") == texts{"gs://bucket/b.csv", "gs://bucket/c\t\"d\".csv"});
  CHECK(listed("gs://bucket/**/?.csv") ==
        texts{"gs://bucket/a/b/c/y.csv", "gs://bucket/a/b/x.csv", "gs://bucket/a/x.csv", "gs://bucket/b.csv"});
  CHECK(listed("gs://bucket/a/*/") == texts{"gs://bucket/a/b/"});
}

TEST_CASE("an error of Google's store is reported with its reason, the request's number, and advice") {
  {
    gcs_world w;
    const status why = w.why();
    CHECK(why.code() == status_code::not_found);
    CHECK_THAT(why.to_string(), Catch::Contains("notFound: No such object: bucket/a"));
  }
  {
    gcs_world w;
    w.gcs.known_tokens = {"T"};
    const status why = w.why();
    CHECK(why.code() == status_code::unauthenticated);
    CHECK_THAT(why.to_string(), Catch::Contains("Anonymous caller") && Catch::Contains("the bucket is not public"));
    CHECK(w.server.log().size() == 1);
  }
  {
    gcs_world w;
    w.server.answers([](const asked_for&) { return simulated_gcs::failed(403, "forbidden", "no access"); });
    gcs_options o;
    o.access_token = "secret-token";
    const status why = w.why(o);
    CHECK(why.code() == status_code::permission_denied);
    CHECK_THAT(why.to_string(), Catch::Contains("forbidden: no access") && Catch::Contains("Storage Object Viewer") &&
                                    !Catch::Contains("secret-token"));
  }
  {
    gcs_world w;
    w.gcs.put("a", "hello");
    w.server.script({{.code = 429, .body = "{}"}, {.code = 503}});
    CHECK(w.run(read_store_file(w.gs(), "gs://bucket/a")) == "hello");
    CHECK(w.server.log().size() == 3);
  }
}

TEST_CASE("a service account signs a claim for its token, once for all requests, and again before the token ends") {
  token_world w;
  const std::string key = new_key();
  const gcs_options o = w.with_file(
      "{\"type\": \"service_account\", \"client_email\": \"me@x\", \"private_key_id\": \"k1\", "
      "\"token_uri\": \"http://localhost/token\", \"private_key\": \"" +
      in_json(key) + "\"}");
  auto client = [](token_world& in, gcs_options how) -> task<> {
    in.gs(std::move(how));
    for (duration wait : {duration(0s), duration(50min), duration(6min)}) {
      co_await sleep_for(wait);
      auto reading = read_store_file(in.gs(), "gs://bucket/a");
      const std::string got = co_await reading;
      CHECK(got == "hello");
    }
  };
  const status done = w.try_run(client(w, o));
  INFO(done.to_string());
  CHECK(done.ok());
  REQUIRE(w.asked.size() == 2);
  CHECK(w.asked[0].target == "/token");
  auto form = query_of("?" + w.asked[0].body);
  CHECK(form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer");
  const std::string claim = form["assertion"];
  const std::size_t first = claim.find('.'), last = claim.rfind('.');
  CHECK(is_signed(key, claim.substr(0, last), from_base64_url(claim.substr(last + 1))));
  CHECK(!is_signed(new_key(), claim.substr(0, last), from_base64_url(claim.substr(last + 1))));
  auto head = detail::parse_json(from_base64_url(claim.substr(0, first)));
  CHECK(head->at("alg") == "RS256");
  CHECK(head->at("kid") == "k1");
  auto body = detail::parse_json(from_base64_url(claim.substr(first + 1, last - first - 1)));
  CHECK(body->at("iss") == "me@x");
  CHECK(body->at("aud") == "http://localhost/token");
  CHECK(body->at("iat") == "1795514400");
  CHECK(body->at("exp") == "1795518000");
  CHECK_THAT(std::string(body->at("scope")), Catch::EndsWith("devstorage.read_write"));
  CHECK(field_of(w.server.log().back().head, "Authorization") == "Bearer T2");
}

TEST_CASE("a user's login is refreshed; a token that the server has refused is fetched once more") {
  token_world w;
  const gcs_options o =
      w.with_file(R"({"type": "authorized_user", "client_id": "i", "client_secret": "s+", "refresh_token": "r",
                                        "token_uri": "http://localhost/token"})");
  CHECK(w.read(o) == "hello");
  auto form = query_of("?" + w.asked.at(0).body);
  CHECK(form["grant_type"] == "refresh_token");
  CHECK(form["client_secret"] == "s+");
  w.gcs.known_tokens = {"another"};  // the token is revoked; the next one is known
  CHECK(w.read(o) == "hello");
  CHECK(w.asked.size() == 2);

  token_world over;
  const status why =
      over.why(over.with_file(R"({"type": "authorized_user", "client_secret": "hidden", "refresh_token": "bad",
                                                 "token_uri": "http://localhost/token"})"));
  CHECK(why.code() == status_code::unauthenticated);
  CHECK_THAT(why.to_string(), Catch::Contains("no token from the file /c.json") && Catch::Contains("invalid_grant") &&
                                  !Catch::Contains("hidden"));
  CHECK(over.server.log().empty());
}

TEST_CASE("of several sources of tokens the first one is taken") {
  struct source {
    const char* name;
    std::map<std::string, std::string> variables, files;
    std::string token;  ///< empty: fetched from the machine
  };
  const std::string user =
      R"({"type": "authorized_user", "refresh_token": "r", "token_uri": "http://localhost/token"})";
  for (const source& s :
       {source{"variable",
               {{"CLOUDSDK_AUTH_ACCESS_TOKEN", "V"}, {"GOOGLE_APPLICATION_CREDENTIALS", "/c"}},
               {{"/c", user}},
               "V"},
        source{"file", {{"GOOGLE_APPLICATION_CREDENTIALS", "/c"}}, {{"/c", user}}, "T1"},
        source{"login", {}, {{"/home/.config/gcloud/application_default_credentials.json", user}}, "T1"},
        source{"machine", {}, {}, "T1"}}) {
    INFO(s.name);
    token_world w;
    for (auto& [name, value] : s.variables) w.home.variables[name] = value;
    w.home.files = s.files;
    detail::http_client client(w.world, w.lend(), http_options(), 1);
    detail::google_tokens tokens(client, w.home.around(), "", "");
    auto asking = [](detail::google_tokens& of) -> task<std::string> {
      auto getting = of.get(kNever);
      const detail::google_token t = co_await getting;
      co_return t.text;
    };
    CHECK(w.run(asking(tokens)) == s.token);
    CHECK(w.machine.log().size() == (std::string(s.name) == "machine" ? 1 : 0));
    client.close();
  }
}

TEST_CASE("missing Google credentials are reported at once") {
  token_world w;
  w.home.variables["NO_GCE_CHECK"] = "true";
  detail::http_client client(w.world, w.lend(), http_options(), 1);
  detail::google_tokens tokens(client, w.home.around(), "", "");
  auto asking = [](detail::google_tokens& of) -> task<> {
    auto getting = of.get(kNever);
    (void)co_await getting;
  };
  const status why = w.try_run(asking(tokens));
  CHECK(why.code() == status_code::unauthenticated);
  CHECK_THAT(why.to_string(),
             Catch::Contains("there are no Google credentials") && Catch::Contains("GS_NO_SIGN_REQUEST=1"));
  CHECK(w.machine.log().empty());

  token_world other;
  const status type = other.why(other.with_file(R"({"type": "external_account"})"));
  CHECK_THAT(type.to_string(),
             Catch::Contains("has the type \"external_account\"") && Catch::Contains("CLOUDSDK_AUTH_ACCESS_TOKEN"));
  token_world open;
  const status plain =
      open.why(open.with_file(R"({"type": "authorized_user", "token_uri": "http://elsewhere.test/t"})"));
  CHECK_THAT(plain.to_string(), Catch::Contains("its token_uri is not https://"));
}

TEST_CASE("options of Google's store that contradict each other are refused") {
  runtime rt;
  auto none = []() -> std::shared_ptr<network> { return {}; };
  gcs_options o;
  o.endpoint = "http://store.test/path";
  CHECK_THROWS_WITH(add_gcs(rt, none, o), Catch::Contains("has a path"));
  o.endpoint.clear();
  o.hmac_secret = "hidden";
  CHECK_THROWS_WITH(add_gcs(rt, none, o), Catch::Contains("go together") && !Catch::Contains("hidden"));
  o.hmac_access_id = "GOOG1";
  o.anonymous = true;
  CHECK_THROWS_WITH(add_gcs(rt, none, o), Catch::Contains("only one of") && !Catch::Contains("hidden"));
  o.anonymous = false;
  add_gcs(rt, none, o);
  CHECK_THROWS_WITH(add_gcs(rt, none, o), Catch::Contains("a file system for gs:// was added before"));
}
#endif

}  // namespace sluice::lib::gcs_test
