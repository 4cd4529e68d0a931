// Tests of `listen` and `send` over real sockets.
#include "cli/client/webhook_receiver.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/json/json_text.h"

#include "adapters/openssl/openssl_crypto.h"
#include "adapters/openssl/signer.h"
#include "api/http/http_server_fixture.h"
#include "cli/client/event_request.h"
#include "cli/client/http_client.h"
#include "cli/text/webhook_text.h"

namespace postrider::cli {
namespace {

const std::string known_secret = "whsec_plJ3nmyCDGBKInavdOK15jsl";
const std::string known_body = R"({"event_type":"ping","data":{"success":true}})";
constexpr std::int64_t known_seconds = 1731705121;

Secret<std::string> secret_of(const std::string& text) { return Secret<std::string>{text}; }
Secret<std::string> known_key() { return secret_of(known_secret); }

api::HttpRequest known_webhook() {
  api::HttpRequest request;
  request.method = "POST";
  request.path = "/hook";
  request.headers = {{"webhook-id", "msg_loFOjxBNrRLzqYUf"},
                     {"webhook-timestamp", "1731705121"},
                     {"webhook-signature", "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0="}};
  request.body = known_body;
  return request;
}

SignatureRules known_rules() { return {.secrets = {known_key()}}; }

WallTime at(std::int64_t unix_seconds) { return wall_from_unix_ms(unix_seconds * 1000); }

TEST(CheckSignature, AcceptsTheKnownVector) {
  const SignatureFinding finding =
      check_signature(known_webhook(), known_rules(), openssl_crypto(), at(known_seconds));
  EXPECT_EQ(finding.verdict, SignatureVerdict::valid);
  EXPECT_EQ(finding.scheme, "standard");
}

TEST(CheckSignature, ChecksTheTimeToTheSecond) {
  const auto verdict_at = [](std::int64_t seconds) {
    return check_signature(known_webhook(), known_rules(), openssl_crypto(), at(seconds)).verdict;
  };
  EXPECT_EQ(verdict_at(known_seconds + 300), SignatureVerdict::valid);
  EXPECT_EQ(verdict_at(known_seconds + 301), SignatureVerdict::stale);
  EXPECT_EQ(verdict_at(known_seconds - 300), SignatureVerdict::valid);
  EXPECT_EQ(verdict_at(known_seconds - 301), SignatureVerdict::stale);
}

TEST(CheckSignature, DetectsEveryChange) {
  const auto verdict_of = [](const api::HttpRequest& request) {
    return check_signature(request, known_rules(), openssl_crypto(), at(known_seconds)).verdict;
  };
  api::HttpRequest body = known_webhook();
  body.body += " ";
  EXPECT_EQ(verdict_of(body), SignatureVerdict::wrong);
  api::HttpRequest id = known_webhook();
  id.headers[0].second = "msg_other";
  EXPECT_EQ(verdict_of(id), SignatureVerdict::wrong);
  api::HttpRequest time = known_webhook();
  time.headers[1].second = "1731705122";
  EXPECT_EQ(verdict_of(time), SignatureVerdict::wrong);
  api::HttpRequest extreme = known_webhook();
  extreme.headers[1].second = "9223372036854775807";
  EXPECT_EQ(verdict_of(extreme), SignatureVerdict::wrong);
  api::HttpRequest unsigned_webhook = known_webhook();
  unsigned_webhook.headers.pop_back();
  EXPECT_EQ(verdict_of(unsigned_webhook), SignatureVerdict::missing);
  EXPECT_EQ(check_signature(known_webhook(), {}, openssl_crypto(), at(0)).verdict,
            SignatureVerdict::unchecked);
}

TEST(CheckSignature, AcceptsEverySchemeAndBothSecretsOfARotation) {
  const Secret<std::string> old_secret = secret_of("the old secret, long enough");
  const Secret<std::string> new_secret = secret_of("the new secret, long enough");
  for (const SignatureScheme scheme :
       {SignatureScheme::standard, SignatureScheme::standard_ed25519, SignatureScheme::t_v1,
        SignatureScheme::sha256_timestamp, SignatureScheme::sha256_body}) {
    api::HttpRequest request;
    request.body = known_body;
    request.headers = {{"webhook-id", "evt_1"}, {"webhook-timestamp", "1731705121"}};
    const SignedText text =
        signed_text(scheme, {.id = "evt_1", .unix_seconds = known_seconds, .body = request.body});
    const std::string new_signature = make_sign(scheme, new_secret)(text.prefix, text.body);
    const std::string old_signature = make_sign(scheme, old_secret)(text.prefix, text.body);
    const auto add = [&](std::string name, const std::vector<std::string>& signatures) {
      request.headers.emplace_back(std::move(name),
                                   signature_value(scheme, known_seconds, signatures));
    };
    if (has_one_signature(scheme)) {
      add("x-agenta-signature", {old_signature});
      add("x-agenta-signature-next", {new_signature});
    } else {
      add(is_standard(scheme) ? "webhook-signature" : "x-agenta-signature",
          {new_signature, old_signature});
    }
    SCOPED_TRACE(to_string(scheme));

    const SignatureFinding finding =
        check_signature(request, {.secrets = {new_secret}}, openssl_crypto(), at(known_seconds));
    EXPECT_EQ(finding.verdict, SignatureVerdict::valid);
    EXPECT_EQ(finding.scheme, to_string(scheme));
    EXPECT_EQ(
        check_signature(request, {.secrets = {old_secret}}, openssl_crypto(), at(known_seconds))
            .verdict,
        SignatureVerdict::valid);
    const SignatureFinding second = check_signature(
        request, {.secrets = {secret_of("quite another secret than these"), new_secret}},
        openssl_crypto(), at(known_seconds));
    EXPECT_EQ(second.verdict, SignatureVerdict::valid);
    const SignatureFinding unknown =
        check_signature(request, {.secrets = {secret_of("quite another secret than these")}},
                        openssl_crypto(), at(known_seconds));
    EXPECT_EQ(unknown.verdict, SignatureVerdict::wrong);
  }
}

TEST(WebhookText, ShowsSummaryAndBody) {
  ReceivedWebhook webhook{.request = known_webhook(),
                          .received_at = at(known_seconds),
                          .signature = {SignatureVerdict::valid, "standard"},
                          .answered = 200};
  webhook.request.headers.emplace_back("x-webhook-event", "ping");
  webhook.request.headers.emplace_back("x-webhook-attempt", "2");
  EXPECT_EQ(to_text(webhook, false),
            "2024-11-15T21:12:01.000Z POST /hook  ping  msg_loFOjxBNrRLzqYUf  attempt 2  "
            "signature valid (standard)  answered 200\n"
            "    {\n"
            "      \"event_type\": \"ping\",\n"
            "      \"data\": {\n"
            "        \"success\": true\n"
            "      }\n"
            "    }\n");
  EXPECT_NE(to_text(webhook, true).find("\x1b[32m"), std::string::npos);
}

TEST(WebhookText, EscapesControlCharacters) {
  ReceivedWebhook webhook{.request = known_webhook(), .received_at = at(0), .signature = {}};
  webhook.request.headers.emplace_back("x-webhook-event", "a\x1b[2Jb");
  webhook.request.body =
      "\x1b]0;title\x07 and \xc2\x9b"
      "31m";
  const std::string text = to_text(webhook, false);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos);
  EXPECT_NE(text.find("\\x1b]0;title\\x07 and \\x9b31m"), std::string::npos);
}

TEST(WebhookText, IsOneLineOfValidJsonForPrograms) {
  for (const std::string& body : std::vector<std::string>{known_body, "{\n  \"a\": 1e400\r\n}",
                                                          "not json \"quoted\"", "", "\xff\xfe"}) {
    ReceivedWebhook webhook{.request = known_webhook(), .received_at = at(0), .signature = {}};
    webhook.request.body = body;
    const std::string line = to_json_line(webhook);
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    EXPECT_TRUE(check_json(line.substr(0, line.size() - 1)).has_value()) << line;
  }
}

TEST(IndentJson, ChangesOnlyWhiteSpace) {
  EXPECT_EQ(indent_json(R"({})", ""), "{}");
  EXPECT_EQ(indent_json("[ ]", ""), "[]");
  EXPECT_EQ(indent_json(R"("a,{\"b\"}")", ""), R"("a,{\"b\"}")");
  EXPECT_EQ(indent_json(R"({"k\\":[1, {"x":null}]})", ">"),
            ">{\n>  \"k\\\\\": [\n>    1,\n>    {\n>      \"x\": null\n>    }\n>  ]\n>}");
}

class FixedClock final : public Clock {
 public:
  [[nodiscard]] Moment now() const override { return {at(known_seconds), {}}; }
};

/// A receiver behind a real server; records its callbacks.
class ReceiverTest : public testing::Test {
 protected:
  ClientResponse deliver(const ListenOptions& options, const api::HttpRequest& webhook) {
    WebhookReceiver receiver{options,
                             clock_,
                             openssl_crypto(),
                             {.received = [this](const ReceivedWebhook& w) { seen_.push_back(w); },
                              .finished = [this] { ++finished_; }}};
    api::test::TestServer server{
        [&](api::HttpRequest request) { return receiver.handle(std::move(request)); }, {}};
    TargetUrl url{.tls = false, .host = "127.0.0.1", .port = server.endpoint().port()};
    const Result<ClientResponse> response = send_request({.server = url,
                                                          .method = webhook.method,
                                                          .path = webhook.path,
                                                          .headers = webhook.headers,
                                                          .body = webhook.body,
                                                          .asks_first = false});
    EXPECT_TRUE(response.has_value()) << response.error().message;
    server.call([&] { rejected_ = receiver.rejected(); });
    return response.value_or(ClientResponse{});
  }

  FixedClock clock_;
  std::vector<ReceivedWebhook> seen_;
  std::uint64_t rejected_ = 0;
  int finished_ = 0;
};

TEST_F(ReceiverTest, AnswersAsConfiguredIfTheSignatureIsValid) {
  ListenOptions options;
  options.secrets = {known_key()};
  options.status = 202;
  options.count = 1;
  EXPECT_EQ(deliver(options, known_webhook()).status, 202);
  ASSERT_EQ(seen_.size(), 1u);
  EXPECT_EQ(seen_[0].signature.verdict, SignatureVerdict::valid);
  EXPECT_EQ(seen_[0].request.body, known_body);
  EXPECT_EQ(finished_, 1);
  EXPECT_EQ(rejected_, 0u);
}

TEST_F(ReceiverTest, Answers401IfTheSignatureIsWrong) {
  ListenOptions options;
  options.secrets = {secret_of("quite another secret than these")};
  EXPECT_EQ(deliver(options, known_webhook()).status, 401);
  EXPECT_EQ(rejected_, 1u);
  EXPECT_EQ(finished_, 0);
}

TEST_F(ReceiverTest, FailsAtTheConfiguredRateAfterTheDelay) {
  ListenOptions options;
  options.fail_rate = 1.0;
  options.delay = std::chrono::milliseconds{1};
  EXPECT_EQ(deliver(options, known_webhook()).status, 500);
  options.fail_rate = 0.0;
  EXPECT_EQ(deliver(options, known_webhook()).status, 200);
}

TEST_F(ReceiverTest, AnswersOnlyConfiguredPaths) {
  ListenOptions options;
  options.paths = {"/other"};
  EXPECT_EQ(deliver(options, known_webhook()).status, 404);
  EXPECT_TRUE(seen_.empty());
  options.paths = {"/other", "/hook"};
  EXPECT_EQ(deliver(options, known_webhook()).status, 200);
}

TEST(HttpClient, ReportsTimeoutAndRefusedConnection) {
  boost::asio::io_context io;
  boost::asio::ip::tcp::acceptor silent{io, {boost::asio::ip::address_v4::loopback(), 0}};
  const std::uint16_t port = silent.local_endpoint().port();
  const TargetUrl url{.tls = false, .host = "127.0.0.1", .port = port};
  const auto slow = send_request({.server = url, .timeout = std::chrono::milliseconds{50}});
  ASSERT_FALSE(slow.has_value());
  EXPECT_EQ(slow.error().message,
            "http://127.0.0.1:" + std::to_string(port) + " did not respond in time.");

  silent.close();
  const auto refused = send_request({.server = url});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message,
            "Cannot connect to http://127.0.0.1:" + std::to_string(port) + ": Connection refused.");
}

TEST(EventBody, CopiesTheDataVerbatim) {
  SendOptions options;
  options.type = "order \"paid\"";
  EXPECT_EQ(event_body(options, "{ \"n\": 1.50 }").value(),
            R"({"type":"order \"paid\"","data":{ "n": 1.50 }})");
  options.tenant_id = "t";
  options.resource_id = "r";
  options.idempotency_key = "k";
  options.source = "s";
  options.ordering_key = "o";
  options.priority = "low";
  options.timestamp = "2026-01-01T00:00:00Z";
  EXPECT_EQ(event_body(options, "null").value(),
            R"({"type":"order \"paid\"","data":null,"tenant_id":"t","resource_id":"r",)"
            R"("idempotency_key":"k","source":"s","ordering_key":"o","priority":"low",)"
            R"("timestamp":"2026-01-01T00:00:00Z"})");
}

TEST(EventBody, RefusesInvalidJson) {
  SendOptions options;
  options.type = "t";
  for (const char* data : {"", "{", "{'a':1}", "{\"a\":1}{"}) {
    EXPECT_FALSE(event_body(options, data).has_value()) << data;
  }
  options.source = "\xff";
  EXPECT_FALSE(event_body(options, "{}").has_value());
}

TEST(DescribeResponse, FormatsSuccessAndErrors) {
  EXPECT_EQ(describe_response({202, R"({"id":"evt_1","deliveries":1,"duplicate":false})", {}}),
            "evt_1 published, 1 delivery.\n");
  EXPECT_EQ(describe_response({200, R"({"id":"evt_1","deliveries":2,"duplicate":true})", {}}),
            "evt_1 was published before, 2 deliveries.\n");
  EXPECT_EQ(describe_response(
                {422, R"({"detail":"Wrong.","errors":[{"field":"type","message":"Too long."}]})"}),
            "The server answered 422: Wrong.\n  type: Too long.\n");
  EXPECT_EQ(describe_response({502, "<html>"}), "The server answered 502 without JSON.\n");
}

}  // namespace
}  // namespace postrider::cli
