#include "cli/text/delivery_text.h"

#include <algorithm>
#include <string>
#include <vector>

#include "cli/text/json_text.h"
#include "cli/text/table.h"

namespace postrider::cli {
namespace {

/// The latest request is shown in full. Where others went is worth a column when it was elsewhere.
bool went_elsewhere(const json::value& delivery, const json::array& attempts) {
  const std::string latest = text_at(delivery, "request.url");
  return std::ranges::any_of(attempts, [&](const json::value& attempt) {
    const std::string url = text_at(attempt, "request.url");
    return !url.empty() && url != latest;
  });
}

}  // namespace

std::string one_delivery(const json::value& delivery) {
  std::vector<Column> columns = {{"ATTEMPT", "number"},           {"STATUS", "status"},
                                 {"HTTP", "http_status"},         {"MS", "duration_ms"},
                                 {"AT", "executed_at"},           {"TRIGGER", "trigger"},
                                 {"FAILURE", "failure_category"}, {"MESSAGE", "error_message"}};
  std::string text = fields_text(delivery);
  if (const json::value* const attempts = member(delivery, "attempts");
      attempts != nullptr && attempts->is_array() && !attempts->get_array().empty()) {
    if (went_elsewhere(delivery, attempts->get_array())) {
      columns.push_back({"URL", "request.url"});
    }
    text += "\n" + list_text(*attempts, columns, shown_width());
  }
  return text;
}

}  // namespace postrider::cli
