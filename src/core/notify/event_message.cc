#include "core/notify/event_message.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/json/json_string.h"
#include "core/net/tenant_text.h"

namespace postrider {
namespace {

// More than people read; bounds the size of the event.
constexpr std::size_t notifications_max = 100;

class Object {
 public:
  explicit Object(std::string& out) : out_(out) { out_ += '{'; }

  void raw(std::string_view name, std::string_view json) {
    out_ += first_ ? "\"" : ",\"";
    first_ = false;
    out_.append(name).append("\":").append(json);
  }
  void text(std::string_view name, std::string_view value) {
    std::string json;
    append_json_string(json, value);
    raw(name, json);
  }
  template <class Value, class Write>
  void optional(std::string_view name, const std::optional<Value>& value, Write write) {
    value ? text(name, write(*value)) : raw(name, "null");
  }
  void end() { out_ += '}'; }

 private:
  std::string& out_;
  bool first_ = true;
};

std::string number(double value) { return fmt::format("{:.10g}", value); }

void append_notification(std::string& out, const Notification& notification,
                         const MessageFacts& message) {
  const NotificationFacts& facts = notification.facts;
  const auto same = [](const std::string& text) { return text; };
  const auto id = [](const auto& each) { return each.to_string(); };
  Object object{out};
  object.text("id", notification.id.to_string());
  object.text("kind", to_string(notification.kind));
  object.text("transition", to_string(notification.transition));
  object.optional("alert_id", notification.alert_id, id);
  object.optional("operation_id", facts.operation_id, id);
  object.optional("tenant_id", facts.tenant_id, same);
  object.optional("webhook_id", facts.webhook_id, id);
  object.optional("webhook_name", facts.webhook_name, same);
  object.optional("webhook_url", facts.webhook_url, same);
  object.optional("source", facts.source, same);
  object.text("detail",
              message.for_tenant ? without_internal_addresses(facts.detail) : facts.detail);
  object.raw("measured", facts.measure ? number(facts.measure->count) : "null");
  object.raw("limit", facts.measure ? number(facts.measure->limit) : "null");
  object.optional("unit", facts.measure,
                  [](const AlertMeasure& measure) { return std::string{to_string(measure.unit)}; });
  object.text("raised_at", to_rfc3339(facts.raised_at));
  object.optional("resolved_at", facts.resolved_at, to_rfc3339);
  const std::string link = dashboard_link(notification, message.public_url);
  link.empty() ? object.raw("link", "null") : object.text("link", link);
  object.end();
}

}  // namespace

std::string event_data(const MessageFacts& facts, std::string_view text) {
  const Notification& first = facts.notifications.front();
  std::string listed = "[";
  for (const Notification& each :
       facts.notifications.first(std::min(facts.notifications.size(), notifications_max))) {
    listed += listed.size() > 1 ? "," : "";
    append_notification(listed, each, facts);
  }
  listed += "]";
  std::string out;
  Object object{out};
  object.text("kind", to_string(first.kind));
  object.text("transition", to_string(first.transition));
  object.text("severity", to_string(severity_of(first.kind)));
  object.raw("count", std::to_string(facts.notifications.size()));
  object.text("text", text);
  object.raw("notifications", listed);
  object.end();
  return out;
}

}  // namespace postrider
