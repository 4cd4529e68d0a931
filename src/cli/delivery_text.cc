#include "cli/delivery_text.h"

#include "cli/json_text.h"
#include "cli/table.h"

namespace postrider::cli {

std::string one_delivery(const json::value& delivery) {
  static const std::vector<Column> columns = {
      {"ATTEMPT", "number"},           {"STATUS", "status"},        {"HTTP", "http_status"},
      {"MS", "duration_ms"},           {"AT", "executed_at"},       {"TRIGGER", "trigger"},
      {"FAILURE", "failure_category"}, {"MESSAGE", "error_message"}};
  std::string text = fields_text(delivery);
  if (const json::value* const attempts = member(delivery, "attempts");
      attempts != nullptr && attempts->is_array() && !attempts->get_array().empty()) {
    text += "\n" + list_text(*attempts, columns, shown_width());
  }
  return text;
}

}  // namespace postrider::cli
