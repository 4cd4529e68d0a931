// Decides when the alert about failing notification channels is raised and resolved: one for the
// channels of the server, one for those of each tenant. Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/admin/channel_directory.h"
#include "engine/alerts/alert_rules.h"

namespace postrider {

class FailingChannels {
 public:
  /// At startup: the alert was active when the server stopped. It stays active until a channel of
  /// the same owner has sent a message. Ignores alerts of other kinds.
  void restore(const Alert& alert);

  /// `failing`: the channels that fail now, with their last errors.
  [[nodiscard]] std::vector<AlertChange> evaluate(const ChannelDirectory& channels,
                                                  const std::map<ChannelId, std::string>& failing);

  /// A message was sent.
  void sent(const NotificationChannel& channel) { restored_.erase(channel.tenant_id); }

 private:
  using Owner = std::optional<TenantId>;

  std::map<Owner, std::string> raised_;  // With the detail that was told.
  std::set<Owner> restored_;
};

}  // namespace postrider
