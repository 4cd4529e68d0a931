#include "engine/alerts/server_alert_rules.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace postrider {
namespace {

AlertChange tenant_change(TenantId tenant_id, bool active, std::string detail = {}) {
  return {.subject = {.kind = AlertKind::dead_letters_waiting,
                      .webhook_id = std::nullopt,
                      .tenant_id = std::move(tenant_id)},
          .active = active,
          .detail = std::move(detail)};
}

}  // namespace

bool ServerAlertRules::success_low(const ServerFacts& facts, WallTime now) {
  // A success may be counted slightly later than its attempt. It is then added next time.
  const std::uint64_t attempts = facts.attempts - counted_.total;
  const std::uint64_t successes = std::min(facts.successes - counted_.part, attempts);
  counted_ = {.total = facts.attempts, .part = counted_.part + successes};
  successes_.add({.total = attempts, .part = successes}, now, limits_.share_window);
  const ShareWindow::Count count = successes_.sum(now, limits_.share_window);
  return count.total >= limits_.share_attempts_min &&
         static_cast<double>(count.part) * 100.0 <
             limits_.successes_min * static_cast<double>(count.total);
}

bool ServerAlertRules::level_high(AlertState& level, bool high_now, WallTime now) {
  if (high_now) {
    level.high_at = now;
  }
  return high_now || (level.raised && level.high_at && now - *level.high_at < level_calm);
}

std::vector<AlertChange> ServerAlertRules::evaluate(const ServerFacts& facts, WallTime now) {
  std::vector<AlertChange> changes;
  const auto set_alert = [&](AlertState& alert, bool active, auto detail) {
    if (alert.raised != active) {
      alert.raised = active;
      changes.push_back({.subject = {alert.kind, std::nullopt},
                         .active = active,
                         .detail = active ? detail() : std::string{}});
    }
  };
  evaluate_tenants(facts, changes);
  set_alert(success_, success_low(facts, now), [&] {
    return fmt::format("Fewer than {} % of the attempts of the last {} s succeeded.",
                       limits_.successes_min, limits_.share_window.count() / 1000);
  });
  set_alert(queue_, level_high(queue_, facts.waiting > limits_.queue_max, now), [&] {
    return fmt::format("{} deliveries are waiting, more than {}.", facts.waiting,
                       limits_.queue_max);
  });
  const bool busy = facts.in_flight * 100.0 > limits_.pool_max * facts.in_flight_max;
  set_alert(pool_, level_high(pool_, busy, now), [&] {
    return fmt::format("{} of {} requests are in flight, more than {} %.", facts.in_flight,
                       facts.in_flight_max, limits_.pool_max);
  });
  return changes;
}

void ServerAlertRules::evaluate_tenants(const ServerFacts& facts,
                                        std::vector<AlertChange>& changes) {
  std::set<TenantId> high;
  for (const auto& [tenant_id, count] : facts.dead_letters) {
    if (count > limits_.tenant_dead_letters_max) {
      high.insert(tenant_id);
      if (!tenants_.contains(tenant_id)) {
        changes.push_back(tenant_change(tenant_id, true,
                                        fmt::format("There are {} dead letters, more than {}.",
                                                    count, limits_.tenant_dead_letters_max)));
      }
    }
  }
  for (const TenantId& tenant_id : tenants_) {
    if (!high.contains(tenant_id)) {
      changes.push_back(tenant_change(tenant_id, false));
    }
  }
  tenants_ = std::move(high);
}

void ServerAlertRules::change(const AlertLimits& limits) {
  if (limits.share_window != limits_.share_window) {
    successes_ = {};
  }
  limits_ = limits;
}

void ServerAlertRules::restore(const AlertSubject& subject) {
  for (AlertState* alert : {&success_, &queue_, &pool_}) {
    alert->raised = alert->raised || alert->kind == subject.kind;
  }
  if (subject.tenant_id && is_about_tenant(subject.kind)) {
    tenants_.insert(*subject.tenant_id);
  }
}

}  // namespace postrider
