#include "api/json/archive_json.h"

#include "api/json/delivery_json.h"
#include "api/json/event_json.h"
#include "api/json/json_writer.h"

namespace postrider::api {
namespace {

/// Replaces line breaks with spaces. In valid JSON they are white space, because strings cannot
/// contain them.
std::string replace_line_breaks(std::string_view json) {
  std::string line{json};
  for (char& c : line) {
    if (c == '\n' || c == '\r') {
      c = ' ';
    }
  }
  return line;
}

}  // namespace

std::string write_archive_line(const ExpiredEvent& expired) {
  std::string line;
  JsonWriter writer{line};
  writer.open_object();
  writer.key("event");
  Event event = expired.event;
  event.metadata = replace_line_breaks(event.metadata);
  open_event(writer, event);
  writer.member_raw("data", replace_line_breaks(expired.event.data));
  writer.close_object();
  writer.key("deliveries");
  writer.open_array();
  for (const ExpiredDelivery& delivery : expired.deliveries) {
    open_delivery(writer, delivery.record, {});
    writer.key("attempts");
    writer.open_array();
    for (const Attempt& attempt : delivery.attempts) {
      write_attempt(writer, attempt);
    }
    writer.close_array();
    writer.close_object();
  }
  writer.close_array();
  writer.close_object();
  return line;
}

}  // namespace postrider::api
