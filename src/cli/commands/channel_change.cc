// `postrider channels create` and `update`: flags for common fields, --data for all others.
#include <memory>
#include <optional>

#include "cli/commands/channel_commands.h"
#include "cli/text/input.h"
#include "cli/text/json_text.h"

namespace postrider::cli {
namespace {

struct ChannelFlags {
  std::string id;  // Only for update.
  std::optional<std::string> kind, name, tenant, url, secret, severity;
  std::vector<std::string> to, only, webhooks;
  bool to_owner = false;
  bool to_contacts = false;
  bool no_resolved = false;
  bool active = false;
  bool inactive = false;
  std::optional<std::uint32_t> group_window_ms, per_hour;
  std::string data;
};

void add_fields(Syntax syntax, ChannelFlags& flags) {
  syntax.option("--name TEXT", flags.name, "Name of the channel");
  syntax.option("--to ADDRESS", flags.to, "E-mail address to send to; may be repeated");
  syntax.flag("--to-owner", flags.to_owner, "Send e-mail to the owner of the webhook");
  syntax.flag("--to-contacts", flags.to_contacts, "Send e-mail to the contacts of the tenant");
  syntax.option("--url URL", flags.url, "URL of a channel of kind webhook, slack or teams");
  syntax.option("--secret SECRET", flags.secret,
                "Signing secret of a channel of kind webhook, instead of a generated one");
  syntax.option("--only KIND", flags.only,
                "Send only alerts of this kind, or operation_finished; may be repeated");
  syntax
      .option("--severity SEVERITY", flags.severity,
              "Send only alerts of this severity or a higher one")
      .one_of({"info", "warning", "critical"});
  syntax.option("--webhook ID", flags.webhooks,
                "Send only alerts about this webhook; may be repeated");
  syntax.flag("--no-resolved", flags.no_resolved, "Send no message when an alert is resolved");
  syntax.option("--group-window-ms MS", flags.group_window_ms,
                "Combine alerts of one kind within this time in one message");
  syntax.option("--per-hour N", flags.per_hour, "Send at most this many messages an hour");
  syntax.option("--data JSON", flags.data,
                "Other fields: a JSON object, @FILE, or - for standard input");
}

json::array to_array(const std::vector<std::string>& texts) {
  return json::array(texts.begin(), texts.end());
}

/// Keeps members of `target` that --data has.
void set_target(json::object& body, const ChannelFlags& flags) {
  json::object target;
  if (body.contains("target") && body["target"].is_object()) {
    target = body["target"].get_object();
  }
  if (!flags.to.empty()) {
    target["to"] = to_array(flags.to);
  }
  if (flags.to_owner) {
    target["to_owner"] = true;
  }
  if (flags.to_contacts) {
    target["to_contacts"] = true;
  }
  if (flags.url) {
    target["url"] = *flags.url;
  }
  if (flags.secret) {
    target["secret"] = *flags.secret;
  }
  if (!target.empty()) {
    body["target"] = std::move(target);
  }
}

Result<json::value> body_of(const ChannelFlags& flags) {
  POSTRIDER_TRY(json::object body, read_object("--data", flags.data));
  const auto set = [&body](std::string_view field, const auto& value) {
    if (value) {
      body[field] = *value;
    }
  };
  set("kind", flags.kind);
  set("name", flags.name);
  set("tenant_id", flags.tenant);
  set("severity_min", flags.severity);
  set("group_window_ms", flags.group_window_ms);
  set("per_hour_max", flags.per_hour);
  set_target(body, flags);
  if (!flags.only.empty()) {
    body["kinds"] = to_array(flags.only);
  }
  if (!flags.webhooks.empty()) {
    body["webhook_ids"] = to_array(flags.webhooks);
  }
  if (flags.no_resolved) {
    body["send_resolved"] = false;
  }
  if (flags.active || flags.inactive) {
    body["active"] = flags.active;
  }
  return json::value(std::move(body));
}

}  // namespace

void add_channel_create(Group& group) {
  const auto flags = std::make_shared<ChannelFlags>();
  const auto run = [flags](const Session& session) -> Result<void> {
    POSTRIDER_TRY(json::value body, body_of(*flags));
    return session.show(
        {.method = "POST", .path = "/v1/notification-channels", .body = std::move(body)},
        fields_text);
  };
  Syntax syntax = group.add("create", "Create a notification channel", run);
  syntax.option("--kind KIND", flags->kind, "Kind of the channel: email, webhook, slack or teams")
      .one_of({"email", "webhook", "slack", "teams"});
  syntax.option("--tenant ID", flags->tenant,
                "Tenant that the channel belongs to, instead of the server");
  syntax.flag("--inactive", flags->inactive, "Create the channel without enabling it");
  add_fields(syntax, *flags);
}

void add_channel_update(Group& group) {
  const auto flags = std::make_shared<ChannelFlags>();
  const auto run = [flags](const Session& session) -> Result<void> {
    POSTRIDER_TRY(json::value body, body_of(*flags));
    if (body.get_object().empty()) {
      return fail(Errc::invalid, "Nothing to change: no field was given.");
    }
    const std::string path = "/v1/notification-channels/" + path_part(flags->id);
    return session.show({.method = "PATCH", .path = path, .body = std::move(body)}, fields_text);
  };
  Syntax syntax =
      group.add("update", "Change a channel; fields that are not given stay unchanged", run);
  syntax.argument("ID", flags->id, "Id of the channel");
  const Option active = syntax.flag("--active", flags->active, "Enable the channel");
  syntax.flag("--inactive", flags->inactive, "Disable the channel").excludes(active);
  add_fields(syntax, *flags);
}

}  // namespace postrider::cli
