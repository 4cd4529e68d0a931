#include "api/json/webhook_json.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

#include "core/request/secret_text.h"

#include "adapters/openssl/openssl_crypto.h"

namespace postrider::api {
namespace {

const Webhook defaults;
const UrlPolicy public_https;

Webhook base() {
  Webhook webhook;
  webhook.id = WebhookId{{1}};
  webhook.url = "https://example.com/";
  webhook.events = {*EventPattern::parse("*")};
  webhook.secret = Secret{std::string(32, 's')};
  return webhook;
}

/// The webhook after merging a body into it, and the errors.
struct Merged {
  Webhook webhook;
  std::vector<FieldError> errors;

  [[nodiscard]] std::vector<std::string> fields() const {
    std::vector<std::string> names;
    for (const FieldError& error : errors) {
      names.push_back(error.field);
    }
    return names;
  }
};

Merged merge(const std::string& body, Webhook webhook = base(), bool creating = false) {
  Result<std::vector<JsonMember>> members = read_json_object(body);
  EXPECT_TRUE(members) << body;
  FieldErrors errors;
  ObjectReader reader{*members, "", errors};
  read_webhook(reader, {public_https, defaults, creating}, webhook);
  return {std::move(webhook), errors.all()};
}

/// As `merge`, for a tenant with these caps.
Merged merge_capped(const std::string& body, Webhook webhook = base(), bool creating = false) {
  Result<std::vector<JsonMember>> members = read_json_object(body);
  EXPECT_TRUE(members) << body;
  FieldErrors errors;
  ObjectReader reader{*members, "", errors};
  WebhookRules rules{public_https, defaults, creating};
  rules.caps_of = [](const TenantId&) {
    return WebhookCaps{.timeout = Millis{5'000}, .in_flight = 3};
  };
  read_webhook(reader, rules, webhook);
  return {std::move(webhook), errors.all()};
}

boost::json::object write(const Webhook& webhook, WebhookDetails details = {}) {
  details.public_key = public_key(openssl_crypto(), webhook.signature.scheme, webhook.secret);
  std::string body;
  JsonWriter writer{body};
  write_webhook(writer, webhook, details);
  EXPECT_TRUE(check_json(body));
  return boost::json::parse(body).as_object();
}

TEST(ReadWebhook, RefusesValuesAboveTheCapsOfTheTenant) {
  using Fields = std::vector<std::string>;
  for (const bool creating : {false, true}) {
    const std::string start = R"({"url":"https://a.example/","events":["*"],)";
    const auto fields = [&](const std::string& rest) {
      return merge_capped(start + rest + "}", base(), creating).fields();
    };
    EXPECT_EQ(fields(R"("timeout_ms":5001)"), Fields{"timeout_ms"});
    EXPECT_EQ(fields(R"("retry_config":{"timeout_ms":300000})"), Fields{"retry_config.timeout_ms"});
    EXPECT_EQ(fields(R"("max_in_flight":4)"), Fields{"max_in_flight"});
    EXPECT_EQ(fields(R"("timeout_ms":6000,"max_in_flight":1000)"),
              (Fields{"timeout_ms", "max_in_flight"}));
    EXPECT_EQ(fields(R"("timeout_ms":5000,"max_in_flight":3)"), Fields{});
  }
  EXPECT_EQ(merge_capped(R"({"timeout_ms":5001})").errors.at(0).message,
            "must be at most 5000, the limit of this tenant.");
}

TEST(ReadWebhook, LowersDefaultsToTheCapsOfTheTenant) {
  const std::string body = R"({"url":"https://a.example/","events":["*"]})";
  const Merged created = merge_capped(body, defaults, true);
  EXPECT_TRUE(created.errors.empty());
  EXPECT_EQ(created.webhook.retry.timeout, Millis{5'000});
  EXPECT_EQ(created.webhook.max_in_flight, 3u);

  Webhook small = base();
  small.retry.timeout = Millis{1'000};
  small.max_in_flight = 1;
  const Merged reset =
      merge_capped(R"({"timeout_ms":null,"max_in_flight":null,"retry_config":null})", small);
  EXPECT_TRUE(reset.errors.empty());
  EXPECT_EQ(reset.webhook.retry.timeout, Millis{5'000});
  EXPECT_EQ(reset.webhook.max_in_flight, 3u);
  const Merged preset = merge_capped(R"({"retry_config":{"preset":"quick"}})", small);
  EXPECT_TRUE(preset.errors.empty());
  EXPECT_EQ(preset.webhook.retry.timeout, Millis{5'000});
}

TEST(ReadWebhook, KeepsValuesFromBeforeTheCaps) {
  Webhook large = base();
  large.retry.timeout = Millis{60'000};
  large.max_in_flight = 100;
  const Merged renamed = merge_capped(R"({"name":"new"})", large);
  EXPECT_TRUE(renamed.errors.empty());
  EXPECT_EQ(renamed.webhook.retry.timeout, Millis{60'000});
  EXPECT_EQ(renamed.webhook.max_in_flight, 100u);
}

TEST(ReadWebhook, NamesTheInvalidField) {
  const std::string long_text(257, 'x');
  const std::pair<std::string, std::string> cases[] = {
      {R"({"url":null})", "url"},
      {R"({"url":5})", "url"},
      {R"({"url":""})", "url"},
      {R"({"url":"http://example.com/"})", "url"},
      {R"({"url":"https://127.0.0.1/"})", "url"},
      {R"({"url":"https://user@example.com/"})", "url"},
      {R"({"events":null})", "events"},
      {R"({"events":[]})", "events"},
      {R"({"events":"*"})", "events"},
      {R"({"events":["a","b c"]})", "events[1]"},
      {R"({"events":[1]})", "events[0]"},
      {R"({"name":1})", "name"},
      {R"({"name":""})", "name"},
      {R"({"name":"a\nb"})", "name"},
      {R"({"name":")" + long_text + "\"}", "name"},
      {R"({"owner_id":[]})", "owner_id"},
      {R"({"resource_id":""})", "resource_id"},
      {R"({"description":7})", "description"},
      {R"({"tenant_id":"other"})", "tenant_id"},
      {R"({"secret":null})", "secret"},
      {R"({"secret":"short"})", "secret"},
      {R"({"secret":"whsec_AAAA"})", "secret"},
      {R"({"secret":12345678901234567890123456789})", "secret"},
      {R"({"active":"yes"})", "active"},
      {R"({"active":1})", "active"},
      {R"({"headers":[]})", "headers"},
      {R"({"headers":{"X-A":1}})", "headers.X-A"},
      {R"({"headers":{"Host":"evil"}})", "headers.Host"},
      {R"({"headers":{"X A":"b"}})", "headers.X A"},
      {R"({"headers":{"X-A":"b\r\nc"}})", "headers.X-A"},
      {R"({"headers":{"webhook-id":"x"}})", "headers.webhook-id"},
      {R"({"headers":{"X-A":"1","x-a":"2"}})", "headers"},
      {R"({"metadata":[]})", "metadata"},
      {R"({"metadata":"{}"})", "metadata"},
      {R"({"payload_format":"xml"})", "payload_format"},
      {R"({"payload":"compact"})", "payload"},
      {R"({"payload":{"form":"pretty"}})", "payload.form"},
      {R"({"payload":{"format":"raw"}})", "payload.format"},
      {R"({"signature":{"scheme":"t-v1"},"secret":"1234567"})", "secret"},
      {R"({"signature":{"scheme":"t-v1"},"secret":"1234567\u0000"})", "secret"},
      {R"({"headers":{"X-Webhook-Signature-Next":"x"}})", "headers.X-Webhook-Signature-Next"},
      {R"({"ordering_guarantee":"loose"})", "ordering_guarantee"},
      {R"({"max_in_flight":0})", "max_in_flight"},
      {R"({"max_in_flight":1001})", "max_in_flight"},
      {R"({"max_in_flight":1.5})", "max_in_flight"},
      {R"({"max_in_flight":"5"})", "max_in_flight"},
      {R"({"timeout_ms":9})", "timeout_ms"},
      {R"({"timeout_ms":300001})", "timeout_ms"},
      {R"({"timeout_ms":100,"retry_config":{"timeout_ms":200}})", "timeout_ms"},
      {R"({"retry_config":5})", "retry_config"},
      {R"({"retry_config":{"max_attempts":0}})", "retry_config.max_attempts"},
      {R"({"circuit_breaker_config":[]})", "circuit_breaker_config"},
      {R"({"circuit_breaker_config":{"window":1}})", "circuit_breaker_config.window"},
      {R"({"rate_limit":"fast"})", "rate_limit"},
      {R"({"rate_limit":{"burst":1}})", "rate_limit.requests_per_second"},
      {R"({"signature":true})", "signature"},
      {R"({"signature":{"scheme":"md5"}})", "signature.scheme"},
      {R"({"colour":1})", "colour"},
      {R"({"filter":5})", "filter"},
      {R"({"filter":{}})", "filter"},
      {R"({"filter":{"amount":[1]}})", "filter.amount"},
      {R"({"filter":{"data":{"amount":[{"numeric":[">"]}]}}})", "filter.data.amount[0].numeric"},
  };
  for (const auto& [body, field] : cases) {
    EXPECT_EQ(merge(body).fields(), std::vector{field}) << body;
  }
}

TEST(ReadWebhook, KeepsAFilterVerbatimAndRemovesItForNull) {
  const Merged merged = merge(R"({"filter":{ "data":{"a":[1.50]} }})");
  ASSERT_TRUE(merged.errors.empty());
  EXPECT_EQ(merged.webhook.filter->text(), R"({ "data":{"a":[1.50]} })");
  EXPECT_EQ(merge(R"({"name":"x"})", merged.webhook).webhook.filter, merged.webhook.filter);
  EXPECT_EQ(merge(R"({"filter":null})", merged.webhook).webhook.filter, std::nullopt);
  EXPECT_EQ(boost::json::serialize(write(merged.webhook).at("filter")),
            R"({"data":{"a":[1.5E0]}})");
  EXPECT_TRUE(write(base()).at("filter").is_null());
}

TEST(ReadWebhook, RefusesFieldsThatTheServerSets) {
  for (const std::string name :
       {"id", "created_at", "updated_at", "last_success_at", "last_failure_at", "circuit", "paused",
        "disabled_reason", "disabled_at", "secret_set_at", "replay", "public_key"}) {
    const Merged merged = merge("{\"" + name + "\":null}");
    ASSERT_EQ(merged.fields(), std::vector{name});
    EXPECT_EQ(merged.errors[0].message,
              name == "paused" ? "cannot be set here. Use POST /v1/webhooks/{id}/pause and /resume."
                               : "is set by the server. Omit it.");
  }
}

TEST(ReadWebhook, RequiresAUrlAndEventsForCreation) {
  EXPECT_EQ(merge("{}", defaults, /*creating=*/true).fields(),
            (std::vector<std::string>{"url", "events"}));
  EXPECT_EQ(merge("{}").errors.size(), 0u);
}

TEST(ReadWebhook, AnEmptyBodyChangesNothing) { EXPECT_EQ(merge("{}").webhook, base()); }

TEST(ReadWebhook, MergesPoliciesFieldByField) {
  Webhook before = base();
  before.retry.attempts_max = 3;
  before.breaker.window_calls = 77;
  const Merged merged =
      merge(R"({"retry_config":{"base_delay_ms":1234},"circuit_breaker_config":{"enabled":false}})",
            before);
  ASSERT_TRUE(merged.errors.empty());
  EXPECT_EQ(merged.webhook.retry.attempts_max, 3u);
  EXPECT_EQ(merged.webhook.retry.delay_base, Millis{1234});
  EXPECT_EQ(merged.webhook.breaker.window_calls, 77u);
  EXPECT_FALSE(merged.webhook.breaker.enabled);
}

TEST(ReadWebhook, MergesHeadersByNameAndRemovesThoseThatAreNull) {
  Webhook before = base();
  before.headers = {{"X-A", "1"}, {"X-B", "2"}, {"X-Token", "hunter2"}};
  const auto headers = [&](const std::string& members) {
    const Merged merged = merge(R"({"headers":{)" + members + "}}", before);
    EXPECT_EQ(merged.fields(), std::vector<std::string>{}) << members;
    return merged.webhook.headers;
  };
  EXPECT_EQ(headers(""), before.headers);
  EXPECT_EQ(headers(R"("X-C":"3")"),
            (Headers{{"X-A", "1"}, {"X-B", "2"}, {"X-Token", "hunter2"}, {"X-C", "3"}}));
  EXPECT_EQ(headers(R"("x-a":"9","X-B":null,"X-Z":null)"),
            (Headers{{"x-a", "9"}, {"X-Token", "hunter2"}}));
  EXPECT_EQ(headers(R"("x-token":"[hidden]")").back(), Headers::value_type("x-token", "hunter2"));
}

TEST(ReadWebhook, LimitsHeadersAndMetadataAfterMerging) {
  Webhook before = base();
  for (int number = 0; number < 32; ++number) {
    before.headers.emplace_back("X-" + std::to_string(number), "v");
  }
  EXPECT_EQ(merge(R"({"headers":{"X-More":"v"}})", before).fields(),
            std::vector<std::string>{"headers"});
  EXPECT_TRUE(merge(R"({"headers":{"X-More":"v","X-0":null}})", before).errors.empty());

  before.metadata = R"({"a":")" + std::string(16'370, 'a') + R"("})";
  EXPECT_EQ(merge(R"({"metadata":{"b":"12345678"}})", before).fields(),
            std::vector<std::string>{"metadata"});
  EXPECT_EQ(merge(R"({"metadata":{"b":"12345678","a":null}})", before).webhook.metadata,
            R"({"b":"12345678"})");
}

TEST(ReadWebhook, MergesMetadataByMemberAndKeepsTheTextOfValues) {
  Webhook before = base();
  before.metadata = R"({ "a" : 1.0, "b":{"x":null} })";
  const auto metadata = [&](const std::string& members) {
    return merge(R"({"metadata":{)" + members + "}}", before).webhook.metadata;
  };
  EXPECT_EQ(metadata(R"("c\n":2e0)"), R"({"a":1.0,"b":{"x":null},"c\n":2e0})");
  EXPECT_EQ(metadata(R"("b":[],"a":null)"), R"({"b":[]})");
  EXPECT_EQ(merge(R"({"metadata":{ "a" : 1 , "n": null}})").webhook.metadata, R"({"a":1})");
  EXPECT_EQ(merge(R"({"metadata":{ "a" : 1 }})").webhook.metadata, R"({ "a" : 1 })");
}

TEST(ReadWebhook, RefusesAHiddenValueIfNoneIsStored) {
  for (const std::string name : {"Authorization", "X-Plain"}) {
    const std::string body = R"({"headers":{")" + name + R"(":"[hidden]"}})";
    EXPECT_EQ(merge(body).fields(), std::vector{"headers." + name});
  }
}

TEST(ReadWebhook, NullResetsAFieldToItsDefault) {
  const std::string everything =
      R"({"name":"n","owner_id":"o","resource_id":"r","description":"d\nd","headers":{"X-A":"1"},)"
      R"("metadata":{"a":1},"signature":{"scheme":"t-v1"},"payload_format":"raw",)"
      R"("payload":{"form":"sorted"},)"
      R"("retry_config":{"max_attempts":1},"circuit_breaker_config":{"enabled":false},)"
      R"("rate_limit":{"requests_per_second":5},"max_in_flight":9,"ordering_guarantee":"strict",)"
      R"("timeout_ms":77,"active":false})";
  const Webhook changed = merge(everything).webhook;
  EXPECT_NE(changed, base());
  EXPECT_EQ(changed.rate_limit->burst, 5u);
  EXPECT_EQ(changed.retry.timeout, Millis{77});
  const std::string nothing =
      R"({"name":null,"owner_id":null,"resource_id":null,"description":null,"headers":null,)"
      R"("metadata":null,"signature":null,"payload_format":null,"payload":null,)"
      R"("retry_config":null,)"
      R"("circuit_breaker_config":null,"rate_limit":null,"max_in_flight":null,)"
      R"("ordering_guarantee":null,"timeout_ms":null,"active":null})";
  const Merged reset = merge(nothing, changed);
  EXPECT_TRUE(reset.errors.empty());
  EXPECT_EQ(reset.webhook, base());
}

TEST(ReadWebhook, AnotherSchemeKeepsTheTextOfTheSecret) {
  const std::string shown = format_secret(SignatureScheme::standard, base().secret);
  const Webhook text = merge(R"({"signature":{"scheme":"sha256-body"}})").webhook;
  EXPECT_EQ(text.secret.reveal(), shown);
  EXPECT_EQ(merge(R"({"signature":null})", text).webhook, base());
}

TEST(ReadWebhook, ASchemeThatDoesNotAcceptTheSecretNeedsANewOne) {
  const Merged own = merge(R"({"signature":{"scheme":"sha256-body"},"secret":"my own 1"})");
  ASSERT_TRUE(own.errors.empty());
  EXPECT_EQ(own.webhook.secret.reveal(), "my own 1");
  EXPECT_EQ(merge(R"({"signature":{"scheme":"standard"}})", own.webhook).fields(),
            std::vector<std::string>{"signature.scheme"});
  const Merged changed = merge(
      R"({"signature":{"scheme":"standard"},"secret":"my own secret, 24 bytes!"})", own.webhook);
  EXPECT_TRUE(changed.errors.empty());
  EXPECT_EQ(changed.webhook.secret.reveal(), "my own secret, 24 bytes!");
}

TEST(ReadWebhook, MergesThePayloadForm) {
  const Merged merged = merge(R"({"payload":{"form":"compact"}})");
  EXPECT_EQ(merged.webhook.payload_form, PayloadForm::compact);
  EXPECT_EQ(merge(R"({"payload":{}})", merged.webhook).webhook, merged.webhook);
  EXPECT_EQ(merge(R"({"payload":{"form":null}})", merged.webhook).webhook, base());
  EXPECT_EQ(write(merged.webhook).at("payload").at("form").as_string(), "compact");
}

TEST(ReadWebhook, SwitchingOnClearsTheDisabledReason) {
  Webhook off = base();
  off.active = false;
  off.disabled_reason = "The receiver answered 410.";
  EXPECT_EQ(merge(R"({"name":"x"})", off).webhook.disabled_reason, off.disabled_reason);
  EXPECT_EQ(merge(R"({"active":true})", off).webhook.disabled_reason, std::nullopt);
}

TEST(WriteWebhook, CanBeReadBackUnchanged) {
  const Webhook webhook =
      merge(R"({"name":"é","metadata":{ "b":1.0,"a" : [] },"retry_config":{"preset":"stepped"},)"
            R"("rate_limit":{"requests_per_minute":30,"burst":4},)"
            R"("signature":{"scheme":"sha256-body"},)"
            R"("headers":{"Authorization":"Bearer x","X-Plain":"y"},"events":["a.*","b"]})")
          .webhook;
  boost::json::object written = write(webhook);
  EXPECT_EQ(written["retry_config"].at("preset").as_string(), "stepped");
  EXPECT_EQ(written["circuit_breaker_config"].at("preset").as_string(), "standard");
  for (const char* name :
       {"id", "created_at", "updated_at", "last_success_at", "last_failure_at", "circuit", "paused",
        "disabled_reason", "disabled_at", "secret_set_at", "public_key", "metadata"}) {
    written.erase(name);
  }
  Webhook before = base();
  before.metadata = webhook.metadata;
  before.headers = webhook.headers;  // Hidden values keep the stored ones.
  const Merged merged = merge(boost::json::serialize(written), before);
  EXPECT_EQ(merged.fields(), std::vector<std::string>{});
  EXPECT_EQ(merged.webhook, webhook);
}

TEST(WriteWebhook, ContainsTheSecretOnlyOnRequest) {
  EXPECT_FALSE(write(base()).contains("secret"));
  EXPECT_EQ(write(base(), {.with_secret = true}).at("secret").as_string(),
            format_secret(SignatureScheme::standard, base().secret));
}

TEST(WriteWebhook, HidesHeadersThatLookLikeCredentials) {
  Webhook webhook = base();
  for (const char* name :
       {"Authorization", "X-API-Key", "cookie", "X-Auth", "My-Token", "x-secret"}) {
    webhook.headers = {{name, "hunter2"}};
    EXPECT_EQ(write(webhook).at("headers").at(name).as_string(), "[hidden]") << name;
  }
  webhook.headers = {{"X-Plain", "shown"}};
  EXPECT_EQ(write(webhook).at("headers").at("X-Plain").as_string(), "shown");
}

TEST(WriteWebhook, ContainsThePublicKeyOfAnAsymmetricScheme) {
  Webhook webhook = base();
  EXPECT_TRUE(write(webhook).at("public_key").is_null());
  webhook.signature.scheme = SignatureScheme::standard_ed25519;
  EXPECT_TRUE(write(webhook).at("public_key").as_string().starts_with("whpk_"));
}

TEST(WriteCircuit, ShowsACircuitForcedUntilResetWithNull) {
  Breaker breaker;
  breaker.force_open(wall_from_unix_ms(1000), std::nullopt);
  std::string body;
  JsonWriter writer{body};
  write_circuit(writer, breaker.record());
  const boost::json::object circuit = boost::json::parse(body).as_object();
  EXPECT_EQ(circuit.at("state").as_string(), "open");
  EXPECT_EQ(circuit.at("forced").as_string(), "open");
  EXPECT_TRUE(circuit.at("forced_until").is_null());
  EXPECT_TRUE(circuit.at("open_until").is_null());
  EXPECT_EQ(circuit.at("changed_at").as_string(), "1970-01-01T00:00:01.000Z");
}

}  // namespace
}  // namespace postrider::api
