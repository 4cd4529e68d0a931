#include "api/json/list_answer.h"
#include "api/json/query_reader.h"
#include "api/json/webhook_json.h"
#include "api/resources/resources.h"

namespace postrider::api {
namespace {

struct AlertQuery {
  AlertFilter filter;
  Page page;
};

std::optional<bool> parse_status(std::string_view text) {
  if (text == "active") {
    return true;
  }
  return text == "resolved" ? std::optional{false} : std::nullopt;
}

Parsed<AlertQuery> read_query(const HttpRequest& request) {
  QueryReader query{request};
  AlertQuery asked;
  asked.filter = {.tenant_id = query.text("tenant_id"),
                  .webhook_id = query.one_of("webhook_id", WebhookId::parse, "a webhook's id"),
                  .kinds = query.list_of("kind", parse_alert_kind,
                                         "circuit_opened, webhook_disabled, dead_letters, "
                                         "dns_failing, secret_old, store_failing, "
                                         "webhook_failing, circuit_stays_open, "
                                         "dead_letters_waiting, success_low, queue_deep, "
                                         "pool_busy, permanent_failure, total_dead_letters, "
                                         "dead_letter_share, total_failures, p99_high, "
                                         "server_resources_short, store_corrupt, "
                                         "store_data_lost, source_failing, messages_rejected "
                                         "or notifications_failing"),
                  .active = query.one_of("status", parse_status, "active or resolved")};
  POSTRIDER_TRY(const Page page, read_history_page(query, ListKind::alerts));
  asked.page = page;
  return asked;
}

void write_measure(JsonWriter& writer, const std::optional<AlertMeasure>& measure) {
  writer.key("count");
  measure ? writer.value(measure->count) : writer.value(nullptr);
  writer.key("limit");
  measure ? writer.value(measure->limit) : writer.value(nullptr);
  writer.member("unit", measure ? std::optional{to_string(measure->unit)} : std::nullopt);
}

void write_alert(JsonWriter& writer, const Alert& alert) {
  writer.open_object();
  writer.member("id", alert.id);
  writer.member("kind", to_string(alert.subject.kind));
  writer.member("severity", to_string(severity_of(alert.subject.kind)));
  writer.member("status", alert.resolved_at ? "resolved" : "active");
  writer.member("webhook_id", alert.subject.webhook_id);
  writer.member("webhook_name", alert.webhook_name);
  writer.member("webhook_url", alert.webhook_url);
  write_tenant_id(writer, alert.tenant_id.value_or(TenantId{}));
  writer.member("source", alert.subject.source);
  writer.member("raised_at", alert.raised_at);
  writer.member("resolved_at", alert.resolved_at);
  write_measure(writer, alert.measure);
  writer.member("detail", alert.detail);
  writer.close_object();
}

Result<Listed<Alert>> read_alerts(Reader& reader, const AlertQuery& asked) {
  return reader.alerts->list_alerts(asked.filter, asked.page);
}

std::string write_page(const Listed<Alert>& listed) {
  return write_list(listed, ListKind::alerts, write_alert);
}

}  // namespace

Awaitable<Reply> list_alerts(Context context, HttpRequest request) {
  return answer_list(std::move(context), read_query(request), read_alerts, write_page);
}

}  // namespace postrider::api
