#include "api/json/event_json.h"

#include <set>

#include <gtest/gtest.h>

#include "core/request/signature.h"

#include "adapters/openssl/digest.h"
#include "adapters/openssl/openssl_crypto.h"

namespace postrider::api {
namespace {

const WallTime now = wall_from_unix_ms(1'767'225'600'000);

Parsed<EventDraft> read(const std::string& text, std::optional<std::string> key = std::nullopt,
                        std::string path = {}) {
  Result<std::vector<JsonMember>> members = read_json_object(text);
  if (!members) {
    return tl::make_unexpected(to_problem(members.error()));
  }
  const EventArrival arrival{
      .text = text, .path = std::move(path), .key = std::move(key), .id = EventId{{1}}, .now = now};
  ApiOptions options;
  options.crypto = &openssl_crypto();
  return read_event(*std::move(members), arrival, options);
}

TEST(ReadEvent, DerivesAKeyFromResourceTypeAndTime) {
  ApiOptions options;
  options.crypto = &openssl_crypto();
  options.derive_keys = true;
  const auto key = [&](const std::string& text) {
    Result<std::vector<JsonMember>> members = read_json_object(text);
    const EventArrival arrival{.text = text, .path = {}, .key = {}, .id = EventId{{1}}, .now = now};
    const Parsed<EventDraft> draft = read_event(*std::move(members), arrival, options);
    EXPECT_TRUE(draft) << text;
    return draft && draft->claim ? draft->claim->key : std::string{};
  };
  const std::string swap = R"("type":"swap.completed","data":1,"resource_id":"s-1")";
  EXPECT_EQ(key("{" + swap + R"(,"timestamp":"2021-12-20T11:33:20.999Z"})"),
            to_hex(sha256("s-1.swap.completed.1640000000")));
  // Without a timestamp or a resource there is nothing to derive a key from.
  EXPECT_EQ(key("{" + swap + "}"), "");
  EXPECT_EQ(key(R"({"type":"a.b","data":1,"timestamp":"2021-12-20T11:33:20Z"})"), "");
  EXPECT_EQ(key("{" + swap + R"(,"idempotency_key":"k"})"), "k");
}

TEST(ReadEvent, KeepsDataAndMetadataByteForByte) {
  const Parsed<EventDraft> draft = read(
      R"({ "metadata" : {"b" :1, "a":2.0} , "data" : [ 1e400 , {"k" : "\u00e9"} ],"type":"a.b"})");
  ASSERT_TRUE(draft) << draft.error().detail;
  EXPECT_EQ(draft->event.data, R"([ 1e400 , {"k" : "\u00e9"} ])");
  EXPECT_EQ(draft->event.metadata, R"({"b" :1, "a":2.0})");
}

TEST(ReadEvent, FillsInDefaults) {
  const Parsed<EventDraft> draft = read(R"({"type":"a.b","data":null})");
  ASSERT_TRUE(draft);
  const Event& event = draft->event;
  EXPECT_EQ(event.id, EventId{{1}});
  EXPECT_EQ(event.data, "null");
  EXPECT_EQ(event.tenant_id, "");
  EXPECT_EQ(event.metadata, "{}");
  EXPECT_EQ(event.priority, Priority::normal);
  EXPECT_EQ(event.timestamp, now);
  EXPECT_EQ(event.created_at, now);
  EXPECT_EQ(event.idempotency_key, generated_key(event.id));
  EXPECT_EQ(draft->claim, std::nullopt);
}

TEST(ReadEvent, ReadsEveryField) {
  const std::string text =
      R"({"type":"a.b","data":1,"tenant_id":"t","resource_id":"r","source":"s","ordering_key":"o",)"
      R"("idempotency_key":"k","priority":"low","timestamp":"2026-01-31T23:59:59.123Z"})";
  const Parsed<EventDraft> draft = read(text);
  ASSERT_TRUE(draft);
  const Event& event = draft->event;
  EXPECT_EQ(event.tenant_id, "t");
  EXPECT_EQ(event.resource_id, "r");
  EXPECT_EQ(event.source, "s");
  EXPECT_EQ(event.ordering_key, "o");
  EXPECT_EQ(event.priority, Priority::low);
  EXPECT_EQ(to_rfc3339(event.timestamp), "2026-01-31T23:59:59.123Z");
  EXPECT_EQ(event.idempotency_key, "k");
  EXPECT_EQ(draft->claim, (IdempotencyClaim{.key = "k",
                                            .body_digest = sha256(text),
                                            .expires_at = now + std::chrono::hours{24}}));
}

TEST(ReadEvent, NamesTheInvalidField) {
  const std::string long_text(257, 'x');
  const std::pair<std::string, std::string> cases[] = {
      {R"({"data":1})", "type"},
      {R"({"type":null,"data":1})", "type"},
      {R"({"type":"","data":1})", "type"},
      {R"({"type":"a..b","data":1})", "type"},
      {R"({"type":"a b","data":1})", "type"},
      {R"({"type":["a"],"data":1})", "type"},
      {R"({"type":")" + long_text + R"(","data":1})", "type"},
      {R"({"type":"a"})", "data"},
      {R"({"type":"a","data":1,"tenant_id":5})", "tenant_id"},
      {R"({"type":"a","data":1,"tenant_id":""})", "tenant_id"},
      {R"({"type":"a","data":1,"tenant_id":"\u0000"})", "tenant_id"},
      {R"({"type":"a","data":1,"resource_id":{}})", "resource_id"},
      {R"({"type":"a","data":1,"source":")" + long_text + "\"}", "source"},
      {R"({"type":"a","data":1,"ordering_key":false})", "ordering_key"},
      {R"({"type":"a","data":1,"idempotency_key":7})", "idempotency_key"},
      {R"({"type":"a","data":1,"idempotency_key":"a\nb"})", "idempotency_key"},
      {R"({"type":"a","data":1,"priority":"urgent"})", "priority"},
      {R"({"type":"a","data":1,"priority":1})", "priority"},
      {R"({"type":"a","data":1,"timestamp":"yesterday"})", "timestamp"},
      {R"({"type":"a","data":1,"timestamp":1767225600})", "timestamp"},
      {R"({"type":"a","data":1,"metadata":[]})", "metadata"},
      {R"({"type":"a","data":1,"metadata":"x"})", "metadata"},
      {R"({"type":"a","data":1,"metadata":{"x":")" + std::string(17'000, 'x') + "\"}}", "metadata"},
      {R"({"type":"a","data":1,"colour":1})", "colour"},
      {R"({"type":"a","data":1,"__proto__":{}})", "__proto__"},
  };
  for (const auto& [text, field] : cases) {
    const Parsed<EventDraft> draft = read(text);
    ASSERT_FALSE(draft) << text.substr(0, 80);
    EXPECT_EQ(draft.error().status, 422);
    ASSERT_EQ(draft.error().errors.size(), 1u) << text.substr(0, 80);
    EXPECT_EQ(draft.error().errors[0].field, field);
  }
}

