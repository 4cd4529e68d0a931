#include "engine/alerts/server_alert_rules.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/alerts/alert_text.h"

namespace postrider {
namespace {

AlertChange tenant_change(TenantId tenant_id, bool active) {
  return {.subject = {.kind = AlertKind::dead_letters_waiting,
                      .webhook_id = std::nullopt,
                      .tenant_id = std::move(tenant_id)},
          .active = active,
          .detail = {},
          .measure = {}};
}

/// What was added to a total and its part since they were `counted`. The part may be counted
/// slightly later than the total. It is then added next time.
ShareWindow::Count advance(ShareWindow::Count& counted, std::uint64_t total, std::uint64_t part) {
  const ShareWindow::Count added{.total = total - counted.total,
                                 .part = std::min(part - counted.part, total - counted.total)};
  counted = {.total = total, .part = counted.part + added.part};
  return added;
}

bool exceeds(const ShareWindow::Count& count, double percent_max) {
  return static_cast<double>(count.part) * 100.0 > percent_max * static_cast<double>(count.total);
}

/// The duration that 99 % of `attempts` do not exceed, if that is one of the `slow` ones.
std::optional<Micros> p99_of(const DurationHistogram& slow, std::uint64_t attempts) {
  const std::uint64_t above = attempts / 100;  // The slowest 1 %, rounded down.
  std::uint64_t left = slow.count();
  if (left <= above) {
    return std::nullopt;
  }
  left -= above;
  for (const auto& [bucket, count] : slow.buckets()) {
    if (left <= count) {
      return DurationHistogram::midpoint_of(bucket);
    }
    left -= count;
  }
  return std::nullopt;
}

}  // namespace

void ServerAlertRules::add(const ServerFacts& facts, WallTime now) {
  started_ = started_.value_or(now);
  successes_.add(advance(counted_, facts.attempts, facts.successes), now, limits_.share_window);
  ended_.add(advance(ended_counted_, facts.ended, facts.new_dead_letters), now,
             limits_.dead_letters_window);
  slow_.add(facts.slow, now, limits_.share_window);
}

std::vector<AlertChange> ServerAlertRules::evaluate(const ServerFacts& facts, WallTime now) {
  std::vector<AlertChange> changes;
  add(facts, now);
  if (facts.dead_letters_known) {
    evaluate_tenants(facts, changes);
  }
  evaluate_attempts({now, changes});
  evaluate_dead_letters({now, changes});
  evaluate_levels({now, changes}, facts);
  evaluate_resources({now, changes}, facts);
  return changes;
}

void ServerAlertRules::set_alert(const Evaluation& evaluation, AlertState& alert,
                                 std::optional<Finding> finding) {
  if (alert.raised == finding.has_value()) {
    return;
  }
  alert.raised = finding.has_value();
  alert.restored = false;
  AlertChange change{
      .subject = {alert.kind, std::nullopt}, .active = alert.raised, .detail = {}, .measure = {}};
  if (finding) {
    change.detail = std::move(finding->detail);
    change.measure = finding->measure;
  }
  evaluation.changes.push_back(std::move(change));
}

void ServerAlertRules::set_share_alert(const Evaluation& evaluation, AlertState& alert,
                                       std::optional<Finding> finding) {
  if (finding || !alert.restored || !is_undecided(alert.kind, evaluation.now)) {
    set_alert(evaluation, alert, std::move(finding));
  }
}

/// True if an alert from before the start must be kept, because too little has happened since.
bool ServerAlertRules::is_undecided(AlertKind kind, WallTime now) const {
  const Millis age = now - started_.value_or(now);
  const bool few_attempts =
      age < limits_.share_window &&
      successes_.sum(now, limits_.share_window).total < limits_.share_attempts_min;
  switch (kind) {
    case AlertKind::total_dead_letters:
      return limits_.total_dead_letters_max > 0 && age < limits_.dead_letters_window;
    case AlertKind::dead_letter_share:
      return limits_.dead_letter_share_max > 0 && age < limits_.dead_letters_window &&
             ended_.sum(now, limits_.dead_letters_window).total < limits_.deliveries_min;
    case AlertKind::total_failures:
      return limits_.total_failures_max > 0 && few_attempts;
    case AlertKind::p99_high:
      return limits_.p99_max > Millis{0} && few_attempts;
    default:
      return few_attempts;
  }
}

// ---------------------------------------------------------------- shares

void ServerAlertRules::evaluate_attempts(const Evaluation& evaluation) {
  const ShareWindow::Count count = successes_.sum(evaluation.now, limits_.share_window);
  const bool enough = count.total >= limits_.share_attempts_min;
  std::optional<Finding> low;
  if (enough && static_cast<double>(count.part) * 100.0 <
                    limits_.successes_min * static_cast<double>(count.total)) {
    low = Finding{
        {percentage_of(count), limits_.successes_min, AlertUnit::percent},
        fmt::format("{} of the last {} succeeded, fewer than {} %.", share_text(count, "attempts"),
                    duration_text(limits_.share_window), limits_.successes_min)};
  }
  set_share_alert(evaluation, success_, std::move(low));
  set_share_alert(evaluation, failures_,
                  find_failures({.total = enough ? count.total : 0,
                                 .part = enough ? count.total - count.part : 0},
                                evaluation.now));
  set_share_alert(evaluation, p99_, enough ? find_slow(count.total, evaluation.now) : std::nullopt);
}

std::optional<ServerAlertRules::Finding> ServerAlertRules::find_failures(
    const ShareWindow::Count& count, WallTime now) {
  const double percent_max = limits_.total_failures_max;
  if (percent_max <= 0 || !exceeds(count, percent_max)) {
    failing_since_.reset();
    return std::nullopt;
  }
  // An alert from before the start has been active long enough.
  failing_since_ = failing_since_.value_or(failures_.raised ? now - limits_.failing_for : now);
  if (now - *failing_since_ < limits_.failing_for) {
    return std::nullopt;
  }
  return Finding{{percentage_of(count), percent_max, AlertUnit::percent},
                 fmt::format("{} of the last {} failed. It has been more than {} % for {}.",
                             share_text(count, "attempts"), duration_text(limits_.share_window),
                             percent_max, duration_text(limits_.failing_for))};
}

std::optional<ServerAlertRules::Finding> ServerAlertRules::find_slow(std::uint64_t attempts,
                                                                     WallTime now) const {
  if (limits_.p99_max <= Millis{0}) {
    return std::nullopt;
  }
  const DurationHistogram slow = slow_.sum(now, limits_.share_window);
  const std::optional<Micros> p99 = p99_of(slow, attempts);
  if (!p99) {
    return std::nullopt;
  }
  // The midpoint of a bucket may be below the limit.
  const Millis shown =
      std::max(std::chrono::duration_cast<Millis>(*p99), limits_.p99_max + Millis{1});
  return Finding{
      {static_cast<double>(shown.count()), static_cast<double>(limits_.p99_max.count()),
       AlertUnit::ms},
      fmt::format("{} of {} attempts of the last {} took longer than {} ms. The 99th percentile is "
                  "about {} ms.",
                  slow.count(), attempts, duration_text(limits_.share_window),
                  limits_.p99_max.count(), shown.count())};
}

void ServerAlertRules::evaluate_dead_letters(const Evaluation& evaluation) {
  const ShareWindow::Count count = ended_.sum(evaluation.now, limits_.dead_letters_window);
  const std::string window = duration_text(limits_.dead_letters_window);
  std::optional<Finding> many;
  if (limits_.total_dead_letters_max > 0 && count.part > limits_.total_dead_letters_max) {
    many = Finding{
        {static_cast<double>(count.part), static_cast<double>(limits_.total_dead_letters_max)},
        fmt::format("{} deliveries became dead letters within {}, more than {}.", count.part,
                    window, limits_.total_dead_letters_max)};
  }
  set_share_alert(evaluation, dead_letters_, std::move(many));
  std::optional<Finding> share;
  if (limits_.dead_letter_share_max > 0 && count.total >= limits_.deliveries_min &&
      exceeds(count, limits_.dead_letter_share_max)) {
    share = Finding{
        {percentage_of(count), limits_.dead_letter_share_max, AlertUnit::percent},
        fmt::format("{} that ended within {} became dead letters, more than {} %.",
                    share_text(count, "deliveries"), window, limits_.dead_letter_share_max)};
  }
  set_share_alert(evaluation, dead_letter_share_, std::move(share));
}

// ---------------------------------------------------------------- levels

bool ServerAlertRules::level_high(AlertState& level, bool high_now, WallTime now) {
  if (high_now) {
    level.high_at = now;
  }
  return high_now || (level.raised && level.high_at && now - *level.high_at < level_calm);
}

void ServerAlertRules::evaluate_levels(const Evaluation& evaluation, const ServerFacts& facts) {
  if (facts.waiting_known) {
    evaluate_queue(evaluation, facts);
  }
  const ShareWindow::Count used{.total = facts.in_flight_max, .part = facts.in_flight};
  std::optional<Finding> busy;
  if (level_high(pool_, exceeds(used, limits_.pool_max), evaluation.now)) {
    busy = Finding{{percentage_of(used), limits_.pool_max, AlertUnit::percent},
                   fmt::format("{} of {} requests are in flight, more than {} %.", facts.in_flight,
                               facts.in_flight_max, limits_.pool_max)};
  }
  set_alert(evaluation, pool_, std::move(busy));
}

void ServerAlertRules::evaluate_queue(const Evaluation& evaluation, const ServerFacts& facts) {
  std::optional<Finding> deep;
  if (level_high(queue_, facts.waiting > limits_.queue_max, evaluation.now)) {
    deep = Finding{
        {static_cast<double>(facts.waiting), static_cast<double>(limits_.queue_max)},
        fmt::format("{} deliveries are waiting, more than {}.", facts.waiting, limits_.queue_max)};
  }
  set_alert(evaluation, queue_, std::move(deep));
}

void ServerAlertRules::evaluate_resources(const Evaluation& evaluation, const ServerFacts& facts) {
  const std::uint64_t added = facts.postponed - std::exchange(postponed_, facts.postponed);
  std::optional<Finding> lacking;
  if (level_high(resources_, added > 0, evaluation.now)) {
    lacking = Finding{
        {static_cast<double>(added), 0},
        fmt::format("{} attempts wait because this server lacks file descriptors, local ports or "
                    "memory. No receiver is blamed for it. Raise the limit of open files, or lower "
                    "engine.in_flight_max.",
                    added)};
  }
  set_alert(evaluation, resources_, std::move(lacking));
}

void ServerAlertRules::evaluate_tenants(const ServerFacts& facts,
                                        std::vector<AlertChange>& changes) {
  std::set<TenantId> high;
  for (const auto& [tenant_id, count] : facts.dead_letters) {
    if (count > limits_.tenant_dead_letters_max) {
      high.insert(tenant_id);
      if (!tenants_.contains(tenant_id)) {
        AlertChange change = tenant_change(tenant_id, true);
        change.measure = {static_cast<double>(count),
                          static_cast<double>(limits_.tenant_dead_letters_max)};
        change.detail = fmt::format("There are {} dead letters, more than {}.", count,
                                    limits_.tenant_dead_letters_max);
        changes.push_back(std::move(change));
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
  const bool other_window = limits.share_window != limits_.share_window;
  if (other_window) {
    successes_ = {};
  }
  if (other_window || limits.p99_max != limits_.p99_max) {
    slow_ = {};
  }
  if (limits.dead_letters_window != limits_.dead_letters_window) {
    ended_ = {};
  }
  limits_ = limits;
}

void ServerAlertRules::recall(ShareWindow::Count ended, WallTime at) {
  ended_.add(ended, at, limits_.dead_letters_window);
}

void ServerAlertRules::restore(const AlertSubject& subject) {
  for (AlertState* alert : {&success_, &queue_, &pool_, &failures_, &p99_, &dead_letters_,
                            &dead_letter_share_, &resources_}) {
    if (alert->kind == subject.kind) {
      alert->raised = true;
      alert->restored = true;
    }
  }
  if (subject.tenant_id && subject.kind == AlertKind::dead_letters_waiting) {
    tenants_.insert(*subject.tenant_id);
  }
}

}  // namespace postrider
