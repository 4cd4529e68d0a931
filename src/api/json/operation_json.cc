#include "api/json/operation_json.h"

#include <algorithm>
#include <chrono>

#include "api/json/json_writer.h"

namespace postrider::api {
namespace {

template <class Item, class Show>
void write_list(JsonWriter& writer, std::string_view name, const std::vector<Item>& items,
                Show show) {
  if (items.empty()) {
    return;
  }
  writer.key(name);
  writer.open_array();
  for (const Item& item : items) {
    writer.value(show(item));
  }
  writer.close_array();
}

/// Stored replays of webhooks without a tenant may have an empty tenant id.
std::optional<TenantId> non_empty(const std::optional<TenantId>& tenant_id) {
  return tenant_id && tenant_id->empty() ? std::nullopt : tenant_id;
}

/// Writes only the members that are set.
void write_filter(JsonWriter& writer, const DeliveryFilter& filter) {
  const auto name = [](auto value) { return to_string(value); };
  writer.open_object();
  if (const std::optional<TenantId> tenant_id = non_empty(filter.tenant_id)) {
    writer.member("tenant_id", *tenant_id);
  }
  write_list(writer, "webhook_ids", filter.webhook_ids, [](WebhookId id) { return id; });
  if (filter.event_id) {
    writer.member("event_id", *filter.event_id);
  }
  if (filter.resource_id) {
    writer.member("resource_id", *filter.resource_id);
  }
  write_list(writer, "status", filter.states, name);
  write_list(writer, "event_types", filter.event_types, [](const auto& type) { return type; });
  write_list(writer, "failure_categories", filter.failure_categories, name);
  if (filter.classification) {
    writer.member("classification", to_string(*filter.classification));
  }
  if (filter.from) {
    writer.member("from", *filter.from);
  }
  if (filter.to) {
    writer.member("to", *filter.to);
  }
  writer.close_object();
}

void write_rate(JsonWriter& writer, const OperationSpec& spec) {
  writer.key("rate_limit");
  if (!spec.requests_per_second) {
    writer.value(nullptr);
    return;
  }
  writer.open_object();
  writer.member("requests_per_second", *spec.requests_per_second);
  writer.close_object();
}

/// Writes members into an object that the caller opened.
void write_outcomes(JsonWriter& writer, const OperationOutcomes& outcomes) {
  writer.member("requeued", outcomes.requeued);
  writer.member("succeeded", outcomes.succeeded);
  writer.member("dead_again", outcomes.dead_again);
  writer.member("cancelled", outcomes.cancelled);
  writer.member("waiting", outcomes.waiting());
}

}  // namespace

void write_operation(JsonWriter& writer, const Operation& operation, WallTime now) {
  const OperationSpec& spec = operation.spec;
  const bool is_scheduled = operation.status == OperationStatus::scheduled;
  writer.open_object();
  writer.member("id", operation.id);
  if (operation.kind != OperationKind::replay) {
    writer.member("batch_operation_id", operation.id);
  }
  writer.member("kind", operation_kinds.name(operation.kind));
  writer.member("status", operation_statuses.name(operation.status));
  writer.member("tenant_id", non_empty(operation.tenant_id));
  writer.key("filter");
  write_filter(writer, spec.filter);
  writer.member("priority",
                spec.priority ? std::optional{to_string(*spec.priority)} : std::nullopt);
  write_rate(writer, spec);
  writer.member("total", operation.total);
  writer.member("done", operation.done);
  writer.member("skipped", operation.skipped);
  writer.member("failed", operation.failed);
  write_outcomes(writer, operation.outcomes);
  writer.member("eta", estimate_end(operation, now));
  writer.member("start_at", is_scheduled ? std::optional{operation.due} : spec.start_at);
  writer.member("repeat_every_seconds",
                spec.repeat_every ? std::optional{spec.repeat_every->count()} : std::nullopt);
  writer.member("runs", operation.runs);
  writer.member("created_at", operation.created_at);
  writer.member("started_at", operation.started_at);
  writer.member("requeue_finished_at", operation.requeue_finished_at);
  writer.member("finished_at", operation.finished_at);
  writer.member("error", operation.error.empty() ? std::nullopt : std::optional{operation.error});
  writer.close_object();
}

std::string write_filter(const DeliveryFilter& filter) {
  std::string text;
  JsonWriter writer{text};
  write_filter(writer, filter);
  return text;
}

std::string write_operation(const Operation& operation, WallTime now) {
  std::string body;
  JsonWriter writer{body};
  write_operation(writer, operation, now);
  return body;
}

std::optional<WallTime> estimate_end(const Operation& operation, WallTime now) {
  if (operation.status != OperationStatus::running || !operation.total || !operation.started_at) {
    return std::nullopt;
  }
  // First everything is requeued, then it settles.
  const bool requeues = is_requeueing(operation);
  const OperationOutcomes& outcomes = operation.outcomes;
  const std::uint64_t processed = requeues ? operation.done + operation.skipped + operation.failed
                                           : outcomes.requeued - outcomes.waiting();
  const std::uint64_t left =
      requeues ? *operation.total - std::min(*operation.total, processed) : outcomes.waiting();
  double seconds = 0;
  if (requeues && operation.spec.requests_per_second) {
    seconds = static_cast<double>(left) / *operation.spec.requests_per_second;
  } else if (processed > 0) {
    const std::chrono::duration<double> spent = now - *operation.started_at;
    seconds =
        std::max(spent.count(), 0.0) * static_cast<double>(left) / static_cast<double>(processed);
  } else {
    return std::nullopt;
  }
  constexpr double seconds_max = 1e9;  // About thirty years. Prevents an overflow of the time.
  return now + Millis{static_cast<std::int64_t>(std::min(seconds, seconds_max) * 1'000)};
}

}  // namespace postrider::api
