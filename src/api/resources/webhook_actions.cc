#include <algorithm>
#include <array>

#include "api/json/field_reader.h"
#include "api/json/json_body.h"
#include "api/json/query_reader.h"
#include "api/json/tally_json.h"
#include "api/json/webhook_json.h"
#include "api/resources/answers.h"
#include "api/resources/audit.h"
#include "api/resources/resources.h"
#include "api/resources/webhook_answer.h"

namespace postrider::api {
namespace {

constexpr IntegerRange duration_range{1, 2'592'000};  // Thirty days.

std::optional<CircuitAction> parse_action(std::string_view text) {
  if (text == "reset") {
    return CircuitAction::reset;
  }
  if (text == "force_open") {
    return CircuitAction::force_open;
  }
  return text == "force_close" ? std::optional{CircuitAction::force_close} : std::nullopt;
}

Parsed<CircuitCommanded> read_command(const HttpRequest& request, WebhookId id) {
  POSTRIDER_TRY(std::vector<JsonMember> members, read_body(request));
  FieldErrors errors;
  ObjectReader reader{std::move(members), "", errors};
  const auto action = reader.choice("action", parse_action, "reset, force_open, force_close");
  const JsonField<std::int64_t> seconds = reader.integer("duration_seconds", duration_range);
  if (reader.raw("action").value_or("null") == "null") {
    reader.refuse("action", "is required: reset, force_open or force_close.");
  }
  if (action.value == CircuitAction::reset && seconds.value) {
    reader.refuse("duration_seconds", "is not allowed with action reset.");
  }
  reader.finish();
  if (!errors.empty()) {
    return tl::make_unexpected(errors.problem());
  }
  CircuitCommanded command{.webhook_id = id,
                           .action = action.value.value_or(CircuitAction::reset),
                           .duration = std::nullopt};
  if (seconds.value) {
    command.duration = std::chrono::seconds{*seconds.value};
  }
  return command;
}

/// The detail for the audit log.
std::string describe(const CircuitCommanded& command) {
  constexpr std::array names = {"reset", "force_open", "force_close"};
  std::string detail;
  JsonWriter writer{detail};
  writer.open_object();
  writer.member("action", std::string{names[static_cast<std::size_t>(command.action)]});
  writer.key("duration_seconds");
  if (command.duration) {
    writer.value(command.duration->count() / 1000);
  } else {
    writer.value(nullptr);
  }
  writer.close_object();
  return detail;
}

Awaitable<Reply> set_paused(Context context, HttpRequest request, bool paused) {
  POSTRIDER_CO_TRY(const WebhookRef webhook, path_webhook(context.services.snapshots, request));
  POSTRIDER_CO_CHECK(check_no_parameters(request));
  WebhookEdit edit =
      [paused, now = context.services.clock.now().wall](const Webhook& current) -> Result<Webhook> {
    Webhook changed = current;
    if (changed.paused != paused) {
      changed.paused = paused;
      changed.updated_at = std::max(now, current.updated_at);
    }
    return changed;
  };
  AuditEntry entry = audit_entry(context, {.action = paused ? "webhook.pause" : "webhook.resume",
                                           .subject = webhook->id.to_string(),
                                           .tenant_id = webhook->tenant_id});
  auto pending = context.services.webhooks.edit_webhook(webhook->id, std::move(edit),
                                                        std::move(entry), std::nullopt);
  const Result<WebhookRef> changed = co_await std::move(pending);
  if (!changed) {
    co_return tl::make_unexpected(to_problem(changed.error()));
  }
  auto shown = show_changed_webhook(context, *changed);
  co_return co_await std::move(shown);
}

void write_blocked(JsonWriter& writer, const LaneView& lane) {
  writer.key("blocked");
  if (lane.blocked == BlockReason::none) {
    writer.value(nullptr);
    return;
  }
  writer.open_object();
  writer.member("reason", to_string(lane.blocked));
  writer.member("until", lane.blocked_until);
  writer.close_object();
}

double to_shown_ms(Micros duration) { return static_cast<double>(duration.count()) / 1000.0; }

void write_recent(JsonWriter& writer, const WebhookHealth& health) {
  writer.open_object();
  writer.member("attempts", health.attempts);
  writer.member("succeeded", health.succeeded);
  writer.member("failed", health.attempts - health.succeeded);
  writer.key("success_rate");
  if (health.attempts > 0) {
    writer.value(static_cast<double>(health.succeeded) / health.attempts);
  } else {
    writer.value(nullptr);
  }
  writer.key("duration_ms");
  writer.open_object();
  writer.member("p50", to_shown_ms(health.duration_p50));
  writer.member("p95", to_shown_ms(health.duration_p95));
  writer.member("p99", to_shown_ms(health.duration_p99));
  writer.close_object();
  writer.key("failures_by_category");
  writer.open_object();
  for (const auto& [category, count] : health.failures) {
    writer.member(to_string(category), count);
  }
  writer.close_object();
  writer.close_object();
}

/// What the store knows of a webhook's deliveries.
struct StoredHealth {
  WebhookHealth recent;
  DeliveryTally last_7_days;
};

Result<StoredHealth> read_health(Reader& reader, WebhookId id, WallTime now) {
  StoredHealth stored;
  POSTRIDER_TRY(stored.recent, reader.history->webhook_health(id));
  const StatsFilter week{.from = now - std::chrono::hours{7 * 24},
                         .to = now + Millis{1},  // Includes the current moment.
                         .webhook_id = id,
                         .tenant_id = std::nullopt};
  POSTRIDER_TRY(const std::vector<WebhookTally> tallies, reader.stats->by_webhook(week));
  for (const WebhookTally& each : tallies) {
    stored.last_7_days.add(each.tally);
  }
  return stored;
}

std::string write_health(const Webhook& webhook, const LaneView& lane, const StoredHealth& stored) {
  const WebhookHealth& health = stored.recent;
  std::string body;
  JsonWriter writer{body};
  writer.open_object();
  writer.member("webhook_id", webhook.id);
  writer.member("active", webhook.active);
  writer.member("paused", webhook.paused);
  writer.member("disabled_reason", webhook.disabled_reason);
  writer.key("circuit");
  write_circuit_detail(writer, lane);
  write_blocked(writer, lane);
  writer.member("in_flight", lane.in_flight.size());
  writer.member("in_flight_limit", lane.in_flight_limit);
  writer.member("rate_limit_tokens", lane.tokens);
  writer.key("deliveries");
  writer.open_object();
  for (const DeliveryState state :
       {DeliveryState::pending, DeliveryState::retrying, DeliveryState::dead_letter}) {
    const auto count = health.deliveries.find(state);
    writer.member(to_string(state), count == health.deliveries.end() ? 0 : count->second);
  }
  writer.close_object();
  writer.key("recent");
  write_recent(writer, health);
  writer.key("last_7_days");
  writer.open_object();
  write_tally(writer, stored.last_7_days);
  writer.close_object();
  writer.member("last_success_at", health.last_success_at);
  writer.member("last_failure_at", health.last_failure_at);
  writer.close_object();
  return body;
}

}  // namespace

Awaitable<Reply> pause_webhook(Context context, HttpRequest request) {
  return set_paused(std::move(context), std::move(request), true);
}

Awaitable<Reply> resume_webhook(Context context, HttpRequest request) {
  return set_paused(std::move(context), std::move(request), false);
}

Awaitable<Reply> command_circuit(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(const WebhookRef webhook, path_webhook(context.services.snapshots, request));
  POSTRIDER_CO_TRY(const CircuitCommanded command, read_command(request, webhook->id));
  AuditEntry entry = audit_entry(context, {.action = "webhook.circuit",
                                           .subject = webhook->id.to_string(),
                                           .tenant_id = webhook->tenant_id,
                                           .detail = describe(command)});
  auto pending = context.services.lanes.command_circuit(command, std::move(entry));
  const Result<LaneView> lane = co_await std::move(pending);
  if (!lane) {
    co_return tl::make_unexpected(to_problem(lane.error()));
  }
  std::string body;
  JsonWriter writer{body};
  writer.open_object();
  writer.member("webhook_id", webhook->id);
  writer.key("circuit");
  write_circuit(writer, lane->circuit);
  writer.close_object();
  co_return json_answer(200, std::move(body));
}

Awaitable<Reply> get_webhook_health(Context context, HttpRequest request) {
  POSTRIDER_CO_CHECK(check_no_query(request));
  POSTRIDER_CO_TRY(const WebhookRef webhook, path_webhook(context.services.snapshots, request));
  auto pending_lane = context.services.lanes.lane_view(webhook->id);
  const Result<LaneView> lane = co_await std::move(pending_lane);
  if (!lane) {
    co_return tl::make_unexpected(to_problem(lane.error()));
  }
  const auto query = [id = webhook->id, now = context.services.clock.now().wall](Reader& reader) {
    return read_health(reader, id, now);
  };
  auto pending_health = context.queries().read(query);
  const Result<StoredHealth> health = co_await std::move(pending_health);
  if (!health) {
    co_return tl::make_unexpected(to_problem(health.error()));
  }
  co_return json_answer(200, write_health(*webhook, *lane, *health));
}

}  // namespace postrider::api
