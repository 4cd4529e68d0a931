#include "runtime/observability/alert_recorder.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "core/net/target_url.h"

#include "runtime/observability/attempt_log.h"

namespace postrider {
namespace {

/// The worker logs and counts these when the engine raises them.
bool raised_by_engine(AlertKind kind) {
  return kind == AlertKind::circuit_opened || kind == AlertKind::webhook_disabled;
}

std::string name_of(const AlertSubject& subject) {
  if (subject.tenant_id) {
    return fmt::format("none tenant=\"{}\"", log_safe(*subject.tenant_id));
  }
  if (subject.source) {
    return fmt::format("none source={}", *subject.source);
  }
  return subject.webhook_id ? subject.webhook_id->to_string() : std::string{"none"};
}

/// `https://example.com/…`.
std::string origin_of(std::string_view url) {
  const std::size_t host = url.find("://");
  const std::size_t path = host == std::string_view::npos ? 0 : url.find('/', host + 3);
  return fmt::format("{}/…", url.substr(0, path));
}

/// `Webhook whk_… "Orders"`.
std::string name_of(const Webhook& webhook) {
  std::string name = "Webhook " + webhook.id.to_string();
  if (webhook.name) {
    name.append(" \"").append(*webhook.name).append("\"");
  }
  return name;
}

}  // namespace

AlertRecorder::AlertRecorder(std::vector<Alert> active, Parts parts) : parts_(std::move(parts)) {
  for (Alert& alert : active) {
    take_over(std::move(alert));
  }
}

void AlertRecorder::take_over(Alert alert) {
  const AlertSubject subject = alert.subject;
  if (active_.insert_or_assign(subject, std::move(alert)).second) {
    parts_.metrics->alerts_changed(subject.kind, 1);
  }
}

void AlertRecorder::hand_over(const std::function<bool(WebhookId)>& is_handed_over) {
  forget([&](const AlertSubject& subject) {
    return subject.webhook_id && is_handed_over(*subject.webhook_id);
  });
}

void AlertRecorder::hand_over(AlertKind kind) {
  forget([kind](const AlertSubject& subject) { return subject.kind == kind; });
}

template <class Goes>
void AlertRecorder::forget(Goes goes) {
  std::erase_if(active_, [&](const auto& each) {
    const bool is_forgotten = goes(each.first);
    if (is_forgotten) {
      parts_.metrics->alerts_changed(each.first.kind, -1);
    }
    return is_forgotten;
  });
}

void AlertRecorder::change(const AlertChange& change, std::optional<TenantId> tenant_id,
                           WallTime now) {
  this->change(change, {.id = {},
                        .subject = change.subject,
                        .tenant_id = std::move(tenant_id),
                        .raised_at = now,
                        .resolved_at = std::nullopt,
                        .detail = change.detail,
                        .measure = change.measure,
                        .webhook_name = std::nullopt,
                        .webhook_url = std::nullopt});
}

void AlertRecorder::change(const AlertChange& change, const Webhook& webhook, WallTime now) {
  const bool hides_path = parts_.has_secret_path && parts_.has_secret_path(webhook.id);
  const std::string url = hides_path ? origin_of(webhook.url) : std::string{shown_url(webhook.url)};
  this->change(change, {.id = {},
                        .subject = change.subject,
                        .tenant_id = webhook.tenant_id,
                        .raised_at = now,
                        .resolved_at = std::nullopt,
                        .detail = fmt::format("{} at {}: {}", name_of(webhook), url, change.detail),
                        .measure = change.measure,
                        .webhook_name = webhook.name,
                        .webhook_url = url});
}

/// `alert` is as it is if it is raised now, without an id.
void AlertRecorder::change(const AlertChange& change, Alert alert) {
  const auto active = active_.find(change.subject);
  if (!change.active) {
    if (active != active_.end()) {
      resolve(active, alert.raised_at);
    }
  } else if (active == active_.end()) {
    raise(change, std::move(alert));
  } else if (counts_on(change.subject.kind)) {
    count_on(active->second, std::move(alert));
  }
}

void AlertRecorder::count_on(Alert& active, Alert alert) {
  active.detail = std::move(alert.detail);
  active.measure = alert.measure;
  parts_.unwritten->update(active);
}

void AlertRecorder::resolve_all(WebhookId webhook_id, WallTime now) {
  for (auto each = active_.begin(); each != active_.end();) {
    const auto active = each++;
    if (active->first.webhook_id == webhook_id) {
      resolve(active, now);
    }
  }
}

void AlertRecorder::raise(const AlertChange& change, Alert alert) {
  if (!raised_by_engine(change.subject.kind)) {
    parts_.metrics->alert_raised(change.subject.kind);
    spdlog::warn("alert.raised kind={} webhook={} detail=\"{}\"", to_string(change.subject.kind),
                 name_of(change.subject), log_safe(alert.detail));
  }
  if (!parts_.unwritten->has_room()) {
    spdlog::error("alert.not_kept kind={} webhook={}", to_string(change.subject.kind),
                  name_of(change.subject));
    return;
  }
  alert.id = parts_.make_id();
  parts_.metrics->alerts_changed(alert.subject.kind, 1);
  parts_.unwritten->raise(alert);
  notify(alert, NotificationTransition::raised);
  active_.emplace(change.subject, std::move(alert));
}

void AlertRecorder::notify(const Alert& alert, NotificationTransition transition) {
  if (parts_.notify) {
    parts_.unwritten->notify(parts_.notify(alert, transition));
  }
}

void AlertRecorder::resolve(std::map<AlertSubject, Alert>::iterator active, WallTime now) {
  spdlog::info("alert.resolved kind={} webhook={}", to_string(active->first.kind),
               name_of(active->first));
  // The wall clock may have been set back; an alert never ends before it was raised.
  const WallTime at = std::max(now, active->second.raised_at);
  Alert alert = std::move(active->second);
  parts_.metrics->alerts_changed(alert.subject.kind, -1);
  active_.erase(active);
  alert.resolved_at = at;
  parts_.unwritten->resolve(alert.id, at);
  notify(alert, NotificationTransition::resolved);
}

}  // namespace postrider
