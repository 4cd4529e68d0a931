// The audit entries about new dead letters: the rule for every ledger. Pure.
//
// One entry per webhook and batch. An outage that makes thousands of dead letters thus adds few
// entries to the log, which is kept forever; every dead letter is counted in exactly one of them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/json/json_string.h"
#include "core/model/audit_entry.h"
#include "ports/ledger.h"

namespace postrider {

/// The most deliveries that one entry names.
constexpr std::size_t audited_deliveries_max = 20;

namespace detail {

/// Error messages may quote bytes of the receiver.
inline std::string printable(std::string_view text) {
  std::string printable{text};
  for (char& character : printable) {
    character = character >= ' ' && character < 0x7f ? character : '?';
  }
  return printable;
}

/// `dead` are of one webhook. The details are those of the last one.
inline std::string dead_letter_detail(const std::vector<const NewDeadLetter*>& dead) {
  const NewDeadLetter& last = *dead.back();
  std::string json = fmt::format(R"({{"count":{},"delivery_ids":[)", dead.size());
  for (std::size_t i = 0; i < dead.size() && i < audited_deliveries_max; ++i) {
    json += i == 0 ? "" : ",";
    append_json_string(json, dead[i]->delivery_id.to_string());
  }
  json += R"(],"last_delivery_id":)";
  append_json_string(json, last.delivery_id.to_string());
  json += R"(,"event_type":)";
  append_json_string(json, printable(last.event_type));
  json += fmt::format(R"(,"attempts":{},"reason":)", last.attempts);
  append_json_string(json, last.reason);
  json += R"(,"http_status":)";
  json += last.http_status ? std::to_string(*last.http_status) : "null";
  json += R"(,"error":)";
  if (last.error.empty()) {
    json += "null";
  } else {
    append_json_string(json, printable(last.error));
  }
  json += "}";
  return json;
}

}  // namespace detail

/// In the order of the webhooks' ids.
[[nodiscard]] inline std::vector<AuditEntry> dead_letter_entries(
    const std::vector<NewDeadLetter>& all) {
  std::map<WebhookId, std::vector<const NewDeadLetter*>> by_webhook;
  for (const NewDeadLetter& dead : all) {
    by_webhook[dead.webhook_id].push_back(&dead);
  }
  std::vector<AuditEntry> entries;
  entries.reserve(by_webhook.size());
  for (const auto& [webhook_id, dead] : by_webhook) {
    AuditEntry& entry = entries.emplace_back();
    entry.at = dead.back()->at;
    entry.action = "webhook.dead_letter";
    entry.subject = webhook_id.to_string();
    entry.tenant_id = dead.back()->tenant_id;
    entry.detail = detail::dead_letter_detail(dead);
  }
  return entries;
}

}  // namespace postrider
