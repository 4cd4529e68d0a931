// `postrider webhooks create` and `update`: flags for common fields, --data for all others.
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
  std::string id;  // Only for update.
  std::optional<std::string> target, url, name, description, tenant, owner, owner_email, resource,
      secret, format, form, ordering, scheme, retry, circuit;
  std::vector<std::string> events;
  std::vector<std::string> headers;
  std::optional<std::uint32_t> rate, max_in_flight, timeout_ms;
  bool active = false;
  bool inactive = false;
  std::string data;
};

void add_fields(Syntax syntax, WebhookFlags& flags) {
  syntax.option("--event PATTERN", flags.events,
                "Event type or pattern to deliver; may be repeated");
  syntax.option("--name TEXT", flags.name, "Name of the webhook");
  syntax.option("--description TEXT", flags.description, "Description of the webhook");
  syntax.option("--owner-email ADDRESS", flags.owner_email,
                "Who is told about the webhook's alerts by channels with --to-owner");
  syntax.option("--resource ID", flags.resource, "Deliver only events about this resource");
  syntax.option("--secret SECRET", flags.secret, "Signing secret, instead of a generated one");
  syntax.option("--scheme SCHEME", flags.scheme, "Signature scheme")
      .one_of({"standard", "standard-ed25519", "t-v1", "sha256-timestamp", "sha256-body"});
  syntax.option("--payload-format FORMAT", flags.format, "Format of the request body");
  syntax.option("--payload-form FORM", flags.form, "How the request body is serialised")
      .one_of({"verbatim", "compact", "sorted"});
  syntax.option("--retry PRESET", flags.retry,
                "Preset of the retry policy, such as patient or quick");
  syntax.option("--circuit PRESET", flags.circuit, "Preset of the circuit breaker");
  syntax.option("--rate N", flags.rate, "Send at most this many requests per second");
  syntax.option("--max-in-flight N", flags.max_in_flight,
                "Send at most this many requests concurrently");
  syntax.option("--timeout-ms MS", flags.timeout_ms, "Longest time for one attempt");
  syntax
      .option("--ordering ORDER", flags.ordering,
              "Ordering guarantee: none, per_event_type or strict")
      .one_of({"none", "per_event_type", "strict"});
  syntax.option("--header 'NAME: VALUE'", flags.headers,
                "Header to add to every request; may be repeated");
  syntax.option("--data JSON", flags.data,
                "Other fields: a JSON object, @FILE, or - for standard input");
}

void set(json::object& body, std::string_view field, const std::optional<std::string>& value) {
  if (value) {
    body[field] = *value;
  }
}

/// Sets one member of an object field and keeps its other members.
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
      return fail(Errc::invalid, fmt::format("--header: `{}` has no colon. Use 'NAME: VALUE'.",
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
  set(body, "url", flags.url);
  set(body, "name", flags.name);
  set(body, "description", flags.description);
  set(body, "tenant_id", flags.tenant);
  set(body, "owner_id", flags.owner);
  set(body, "owner_email", flags.owner_email);
  set(body, "resource_id", flags.resource);
  set(body, "secret", flags.secret);
  set(body, "payload_format", flags.format);
  set_in(body, "payload", "form", flags.form);
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
    if (!body.get_object().contains("url")) {
      return fail(Errc::invalid, "The URL of the receiver is missing. Use TARGET or --url.");
    }
    body.get_object().emplace("events", json::array{"*"});  // Has no effect if events are given.
    return session.show({.method = "POST", .path = "/v1/webhooks", .body = std::move(body)},
                        fields_text);
  };
  Syntax syntax = group.add("create", "Create a webhook and show its secret", run);
  const Option target = syntax.option("TARGET", flags->target, "URL of the receiver");
  syntax.option("--url URL", flags->url, "URL of the receiver, instead of TARGET").excludes(target);
  syntax.option("--tenant ID", flags->tenant, "Tenant of the webhook");
  syntax.option("--owner ID", flags->owner, "Owner of the webhook");
  syntax.flag("--inactive", flags->inactive, "Create the webhook without enabling it");
  add_fields(syntax, *flags);
}

void add_webhook_update(Group& group) {
  const auto flags = std::make_shared<WebhookFlags>();
  const auto run = [flags](const Session& session) -> Result<void> {
    POSTRIDER_TRY(json::value body, body_of(*flags));
    if (body.get_object().empty()) {
      return fail(Errc::invalid, "Nothing to change: no field was given.");
    }
    const std::string path = "/v1/webhooks/" + path_part(flags->id);
    return session.show({.method = "PATCH", .path = path, .body = std::move(body)}, fields_text);
  };
  Syntax syntax =
      group.add("update", "Change a webhook; fields that are not given stay unchanged", run);
  syntax.argument("ID", flags->id, "Id of the webhook");
  syntax.option("--url URL", flags->url, "URL of the receiver");
  const Option active = syntax.flag("--active", flags->active, "Enable the webhook");
  syntax.flag("--inactive", flags->inactive, "Disable the webhook").excludes(active);
  add_fields(syntax, *flags);
}

}  // namespace postrider::cli
