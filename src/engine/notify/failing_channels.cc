#include "engine/notify/failing_channels.h"

#include <utility>

#include <fmt/format.h>

namespace postrider {
namespace {

AlertSubject subject_of(const std::optional<TenantId>& owner) {
  return {.kind = AlertKind::notifications_failing,
          .webhook_id = std::nullopt,
          .tenant_id = owner,
          .source = std::nullopt};
}

}  // namespace

void FailingChannels::restore(const Alert& alert) {
  if (alert.subject.kind == AlertKind::notifications_failing) {
    raised_[alert.subject.tenant_id] = alert.detail;
    restored_.insert(alert.subject.tenant_id);
  }
}

std::vector<AlertChange> FailingChannels::evaluate(
    const ChannelDirectory& channels, const std::map<ChannelId, std::string>& failing) {
  struct Found {
    std::size_t count = 0;
    std::string detail;
  };
  std::map<Owner, Found> now;
  for (const auto& [id, error] : failing) {
    if (const ChannelRef channel = channels.find(id)) {
      Found& found = now[channel->tenant_id];
      ++found.count;
      found.detail += fmt::format("{}The notification channel \"{}\" cannot send: {}",
                                  found.detail.empty() ? "" : " ", channel->name, error);
    }
  }
  std::vector<AlertChange> changes;
  for (auto& [owner, found] : now) {
    restored_.erase(owner);
    std::string& told = raised_[owner];
    if (told != found.detail) {
      told = found.detail;
      changes.push_back({.subject = subject_of(owner),
                         .active = true,
                         .detail = std::move(found.detail),
                         .measure = AlertMeasure{.count = static_cast<double>(found.count)}});
    }
  }
  for (auto each = raised_.begin(); each != raised_.end();) {
    const auto raised = each++;
    const bool undecided = restored_.contains(raised->first) && !channels.of(raised->first).empty();
    if (!now.contains(raised->first) && !undecided) {
      changes.push_back({.subject = subject_of(raised->first), .active = false, .detail = {}});
      restored_.erase(raised->first);
      raised_.erase(raised);
    }
  }
  return changes;
}

}  // namespace postrider
