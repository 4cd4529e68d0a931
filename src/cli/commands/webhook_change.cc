// `postrider webhooks create` and `update`: flags for what is common, --data for all the rest.
#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "cli/commands/webhook_commands.h"
#include "cli/text/input.h"
#include "cli/text/json_text.h"

namespace postrider::cli {
namespace {

struct WebhookFlags {
  std::string id;  // Update alone.
  std::optional<std::string> target, name, description, tenant, owner, resource, secret, format,
      ordering, scheme, retry, circuit;
  std::vector<std::string> events;
  std::vector<std::string> headers;
  std::optional<std::uint32_t> rate, max_in_flight, timeout_ms;
  bool active = false;
  bool inactive = false;
  std::string data;
};

void add_fields(Syntax syntax, WebhookFlags& flags) {
  syntax.option("--event PATTERN", flags.events,
                "An event type or pattern; may be given several times");
  syntax.option("--name TEXT", flags.name, "A name for people");
  syntax.option("--description TEXT", flags.description, "What it is for");
  syntax.option("--resource ID", flags.resource, "Only events about this resource");
  syntax.option("--secret SECRET", flags.secret, "The secret to sign with, instead of a new one");
  syntax.option("--scheme SCHEME", flags.scheme, "How requests are signed")
      .one_of({"standard", "standard-ed25519", "t-v1", "sha256-timestamp", "sha256-body"});
  syntax.option("--payload-format FORMAT", flags.format, "The shape of the body");
  syntax.option("--retry PRESET", flags.retry,
                "The preset of its retries, such as patient or quick");
  syntax.option("--circuit PRESET", flags.circuit, "The preset of its circuit breaker");
  syntax.option("--rate N", flags.rate, "At most this many requests a second");
  syntax.option("--max-in-flight N", flags.max_in_flight, "At most this many at a time");
  syntax.option("--timeout-ms MS", flags.timeout_ms, "How long an attempt may take");
  syntax.option("--ordering ORDER", flags.ordering, "none, per_event_type or strict")
      .one_of({"none", "per_event_type", "strict"});
  syntax.option("--header 'NAME: VALUE'", flags.headers,
                "Sent along; may be given several times, others stay");
  syntax.option("--data JSON", flags.data,
                "Any other fields: a JSON object, @FILE, or - for input");
}

void set(json::object& body, std::string_view field, const std::optional<std::string>& value) {
  if (value) {
    body[field] = *value;
  }
}

/// Sets one member of an object field and leaves its others alone.
template <class Value>
void set_in(json::object& body, std::string_view field, std::string_view name,
            const std::optional<Value>& value) {
  if (!value) {
    return;
  }
  if (!body.contains(field) || !body[field].is_object()) {
    body[field] = json::object{};
  }
  body[field].get_object()[name] = *value;
}

Result<void> set_headers(json::object& body, const std::vector<std::string>& headers) {
  for (const std::string& header : headers) {
    const std::size_t colon = header.find(':');
    if (colon == std::string::npos) {
      return fail(Errc::invalid, fmt::format("--header: `{}` has no colon. Write 'NAME: VALUE'.",
                                             header.substr(0, 40)));
    }
    const std::size_t start = std::min(header.find_first_not_of(' ', colon + 1), header.size());
    set_in(body, "headers", header.substr(0, colon), std::optional{header.substr(start)});
  }
  return {};
}

Result<json::value> body_of(const WebhookFlags& flags) {
  POSTRIDER_TRY(json::object body, read_object("--data", flags.data));
  set(body, "url", flags.target);
  set(body, "name", flags.name);
  set(body, "description", flags.description);
  set(body, "tenant_id", flags.tenant);
  set(body, "owner_id", flags.owner);
  set(body, "resource_id", flags.resource);
  set(body, "secret", flags.secret);
  set(body, "payload_format", flags.format);
  set(body, "ordering_guarantee", flags.ordering);
  set_in(body, "signature", "scheme", flags.scheme);
  set_in(body, "retry_config", "preset", flags.retry);
  set_in(body, "circuit_breaker_config", "preset", flags.circuit);
  set_in(body, "rate_limit", "requests_per_second", flags.rate);
  POSTRIDER_CHECK(set_headers(body, flags.headers));
  if (!flags.events.empty()) {
    body["events"] = json::array(flags.events.begin(), flags.events.end());
  }
  if (flags.max_in_flight) {
    body["max_in_flight"] = *flags.max_in_flight;
  }
  if (flags.timeout_ms) {
    body["timeout_ms"] = *flags.timeout_ms;
  }
  if (flags.active || flags.inactive) {
    body["active"] = flags.active;
  }
  return json::value(std::move(body));
}

}  // namespace

void add_webhook_create(Group& group) {
  const auto flags = std::make_shared<WebhookFlags>();
  const auto run = [flags](const Session& session) -> Result<void> {
    POSTRIDER_TRY(json::value body, body_of(*flags));
    body.get_object().emplace("events", json::array{"*"});  // Unless it has some.
    return session.show({.method = "POST", .path = "/v1/webhooks", .body = std::move(body)},
                        fields_text);
  };
  Syntax syntax = group.add("create", "Create a webhook; its secret is shown this once", run);
  syntax.argument("TARGET", flags->target, "The receiver's URL");
  syntax.option("--tenant ID", flags->tenant, "Only this tenant's events");
  syntax.option("--owner ID", flags->owner, "Whose webhook it is");
  syntax.flag("--inactive", flags->inactive, "Do not deliver to it yet");
  add_fields(syntax, *flags);
}

void add_webhook_update(Group& group) {
  const auto flags = std::make_shared<WebhookFlags>();
  const auto run = [flags](const Session& session) -> Result<void> {
    POSTRIDER_TRY(json::value body, body_of(*flags));
    if (body.get_object().empty()) {
      return fail(Errc::invalid, "Nothing to change was given.");
    }
    const std::string path = "/v1/webhooks/" + path_part(flags->id);
    return session.show({.method = "PATCH", .path = path, .body = std::move(body)}, fields_text);
  };
  Syntax syntax = group.add("update", "Change a webhook; what is not given stays", run);
  syntax.argument("ID", flags->id, "The webhook");
  syntax.option("--target URL", flags->target, "The receiver's URL");
  const Option active = syntax.flag("--active", flags->active, "Deliver to it");
  syntax.flag("--inactive", flags->inactive, "Deliver nothing to it").excludes(active);
  add_fields(syntax, *flags);
}

}  // namespace postrider::cli
