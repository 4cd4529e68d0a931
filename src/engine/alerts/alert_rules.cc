#include "engine/alerts/alert_rules.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace postrider {
namespace {

constexpr Millis minute{60'000};

/// Whole minutes; the short durations of tests in milliseconds.
std::string duration_text(Millis length) {
  return length % minute == Millis{0} ? fmt::format("{} minutes", length / minute)
                                      : fmt::format("{} ms", length.count());
}

}  // namespace

void AlertRules::add_dead_letter(WebhookState& state, WallTime now) const {
  std::vector<WallTime>& times = state.dead_letters_at;
  if (times.size() == times.capacity()) {
    // Drop what is not needed before the vector grows: all but the latest dead_letters_max, and
    // what is outside the window.
    const std::size_t surplus =
        times.size() > limits_.dead_letters_max ? times.size() - limits_.dead_letters_max : 0;
    const auto recent = std::ranges::find_if(
        times, [&](WallTime at) { return now - at < limits_.dead_letters_window; });
    times.erase(times.begin(),
                std::max(recent, times.begin() + static_cast<std::ptrdiff_t>(surplus)));
  }
  times.push_back(now);
}

bool AlertRules::too_many_dead_letters(const WebhookState& state, WallTime now) const {
  const std::size_t count = state.dead_letters_at.size();
  return count > limits_.dead_letters_max &&
         now - state.dead_letters_at[count - 1 - limits_.dead_letters_max] <
             limits_.dead_letters_window;
}

bool AlertRules::dns_failing(const WebhookState& state, WallTime now) const {
  const ShareWindow::Count count = state.dns.sum(now, limits_.dns_window);
  return count.total >= limits_.dns_attempts_min &&
         static_cast<double>(count.part) * 100.0 >
             limits_.dns_failures_max * static_cast<double>(count.total);
}

bool AlertRules::too_many_failures(const WebhookState& state, WallTime now) const {
  const ShareWindow::Count count = state.failures.sum(now, limits_.share_window);
  return count.total >= limits_.share_attempts_min &&
         static_cast<double>(count.part) * 100.0 >
             limits_.failures_max * static_cast<double>(count.total);
}

bool AlertRules::failing(const WebhookState& state, WallTime now) const {
  return state.failing_since && now - *state.failing_since >= limits_.failing_for;
}

/// A half-open circuit may only lack a delivery to try. It neither raises nor resolves the alert.
bool AlertRules::stays_open(const WebhookState& state, WallTime now) const {
  const bool raised = state.raised[static_cast<std::size_t>(AlertKind::circuit_stays_open)];
  return state.open_since && (state.is_open || raised) &&
         now - *state.open_since > limits_.circuit_open_max;
}

bool AlertRules::is_unneeded(const WebhookState& state, WallTime now) const {
  const bool dead_letters_over = state.dead_letters_at.empty() ||
                                 now - state.dead_letters_at.back() >= limits_.dead_letters_window;
  return dead_letters_over && !state.open_since &&
         state.dns.sum(now, limits_.dns_window).total == 0 &&
         state.failures.sum(now, limits_.share_window).total == 0;
}

std::string AlertRules::detail_of(AlertKind kind) const {
  switch (kind) {
    case AlertKind::dead_letters:
      return fmt::format("More than {} deliveries became dead letters within {}.",
                         limits_.dead_letters_max, duration_text(limits_.dead_letters_window));
    case AlertKind::dns_failing:
      return fmt::format(
          "More than {} % of the attempts within {} failed because the host name did not resolve.",
          limits_.dns_failures_max, duration_text(limits_.dns_window));
    case AlertKind::webhook_failing:
      return fmt::format("More than {} % of the attempts have failed for {}.", limits_.failures_max,
                         duration_text(limits_.failing_for));
    case AlertKind::circuit_stays_open:
      return fmt::format("The circuit has not been closed for more than {}.",
                         duration_text(limits_.circuit_open_max));
    default:
      return {};
  }
}

void AlertRules::set_alert(const Evaluation& evaluation, AlertKind kind, bool active) const {
  bool& raised = evaluation.state.raised[static_cast<std::size_t>(kind)];
  if (raised == active) {
    return;
  }
  raised = active;
  evaluation.changes.push_back({.subject = {kind, evaluation.webhook_id},
                                .active = active,
                                .detail = active ? detail_of(kind) : std::string{}});
}

std::vector<AlertChange> AlertRules::on_attempt(const AttemptSummary& attempt, WallTime now) {
  WebhookState& state = webhooks_[attempt.webhook_id];
  if (attempt.attempted) {
    state.dns.add({.total = 1, .part = attempt.dns_failed ? 1u : 0u}, now, limits_.dns_window);
    state.failures.add({.total = 1, .part = attempt.failed ? 1u : 0u}, now, limits_.share_window);
  }
  std::vector<AlertChange> changes;
  const Evaluation evaluation{attempt.webhook_id, state, changes};
  if (attempt.dead) {
    add_dead_letter(state, now);
    set_alert(evaluation, AlertKind::dead_letters, too_many_dead_letters(state, now));
  }
  set_alert(evaluation, AlertKind::dns_failing, dns_failing(state, now));
  return changes;
}

void AlertRules::on_circuit(WebhookId webhook_id, CircuitState state, WallTime since) {
  if (state != CircuitState::closed) {
    WebhookState& webhook = webhooks_[webhook_id];
    webhook.open_since = webhook.open_since.value_or(since);
    webhook.is_open = state == CircuitState::open;
  } else if (const auto known = webhooks_.find(webhook_id); known != webhooks_.end()) {
    known->second.open_since.reset();
  }
}

std::vector<AlertChange> AlertRules::evaluate(WallTime now) {
  std::vector<AlertChange> changes;
  for (auto& [webhook_id, state] : webhooks_) {
    if (!too_many_failures(state, now)) {
      state.failing_since.reset();
    } else if (!state.failing_since) {
      state.failing_since = now;
    }
    const Evaluation evaluation{webhook_id, state, changes};
    set_alert(evaluation, AlertKind::dead_letters, too_many_dead_letters(state, now));
    set_alert(evaluation, AlertKind::dns_failing, dns_failing(state, now));
    set_alert(evaluation, AlertKind::webhook_failing, failing(state, now));
    set_alert(evaluation, AlertKind::circuit_stays_open, stays_open(state, now));
  }
  std::erase_if(webhooks_, [&](const auto& entry) { return is_unneeded(entry.second, now); });
  // The map is unordered, and equal inputs must give equal outputs.
  std::ranges::sort(changes, {}, &AlertChange::subject);
  return changes;
}

void AlertRules::change(const AlertLimits& limits) {
  for (auto& [webhook_id, state] : webhooks_) {
    if (limits.dns_window != limits_.dns_window) {
      state.dns = {};
    }
    if (limits.share_window != limits_.share_window) {
      state.failures = {};
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
      break;  // Handled by other rules.
  }
}

}  // namespace postrider
