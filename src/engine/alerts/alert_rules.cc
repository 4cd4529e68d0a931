#include "engine/alerts/alert_rules.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "engine/alerts/alert_text.h"

namespace postrider {
namespace {

std::string describe_dead_letter(const AttemptSummary& attempt) {
  std::string text = fmt::format(
      "Webhook delivery {} failed after {} {}: {}.", attempt.delivery_id.to_string(),
      attempt.attempts, attempt.attempts == 1 ? "attempt" : "attempts", attempt.dead_reason);
  if (!attempt.last_error.empty()) {
    text += fmt::format(" The last attempt failed: {}.", attempt.last_error);
  }
  return text;
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
  return dead_letters_over && !state.open_since && !state.permanent &&
         std::ranges::none_of(state.raised, [](bool raised) { return raised; }) &&
         state.dns.sum(now, limits_.dns_window).total == 0 &&
         state.failures.sum(now, limits_.share_window).total == 0;
}

void AlertRules::describe(const Evaluation& evaluation, AlertChange& change) const {
  const WebhookState& state = evaluation.state;
  switch (change.subject.kind) {
    case AlertKind::dead_letters: {
      // Earlier ones may have been dropped.
      const std::uint64_t count = std::uint64_t{limits_.dead_letters_max} + 1;
      change.measure = {static_cast<double>(count), static_cast<double>(limits_.dead_letters_max)};
      change.detail =
          fmt::format("{} deliveries became dead letters within {}, more than {}.", count,
                      duration_text(limits_.dead_letters_window), limits_.dead_letters_max);
      return;
    }
    case AlertKind::dns_failing: {
      const ShareWindow::Count count = state.dns.sum(evaluation.now, limits_.dns_window);
      change.measure = {percentage_of(count), limits_.dns_failures_max, AlertUnit::percent};
      change.detail =
          fmt::format("{} within {} failed because the host name did not resolve, more than {} %.",
                      share_text(count, "attempts"), duration_text(limits_.dns_window),
                      limits_.dns_failures_max);
      return;
    }
    case AlertKind::webhook_failing: {
      const ShareWindow::Count count = state.failures.sum(evaluation.now, limits_.share_window);
      change.measure = {percentage_of(count), limits_.failures_max, AlertUnit::percent};
      change.detail =
          fmt::format("{} within {} failed. It has been more than {} % for {}.",
                      share_text(count, "attempts"), duration_text(limits_.share_window),
                      limits_.failures_max, duration_text(limits_.failing_for));
      return;
    }
    case AlertKind::circuit_stays_open: {
      const Millis length = evaluation.now - *state.open_since;
      change.measure = {static_cast<double>(length.count()),
                        static_cast<double>(limits_.circuit_open_max.count()), AlertUnit::ms};
      change.detail = fmt::format("The circuit has not been closed for {} ms, more than {}.",
                                  length.count(), duration_text(limits_.circuit_open_max));
      return;
    }
    default:
      return;
  }
}

/// True if an alert from before the start must be kept, because too little has happened since.
bool AlertRules::is_undecided(const Evaluation& evaluation, AlertKind kind) const {
  const WebhookState& state = evaluation.state;
  if (!state.restored[static_cast<std::size_t>(kind)]) {
    return false;
  }
  const Millis age = evaluation.now - state.known_since.value_or(evaluation.now);
  switch (kind) {
    case AlertKind::dead_letters:
      return age < limits_.dead_letters_window;
    case AlertKind::dns_failing:
      return age < limits_.dns_window &&
             state.dns.sum(evaluation.now, limits_.dns_window).total < limits_.dns_attempts_min;
    case AlertKind::webhook_failing:
      return age < limits_.share_window &&
             state.failures.sum(evaluation.now, limits_.share_window).total <
                 limits_.share_attempts_min;
    default:
      return false;
  }
}

void AlertRules::set_alert(const Evaluation& evaluation, AlertKind kind, bool active) const {
  const auto index = static_cast<std::size_t>(kind);
  bool& raised = evaluation.state.raised[index];
  if (raised == active || (raised && is_undecided(evaluation, kind))) {
    return;
  }
  raised = active;
  evaluation.state.restored[index] = false;
  AlertChange change{
      .subject = {kind, evaluation.webhook_id}, .active = active, .detail = {}, .measure = {}};
  if (active) {
    describe(evaluation, change);
  }
  evaluation.changes.push_back(std::move(change));
}

// ---------------------------------------------------------------- permanent failures

void AlertRules::add_permanent_failure(const Evaluation& evaluation,
                                       const AttemptSummary& attempt) const {
  if (!limits_.permanent_failures) {
    return;
  }
  std::optional<PermanentFailures>& permanent = evaluation.state.permanent;
  if (permanent && evaluation.now - permanent->since >= limits_.dead_letters_window) {
    check_permanent_failures(evaluation);  // An hour that is over must not count this one.
  }
  const bool is_first = !permanent;
  if (is_first) {
    permanent = PermanentFailures{.since = evaluation.now};
  }
  ++permanent->count;
  permanent->last = describe_dead_letter(attempt);
  if (is_first) {
    count_on(evaluation);  // The others are told of by the next evaluation.
  }
}

void AlertRules::check_permanent_failures(const Evaluation& evaluation) const {
  std::optional<PermanentFailures>& permanent = evaluation.state.permanent;
  if (!permanent) {
    return;
  }
  if (permanent->count != permanent->counted) {
    count_on(evaluation);
  }
  // A time in the future was stored by a wrong clock. It counts from now.
  permanent->since = std::min(permanent->since, evaluation.now);
  if (!limits_.permanent_failures ||
      evaluation.now - permanent->since >= limits_.dead_letters_window) {
    permanent.reset();
    evaluation.changes.push_back(
        {.subject = {AlertKind::permanent_failure, evaluation.webhook_id}, .active = false});
  }
}

void AlertRules::count_on(const Evaluation& evaluation) {
  PermanentFailures& permanent = *evaluation.state.permanent;
  permanent.counted = permanent.count;
  evaluation.changes.push_back(
      {.subject = {AlertKind::permanent_failure, evaluation.webhook_id},
       .active = true,
       .detail = fmt::format(
           "{} became dead {} since {}. {}",
           permanent.count == 1 ? "1 delivery" : fmt::format("{} deliveries", permanent.count),
           permanent.count == 1 ? "letter" : "letters", to_rfc3339(permanent.since),
           permanent.last),
       .measure = AlertMeasure{.count = static_cast<double>(permanent.count), .limit = 0}});
}

std::vector<AlertChange> AlertRules::on_attempt(const AttemptSummary& attempt, WallTime now) {
  WebhookState& state = webhooks_[attempt.webhook_id];
  state.known_since = state.known_since.value_or(now);
  if (attempt.attempted) {
    state.dns.add({.total = 1, .part = attempt.dns_failed ? 1u : 0u}, now, limits_.dns_window);
    state.failures.add({.total = 1, .part = attempt.failed ? 1u : 0u}, now, limits_.share_window);
  }
  std::vector<AlertChange> changes;
  const Evaluation evaluation{attempt.webhook_id, state, now, changes};
  if (attempt.dead) {
    add_permanent_failure(evaluation, attempt);
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
    state.known_since = state.known_since.value_or(now);
    if (!too_many_failures(state, now)) {
      state.failing_since.reset();
    } else if (!state.failing_since) {
      // An alert from before the start has been active long enough.
      const bool raised = state.raised[static_cast<std::size_t>(AlertKind::webhook_failing)];
      state.failing_since = raised ? now - limits_.failing_for : now;
    }
    const Evaluation evaluation{webhook_id, state, now, changes};
    check_permanent_failures(evaluation);
    set_alert(evaluation, AlertKind::dead_letters, too_many_dead_letters(state, now));
    set_alert(evaluation, AlertKind::dns_failing, dns_failing(state, now));
    set_alert(evaluation, AlertKind::webhook_failing, failing(state, now));
    set_alert(evaluation, AlertKind::circuit_stays_open, stays_open(state, now));
  }
  std::erase_if(webhooks_, [&](const auto& entry) { return is_unneeded(entry.second, now); });
  // The map is unordered, and equal inputs must give equal outputs. Changes of one subject keep
  // their order.
  std::ranges::stable_sort(changes, {}, &AlertChange::subject);
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

void AlertRules::restore(const Alert& alert) {
  if (!alert.subject.webhook_id) {
    return;  // Handled by other rules.
  }
  const auto index = static_cast<std::size_t>(alert.subject.kind);
  const WebhookId webhook_id = *alert.subject.webhook_id;
  switch (alert.subject.kind) {
    case AlertKind::dead_letters:
    case AlertKind::dns_failing:
    case AlertKind::webhook_failing:
    case AlertKind::circuit_stays_open:
      webhooks_[webhook_id].raised[index] = true;
      webhooks_[webhook_id].restored[index] = true;
      break;
    case AlertKind::permanent_failure: {
      const double count = alert.measure.value_or(AlertMeasure{.count = 1}).count;
      const auto counted = static_cast<std::uint64_t>(count);
      webhooks_[webhook_id].permanent = PermanentFailures{
          .since = alert.raised_at, .count = counted, .counted = counted, .last = {}};
      break;
    }
    default:
      break;
  }
}

}  // namespace postrider
