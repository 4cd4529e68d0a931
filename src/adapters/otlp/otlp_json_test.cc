#include "adapters/otlp/otlp_json.h"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

namespace postrider::otlp {
namespace {

const Service service{.name = "hooks", .version = "1.2.3"};

Span sample_span() {
  Span span;
  span.trace_id.bytes.fill(0xaa);
  span.id.bytes.fill(0x01);
  span.parent = SpanId{{2, 2, 2, 2, 2, 2, 2, 2}};
  span.state = "rojo=1";
  span.name = "attempt";
  span.kind = SpanKind::client;
  span.start = Micros{1'767'225'600'000'001};
  span.duration = Micros{1'500};
  span.attributes = {{"text", std::string{"a\"b"}}, {"number", std::int64_t{7}}, {"yes", true}};
  span.error = "It failed.";
  return span;
}

TEST(OtlpJson, WritesARequestAsTheSpecificationSays) {
  const std::vector<Span> spans = {sample_span()};
  EXPECT_EQ(
      write_request(service, spans),
      R"({"resourceSpans":[{"resource":{"attributes":[)"
      R"({"key":"service.name","value":{"stringValue":"hooks"}},)"
      R"({"key":"service.version","value":{"stringValue":"1.2.3"}}]},)"
      R"("scopeSpans":[{"scope":{"name":"postrider","version":"1.2.3"},"spans":[)"
      R"({"traceId":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","spanId":"0101010101010101",)"
      R"("traceState":"rojo=1","parentSpanId":"0202020202020202","name":"attempt","kind":3,)"
      R"("startTimeUnixNano":"1767225600000001000","endTimeUnixNano":"1767225600001501000",)"
      R"("attributes":[{"key":"text","value":{"stringValue":"a\"b"}},)"
      R"({"key":"number","value":{"intValue":"7"}},{"key":"yes","value":{"boolValue":true}}],)"
      R"("status":{"message":"It failed.","code":2}}]}]}]})");
}

TEST(OtlpJson, LeavesOutWhatASpanDoesNotHave) {
  const std::vector<Span> spans = {Span{.name = "a"}, Span{.name = "b"}};
  const boost::json::value body = boost::json::parse(write_request(service, spans));
  const boost::json::array& written =
      body.at("resourceSpans").at(0).at("scopeSpans").at(0).at("spans").as_array();
  ASSERT_EQ(written.size(), 2u);
  EXPECT_EQ(written[1].at("name"), "b");
  for (const char* name : {"parentSpanId", "traceState", "status"}) {
    EXPECT_FALSE(written[0].as_object().contains(name)) << name;
  }
}

TEST(OtlpJson, IsValidWhateverTheTextsContain) {
  Span span = sample_span();
  span.attributes = {{"bytes", std::string{"\xff\xfe caf\xc3\xa9"}},
                     {"control", std::string("a\0\n\x7f", 4)},
                     {"utf8", std::string{"caf\xc3\xa9"}}};
  span.error = "\xc3";
  const std::vector<Span> spans = {span};
  boost::system::error_code error;
  const boost::json::value body = boost::json::parse(write_request(service, spans), error);
  ASSERT_FALSE(error) << error.message();
  const boost::json::value& written =
      body.at("resourceSpans").at(0).at("scopeSpans").at(0).at("spans").at(0);
  const auto value = [&](std::size_t index) {
    return written.at("attributes").at(index).at("value").at("stringValue");
  };
  EXPECT_EQ(value(0), "?? caf??");
  EXPECT_EQ(value(1), boost::json::string_view("a\0\n\x7f", 4));
  EXPECT_EQ(value(2), "caf\xc3\xa9");
  EXPECT_EQ(written.at("status").at("message"), "?");
}

TEST(OtlpJson, ReadsHowManySpansWereRejected) {
  EXPECT_EQ(read_rejected(""), 0u);
  EXPECT_EQ(read_rejected("{}"), 0u);
  EXPECT_EQ(read_rejected("[]"), 0u);
  EXPECT_EQ(read_rejected("\x0a\x00"), 0u);
  EXPECT_EQ(read_rejected(R"({"partialSuccess":{}})"), 0u);
  EXPECT_EQ(read_rejected(R"({"partialSuccess":null})"), 0u);
  EXPECT_EQ(read_rejected(R"({"partialSuccess":{"rejectedSpans":"3","errorMessage":"x"}})"), 3u);
  EXPECT_EQ(read_rejected(R"({"partialSuccess":{"rejectedSpans":3}})"), 3u);
  EXPECT_EQ(read_rejected(R"({"partialSuccess":{"rejectedSpans":-3}})"), 0u);
  EXPECT_EQ(read_rejected(R"({"partialSuccess":{"rejectedSpans":"many"}})"), 0u);
}

}  // namespace
}  // namespace postrider::otlp
