// SPDX-License-Identifier: Apache-2.0
// Whose credentials are taken, in which order, and when they are fetched anew: in virtual time.
#include <catch2/catch.hpp>

#if SLUICE_HAVE_STORES
#include "http/stores/store_world.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/coro/when_all.hpp"

namespace sluice::lib::aws_credentials_test {
using namespace sluice::lib::testing;
using namespace std::chrono_literals;

namespace {

constexpr const char* kProfiles =
    "# a comment\n[default]\naws_access_key_id = AKIDDEFAULT\naws_secret_access_key=s\n\n[other]\r\n"
    "aws_access_key_id=AKIDOTHER\r\naws_secret_access_key=s\r\n";

std::string credentials_json(const std::string& key, const std::string& ends) {
  return R"({"Code": "Success", "AccessKeyId": ")" + key + R"(", "SecretAccessKey": "s", "Token": "t-)" + key +
         R"(", "Expiration": ")" + ends + R"("})";
}

/// The access key that the last request to the store was signed with.
std::string signer(const scripted_server& server) {
  const std::string all = field_of(server.log().back().head, "Authorization");
  const std::size_t at = all.find("Credential=");
  return at == std::string::npos ? "" : all.substr(at + 11, all.find('/', at) - at - 11);
}

struct credentials_world : store_world {
  credentials_world() {
    s3.put("a", "hello");
    for (auto* s : {&machine, &container, &sts}) serving.push_back(s);
    home.variables["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = "http://machine.test";
    home.variables["AWS_ENDPOINT_URL_STS"] = "http://sts.test";
    machine.answers([this](const asked_for& a) -> std::optional<reply> {
      if (!has_role) return reply{404, "", ""};
      if (a.target == "/latest/api/token" && a.method == "PUT" &&
          !field_of(a.head, "X-aws-ec2-metadata-token-ttl-seconds").empty())
        return reply{200, "", "TOKEN"};
      if (field_of(a.head, "X-aws-ec2-metadata-token") != "TOKEN") return reply{401, "", ""};
      if (a.target == "/latest/meta-data/iam/security-credentials/") return reply{200, "", "a role"};
      return reply{200, "", credentials_json("AKIDMACHINE" + std::to_string(++fetched), ends)};
    });
    container.answers([this](const asked_for& a) -> std::optional<reply> {
      if (field_of(a.head, "Authorization") != "secret word") return reply{403, "", "no"};
      return reply{200, "", credentials_json("AKIDCONTAINER" + std::to_string(++fetched), ends)};
    });
    sts.answers([this](const asked_for& a) { return sts_answer(a); });
  }
  std::optional<reply> sts_answer(const asked_for& a) {
    if (a.body.find("WebIdentityToken=a%2Btoken&") == std::string::npos &&
        !a.body.ends_with("WebIdentityToken=a%2Btoken"))
      return simulated_s3::failed(400, "InvalidIdentityToken");
    ++fetched;
    return reply{
        200, "",
        "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>AKIDWEB"
        "</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>" +
            ends + "</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>"};
  }
  void without_keys() {
    home.variables.erase("AWS_ACCESS_KEY_ID");
    home.variables.erase("AWS_SECRET_ACCESS_KEY");
  }
  /// Who read the object.
  std::string reader(s3_options options = {}) {
    CHECK(run(read_store_file(files(std::move(options)), "s3://bucket/a")) == "hello");
    return signer(server);
  }
  status why(s3_options options = {}) {
    std::optional<std::string> ignored;
    return try_run(http_world::keep<std::string>(read_store_file(files(std::move(options)), "s3://bucket/a"), ignored));
  }

  scripted_server machine{*net, "machine.test:80"}, container{*net, "localhost:80"}, sts{*net, "sts.test:80"};
  bool has_role = true;
  int fetched = 0;
  std::string ends = "2026-11-24T11:00:00Z";  // an hour after the world began
};

}  // namespace

