#include "api/resources/channel_draft.h"

#include <algorithm>
#include <utility>

#include "core/policy/channel_webhook.h"

#include "api/json/channel_json.h"
#include "api/resources/answers.h"
#include "api/resources/publishing.h"
#include "api/resources/secret_generator.h"

namespace postrider::api {
namespace {

Webhook new_webhook(const Context& context) {
  Webhook webhook = context.options->webhook_defaults;
  webhook.id = WebhookId{context.services.ids.new_uuid()};
  webhook.created_at = context.services.clock.now().wall;
  webhook.updated_at = webhook.created_at;
  webhook.secret_set_at = webhook.created_at;
  return webhook;
}

void complete_new(const ApiOptions& options, OwnedChannel& owned) {
  NotificationChannel& channel = owned.channel;
  if (channel.kind == ChannelKind::email) {
    owned.webhook.reset();
    return;
  }
  Webhook& webhook = *owned.webhook;
  channel.webhook_id = webhook.id;
  if (webhook.secret.reveal().empty()) {
    webhook.secret = make_secret(options, webhook.signature.scheme);
  }
  derive_webhook(channel, webhook);
}

Parsed<void> merge(std::vector<JsonMember> members, const ChannelRules& rules,
                   OwnedChannel& owned) {
  FieldErrors errors;
  ObjectReader reader{std::move(members), "", errors};
  read_channel(reader, rules, owned);
  if (!errors.empty()) {
    return tl::make_unexpected(errors.problem());
  }
  return {};
}

/// Merges the members into a channel that exists.
Parsed<OwnedChannel> merge_change(OwnedChannel owned, std::vector<JsonMember> members,
                                  const ChannelRules& rules, WallTime now) {
  const bool has_webhook = owned.webhook.has_value();
  const Secret<std::string> secret = has_webhook ? owned.webhook->secret : Secret<std::string>{};
  POSTRIDER_CHECK(merge(std::move(members), rules, owned));
  owned.channel.updated_at = std::max(now, owned.channel.updated_at);
  if (has_webhook) {
    if (owned.webhook->secret != secret) {
      owned.webhook->secret_set_at = now;
    }
    derive_webhook(owned.channel, *owned.webhook);
  }
  return owned;
}

}  // namespace

Parsed<ChannelRef> path_channel(const Snapshots& snapshots, const HttpRequest& request) {
  POSTRIDER_TRY(const ChannelId id, path_id<ChannelId>(request, "id", channel_noun));
  ChannelRef channel = snapshots.channels()->find(id);
  if (channel == nullptr) {
    return tl::make_unexpected(not_found(channel_noun, id.to_string()));
  }
  return channel;
}

Parsed<OwnedChannel> draft_new_channel(const Context& context, std::vector<JsonMember> members) {
  OwnedChannel owned{.channel = {}, .webhook = new_webhook(context)};
  owned.channel.id = ChannelId{context.services.ids.new_uuid()};
  owned.channel.created_at = owned.webhook->created_at;
  owned.channel.updated_at = owned.webhook->created_at;
  const std::shared_ptr<const Directory> webhooks = context.services.snapshots.directory();
  const ChannelRules rules{.url_policy = context.options->url_policy,
                           .webhooks = *webhooks,
                           .creating = true,
                           .tenant_id = context.caller.tenant_id};
  POSTRIDER_CHECK(merge(std::move(members), rules, owned));
  if (owned.channel.tenant_id) {
    POSTRIDER_CHECK(check_tenant_known(context, *owned.channel.tenant_id));
  }
  complete_new(*context.options, owned);
  return owned;
}

Parsed<OwnedChannel> find_owned(const Snapshots& snapshots, const NotificationChannel& channel) {
  OwnedChannel owned{.channel = channel, .webhook = std::nullopt};
  if (channel.webhook_id) {
    const WebhookRef webhook = snapshots.directory()->find(*channel.webhook_id);
    if (webhook == nullptr) {
      return tl::make_unexpected(not_found(channel_noun, channel.id.to_string()));
    }
    owned.webhook = *webhook;
  }
  return owned;
}

Parsed<OwnedChannel> draft_changed_channel(const Context& context, OwnedChannel current,
                                           std::vector<JsonMember> members) {
  const std::shared_ptr<const Directory> webhooks = context.services.snapshots.directory();
  const ChannelRules rules{.url_policy = context.options->url_policy, .webhooks = *webhooks};
  return merge_change(std::move(current), std::move(members), rules,
                      context.services.clock.now().wall);
}

ChannelEdit make_channel_edit(const Context& context, std::string body,
                              std::shared_ptr<Parsed<void>> merged) {
  return [options = context.options, webhooks = context.services.snapshots.directory(),
          body = std::move(body), outcome = std::move(merged),
          now = context.services.clock.now().wall](
             const OwnedChannel& current) -> Result<OwnedChannel> {
    POSTRIDER_TRY(std::vector<JsonMember> members, read_json_object(body));
    const ChannelRules rules{.url_policy = options->url_policy, .webhooks = *webhooks};
    Parsed<OwnedChannel> changed = merge_change(current, std::move(members), rules, now);
    if (!changed) {
      *outcome = tl::make_unexpected(changed.error());
      return fail(Errc::invalid, changed.error().detail);
    }
    return *std::move(changed);
  };
}

}  // namespace postrider::api
