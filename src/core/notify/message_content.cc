#include "core/notify/message_content.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/net/tenant_text.h"
#include "core/notify/kind_text.h"

namespace postrider {
namespace {

constexpr std::size_t detail_bytes_max = 800;
constexpr std::size_t name_bytes_max = 100;
constexpr std::size_t url_bytes_max = 300;
constexpr std::size_t heading_bytes_max = 140;  // Slack allows 150 characters.

/// `the last hour`, `the last 15 minutes`.
std::string period_text(Millis window) {
  using namespace std::chrono;
  const auto text = [](Millis::rep number, const char* unit) {
    return number == 1 ? std::string{unit} : fmt::format("{} {}s", number, unit);
  };
  if (window % hours{1} == Millis{0}) {
    return text(window / hours{1}, "hour");
  }
  return window % minutes{1} == Millis{0} ? text(window / minutes{1}, "minute")
                                          : text(window / seconds{1}, "second");
}

std::string number_text(double number) {
  return std::floor(number) == number ? fmt::format("{:.0f}", number)
                                      : fmt::format("{:.1f}", number);
}

std::string measure_text(double number, AlertUnit unit) {
  switch (unit) {
    case AlertUnit::percent:
      return number_text(number) + " %";
    case AlertUnit::ms:
      return length_text(Millis{static_cast<Millis::rep>(number)});
    case AlertUnit::days:
      return number_text(number) + " days";
    case AlertUnit::count:
      break;
  }
  return number_text(number);
}

bool is_resolved(const Notification& notification) {
  return notification.transition == NotificationTransition::resolved;
}

std::string webhook_of(const NotificationFacts& facts) {
  if (facts.webhook_name && !facts.webhook_name->empty()) {
    return shortened(*facts.webhook_name, name_bytes_max);
  }
  return facts.webhook_id ? facts.webhook_id->to_string() : std::string{"unknown"};
}

void replace(std::string& text, std::string_view placeholder, std::string_view value) {
  if (const std::size_t at = text.find(placeholder); at != std::string::npos) {
    text.replace(at, placeholder.size(), value);
  }
}

std::string title_of(const Notification& notification, const MessageFacts& message) {
  const KindText text = text_of(notification.kind);
  std::string title{is_resolved(notification) && !text.resolved.empty() ? text.resolved
                                                                        : text.raised};
  const NotificationFacts& facts = notification.facts;
  replace(title, "{count}", facts.measure ? number_text(facts.measure->count) : "many");
  replace(title, "{period}", period_text(message.dead_letters_window));
  replace(title, "{tenant}", facts.tenant_id.value_or(""));
  replace(title, "{source}", facts.source.value_or(""));
  replace(title, "{channel}", message.channel_name);
  replace(title, "{webhook}", webhook_of(facts));  // Last: a name may look like a placeholder.
  return title;
}

}  // namespace

std::string dashboard_link(const Notification& notification, std::string_view public_url) {
  if (public_url.empty()) {
    return {};
  }
  const std::string_view page = text_of(notification.kind).page;
  const auto& webhook_id = notification.facts.webhook_id;
  const std::string id = webhook_id ? webhook_id->to_string() : std::string{};
  if (page.empty()) {
    return id.empty() ? fmt::format("{}/alerts", public_url)
                      : fmt::format("{}/webhooks/{}", public_url, id);
  }
  return fmt::format("{}{}{}{}", public_url, page,
                     page == "/dead-letters" && webhook_id ? "?webhook_id=" : "",
                     page == "/dead-letters" ? id : "");
}

namespace {

class Item {
 public:
  void set(std::string_view name, std::string value) {
    scope.values.insert_or_assign(std::string{name}, std::move(value));
  }
  /// Also lists it among the facts.
  void tell(std::string_view name, std::string_view label, std::string value) {
    if (!value.empty()) {
      facts.push_back({.values = {{"label", std::string{label}}, {"value", value}}, .lists = {}});
    }
    set(name, std::move(value));
  }

