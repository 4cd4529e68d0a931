#include "api/json/webhook_json.h"

#include "core/net/header_rules.h"
#include "core/request/secret_text.h"

#include "api/json/policy_json.h"

namespace postrider::api {
namespace {

/// A circuit that is forced until it is reset has a time in the year 9999. The API shows null.
std::optional<WallTime> shown_until(std::optional<WallTime> until) {
  const bool until_reset = until && to_rfc3339(*until).starts_with("9999");
  return until_reset ? std::nullopt : until;
}

void write_headers(JsonWriter& writer, const Headers& headers) {
  writer.open_object();
  for (const auto& [name, value] : headers) {
    writer.member(name, is_sensitive_header(name) ? hidden_value : std::string_view{value});
  }
  writer.close_object();
}

}  // namespace

std::optional<std::string> public_key(const Crypto& crypto, SignatureScheme scheme,
                                      const Secret<std::string>& secret) {
  if (scheme != SignatureScheme::standard_ed25519) {
    return std::nullopt;
  }
  return "whpk_" + to_base64(crypto.ed25519_public_key(secret));
}

void write_tenant_id(JsonWriter& writer, const TenantId& tenant_id) {
  writer.member("tenant_id", tenant_id.empty() ? std::nullopt : std::optional{tenant_id});
}

namespace {

void open_circuit(JsonWriter& writer, const CircuitRecord& circuit) {
  const bool ever_changed = circuit.changed_at != WallTime{};
  writer.open_object();
  writer.member("state", to_string(circuit.state));
  writer.member("changed_at", ever_changed ? std::optional{circuit.changed_at} : std::nullopt);
  writer.member("open_until", shown_until(circuit.open_until));
  writer.member("openings_in_row", circuit.openings_in_row);
  writer.key("forced");
  if (circuit.forced_until) {
    writer.value(circuit.forced_open ? "open" : "closed");
  } else {
    writer.value(nullptr);
  }
  writer.member("forced_until", shown_until(circuit.forced_until));
}

}  // namespace

void write_circuit(JsonWriter& writer, const CircuitRecord& circuit) {
  open_circuit(writer, circuit);
  writer.close_object();
}

void write_circuit_detail(JsonWriter& writer, const LaneView& lane) {
  const CallWindow& calls = lane.calls;
  open_circuit(writer, lane.circuit);
  writer.member("calls_in_window", calls.calls);
  writer.member("failures_in_window", calls.failures);
  writer.key("error_percentage");
  if (calls.calls > 0) {
    writer.value(100.0 * calls.failures / calls.calls);
  } else {
    writer.value(nullptr);
  }
  writer.member("window_start", calls.start);
  writer.member("probes_used", calls.probes_used);
  writer.member("timeouts_in_row", calls.timeouts_in_row);
  writer.member("opened_at", lane.circuit.opened_at);
  writer.member("next_probe_at", shown_until(lane.circuit.open_until));
  writer.member("times_opened", lane.circuit.times_opened);
  writer.close_object();
}

void write_webhook(JsonWriter& writer, const Webhook& webhook, const WebhookDetails& details) {
  writer.open_object();
  writer.member("id", webhook.id);
  writer.member("url", webhook.url);
  writer.key("events");
  writer.open_array();
  for (const EventPattern& pattern : webhook.events) {
    writer.value(pattern.text());
  }
  writer.close_array();
  writer.member_raw("filter", webhook.filter ? std::string_view{webhook.filter->text()} : "null");
  writer.member("name", webhook.name);
  writer.member("description", webhook.description);
  write_tenant_id(writer, webhook.tenant_id);
  writer.member("owner_id", webhook.owner_id);
  writer.member("owner_email", webhook.owner_email);
  writer.member("resource_id", webhook.resource_id);
  if (details.with_secret) {
    writer.member("secret", format_secret(webhook.signature.scheme, webhook.secret));
  }
  writer.member("active", webhook.active);
  writer.member("paused", webhook.paused);
  writer.member("disabled_reason", webhook.disabled_reason);
  writer.member("disabled_at", webhook.disabled_at);
  writer.key("headers");
  write_headers(writer, webhook.headers);
  writer.member_raw("metadata", webhook.metadata);
  writer.member("payload_format", to_string(webhook.payload_format));
  writer.key("payload");
  writer.open_object();
  writer.member("form", to_string(webhook.payload_form));
  writer.close_object();
  writer.key("signature");
  write_signature(writer, webhook.signature);
  writer.member("public_key", details.public_key);
  writer.key("retry_config");
  write_retry(writer, webhook.retry);
  writer.key("circuit_breaker_config");
  write_breaker(writer, webhook.breaker);
  writer.key("rate_limit");
  write_rate_limit(writer, webhook.rate_limit);
  writer.member("max_in_flight", webhook.max_in_flight);
  writer.member("ordering_guarantee", to_string(webhook.ordering));
  writer.member("timeout_ms", webhook.retry.timeout.count());
  writer.member("created_at", webhook.created_at);
  writer.member("updated_at", webhook.updated_at);
  writer.member("secret_set_at", webhook.secret_set_at);
  writer.member("last_success_at", details.latest.last_success_at);
  writer.member("last_failure_at", details.latest.last_failure_at);
  writer.key("circuit");
  if (details.lane != nullptr) {
    write_circuit(writer, details.lane->circuit);
  } else {
    writer.value(nullptr);
  }
  if (details.replay_since) {
    writer.key("replay");
    writer.open_object();
    writer.member("since", *details.replay_since);
    writer.member("path", "/v1/webhooks/" + webhook.id.to_string() + "/replay");
    writer.close_object();
  }
  writer.close_object();
}

}  // namespace postrider::api
