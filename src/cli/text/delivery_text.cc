#include "cli/text/delivery_text.h"

#include <algorithm>
#include <string>
#include <vector>

#include "cli/text/json_text.h"

namespace postrider::cli {
namespace {

/// True if an attempt was sent to another URL than the latest request, which is shown in full.
bool has_other_urls(const json::value& delivery, const json::array& attempts) {
  const std::string latest = text_at(delivery, "request.url");
  return std::ranges::any_of(attempts, [&](const json::value& attempt) {
    const std::string url = text_at(attempt, "request.url");
    return !url.empty() && url != latest;
  });
}

}  // namespace

std::string delivery_text(const json::value& delivery, const TableStyle& style) {
  std::vector<Column> columns = {{"ATTEMPT", "number"},           {"STATUS", "status"},
                                 {"HTTP", "http_status"},         {"MS", "duration_ms"},
                                 {"AT", "executed_at"},           {"TRIGGER", "trigger"},
                                 {"FAILURE", "failure_category"}, {"MESSAGE", "error_message"}};
  std::string text = fields_text(delivery);
  const std::vector<Column> blocked_columns = {{"BLOCKED BY", "kind"},
                                               {"REASON", "reason"},
                                               {"FROM", "from"},
                                               {"UNTIL", "until"},
                                               {"MS", "duration_ms"}};
  if (const json::value* const blocked = member(delivery, "blocked_by");
      blocked != nullptr && blocked->is_array() && !blocked->get_array().empty()) {
    text += "\n" + list_text(*blocked, blocked_columns, style);
  }
  if (const json::value* const attempts = member(delivery, "attempts");
      attempts != nullptr && attempts->is_array() && !attempts->get_array().empty()) {
    if (has_other_urls(delivery, attempts->get_array())) {
      columns.push_back({"URL", "request.url"});
    }
    text += "\n" + list_text(*attempts, columns, style);
  }
  return text;
}

}  // namespace postrider::cli