  TemplateScope scope;
  std::vector<TemplateScope> facts;
};

void tell_times(const Notification& notification, Item& item) {
  const NotificationFacts& facts = notification.facts;
  if (notification.transition == NotificationTransition::test) {
    return;
  }
  item.tell("since",
            notification.transition == NotificationTransition::finished ? "Begun" : "Since",
            to_rfc3339(facts.raised_at));
  if (facts.resolved_at) {
    item.tell("until", "Until", to_rfc3339(*facts.resolved_at));
    item.tell("lasted", "Lasted", length_text(*facts.resolved_at - facts.raised_at));
  }
}

void tell_measure(const NotificationFacts& facts, Item& item) {
  if (facts.measure) {
    item.tell("measured", "Measured", measure_text(facts.measure->count, facts.measure->unit));
    if (facts.measure->limit > 0) {
      item.tell("limit", "Limit", measure_text(facts.measure->limit, facts.measure->unit));
    }
  }
}

TemplateScope describe_item(const Notification& notification, const MessageFacts& message) {
  const NotificationFacts& facts = notification.facts;
  Item item;
  item.set("title", title_of(notification, message));
  item.set("detail",
           shortened(message.for_tenant ? without_internal_addresses(facts.detail) : facts.detail,
                     detail_bytes_max));
  item.set("advice", is_resolved(notification) ? std::string{"Nothing needs to be done."}
                                               : std::string{text_of(notification.kind).advice});
  item.set("link", dashboard_link(notification, message.public_url));
  item.set("kind", std::string{to_string(notification.kind)});
  item.set("severity", std::string{to_string(severity_of(notification.kind))});
  item.set("transition", std::string{to_string(notification.transition)});
  item.set("alert_id", notification.alert_id ? notification.alert_id->to_string() : std::string{});
  if (facts.webhook_id) {
    item.tell("webhook", "Webhook", webhook_of(facts));
    item.tell("webhook_id", "Webhook id", facts.webhook_id->to_string());
  }
  item.tell("url", "URL", shortened(facts.webhook_url.value_or(""), url_bytes_max));
  item.tell("tenant", "Tenant", shortened(facts.tenant_id.value_or(""), name_bytes_max));
  item.tell("source", "Source", shortened(facts.source.value_or(""), name_bytes_max));
  item.tell("operation_id", "Operation",
            facts.operation_id ? facts.operation_id->to_string() : std::string{});
  tell_times(notification, item);
  tell_measure(facts, item);
  item.scope.lists["facts"] = std::move(item.facts);
  return std::move(item.scope);
}

}  // namespace

std::string length_text(Millis length) {
  using namespace std::chrono;
  if (length < seconds{1}) {
    return fmt::format("{} ms", std::max(length, Millis{0}).count());
  }
  const auto text = [&](auto large, const char* name, auto small, const char* small_name) {
    const auto rest = (length % large) / small;
    return rest == 0 ? fmt::format("{} {}", length / large, name)
                     : fmt::format("{} {} {} {}", length / large, name, rest, small_name);
  };
  if (length >= hours{24}) {
    return text(hours{24}, "d", hours{1}, "h");
  }
  if (length >= hours{1}) {
    return text(hours{1}, "h", minutes{1}, "min");
  }
  return length >= minutes{1} ? text(minutes{1}, "min", seconds{1}, "s")
                              : fmt::format("{} s", length / seconds{1});
}

std::string shortened(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) {
    return std::string{text};
  }
  std::size_t length = bytes_max;
  while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xc0u) == 0x80) {
    --length;
  }
  return std::string{text.substr(0, length)} + "…";
}

TemplateScope describe_message(const MessageFacts& facts) {
  TemplateScope scope;
  std::vector<TemplateScope>& items = scope.lists["items"];
  const std::size_t count = facts.notifications.size();
  for (const Notification& notification :
       facts.notifications.first(std::min(count, message_items_max))) {
    items.push_back(describe_item(notification, facts));
  }
  std::string subject = items.front().values["title"];
  if (facts.is_summary) {
    subject = fmt::format("{} {} held back within the last hour", count,
                          count == 1 ? "notification was" : "notifications were");
  } else if (count > 1) {
    subject += fmt::format(" and {} more", count - 1);
  }
  const Notification& first = facts.notifications.front();
  scope.values = {
      {"subject", shortened(subject, 2 * heading_bytes_max)},
      {"heading", shortened(subject, heading_bytes_max)},
      {"count", std::to_string(count)},
      {"kind", std::string{to_string(first.kind)}},
      {"severity", std::string{to_string(severity_of(first.kind))}},
      {"transition", std::string{to_string(first.transition)}},
      {"channel", std::string{facts.channel_name}},
      {"more", count > message_items_max ? std::to_string(count - message_items_max) : ""},
      {"held_back", facts.surplus > 0 ? std::to_string(facts.surplus) : ""},
      {"summary_at", facts.summary_at ? to_rfc3339(*facts.summary_at) : ""},
      {"summary", facts.is_summary ? "yes" : ""},
      {"dashboard", std::string{facts.public_url}},
  };
  return scope;
}

}  // namespace postrider
