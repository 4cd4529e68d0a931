#include "runtime/cluster/catalog_follower.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace postrider {
namespace {

// Every further round follows a change by another server, so more are not expected.
constexpr int rounds_max = 20;

// Webhooks last: see CatalogFollower::apply.
constexpr CatalogPart all_parts[] = {CatalogPart::access, CatalogPart::event_types,
                                     CatalogPart::channels, CatalogPart::operations,
                                     CatalogPart::webhooks};

}  // namespace

Result<void> CatalogFollower::catch_up(Store& store, RepliesByShard& replies) {
  POSTRIDER_TRY(const CatalogChanges changes, store.peers->changes_since(seen()));
  POSTRIDER_CHECK(apply(changes, store, replies));
  seen_.store(changes.version, std::memory_order_release);
  return {};
}

/// Applies webhooks after the other parts, because they may belong to a new tenant or channel.
/// Calls the observer last, because it reads the webhooks of the tenants.
Result<void> CatalogFollower::apply(const CatalogChanges& changes, Store& store,
                                    RepliesByShard& replies) {
  const std::span<const CatalogPart> parts =
      changes.incomplete ? std::span<const CatalogPart>{all_parts} : changes.parts;
  for (const CatalogPart part : parts) {
    POSTRIDER_CHECK(apply(part, store, replies));
  }
  if (!changes.incomplete) {
    for (const WebhookId id : changes.webhooks) {
      POSTRIDER_CHECK(reload_webhook(id, store, replies));
    }
  }
  if (std::ranges::count(parts, CatalogPart::access) > 0) {
    parts_.observer->access_changed(store, replies);
  }
  return {};
}

Result<void> CatalogFollower::apply(CatalogPart part, Store& store, RepliesByShard& replies) {
  switch (part) {
    case CatalogPart::webhooks:
      return reload_webhooks(store, replies);
    case CatalogPart::access: {
      POSTRIDER_CHECK(parts_.changes->write_key_uses(store));  // Before the keys are replaced.
      POSTRIDER_TRY(RegistryContents registry, store.registry->load());
      parts_.changes->take_access(replies, AccessSnapshot{std::move(registry)});
      return {};
    }
    case CatalogPart::event_types: {
      POSTRIDER_TRY(EventTypeCatalog types,
                    load_event_types(*store.event_types, parts_.make_schema_check));
      parts_.event_types->replace(std::move(types));
      return {};
    }
    case CatalogPart::channels: {
      POSTRIDER_TRY(std::vector<NotificationChannel> channels,
                    store.notifications->load_channels());
      parts_.changes->take_channels(ChannelDirectory{std::move(channels)});
      return {};
    }
    case CatalogPart::operations:
      parts_.observer->operations_changed();
      return {};
  }
  return {};
}

Result<void> CatalogFollower::reload_webhook(WebhookId id, Store& store, RepliesByShard& replies) {
  POSTRIDER_TRY(std::optional<Webhook> webhook, store.catalog->find_webhook(id));
  if (webhook) {
    parts_.changes->take_webhook(replies, *std::move(webhook));
  } else {
    parts_.changes->drop_webhook(replies, id);
  }
  return {};
}

Result<void> CatalogFollower::reload_webhooks(Store& store, RepliesByShard& replies) {
  POSTRIDER_TRY(std::vector<Webhook> webhooks, store.catalog->load_webhooks());
  const std::shared_ptr<const Directory> before = parts_.changes->directory();
  std::set<WebhookId> present;
  for (Webhook& webhook : webhooks) {
    present.insert(webhook.id);
    parts_.changes->take_webhook(replies, std::move(webhook));
  }
  for (const auto& [id, webhook] : before->all()) {
    if (!present.contains(id)) {
      parts_.changes->drop_webhook(replies, id);
    }
  }
  return {};
}

Result<void> CatalogFollower::change(Store& store, RepliesByShard& replies,
                                     const std::function<Result<void>()>& change) {
  Result<void> done;
  for (int round = 0; round < rounds_max; ++round) {
    POSTRIDER_CHECK(catch_up(store, replies));
    outrun_ = false;
    changing_ = true;
    done = change();
    changing_ = false;
    if (done || !outrun_) {
      return done;
    }
  }
  return fail(Errc::conflict, "Other servers are changing the same data. Retry the request.");
}

Result<void> CatalogFollower::check_unchanged(Peers& peers) {
  POSTRIDER_TRY(const CatalogVersion version, peers.lock_catalog());
  if (version == seen()) {
    return {};
  }
  outrun_ = true;
  return fail(Errc::conflict, "The catalogue has changed.");
}

void CatalogFollower::guard(Store& store) {
  store.atomically = [this, peers = store.peers.get(), plain = std::move(store.atomically)](
                         const std::function<Result<void>()>& body) -> Result<void> {
    if (!changing_ || depth_ > 0) {
      return plain(body);
    }
    ++depth_;
    Result<void> done = plain([&]() -> Result<void> {
      POSTRIDER_CHECK(check_unchanged(*peers));
      return body();
    });
    --depth_;
    return done;
  };
}

}  // namespace postrider
