#include "main/configured_channels.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/policy/channel_webhook.h"
#include "core/policy/secret_rotation.h"
#include "core/request/secret_text.h"

namespace postrider {
namespace {

using config::ChannelConfig;

class ConfiguredChannels {
 public:
  ConfiguredChannels(Store& store, const config::Config& config, const ChannelMaking& making,
                     std::map<WebhookId, Webhook> webhooks)
      : store_(store), config_(config), making_(making), webhooks_(std::move(webhooks)) {}

  Result<void> put(const ChannelConfig& wanted, const NotificationChannel* stored) {
    NotificationChannel channel = stored != nullptr ? *stored : NotificationChannel{};
    if (stored == nullptr) {
      channel.id = making_.ids.make<ChannelId>(making_.now);
      channel.created_at = making_.now;
      channel.updated_at = making_.now;
    }
    assign(wanted, channel);
    Webhook webhook;
    bool changed = stored == nullptr;
    if (channel.kind != ChannelKind::email) {
      webhook = webhook_of(channel);
      channel.webhook_id = webhook.id;
      changed = assign(wanted, webhook) || changed;
    }
    changed = changed || channel != *stored;
    if (!changed) {
      return {};
    }
    channel.updated_at = making_.now;
    if (channel.webhook_id) {
      derive_webhook(channel, webhook);
      POSTRIDER_CHECK(store_.catalog->put_webhook(webhook));
    }
    POSTRIDER_CHECK(store_.notifications->put_channel(channel));
    return audit(channel,
                 stored == nullptr ? "notification_channel.create" : "notification_channel.update");
  }

  Result<void> remove(const NotificationChannel& channel) {
    if (channel.webhook_id && webhooks_.contains(*channel.webhook_id)) {
      // The node cancels the deliveries of webhooks that are gone.
      POSTRIDER_CHECK(store_.catalog->remove_webhook(*channel.webhook_id, making_.now));
    }
    POSTRIDER_CHECK(store_.notifications->remove_channel(channel.id));
    return audit(channel, "notification_channel.delete");
  }

 private:
  static void assign(const ChannelConfig& wanted, NotificationChannel& channel) {
    channel.name = wanted.name;
    channel.kind = wanted.kind;
    channel.email = wanted.email;
    channel.kinds = wanted.kinds;
    channel.severity_min = wanted.severity_min;
    channel.webhook_ids = wanted.webhook_ids;
    channel.send_resolved = wanted.send_resolved;
    channel.group_window = wanted.group_window;
    channel.per_hour_max = wanted.per_hour_max;
    channel.active = wanted.active;
    channel.configured = true;
  }

  /// Returns whether the webhook has changed.
  [[nodiscard]] bool assign(const ChannelConfig& wanted, Webhook& webhook) const {
    bool changed = !webhooks_.contains(webhook.id);
    if (webhook.url != wanted.url.reveal()) {
      webhook.url = wanted.url.reveal();
      changed = true;
    }
    if (wanted.secret && webhook.secret != *wanted.secret) {
      replace_secret(webhook, *wanted.secret);
      webhook.secret_set_at = making_.now;
      changed = true;
    }
    return changed;
  }

  [[nodiscard]] Webhook webhook_of(const NotificationChannel& channel) {
    const auto stored = channel.webhook_id ? webhooks_.find(*channel.webhook_id) : webhooks_.end();
    if (stored != webhooks_.end()) {
      return stored->second;
    }
    Webhook webhook = config_.webhooks.defaults;
    webhook.id = making_.ids.make<WebhookId>(making_.now);
    webhook.created_at = making_.now;
    webhook.secret_set_at = making_.now;
    const SignatureScheme scheme = webhook.signature.scheme;
    const std::size_t length = config_.webhooks.secret_text_length;
    webhook.secret = generate_secret(
        scheme, making_.crypto.random_bytes(secret_random_bytes(scheme, length)), length);
    return webhook;
  }

  Result<void> audit(const NotificationChannel& channel, std::string action) {
    AuditEntry entry;
    entry.at = making_.now;
    entry.action = std::move(action);
    entry.subject = channel.id.to_string();
    entry.detail = R"({"because":"settings"})";
    return store_.audit->append(entry);
  }

  Store& store_;
  const config::Config& config_;
  const ChannelMaking& making_;
  std::map<WebhookId, Webhook> webhooks_;
};

Result<std::map<WebhookId, Webhook>> load_webhooks(Catalog& catalog) {
  POSTRIDER_TRY(std::vector<Webhook> all, catalog.load_webhooks());
  std::map<WebhookId, Webhook> webhooks;
  for (Webhook& webhook : all) {
    const WebhookId id = webhook.id;
    webhooks.emplace(id, std::move(webhook));
  }
  return webhooks;
}

bool is_same(const ChannelConfig& wanted, const NotificationChannel& stored) {
  return wanted.name == stored.name && wanted.kind == stored.kind;
}

bool is_wanted(const NotificationChannel& stored, const config::Config& config) {
  return std::ranges::any_of(config.channels,
                             [&](const ChannelConfig& wanted) { return is_same(wanted, stored); });
}

}  // namespace

Result<void> store_configured_channels(Store& store, const config::Config& config,
                                       const ChannelMaking& making) {
  POSTRIDER_TRY(std::vector<NotificationChannel> stored, store.notifications->load_channels());
  std::erase_if(stored, [](const NotificationChannel& channel) { return !channel.configured; });
  if (stored.empty() && config.channels.empty()) {
    return {};
  }
  POSTRIDER_TRY(auto webhooks, load_webhooks(*store.catalog));
  ConfiguredChannels channels{store, config, making, std::move(webhooks)};
  return store.atomically([&]() -> Result<void> {
    for (const ChannelConfig& wanted : config.channels) {
      const auto found = std::ranges::find_if(
          stored, [&](const NotificationChannel& channel) { return is_same(wanted, channel); });
      POSTRIDER_CHECK(channels.put(wanted, found == stored.end() ? nullptr : &*found));
    }
    for (const NotificationChannel& channel : stored) {
      if (!is_wanted(channel, config)) {
        POSTRIDER_CHECK(channels.remove(channel));
      }
    }
    return {};
  });
}

}  // namespace postrider
