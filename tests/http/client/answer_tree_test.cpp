// SPDX-License-Identifier: Apache-2.0
// Answers of stores as trees, and answers that are none.
#include <catch2/catch.hpp>

#if SLUICE_HAVE_STORES
#include "io/s3/s3_store.hpp"
#include "io/stores/answer_tree.hpp"

namespace sluice::lib::answer_tree_test {
using namespace sluice::lib::detail;

TEST_CASE("elements of XML are found by their names, entities are their characters") {
  auto t = parse_xml(
      "<?xml version=\"1.0\"?><a xmlns='u' x='1'><b>1 &lt; 2&#10;</b><p:c xmlns:p='v'><d>x</d></p:c><b>y</b></a>");
  REQUIRE(t.ok());
  CHECK(t->name == "a");
  CHECK(t->at("b") == "1 < 2\n");
  CHECK(t->all("b").size() == 2);
  CHECK(t->find("c")->at("d") == "x");
  CHECK(t->find("none") == nullptr);
  CHECK(t->at("none").empty());
}

TEST_CASE("members of JSON are found by their names, numbers are their text") {
  auto t = parse_json(R"({"a": "x\u00e9", "n": 12, "list": [{"k": "1"}, {"k": "2"}], "no": null, "yes": true})");
  REQUIRE(t.ok());
  CHECK(t->at("a") == "x\xc3\xa9");
  CHECK(t->at("n") == "12");
  CHECK(t->at("yes") == "true");
  CHECK(t->at("no").empty());
  REQUIRE(t->find("list")->children.size() == 2);
  CHECK(t->find("list")->children[1].at("k") == "2");
}

TEST_CASE("invalid answers are refused: truncated, too deep, with entities of their own") {
  CHECK(!parse_xml("").ok());
  CHECK(!parse_xml("<a><b></a>").ok());
  CHECK_THAT(std::string(parse_xml("<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>").why().message()),
             Catch::Contains("it has a DOCTYPE"));
  std::string deep;
  for (int i = 0; i != 100; ++i) deep += "<a>";
  CHECK_THAT(std::string(parse_xml(deep).why().message()), Catch::Contains("too deep"));
  CHECK(!parse_json("").ok());
  CHECK(!parse_json("{\"a\": ").ok());
  CHECK_THAT(std::string(parse_json(std::string(100, '[') + std::string(100, ']')).why().message()),
             Catch::Contains("too deep"));
}

TEST_CASE("a listing has keys, sizes and versions; a contradictory one is refused") {
  auto page = parse_s3_listing(
      "<ListBucketResult><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated><NextContinuationToken>t=</"
      "NextContinuationToken><Contents><Key>a+b%2Bc</Key><Size>12</Size><ETag>abc</"
      "ETag><LastModified>2026-11-24T10:00:00.999Z</"
      "LastModified></Contents><CommonPrefixes><Prefix>f/</Prefix></CommonPrefixes></ListBucketResult>");
  REQUIRE(page.ok());
  REQUIRE(page->objects.size() == 1);
  CHECK(page->objects[0].key == "a b+c");
  CHECK(page->objects[0].info.size_bytes == 12);
  CHECK(page->objects[0].info.version == "\"abc\"");
  CHECK(page->objects[0].info.modified_ns == 1795514400'000'000'000);
  CHECK(page->folders == std::vector<std::string>{"f/"});
  CHECK(page->next == "t=");
  CHECK(!parse_s3_listing("<html></html>").ok());
  CHECK(!parse_s3_listing("<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>").ok());
  CHECK(
      !parse_s3_listing("<ListBucketResult><Contents><Key>a</Key><Size>-1</Size></Contents></ListBucketResult>").ok());
  // Keys are as they stand where they are not said to be encoded.
  CHECK(parse_s3_listing("<ListBucketResult><Contents><Key>a%20b</Key><Size>1</Size></Contents></ListBucketResult>")
            ->objects[0]
            .key == "a%20b");
}
#endif

}  // namespace sluice::lib::answer_tree_test
