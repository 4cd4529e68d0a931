#include "client/event_text.h"

#include <string_view>

#include <fmt/format.h>

#include "core/base/time.h"
#include "core/json/json_string.h"
#include "core/json/json_text.h"

namespace postrider::client {
namespace {

std::string_view to_string(NewEvent::Priority priority) {
  switch (priority) {
    case NewEvent::Priority::low:
      return "low";
    case NewEvent::Priority::normal:
      break;
    case NewEvent::Priority::high:
      return "high";
  }
  return "normal";
}

void append_text(std::string& out, std::string_view name, std::string_view text) {
  if (!text.empty()) {
    out += fmt::format(",\"{}\":", name);
    append_json_string(out, text);
  }
}

Result<void> check_value(std::string_view name, std::string_view text) {
  if (const Result<void> checked = check_json(text); !checked) {
    return fail(Errc::invalid,
                fmt::format("`{}` is not valid JSON: {}", name, checked.error().message));
  }
  return {};
}

WallTime to_wall_time(std::chrono::system_clock::time_point time) {
  return WallTime{std::chrono::floor<Millis>(time.time_since_epoch())};
}

}  // namespace

Result<std::string> event_text(const NewEvent& event, const std::string& key) {
  // Checked on its own: `1},{"type":…` would become valid JSON in a batch, as two events.
  POSTRIDER_CHECK(check_value("data", event.data));
  std::string out = R"({"type":)";
  append_json_string(out, event.type);
  out += R"(,"data":)";
  out += event.data;
  append_text(out, "idempotency_key", key);
  append_text(out, "tenant_id", event.tenant_id);
  append_text(out, "resource_id", event.resource_id);
  append_text(out, "ordering_key", event.ordering_key);
  append_text(out, "source", event.source);
  if (event.priority != NewEvent::Priority::normal) {
    append_text(out, "priority", to_string(event.priority));
  }
  if (event.timestamp) {
    append_text(out, "timestamp", to_rfc3339(to_wall_time(*event.timestamp)));
  }
  if (!event.metadata.empty()) {
    POSTRIDER_CHECK(check_value("metadata", event.metadata));
    out += R"(,"metadata":)";
    out += event.metadata;
  }
  out += '}';
  // A text member that is not UTF-8.
  if (const auto members = read_json_envelope(out); !members) {
    return fail(Errc::invalid, "The event is not valid JSON: " + members.error().message);
  }
  return out;
}

}  // namespace postrider::client
