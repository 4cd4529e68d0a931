#include "engine/alerts/server_alert_rules.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace postrider {
namespace {

AlertChange of_tenant(TenantId tenant_id, bool active, std::string detail = {}) {
  return {.subject = {.kind = AlertKind::dead_letters_waiting,
                      .webhook_id = std::nullopt,
                      .tenant_id = std::move(tenant_id)},
          .active = active,
          .detail = std::move(detail)};
}

}  // namespace

bool ServerAlertRules::success_low(const ServerFacts& facts, WallTime now) {
  // A success may be counted a moment after its attempt: then it is noted at the next look.
  const std::uint64_t attempts = facts.attempts - counted_.total;
  const std::uint64_t successes = std::min(facts.successes - counted_.part, attempts);
  counted_ = {.total = facts.attempts, .part = counted_.part + successes};
  successes_.note({.total = attempts, .part = successes}, now, limits_.share_window);
  const ShareWindow::Count count = successes_.sum(now, limits_.share_window);
  return count.total >= limits_.share_attempts_min &&
         static_cast<double>(count.part) * 100.0 <
             limits_.successes_min * static_cast<double>(count.total);
}

bool ServerAlertRules::level_high(Trouble& level, bool high_now, WallTime now) {
  if (high_now) {
    level.high_at = now;
  }
  return high_now || (level.raised && level.high_at && now - *level.high_at < level_calm);
}

std::vector<AlertChange> ServerAlertRules::look(const ServerFacts& facts, WallTime now) {
  std::vector<AlertChange> changes;
  const auto judge = [&](Trouble& trouble, bool is_so, auto detail) {
    if (trouble.raised != is_so) {
      trouble.raised = is_so;
      changes.push_back({.subject = {trouble.kind, std::nullopt},
                         .active = is_so,
                         .detail = is_so ? detail() : std::string{}});
    }
  };
  look_at_tenants(facts, changes);
  judge(success_, success_low(facts, now), [&] {
    return fmt::format("Fewer than {} % of the attempts of the last {} s succeeded.",
                       limits_.successes_min, limits_.share_window.count() / 1000);
  });
  judge(queue_, level_high(queue_, facts.waiting > limits_.queue_max, now), [&] {
    return fmt::format("{} deliveries wait, more than {}.", facts.waiting, limits_.queue_max);
  });
  const bool busy = facts.in_flight * 100.0 > limits_.pool_max * facts.in_flight_max;
  judge(pool_, level_high(pool_, busy, now), [&] {
    return fmt::format("{} of {} requests are under way, more than {} %.", facts.in_flight,
                       facts.in_flight_max, limits_.pool_max);
  });
  return changes;
}

void ServerAlertRules::look_at_tenants(const ServerFacts& facts,
                                       std::vector<AlertChange>& changes) {
  std::set<TenantId> high;
  for (const auto& [tenant_id, count] : facts.dead_letters) {
    if (count > limits_.tenant_dead_letters_max) {
      high.insert(tenant_id);
      if (!tenants_.contains(tenant_id)) {
        changes.push_back(
            of_tenant(tenant_id, true,
                      fmt::format("{} dead letters wait for somebody to decide, more than {}.",
                                  count, limits_.tenant_dead_letters_max)));
      }
    }
  }
  for (const TenantId& tenant_id : tenants_) {
    if (!high.contains(tenant_id)) {
      changes.push_back(of_tenant(tenant_id, false));
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
  for (Trouble* trouble : {&success_, &queue_, &pool_}) {
    trouble->raised = trouble->raised || trouble->kind == subject.kind;
  }
  if (subject.tenant_id && is_about_tenant(subject.kind)) {
    tenants_.insert(*subject.tenant_id);
  }
}

}  // namespace postrider