TEST(ReadEvent, ReportsAllMistakesAtOnce) {
  const Parsed<EventDraft> draft = read(R"({"priority":1,"x":2})", std::nullopt, "events[4]");
  ASSERT_FALSE(draft);
  std::vector<std::string> fields;
  for (const FieldError& error : draft.error().errors) {
    fields.push_back(error.field);
  }
  EXPECT_EQ(fields, (std::vector<std::string>{"events[4].type", "events[4].data",
                                              "events[4].priority", "events[4].x"}));
}

TEST(ReadEvent, BoundsTheNumberOfErrorsAndTheLengthOfNames) {
  std::string text = R"({"type":"a","data":1)";
  for (int index = 0; index < 500; ++index) {
    text += ",\"" + std::string(300, 'n') + std::to_string(index) + "\":1";
  }
  const Parsed<EventDraft> draft = read(text + "}");
  ASSERT_FALSE(draft);
  EXPECT_EQ(draft.error().errors.size(), 25u);
  for (const FieldError& error : draft.error().errors) {
    EXPECT_LT(error.field.size(), 80u);
  }
}

TEST(ReadEvent, LimitsTheDataToTheByte) {
  const std::size_t limit = ApiOptions{}.data_bytes_max;
  const auto text = [](std::size_t bytes) {
    return R"({"type":"a","data":")" + std::string(bytes - 2, 'x') + "\"}";
  };
  EXPECT_TRUE(read(text(limit)));
  const Parsed<EventDraft> draft = read(text(limit + 1));
  ASSERT_FALSE(draft);
  EXPECT_EQ(draft.error().status, 413);
  EXPECT_EQ(draft.error().code, "data_too_large");
  EXPECT_NE(draft.error().detail.find("262144"), std::string::npos);
}

