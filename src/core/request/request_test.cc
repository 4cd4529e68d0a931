#include "core/request/request.h"

#include <array>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/net/header_rules.h"

namespace postrider {
namespace {

// A fake signature that contains the signed text.
std::string show(std::string_view prefix, std::string_view body) {
  return "<" + std::string{prefix} + "|" + std::string{body} + ">";
}

std::string signature_of(std::string_view prefix, std::string_view body) {
  return to_base64(show(prefix, body));
}

Webhook sample_webhook() {
  Webhook webhook;
  webhook.id.bytes.fill(0x11);
  webhook.url = "https://example.com/hook?x=1";
  webhook.payload_format = PayloadFormat::raw;
  return webhook;
}

Event sample_event() {
  Event event;
  event.id.bytes.fill(0xff);
  event.type = "swap.created";
  event.data = R"({"a":1})";
  event.idempotency_key = "order 7";
  event.timestamp = wall_from_unix_ms(1'600'000'000'000);
  return event;
}

AttemptStamp sample_stamp() {
  AttemptStamp stamp;
  stamp.attempt_number = 3;
  stamp.now = wall_from_unix_ms(1'700'000'000'999);
  return stamp;
}

std::string fill(const Webhook& webhook, const Event& event) {
  const UrlPolicy policy;
  const TargetUrl url = parse_target_url(webhook.url, policy).value();
  return RequestTemplate{webhook, url, "Postrider/1.2.3"}.fill(event, sample_stamp(), show);
}

constexpr std::string_view event_id = "evt_7zzzzzzzzzzzzzzzzzzzzzzzzz";

TEST(RequestTemplate, WritesTheWholeRequest) {
  Webhook webhook = sample_webhook();
  webhook.headers = {{"Authorization", "Bearer x"}, {"X-Empty", ""}};
  EXPECT_EQ(fill(webhook, sample_event()),
            "POST /hook?x=1 HTTP/1.1\r\n"
            "Host: example.com\r\n"
            "User-Agent: Postrider/1.2.3\r\n"
            "Content-Type: application/json\r\n"
            "Accept-Encoding: identity\r\n"
            "Authorization: Bearer x\r\n"
            "X-Empty: \r\n"
            "X-Webhook-ID: whk_0h248h248h248h248h248h248h\r\n"
            "webhook-id: evt_7zzzzzzzzzzzzzzzzzzzzzzzzz\r\n"
            "webhook-timestamp: 1700000000\r\n"
            "X-Webhook-Event: swap.created\r\n"
            "X-Webhook-Delivery: dlv_00000000000000000000000000\r\n"
            "X-Webhook-Attempt: 3\r\n"
            "X-Idempotency-Key: order 7\r\n"
            "X-Webhook-Timestamp: 2023-11-14T22:13:20.999Z\r\n"
            "webhook-signature: v1," +
                signature_of("evt_7zzzzzzzzzzzzzzzzzzzzzzzzz.1700000000.", R"({"a":1})") +
                "\r\n"
                "Content-Length: 7\r\n"
                "\r\n"
                R"({"a":1})");
}

TEST(RequestTemplate, SignsTheBodyThatIsSent) {
  Webhook webhook = sample_webhook();
  webhook.payload_format = PayloadFormat::workspace;
  const std::string request = fill(webhook, sample_event());
  const std::string body = R"({"event_type":"swap.created","data":{"a":1}})";
  EXPECT_TRUE(
      request.ends_with("\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body));
  EXPECT_NE(request.find("v1," + signature_of(std::string{event_id} + ".1700000000.", body)),
            std::string::npos);
}

// The headers between the fixed head and the body.
std::string signature_part(const SignaturePolicy& policy) {
  Webhook webhook = sample_webhook();
  webhook.signature = policy;
  Event event = sample_event();
  event.data = "1";
  const std::string request = fill(webhook, event);
  constexpr std::string_view shared = "Accept-Encoding: identity\r\n";
  const std::size_t begin = request.find(shared) + shared.size();
  return request.substr(begin, request.find("Content-Length") - begin);
}

TEST(RequestTemplate, HeaderSetsCanBeSwitchedOff) {
  const std::string standard =
      "webhook-id: evt_7zzzzzzzzzzzzzzzzzzzzzzzzz\r\nwebhook-timestamp: 1700000000\r\n";
  const std::string signature =
      "webhook-signature: v1," + signature_of(std::string{event_id} + ".1700000000.", "1") + "\r\n";
  EXPECT_EQ(signature_part({.prefixed_headers = false}), standard + signature);
  EXPECT_EQ(signature_part({.standard_headers = false, .prefixed_headers = false}),
            standard + signature)
      << "the receiver needs them to verify the signature";
  EXPECT_EQ(signature_part({.scheme = SignatureScheme::t_v1, .prefixed_headers = false}),
            standard + "X-Webhook-Signature: t=1700000000,v1=" + to_hex(show("1700000000.", "1")) +
                "\r\n");
}

TEST(RequestTemplate, PrefixIsConfigurable) {
  const std::string hex = to_hex(show("1700000000.", "1"));
  EXPECT_EQ(signature_part({.scheme = SignatureScheme::t_v1,
                            .header_prefix = "X-Agenta-",
                            .standard_headers = false}),
            "X-Agenta-ID: whk_0h248h248h248h248h248h248h\r\n"
            "X-Agenta-Event: swap.created\r\n"
            "X-Agenta-Delivery: dlv_00000000000000000000000000\r\n"
            "X-Agenta-Attempt: 3\r\n"
            "X-Idempotency-Key: order 7\r\n"
            "X-Agenta-Timestamp: 2023-11-14T22:13:20.999Z\r\n"
            "X-Agenta-Signature: t=1700000000,v1=" +
                hex + "\r\n");
}

TEST(RequestTemplate, SendsTheHeadersThatTheSchemeSigns) {
  const std::string over_time = to_hex(show("1700000000.", "1"));
  EXPECT_EQ(signature_part({.scheme = SignatureScheme::sha256_timestamp,
                            .standard_headers = false,
                            .prefixed_headers = false}),
            "X-Webhook-Timestamp: 1700000000\r\nX-Webhook-Signature: sha256=" + over_time + "\r\n");
  EXPECT_EQ(signature_part({.scheme = SignatureScheme::sha256_body,
                            .standard_headers = false,
                            .prefixed_headers = false}),
            "X-Webhook-Signature: sha256=" + to_hex(show("", "1")) + "\r\n");
  EXPECT_EQ(
      signature_part({.scheme = SignatureScheme::standard_ed25519, .prefixed_headers = false}),
      "webhook-id: evt_7zzzzzzzzzzzzzzzzzzzzzzzzz\r\nwebhook-timestamp: 1700000000\r\n"
      "webhook-signature: v1a," +
          signature_of(std::string{event_id} + ".1700000000.", "1") + "\r\n");
}

TEST(RequestTemplate, OmitsAnEmptyIdempotencyKey) {
  Event event = sample_event();
  event.idempotency_key.clear();
  EXPECT_EQ(fill(sample_webhook(), event).find("X-Idempotency-Key"), std::string::npos);
}

TEST(RequestTemplate, PublishersTextCannotInjectHeaders) {
  Event event = sample_event();
  event.idempotency_key = "a\r\nX-Evil: 1\r\n\r\nGET / HTTP/1.1\xff";
  const std::string request = fill(sample_webhook(), event);
  EXPECT_NE(request.find("X-Idempotency-Key: a%0D%0AX-Evil: 1%0D%0A%0D%0AGET / HTTP/1.1%FF\r\n"),
            std::string::npos);
  EXPECT_EQ(request.find("\r\n\r\n"), request.size() - event.data.size() - 4);
}

TEST(RequestTemplateDeathTest, AssertsValidHeaderNames) {
  Webhook prefix = sample_webhook();
  prefix.signature.header_prefix = "X-\r\nEvil: ";
  EXPECT_DEATH((void)fill(prefix, sample_event()), "is_header_name");
  Webhook name = sample_webhook();
  name.headers = {{"X-A\r\nEvil", "1"}};
  EXPECT_DEATH((void)fill(name, sample_event()), "is_header_name");
}

TEST(RequestTemplate, SendsTheHostOfTheUrl) {
  Webhook webhook = sample_webhook();
  webhook.url = "https://[2606:4700::1]:8443";
  EXPECT_TRUE(fill(webhook, sample_event())
                  .starts_with("POST / HTTP/1.1\r\nHost: [2606:4700::1]:8443\r\n"));
}

TEST(RequestTemplate, EachHeaderSetHasItsOwnNames) {
  const auto names = [](HeaderSet set, SignatureScheme scheme) {
    Webhook webhook = sample_webhook();
    webhook.signature = {
        .scheme = scheme, .header_prefix = "X-Own-", .standard_headers = false, .header_set = set};
    const std::string request = fill(webhook, sample_event());
    std::string found;
    for (std::size_t at = request.find("\r\nX-Own-"); at != std::string::npos;
         at = request.find("\r\nX-Own-", at + 1)) {
      const std::size_t begin = at + 8;
      found += request.substr(begin, request.find(':', begin) - begin) + " ";
    }
    return found;
  };
  using enum SignatureScheme;
  EXPECT_EQ(names(HeaderSet::platform, t_v1), "ID Event Delivery Attempt Timestamp Signature ");
  EXPECT_EQ(names(HeaderSet::exchange, sha256_timestamp), "Id Attempt Timestamp Signature ");
  EXPECT_EQ(names(HeaderSet::outbox, sha256_body), "Id Timestamp Signature ");
  EXPECT_EQ(names(HeaderSet::workspace, t_v1), "Event-ID Signature ");
  EXPECT_EQ(names(HeaderSet::tenant, sha256_body), "Event Delivery-ID Signature ");
  EXPECT_EQ(names(HeaderSet::tenant, sha256_timestamp), "Event Delivery-ID Timestamp Signature ");
}

TEST(RequestTemplate, OtherHeaderSetsSendTheEventId) {
  Webhook webhook = sample_webhook();
  const std::string id{event_id};
  webhook.signature = {.scheme = SignatureScheme::sha256_body,
                       .standard_headers = false,
                       .header_set = HeaderSet::outbox};
  EXPECT_NE(fill(webhook, sample_event()).find("\r\nX-Webhook-Id: " + id + "\r\n"),
            std::string::npos);
  Event event = sample_event();
  event.source_id = "row 7\r\nX: y";
  EXPECT_NE(fill(webhook, event).find("\r\nX-Webhook-Id: row 7%0D%0AX: y\r\n"), std::string::npos);
  webhook.signature.header_set = HeaderSet::workspace;
  EXPECT_NE(fill(webhook, sample_event()).find("\r\nX-Webhook-Event-ID: " + id + "\r\n"),
            std::string::npos);
}

RC_GTEST_PROP(RequestTemplate, IsWellFormedForAnyEvent,
              (const std::string& key, const std::string& type, const std::string& data)) {
  Event event = sample_event();
  event.idempotency_key = key;
  event.type = type;
  event.data = data;
  const std::string request = fill(sample_webhook(), event);

  const std::size_t end = request.find("\r\n\r\n");
  RC_ASSERT(end != std::string::npos);
  RC_ASSERT(request.substr(end + 4) == data);
  std::size_t at = request.find("\r\n") + 2;
  std::size_t count = 0;
  while (at < end + 2) {
    const std::size_t line_end = request.find("\r\n", at);
    const std::string line = request.substr(at, line_end - at);
    const std::size_t colon = line.find(": ");
    RC_ASSERT(colon != std::string::npos);
    RC_ASSERT(is_header_name(line.substr(0, colon)));
    RC_ASSERT(is_header_value(line.substr(colon + 2)));
    at = line_end + 2;
    ++count;
  }
  RC_ASSERT(count == (key.empty() ? 13u : 14u));
}

TEST(Request, OldSecretsSignUntilTheyEnd) {
  const TargetUrl url = *parse_target_url("https://example.com/", {});
  const auto signs_as = [](std::string mark) {
    return [mark](std::string_view, std::string_view) { return mark; };
  };
  const AttemptStamp stamp = sample_stamp();
  const std::array signs = {TimedSign{signs_as("new")},
                            TimedSign{signs_as("old"), stamp.now + Millis{1}},
                            TimedSign{signs_as("ended"), stamp.now}};
  const std::string request =
      RequestTemplate{sample_webhook(), url, "Postrider/1.2.3"}.fill(sample_event(), stamp, signs);
  EXPECT_NE(request.find("webhook-signature: v1,bmV3 v1,b2xk\r\n"), std::string::npos) << request;
}

TEST(Request, TheOldestSecretSignsIfThereIsRoomForOneSignature) {
  const TargetUrl url = *parse_target_url("https://example.com/", {});
  const auto signs_as = [](std::string mark) {
    return [mark](std::string_view, std::string_view) { return mark; };
  };
  const AttemptStamp stamp = sample_stamp();
  Webhook webhook = sample_webhook();
  webhook.signature = {.scheme = SignatureScheme::sha256_body,
                       .header_prefix = "X-Own-",
                       .standard_headers = false,
                       .prefixed_headers = false};
  const std::array signs = {TimedSign{signs_as("new")},
                            TimedSign{signs_as("old"), stamp.now + Millis{2}},
                            TimedSign{signs_as("oldest"), stamp.now + Millis{1}},
                            TimedSign{signs_as("ended"), stamp.now}};
  const auto headers_at = [&](WallTime now) {
    AttemptStamp at = stamp;
    at.now = now;
    const std::string request =
        RequestTemplate{webhook, url, "Postrider/1.2.3"}.fill(sample_event(), at, signs);
    const std::size_t begin = request.find("X-Own-Signature");
    return request.substr(begin, request.find("Content-Length") - begin);
  };
  const std::string next = "X-Own-Signature-Next: sha256=" + to_hex("new") + "\r\n";
  EXPECT_EQ(headers_at(stamp.now), "X-Own-Signature: sha256=" + to_hex("oldest") + "\r\n" + next);
  EXPECT_EQ(headers_at(stamp.now + Millis{1}),
            "X-Own-Signature: sha256=" + to_hex("old") + "\r\n" + next);
  EXPECT_EQ(headers_at(stamp.now + Millis{2}), "X-Own-Signature: sha256=" + to_hex("new") + "\r\n");
}

// ---------------------------------------------------------------- traces

Event traced_event() {
  Event event = sample_event();
  event.trace = TraceContext{.trace_id = {{0x0a, 0xf7, 0x65, 0x19, 0x16, 0xcd, 0x43, 0xdd, 0x84,
                                           0x48, 0xeb, 0x21, 0x1c, 0x80, 0x31, 0x9c}},
                             .parent = {{0xb7, 0xad, 0x6b, 0x71, 0x69, 0x20, 0x33, 0x31}},
                             .flags = trace_flag_sampled,
                             .state = "rojo=1,congo=2"};
  return event;
}

std::string header_of(std::string_view request, const std::string& name) {
  const std::size_t begin = request.find("\r\n" + name + ": ");
  if (begin == std::string_view::npos) {
    return "(none)";
  }
  const std::string_view rest = request.substr(begin + name.size() + 4);
  return std::string{rest.substr(0, rest.find("\r\n"))};
}

TEST(RequestTemplate, PassesTheTraceOnWithASpanOfTheAttempt) {
  const std::string request = fill(sample_webhook(), traced_event());
  const std::string traceparent = header_of(request, "traceparent");
  EXPECT_EQ(traceparent.substr(0, 36), "00-0af7651916cd43dd8448eb211c80319c-");
  EXPECT_EQ(traceparent.substr(52), "-01");
  EXPECT_NE(traceparent.substr(36, 16), "b7ad6b7169203331");
  EXPECT_EQ(header_of(request, "tracestate"), "rojo=1,congo=2");
}

TEST(RequestTemplate, EveryAttemptHasItsOwnSpan) {
  const Webhook webhook = sample_webhook();
  const RequestTemplate made{webhook, parse_target_url(webhook.url, {}).value(), "Postrider"};
  AttemptStamp next = sample_stamp();
  ++next.attempt_number;
  AttemptStamp other = sample_stamp();
  other.delivery_id.bytes[3] = 1;
  const std::string first =
      header_of(made.fill(traced_event(), sample_stamp(), show), "traceparent");
  EXPECT_NE(header_of(made.fill(traced_event(), next, show), "traceparent"), first);
  EXPECT_NE(header_of(made.fill(traced_event(), other, show), "traceparent"), first);
  EXPECT_EQ(header_of(made.fill_unsigned(traced_event(), sample_stamp(), "s"), "traceparent"),
            first)
      << "shown as it was sent";
}

TEST(RequestTemplate, ATraceDoesNotChangeTheSignature) {
  const Webhook webhook = sample_webhook();
  EXPECT_EQ(header_of(fill(webhook, traced_event()), "webhook-signature"),
            header_of(fill(webhook, sample_event()), "webhook-signature"));
}

TEST(RequestTemplate, AnEventWithoutATraceHasNoTraceHeaders) {
  const std::string request = fill(sample_webhook(), sample_event());
  EXPECT_EQ(header_of(request, "traceparent"), "(none)");
  EXPECT_EQ(header_of(request, "tracestate"), "(none)");
  Event event = traced_event();
  event.trace->state = {};
  EXPECT_EQ(header_of(fill(sample_webhook(), event), "tracestate"), "(none)");
}

TEST(RequestTemplate, AWebhooksOwnTraceHeadersReplaceThoseOfTheEvent) {
  for (const char* name : {"TraceParent", "Tracestate"}) {
    Webhook webhook = sample_webhook();
    webhook.headers = {{"X-First", "1"}, {name, "own"}};
    const std::string request = fill(webhook, traced_event());
    EXPECT_EQ(header_of(request, name), "own");
    EXPECT_EQ(header_of(request, "traceparent"), "(none)");
    EXPECT_EQ(header_of(request, "tracestate"), "(none)");
  }
  Webhook similar = sample_webhook();
  similar.headers = {{"X-Traceparent", "traceparent: x"}};
  EXPECT_NE(header_of(fill(similar, traced_event()), "traceparent"), "(none)");
}

}  // namespace
}  // namespace postrider
