#include "engine/alerts/source_alert_rules.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "engine/sources/source_progress.h"

namespace postrider {
namespace {

AlertSubject subject_of(AlertKind kind, std::string source) {
  return {.kind = kind, .webhook_id = std::nullopt, .source = std::move(source)};
}

AlertChange resolved(AlertKind kind, const std::string& source) {
  return {.subject = subject_of(kind, source), .active = false, .detail = {}};
}

}  // namespace

void SourceAlertRules::evaluate_failure(const Evaluation& evaluation, const SourceFacts& facts) {
  SourceAlerts& alerts = evaluation.alerts;
  if (!alerts.failing && facts.is_failing) {
    alerts.failing = true;
    evaluation.changes.push_back(
        {.subject = subject_of(AlertKind::source_failing, facts.name),
         .active = true,
         .detail = fmt::format("The source {} could not be connected {} times in a row: {}",
                               facts.name, facts.failed_connects, facts.reason),
         .measure = AlertMeasure{.count = static_cast<double>(facts.failed_connects),
                                 .limit = source_failures_alarming}});
  } else if (alerts.failing && facts.is_working) {
    alerts.failing = false;
    evaluation.changes.push_back(resolved(AlertKind::source_failing, facts.name));
  }
}

void SourceAlertRules::evaluate_rejections(const Evaluation& evaluation, const SourceFacts& facts) {
  SourceAlerts& alerts = evaluation.alerts;
  const std::uint64_t added = facts.rejected - std::exchange(alerts.rejected, facts.rejected);
  if (alerts.rejections) {
    // A time in the future was stored by a wrong clock. It counts from now.
    alerts.rejections->since = std::min(alerts.rejections->since, evaluation.now);
    if (evaluation.now - alerts.rejections->since >= rejections_window) {
      alerts.rejections.reset();
      evaluation.changes.push_back(resolved(AlertKind::messages_rejected, facts.name));
    }
  }
  if (added == 0) {
    return;
  }
  if (!alerts.rejections) {
    alerts.rejections = Rejections{.since = evaluation.now};
  }
  Rejections& rejections = *alerts.rejections;
  rejections.count += added;
  evaluation.changes.push_back(
      {.subject = subject_of(AlertKind::messages_rejected, facts.name),
       .active = true,
       .detail = fmt::format(
           "{} of the source {} {} rejected since {}. The last: {}",
           rejections.count == 1 ? "1 message" : fmt::format("{} messages", rejections.count),
           facts.name, rejections.count == 1 ? "was" : "were", to_rfc3339(rejections.since),
           facts.last_rejection),
       .measure = AlertMeasure{.count = static_cast<double>(rejections.count), .limit = 0}});
}

std::vector<AlertChange> SourceAlertRules::evaluate(const std::vector<SourceFacts>& sources,
                                                    WallTime now) {
  std::vector<AlertChange> changes;
  std::set<std::string> configured;
  for (const SourceFacts& facts : sources) {
    configured.insert(facts.name);
    const Evaluation evaluation{sources_[facts.name], now, changes};
    evaluate_failure(evaluation, facts);
    evaluate_rejections(evaluation, facts);
  }
  for (auto each = sources_.begin(); each != sources_.end();) {
    const auto& [name, alerts] = *each;
    if (configured.contains(name)) {
      ++each;
      continue;
    }
    if (alerts.failing) {
      changes.push_back(resolved(AlertKind::source_failing, name));
    }
    if (alerts.rejections) {
      changes.push_back(resolved(AlertKind::messages_rejected, name));
    }
    each = sources_.erase(each);
  }
  return changes;
}

void SourceAlertRules::restore(const Alert& alert) {
  if (!alert.subject.source) {
    return;
  }
  SourceAlerts& alerts = sources_[*alert.subject.source];
  if (alert.subject.kind == AlertKind::source_failing) {
    alerts.failing = true;
  } else if (alert.subject.kind == AlertKind::messages_rejected) {
    const double count = alert.measure ? alert.measure->count : 0;
    alerts.rejections =
        Rejections{.since = alert.raised_at, .count = static_cast<std::uint64_t>(count)};
  }
}

}  // namespace postrider
