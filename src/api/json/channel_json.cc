#include "api/json/channel_json.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/net/target_url.h"

#include "api/json/email_json.h"
#include "api/json/webhook_json.h"
#include "api/resources/tenant_text.h"

namespace postrider::api {
namespace {

constexpr TextRule name_rule{.bytes_max = channel_name_bytes_max, .multiline = false};
constexpr IntegerRange window_range{0, group_window_max.count()};
constexpr IntegerRange hour_range{1, per_hour_limit};

constexpr std::array<std::string_view, 6> server_fields = {
    "id", "webhook_id", "configured", "created_at", "updated_at", "notifications"};

std::string kind_names() {
  std::vector<std::string_view> names;
  for (const NotificationKind kind : choosable_kinds()) {
    names.push_back(to_string(kind));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

void read_name(ObjectReader& reader, bool creating, NotificationChannel& channel) {
  const JsonField<std::string> name = reader.text("name", name_rule);
  const bool is_missing = creating && !reader.raw("name");
  if (is_missing || name.is_null()) {
    reader.refuse("name", "is required.");
  } else if (name.value) {
    channel.name = *name.value;
  }
}

void read_kind(ObjectReader& reader, bool creating, NotificationChannel& channel) {
  const auto find = [](std::string_view text) { return channel_kinds.find(text); };
  const auto kind = reader.choice("kind", find, "email, webhook, slack, teams");
  if (creating && reader.raw("kind").value_or("null") == "null") {
    reader.refuse("kind", "is required: email, webhook, slack or teams.");
  }
  if (kind.value && !creating && *kind.value != channel.kind) {
    reader.refuse("kind", "cannot be changed. Create another channel.");
  } else if (kind.value) {
    channel.kind = *kind.value;
  }
}

void read_tenant(ObjectReader& reader, const ChannelRules& rules, NotificationChannel& channel) {
  const JsonField<std::string> tenant = read_tenant_id(reader, "tenant_id");
  if (rules.creating) {
    channel.tenant_id = rules.tenant_id;
  }
  if (!tenant.value) {
    return;
  }
  if (rules.tenant_id && tenant.value != rules.tenant_id) {
    reader.refuse("tenant_id", "must be omitted or be the tenant of this API key.");
  } else if (!rules.creating && tenant.value != channel.tenant_id) {
    reader.refuse("tenant_id", "cannot be changed. Create another channel.");
  } else {
    channel.tenant_id = tenant.value;
  }
}

void read_email_target(ObjectReader& target, EmailTarget& email) {
  assign(read_email_addresses(target, "to"), email.to, std::vector<std::string>{});
  assign(target.boolean("to_owner"), email.to_owner, false);
  assign(target.boolean("to_contacts"), email.to_contacts, false);
  target.finish();
  if (email.to.empty() && !email.to_owner && !email.to_contacts && target.errors().empty()) {
    target.refuse("to", "must name an address, unless `to_owner` or `to_contacts` is true.");
  }
}

void read_url_target(ObjectReader& target, const ChannelRules& rules, OwnedChannel& owned) {
  const JsonField<std::string> url =
      target.text("url", {.bytes_max = url_length_max, .multiline = false});
  if (url.is_null() || (!target.raw("url") && owned.webhook->url.empty())) {
    target.refuse("url", "is required.");
  }
  if (url.value) {
    if (const Result<TargetUrl> parsed = parse_target_url(*url.value, rules.url_policy); !parsed) {
      target.refuse("url", "is not acceptable: " + parsed.error().message);
    } else {
      owned.webhook->url = *url.value;
    }
  }
  if (owned.channel.kind == ChannelKind::webhook) {
    read_secret(target, *owned.webhook);
  }
  target.finish();
}

void read_target(ObjectReader& reader, const ChannelRules& rules, OwnedChannel& owned) {
  JsonField<ObjectReader> target = reader.object("target");
  if (target.is_null() || (rules.creating && !reader.raw("target"))) {
    reader.refuse("target", owned.channel.kind == ChannelKind::email
                                ? "is required: an object with `to`, `to_owner` or `to_contacts`."
                                : "is required: an object with `url`.");
  }
  if (!target.value) {
    return;
  }
  if (owned.channel.kind == ChannelKind::email) {
    read_email_target(*target.value, owned.channel.email);
  } else {
    read_url_target(*target.value, rules, owned);
  }
}

void read_kinds(ObjectReader& reader, NotificationChannel& channel) {
  const std::vector<NotificationKind>& known = choosable_kinds();
  const auto items = reader.array("kinds", {0, static_cast<std::int64_t>(known.size())});
  if (items.is_null()) {
    channel.kinds.clear();
  }
  if (!items.value) {
    return;
  }
  std::vector<NotificationKind> kinds;
  for (std::size_t index = 0; index < items.value->size(); ++index) {
    const std::optional<std::string> text = decode_json_string((*items.value)[index]);
    const auto kind = text ? parse_notification_kind(*text) : std::nullopt;
    if (!kind || std::ranges::find(known, *kind) == known.end()) {
      reader.refuse(fmt::format("kinds[{}]", index),
                    fmt::format("must be one of {}.", kind_names()));
      return;
    }
    if (std::ranges::find(kinds, *kind) == kinds.end()) {
      kinds.push_back(*kind);
    }
  }
  channel.kinds = std::move(kinds);
}

/// A channel of a tenant can name webhooks of that tenant only. Those that it names already may
/// have been removed.
void read_webhook_ids(ObjectReader& reader, const Directory& webhooks,
                      NotificationChannel& channel) {
  const auto items =
      reader.array("webhook_ids", {0, static_cast<std::int64_t>(channel_webhooks_max)});
  if (items.is_null()) {
    channel.webhook_ids.clear();
  }
  if (!items.value) {
    return;
  }
  std::vector<WebhookId> ids;
  for (std::size_t index = 0; index < items.value->size(); ++index) {
    const std::optional<std::string> text = decode_json_string((*items.value)[index]);
    const std::optional<WebhookId> id = text ? WebhookId::parse(*text) : std::nullopt;
    const WebhookRef webhook = id ? webhooks.find(*id) : nullptr;
    const bool is_known =
        id && std::ranges::find(channel.webhook_ids, *id) != channel.webhook_ids.end();
    const bool fits = webhook && (!channel.tenant_id || webhook->tenant_id == *channel.tenant_id);
    if (!fits && !is_known) {
      reader.refuse(fmt::format("webhook_ids[{}]", index), "must be the id of a webhook.");
      return;
    }
    if (std::ranges::find(ids, *id) == ids.end()) {
      ids.push_back(*id);
    }
  }
  channel.webhook_ids = std::move(ids);
}

void write_target(JsonWriter& writer, const NotificationChannel& channel, const Webhook* webhook) {
  writer.key("target");
  writer.open_object();
  if (channel.kind == ChannelKind::email) {
    writer.key("to");
    write_texts(writer, channel.email.to);
    writer.member("to_owner", channel.email.to_owner);
    writer.member("to_contacts", channel.email.to_contacts);
  } else {
    writer.member("url", webhook != nullptr ? std::optional{webhook->url} : std::nullopt);
  }
  writer.close_object();
}

}  // namespace

void read_channel(ObjectReader& reader, const ChannelRules& rules, OwnedChannel& owned) {
  const NotificationChannel defaults;
  NotificationChannel& channel = owned.channel;
  read_name(reader, rules.creating, channel);
  read_kind(reader, rules.creating, channel);
  read_tenant(reader, rules, channel);
  read_target(reader, rules, owned);
  read_kinds(reader, channel);
  assign(reader.choice("severity_min", parse_severity, "info, warning, critical"),
         channel.severity_min, defaults.severity_min);
  read_webhook_ids(reader, rules.webhooks, channel);
  assign(reader.boolean("send_resolved"), channel.send_resolved, defaults.send_resolved);
  assign_millis(reader.integer("group_window_ms", window_range), channel.group_window,
                defaults.group_window);
  assign(reader.integer("per_hour_max", hour_range), channel.per_hour_max, defaults.per_hour_max);
  assign(reader.boolean("active"), channel.active, defaults.active);
  for (const std::string_view name : server_fields) {
    if (reader.raw(name)) {
      reader.refuse(name, "is set by the server. Omit it.");
    }
  }
  reader.finish();
}

void open_channel(JsonWriter& writer, const NotificationChannel& channel, const Webhook* webhook) {
  writer.open_object();
  writer.member("id", channel.id);
  writer.member("tenant_id", channel.tenant_id);
  writer.member("name", channel.name);
  writer.member("kind", to_string(channel.kind));
  write_target(writer, channel, webhook);
  writer.member("webhook_id", channel.webhook_id);
  writer.key("kinds");
  writer.open_array();
  for (const NotificationKind kind : channel.kinds) {
    writer.value(to_string(kind));
  }
  writer.close_array();
  writer.member("severity_min", to_string(channel.severity_min));
  writer.key("webhook_ids");
  writer.open_array();
  for (const WebhookId id : channel.webhook_ids) {
    writer.value(id);
  }
  writer.close_array();
  writer.member("send_resolved", channel.send_resolved);
  writer.member("group_window_ms", channel.group_window.count());
  writer.member("per_hour_max", channel.per_hour_max);
  writer.member("active", channel.active);
  writer.member("configured", channel.configured);
  writer.member("created_at", channel.created_at);
  writer.member("updated_at", channel.updated_at);
}

void write_counts(JsonWriter& writer, const NotificationCounts& counts) {
  writer.open_object();
  writer.member("waiting", counts.waiting);
  writer.member("sent", counts.sent);
  writer.member("held_back", counts.held_back);
  writer.member("failed", counts.failed);
  writer.close_object();
}

void write_notification(JsonWriter& writer, const Notification& notification) {
  const NotificationFacts& facts = notification.facts;
  const std::string& error = notification.last_error;
  writer.open_object();
  writer.member("id", notification.id);
  writer.member("channel_id", notification.channel_id);
  writer.member("kind", to_string(notification.kind));
  writer.member("transition", to_string(notification.transition));
  writer.member("severity", to_string(severity_of(notification.kind)));
  writer.member("alert_id", notification.alert_id);
  writer.member("operation_id", facts.operation_id);
  write_tenant_id(writer, facts.tenant_id.value_or(TenantId{}));
  writer.member("webhook_id", facts.webhook_id);
  writer.member("webhook_name", facts.webhook_name);
  writer.member("webhook_url", facts.webhook_url);
  writer.member("source", facts.source);
  writer.member_bytes("detail", facts.detail);
  const bool is_dated = facts.raised_at != WallTime{};
  writer.member("raised_at", is_dated ? std::optional{facts.raised_at} : std::nullopt);
  writer.member("resolved_at", facts.resolved_at);
  writer.member("state", to_string(notification.state));
  writer.member("attempts", notification.attempts);
  writer.key("last_error");
  error.empty() ? writer.value(nullptr) : writer.bytes(error);  // Words of a mail server.
  writer.member("made_at", notification.made_at);
  writer.member("sent_at", notification.sent_at);
  writer.member("next_attempt_at", notification.next_attempt_at);
  writer.member("message_id", notification.message_id);
  writer.member("event_id", notification.event_id);
  writer.close_object();
}

}  // namespace postrider::api
