#include "engine/alerts/alert_rules.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace postrider {
namespace {

constexpr Millis minute{60'000};

/// Long stretches in minutes, short ones, which only trials have, exactly.
std::string range(Millis length) {
  return length % minute == Millis{0} ? fmt::format("{} minutes", length / minute)
                                      : fmt::format("{} ms", length.count());
}

}  // namespace

void AlertRules::note_death(Facts& facts, WallTime now) const {
  std::vector<WallTime>& deaths = facts.deaths;
  if (deaths.size() == deaths.capacity()) {
    // Before it grows: only the latest count, and of those only the recent ones.
    const std::size_t surplus =
        deaths.size() > limits_.dead_letters_max ? deaths.size() - limits_.dead_letters_max : 0;
    const auto recent = std::ranges::find_if(
        deaths, [&](WallTime at) { return now - at < limits_.dead_letters_window; });
    deaths.erase(deaths.begin(),
                 std::max(recent, deaths.begin() + static_cast<std::ptrdiff_t>(surplus)));
  }
  deaths.push_back(now);
}

bool AlertRules::many_deaths(const Facts& facts, WallTime now) const {
  const std::size_t count = facts.deaths.size();
  return count > limits_.dead_letters_max &&
         now - facts.deaths[count - 1 - limits_.dead_letters_max] < limits_.dead_letters_window;
}

bool AlertRules::dns_failing(const Facts& facts, WallTime now) const {
  const ShareWindow::Count count = facts.dns.sum(now, limits_.dns_window);
  return count.total >= limits_.dns_attempts_min &&
         static_cast<double>(count.part) * 100.0 >
             limits_.dns_failures_max * static_cast<double>(count.total);
}

bool AlertRules::share_too_large(const Facts& facts, WallTime now) const {
  const ShareWindow::Count count = facts.failures.sum(now, limits_.share_window);
  return count.total >= limits_.share_attempts_min &&
         static_cast<double>(count.part) * 100.0 >
             limits_.failures_max * static_cast<double>(count.total);
}

bool AlertRules::failing(const Facts& facts, WallTime now) const {
  return facts.failing_since && now - *facts.failing_since >= limits_.failing_for;
}

/// A half open circuit may only lack something to try: no reason to call anybody, nor to say that
/// it is over.
bool AlertRules::stays_open(const Facts& facts, WallTime now) const {
  const bool raised = facts.raised[static_cast<std::size_t>(AlertKind::circuit_stays_open)];
  return facts.open_since && (facts.is_open || raised) &&
         now - *facts.open_since > limits_.circuit_open_max;
}

bool AlertRules::nothing_to_watch(const Facts& facts, WallTime now) const {
  const bool deaths_over =
      facts.deaths.empty() || now - facts.deaths.back() >= limits_.dead_letters_window;
  return deaths_over && !facts.open_since && facts.dns.sum(now, limits_.dns_window).total == 0 &&
         facts.failures.sum(now, limits_.share_window).total == 0;
}

std::string AlertRules::detail_of(AlertKind kind) const {
  switch (kind) {
    case AlertKind::dead_letters:
      return fmt::format("More than {} deliveries became dead letters within {}.",
                         limits_.dead_letters_max, range(limits_.dead_letters_window));
    case AlertKind::dns_failing:
      return fmt::format(
          "More than {} % of the attempts of {} failed because the host's name did not resolve.",
          limits_.dns_failures_max, range(limits_.dns_window));
    case AlertKind::webhook_failing:
      return fmt::format("More than {} % of the attempts have failed for {}.", limits_.failures_max,
                         range(limits_.failing_for));
    case AlertKind::circuit_stays_open:
      return fmt::format("The circuit has not been closed for more than {}.",
                         range(limits_.circuit_open_max));
    default:
      return {};
  }
}

void AlertRules::judge(const WebhookFacts& webhook_facts, AlertKind kind, bool is_so) const {
  bool& raised = webhook_facts.facts.raised[static_cast<std::size_t>(kind)];
  if (raised == is_so) {
    return;
  }
  raised = is_so;
  webhook_facts.changes.push_back({.subject = {kind, webhook_facts.webhook_id},
                                   .active = is_so,
                                   .detail = is_so ? detail_of(kind) : std::string{}});
}

std::vector<AlertChange> AlertRules::attempted(const AttemptNote& note, WallTime now) {
  Facts& facts = webhooks_[note.webhook_id];
  if (note.attempted) {
    facts.dns.note({.total = 1, .part = note.dns_failed ? 1u : 0u}, now, limits_.dns_window);
    facts.failures.note({.total = 1, .part = note.failed ? 1u : 0u}, now, limits_.share_window);
  }
  std::vector<AlertChange> changes;
  const WebhookFacts webhook_facts{note.webhook_id, facts, changes};
  if (note.dead) {
    note_death(facts, now);
    judge(webhook_facts, AlertKind::dead_letters, many_deaths(facts, now));
  }
  judge(webhook_facts, AlertKind::dns_failing, dns_failing(facts, now));
  return changes;
}

void AlertRules::circuit_is(WebhookId webhook_id, CircuitState state, WallTime since) {
  if (state != CircuitState::closed) {
    Facts& facts = webhooks_[webhook_id];
    facts.open_since = facts.open_since.value_or(since);
    facts.is_open = state == CircuitState::open;
  } else if (const auto known = webhooks_.find(webhook_id); known != webhooks_.end()) {
    known->second.open_since.reset();
  }
}

std::vector<AlertChange> AlertRules::look(WallTime now) {
  std::vector<AlertChange> changes;
  for (auto& [webhook_id, facts] : webhooks_) {
    if (!share_too_large(facts, now)) {
      facts.failing_since.reset();
    } else if (!facts.failing_since) {
      facts.failing_since = now;
    }
    const WebhookFacts webhook_facts{webhook_id, facts, changes};
    judge(webhook_facts, AlertKind::dead_letters, many_deaths(facts, now));
    judge(webhook_facts, AlertKind::dns_failing, dns_failing(facts, now));
    judge(webhook_facts, AlertKind::webhook_failing, failing(facts, now));
    judge(webhook_facts, AlertKind::circuit_stays_open, stays_open(facts, now));
  }
  std::erase_if(webhooks_, [&](const auto& entry) { return nothing_to_watch(entry.second, now); });
  // The map has no order of its own, and the same facts must always give the same changes.
  std::ranges::sort(changes, {}, &AlertChange::subject);
  return changes;
}

void AlertRules::change(const AlertLimits& limits) {
  for (auto& [webhook_id, facts] : webhooks_) {
    if (limits.dns_window != limits_.dns_window) {
      facts.dns = {};
    }
    if (limits.share_window != limits_.share_window) {
      facts.failures = {};
    }
  }
  limits_ = limits;
}

void AlertRules::restore(const AlertSubject& subject) {
  switch (subject.kind) {
    case AlertKind::dead_letters:
    case AlertKind::dns_failing:
    case AlertKind::webhook_failing:
    case AlertKind::circuit_stays_open:
      if (subject.webhook_id) {
        webhooks_[*subject.webhook_id].raised[static_cast<std::size_t>(subject.kind)] = true;
      }
      break;
    default:
      break;  // Not this one's to end.
  }
}

}  // namespace postrider