TEST_CASE("of several sources of credentials the first one is taken") {
  s3_options given;
  given.access_key_id = "AKIDGIVEN";
  given.secret_access_key = "s";
  {
    credentials_world w;
    w.home.files["/home/.aws/credentials"] = kProfiles;
    CHECK(w.reader(given) == "AKIDGIVEN");
  }
  {
    credentials_world w;
    w.home.files["/home/.aws/credentials"] = kProfiles;
    CHECK(w.reader() == "AKIDENV");
  }
  {
    credentials_world w;
    w.without_keys();
    w.home.files["/home/.aws/credentials"] = kProfiles;
    w.home.variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://localhost/c";
    CHECK(w.reader() == "AKIDDEFAULT");
  }
  {
    credentials_world w;
    w.without_keys();
    w.home.variables["AWS_PROFILE"] = "other";
    w.home.files["/home/.aws/credentials"] = kProfiles;
    CHECK(w.reader() == "AKIDOTHER");
  }
  {
    credentials_world w;
    w.home.files["/home/.aws/credentials"] = kProfiles;
    s3_options profile;
    profile.profile = "other";  // was meant, whatever the environment has
    CHECK(w.reader(profile) == "AKIDOTHER");
  }
  {
    credentials_world w;
    w.without_keys();
    w.home.variables["AWS_WEB_IDENTITY_TOKEN_FILE"] = "/token";
    w.home.variables["AWS_ROLE_ARN"] = "arn:aws:iam::1:role/r";
    w.home.variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://localhost/c";
    w.home.files["/token"] = "a+token";
    CHECK(w.reader() == "AKIDWEB");
    CHECK(field_of(w.server.log().back().head, "X-Amz-Security-Token") == "t");
    CHECK(w.sts.log().at(0).method == "POST");
    CHECK(field_of(w.sts.log().at(0).head, "Authorization").empty());
  }
  {
    credentials_world w;
    w.without_keys();
    w.home.variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://localhost/c";
    w.home.variables["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] = "/word";
    w.home.files["/word"] = "secret word\n";
    CHECK(w.reader() == "AKIDCONTAINER1");
    CHECK(w.machine.log().empty());
  }
  {
    credentials_world w;
    w.without_keys();
    CHECK(w.reader() == "AKIDMACHINE1");
    CHECK(w.machine.log().size() == 3);
    CHECK(w.machine.log().at(2).target == "/latest/meta-data/iam/security-credentials/a%20role");
  }
}

TEST_CASE("missing credentials are reported at once, and the machine's service is asked only if allowed") {
  {
    credentials_world w;
    w.without_keys();
    w.home.variables["AWS_EC2_METADATA_DISABLED"] = "true";
    const status why = w.why();
    CHECK(why.code() == status_code::unauthenticated);
    CHECK_THAT(why.to_string(), Catch::Contains("s3://bucket/a") && Catch::Contains("there are no AWS credentials") &&
                                    Catch::Contains("AWS_NO_SIGN_REQUEST=1"));
    CHECK(w.server.log().empty());
    CHECK(w.world.elapsed() < 1s);
  }
  {
    credentials_world w;
    w.without_keys();
    w.has_role = false;
    CHECK(w.why().code() == status_code::unauthenticated);
  }
  {
    credentials_world w;  // a network that swallows what goes to the machine's address: not a matter of minutes
    w.without_keys();
    w.net->silence("machine.test:80");
    w.serving = {&w.server};
    CHECK(w.why().code() == status_code::unauthenticated);
    CHECK(w.world.elapsed() < 60s);
  }
  {
    credentials_world w;
    w.home.variables["AWS_NO_SIGN_REQUEST"] = "1";
    CHECK(w.reader().empty());
    CHECK(w.machine.log().empty());
  }
}

TEST_CASE("a source that was named and fails is the error, without secrets in it") {
  {
    credentials_world w;
    w.without_keys();
    w.home.variables["AWS_PROFILE"] = "none";
    w.home.files["/home/.aws/credentials"] = kProfiles;
    CHECK_THAT(w.why().to_string(), Catch::Contains("there is no profile \"none\""));
  }
  {
    credentials_world w;
    w.without_keys();
    w.home.files["/home/.aws/config"] = "[default]\nsso_session = x\n";
    CHECK_THAT(w.why().to_string(), Catch::Contains("sso_session, which is not supported") &&
                                        Catch::Contains("aws configure export-credentials"));
  }
  {
    credentials_world w;
    w.without_keys();
    w.home.variables["AWS_WEB_IDENTITY_TOKEN_FILE"] = "/token";
    w.home.variables["AWS_ROLE_ARN"] = "r";
    w.home.files["/token"] = "a wrong token";
    const std::string text = w.why().to_string();
    CHECK_THAT(text,
               Catch::Contains("no credentials from the web identity") && Catch::Contains("InvalidIdentityToken"));
    CHECK_THAT(text, !Catch::Contains("a wrong token"));
    CHECK(w.machine.log().empty());
  }
  {
    credentials_world w;
    w.without_keys();
    w.home.variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://elsewhere.test/c";
    w.home.variables["AWS_CONTAINER_AUTHORIZATION_TOKEN"] = "secret word";
    const std::string text = w.why().to_string();
    CHECK_THAT(text,
               Catch::Contains("elsewhere.test, which is neither this machine") && !Catch::Contains("secret word"));
  }
}

TEST_CASE("credentials are fetched once for all requests, and again before they expire") {
  credentials_world w;
  w.without_keys();
  auto client = [](credentials_world& in) -> task<> {
    auto read = [](credentials_world& of) { return read_store_file(of.files(), "s3://bucket/a"); };
    std::vector<task<std::string>> many;
    for (int i = 0; i != 20; ++i) many.push_back(read(in));
    co_await when_all(std::move(many));
    CHECK(in.fetched == 1);
    co_await sleep_for(54min);
    auto before = read(in);
    co_await before;
    CHECK(in.fetched == 1);
    in.ends = "2026-11-24T13:00:00Z";
    co_await sleep_for(2min);  // four minutes before their end
    auto after = read(in);
    co_await after;
    CHECK(in.fetched == 2);
    CHECK(signer(in.server) == "AKIDMACHINE2");
    // The machine does not answer for a while: what is there still holds, and is not asked for at each request.
    co_await sleep_for(121min);
    in.has_role = false;
    const std::size_t asked = in.machine.log().size();
    for (int i = 0; i != 5; ++i) {
      auto still = read(in);
      co_await still;
    }
    CHECK(signer(in.server) == "AKIDMACHINE2");
    CHECK(in.machine.log().size() == asked + 1);
    // One waits for the next ones, the others go on.
    co_await sleep_for(31s);
    in.net->silence("machine.test:80");
    std::vector<task<bool>> at_once;
    auto timed = [](credentials_world& of) -> task<bool> {
      const time_point began = of.world.now();
      auto reading = read_store_file(of.files(), "s3://bucket/a");
      co_await reading;
      co_return of.world.now() - began < 500ms;
    };
    for (int i = 0; i != 5; ++i) at_once.push_back(timed(in));
    const std::vector<bool> soon = co_await when_all(std::move(at_once));
    CHECK(std::count(soon.begin(), soon.end(), true) == 4);
  };
  const status done = w.try_run(client(w));
  INFO(done.to_string());
  CHECK(done.ok());
}

TEST_CASE("credentials that cannot be had are asked for once by all requests of a second") {
  credentials_world w;
  w.without_keys();
  w.has_role = false;
  auto client = [](credentials_world& in) -> task<> {
    auto fails = [](credentials_world& of) -> task<bool> {
      auto reading = read_store_file(of.files(), "s3://bucket/a");
      auto got = co_await reading.as_result();
      const bool is_told = got.why().to_string().find("there are no AWS credentials") != std::string::npos;
      co_return is_told&& got.why().code() == status_code::unauthenticated;
    };
    std::vector<task<bool>> many;
    for (int i = 0; i != 50; ++i) many.push_back(fails(in));
    const std::vector<bool> failed = co_await when_all(std::move(many));
    CHECK(std::count(failed.begin(), failed.end(), true) == 50);
    CHECK(in.machine.log().size() == 1);
    co_await sleep_for(900ms);
    auto still = fails(in);
    const bool still_fails = co_await still;
    CHECK(still_fails);
    CHECK(in.machine.log().size() == 1);
    // Who has come by then asks anew: the role is there now.
    in.has_role = true;
    co_await sleep_for(200ms);
    auto reading = read_store_file(in.files(), "s3://bucket/a");
    const std::string bytes = co_await reading;
    CHECK(bytes == "hello");
    CHECK(in.fetched == 1);
  };
  const status done = w.try_run(client(w));
  INFO(done.to_string());
  CHECK(done.ok());
}

TEST_CASE("credentials of a service at the store's own address do not wait for the requests that wait for them") {
  credentials_world w;
  w.without_keys();
  w.home.variables["AWS_WEB_IDENTITY_TOKEN_FILE"] = "/token";
  w.home.variables["AWS_ROLE_ARN"] = "r";
  w.home.variables["AWS_ENDPOINT_URL_STS"] = "http://s3.test";
  w.home.files["/token"] = "a+token";
  w.server.answers([&w](const asked_for& a) { return a.method == "POST" ? w.sts_answer(a) : w.s3.answer(a); });
  s3_options one_at_a_time;
  one_at_a_time.http.requests_first = one_at_a_time.http.requests_max = 1;
  CHECK(w.reader(one_at_a_time) == "AKIDWEB");
}

TEST_CASE("credentials that the server reports as expired are fetched again, once") {
  credentials_world w;
  w.without_keys();
  w.s3.expired_keys = {"AKIDMACHINE1"};
  CHECK(w.reader() == "AKIDMACHINE2");
  CHECK(w.fetched == 2);
  CHECK(w.server.log().size() == 2);

  credentials_world file;  // somebody has renewed the file meanwhile, as a login does
  file.without_keys();
  file.home.files["/home/.aws/credentials"] = kProfiles;
  CHECK(file.reader() == "AKIDDEFAULT");
  file.s3.expired_keys = {"AKIDDEFAULT"};
  file.home.files["/home/.aws/credentials"] = "[default]\naws_access_key_id=AKIDNEW\naws_secret_access_key=s\n";
  CHECK(file.reader() == "AKIDNEW");

  credentials_world fixed;  // nobody can renew what stands in the environment
  fixed.s3.expired_keys = {"AKIDENV"};
  const status why = fixed.why();
  CHECK(why.code() == status_code::unauthenticated);
  CHECK_THAT(why.to_string(), Catch::Contains("ExpiredToken") && Catch::Contains("get new ones"));
  CHECK(fixed.server.log().size() == 2);
}

TEST_CASE("sections of a profile are found by their names") {
  const std::string text =
      "[profile a]\nregion = eu-west-1 \ns3 =\n  max_bandwidth = 1\n endpoint_url = no\n[b]\nx=1\n; no\n[profile "
      "a]\nY=2\n";
  auto a = detail::section_of(text, "a");
  REQUIRE(a.has_value());
  CHECK((*a)["region"] == "eu-west-1");
  CHECK((*a)["y"] == "2");
  CHECK(a->count("endpoint_url") == 0);
  CHECK(detail::section_of(text, "b")->at("x") == "1");
  CHECK(!detail::section_of(text, "c").has_value());
}
#endif

}  // namespace sluice::lib::aws_credentials_test
