#include "core/request/sent_request.h"

#include <algorithm>
#include <functional>

#include <gtest/gtest.h>

namespace postrider {
namespace {

Webhook sample_webhook() {
  Webhook webhook;
  webhook.id.bytes.fill(0x11);
  webhook.url = "https://Example.com/hook?x=1";
  webhook.payload_format = PayloadFormat::raw;
  webhook.headers = {{"Authorization", "Bearer hunter2"}, {"X-Plain", "p"}, {"x-api-key", "k3y"}};
  return webhook;
}

Event sample_event() {
  Event event;
  event.id.bytes.fill(0xff);
  event.type = "swap.created";
  event.data = R"({"a" : 1})";
  event.idempotency_key = "order 7";
  return event;
}

AttemptStamp sample_stamp() {
  return {.delivery_id = {}, .attempt_number = 3, .now = wall_from_unix_ms(1'700'000'000'999)};
}

RequestTemplate make_template(const Webhook& webhook) {
  return {webhook, parse_target_url(webhook.url, {}).value(), "Postrider/1.2.3"};
}

std::string no_sign(std::string_view, std::string_view) { return std::string(32, '\0'); }

/// Removes the signature from the bytes of a request.
std::string without_signature(std::string bytes) {
  const std::size_t begin = bytes.find("-signature: ");
  const std::size_t colon = begin == std::string::npos ? bytes.find("-Signature: ") : begin;
  const std::size_t end = bytes.find("\r\n", colon);
  return bytes.erase(colon, end - colon);
}

std::string as_bytes(const SentRequest& request, std::string_view request_line) {
  std::string bytes{request_line};
  for (const auto& [name, value] : request.headers) {
    bytes += "\r\n" + name + ": " + value;
  }
  return bytes + "\r\n\r\n" + request.body;
}

TEST(SentRequest, OmitsCredentialsAndSignature) {
  const SentRequest sent = reconstruct_request(make_template(sample_webhook()).stored_shape(),
                                               sample_event(), sample_stamp());
  EXPECT_EQ(sent, (SentRequest{.url = "https://Example.com/hook?x=1",
                               .headers = {{"Host", "example.com"},
                                           {"User-Agent", "Postrider/1.2.3"},
                                           {"Content-Type", "application/json"},
                                           {"Accept-Encoding", "identity"},
                                           {"Authorization", "[hidden]"},
                                           {"X-Plain", "p"},
                                           {"x-api-key", "[hidden]"},
                                           {"X-Webhook-ID", sample_webhook().id.to_string()},
                                           {"webhook-id", sample_event().id.to_string()},
                                           {"webhook-timestamp", "1700000000"},
                                           {"X-Webhook-Event", "swap.created"},
                                           {"X-Webhook-Delivery", DeliveryId{}.to_string()},
                                           {"X-Webhook-Attempt", "3"},
                                           {"X-Idempotency-Key", "order 7"},
                                           {"X-Webhook-Timestamp", "2023-11-14T22:13:20.999Z"},
                                           {"webhook-signature", "[not kept]"},
                                           {"Content-Length", "9"}},
                               .body = R"({"a" : 1})"}));
}

TEST(SentRequest, EqualsTheSentRequestForEveryFormatSchemeAndHeaderSet) {
  Webhook webhook = sample_webhook();
  webhook.headers = {{"X-Plain", "p"}};
  for (int format = 0; format <= static_cast<int>(PayloadFormat::raw); ++format) {
    webhook.payload_form = static_cast<PayloadForm>(format % 3);
    for (int scheme = 0; scheme <= static_cast<int>(SignatureScheme::sha256_body); ++scheme) {
      for (int set = 0; set <= static_cast<int>(HeaderSet::tenant); ++set) {
        webhook.payload_format = static_cast<PayloadFormat>(format);
        webhook.signature = {.scheme = static_cast<SignatureScheme>(scheme),
                             .header_prefix = "X-Own-",
                             .standard_headers = set % 2 == 0,
                             .prefixed_headers = set < 4,
                             .header_set = static_cast<HeaderSet>(set)};
        const RequestTemplate request = make_template(webhook);
        const std::string filled = request.fill(sample_event(), sample_stamp(), no_sign);
        const SentRequest sent =
            reconstruct_request(request.stored_shape(), sample_event(), sample_stamp());
        EXPECT_EQ(without_signature(as_bytes(sent, "POST /hook?x=1 HTTP/1.1")),
                  without_signature(filled))
            << format << " " << scheme << " " << set;
      }
    }
  }
}

TEST(SentRequest, ShowsTheNextSignatureUntilTheOldSecretsEnd) {
  Webhook webhook = sample_webhook();
  webhook.signature.scheme = SignatureScheme::sha256_timestamp;
  webhook.old_secrets = {{Secret<std::string>{"a"}, sample_stamp().now + Millis{1}},
                         {Secret<std::string>{"b"}, sample_stamp().now}};
  const auto shows_next = [&](WallTime now) {
    AttemptStamp stamp = sample_stamp();
    stamp.now = now;
    const Headers headers =
        reconstruct_request(make_template(webhook).stored_shape(), sample_event(), stamp).headers;
    return std::ranges::count(headers, Headers::value_type{"X-Webhook-Signature-Next",
                                                           std::string{signature_not_kept}}) == 1;
  };
  EXPECT_TRUE(shows_next(sample_stamp().now));
  EXPECT_FALSE(shows_next(sample_stamp().now + Millis{1}));
  webhook.signature.scheme = SignatureScheme::t_v1;
  EXPECT_FALSE(shows_next(sample_stamp().now)) << "lists all signatures in one header";
}

TEST(RequestShape, ContainsNoCredentials) {
  const RequestShape shape = make_template(sample_webhook()).stored_shape();
  EXPECT_EQ(shape.head.find("hunter2"), std::string::npos);
  EXPECT_EQ(shape.head.find("k3y"), std::string::npos);
}

TEST(RequestShape, DiffersIfAnythingInTheRequestChanges) {
  const RequestShape shape = make_template(sample_webhook()).stored_shape();
  const auto changed = [&](const std::function<void(Webhook&)>& change) {
    Webhook webhook = sample_webhook();
    change(webhook);
    return make_template(webhook).stored_shape() != shape;
  };
  EXPECT_FALSE(changed([](Webhook&) {}));
  EXPECT_FALSE(changed([](Webhook& webhook) { webhook.name = "other"; }));
  EXPECT_FALSE(changed([](Webhook& webhook) { webhook.headers[0].second = "Bearer other"; }));
  EXPECT_TRUE(changed([](Webhook& webhook) { webhook.url = "https://example.com/hook?x=1"; }));
  EXPECT_TRUE(changed([](Webhook& webhook) { webhook.headers[1].second = "q"; }));
  EXPECT_TRUE(changed([](Webhook& webhook) { webhook.headers.pop_back(); }));
  EXPECT_TRUE(changed([](Webhook& webhook) { webhook.payload_format = PayloadFormat::tenant; }));
  EXPECT_TRUE(changed([](Webhook& webhook) { webhook.payload_form = PayloadForm::sorted; }));
  EXPECT_TRUE(changed([](Webhook& webhook) { webhook.signature.header_prefix = "X-Y-"; }));
  EXPECT_TRUE(changed([](Webhook& webhook) { webhook.signature.standard_headers = false; }));
}

}  // namespace
}  // namespace postrider