TEST(ReadEvent, TakesTheKeyFromTheHeaderOrTheBody) {
  const Parsed<EventDraft> by_header = read(R"({"type":"a","data":1})", "k");
  ASSERT_TRUE(by_header);
  EXPECT_EQ(by_header->claim->key, "k");
  EXPECT_TRUE(read(R"({"type":"a","data":1,"idempotency_key":"k"})", "k"));
  const Parsed<EventDraft> both = read(R"({"type":"a","data":1,"idempotency_key":"k"})", "other");
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().errors[0].field, "idempotency_key");
}

TEST(ReadEvent, TheKeyOfABatchItemTakesPrecedenceOverTheHeader) {
  const Parsed<EventDraft> item =
      read(R"({"type":"a","data":1,"idempotency_key":"own"})", "batch/0", "events[0]");
  ASSERT_TRUE(item);
  EXPECT_EQ(item->claim->key, "own");
}

TEST(ReadKeyHeader, AcceptsPrintableAsciiOnly) {
  const auto read_key = [](std::string key) {
    HttpRequest request;
    request.headers.emplace_back("idempotency-key", std::move(key));
    return read_key_header(request);
  };
  EXPECT_EQ(read_key_header({}).value(), std::nullopt);
  EXPECT_EQ(read_key("a b").value(), "a b");
  EXPECT_EQ(read_key(std::string(256, 'k')).value(), std::string(256, 'k'));
  for (const std::string& wrong : {std::string{}, std::string(257, 'k'), std::string{"\xE9"},
                                   std::string{"a\tb"}, std::string("\0", 1)}) {
    EXPECT_EQ(read_key(wrong).error().code, "invalid_idempotency_key");
  }
}

TEST(ReadTraceHeaders, ReadsOneTraceparentAndAllTracestates) {
  constexpr const char* traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  HttpRequest request;
  EXPECT_FALSE(read_trace_headers(request));
  request.headers = {{"tracestate", "a=1"}, {"traceparent", traceparent}, {"tracestate", "b=2"}};
  const std::optional<TraceContext> trace = read_trace_headers(request);
  ASSERT_TRUE(trace);
  EXPECT_EQ(to_string(trace->parent), "b7ad6b7169203331");
  EXPECT_EQ(trace->state, "a=1,b=2");
}

TEST(ReadTraceHeaders, IgnoresWhatIsNotValid) {
  constexpr const char* traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  HttpRequest request;
  request.headers = {{"traceparent", traceparent}, {"traceparent", traceparent}};
  EXPECT_FALSE(read_trace_headers(request)) << "twice";
  request.headers = {{"traceparent", ""}};
  EXPECT_FALSE(read_trace_headers(request));
  request.headers = {{"tracestate", "a=1"}};
  EXPECT_FALSE(read_trace_headers(request)) << "alone";
  request.headers = {{"traceparent", traceparent}, {"tracestate", "a=1"}, {"tracestate", "a=2"}};
  EXPECT_EQ(read_trace_headers(request)->state, "");
}

TEST(GeneratedKey, IsAUuidOfVersionFour) {
  UuidGenerator ids{7};
  std::set<std::string> keys;
  for (int index = 0; index < 1000; ++index) {
    const std::string key = generated_key(ids.make<EventId>(now));
    ASSERT_EQ(key.size(), 36u);
    EXPECT_EQ(key[8], '-');
    EXPECT_EQ(key[13], '-');
    EXPECT_EQ(key[18], '-');
    EXPECT_EQ(key[23], '-');
    EXPECT_EQ(key[14], '4');
    EXPECT_NE(std::string{"89ab"}.find(key[19]), std::string::npos);
    keys.insert(key);
  }
  EXPECT_EQ(keys.size(), 1000u);
}

}  // namespace
}  // namespace postrider::api
