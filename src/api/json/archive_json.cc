#include "api/json/archive_json.h"

#include "api/json/delivery_json.h"
#include "api/json/event_json.h"
#include "api/json/json_writer.h"

namespace postrider::api {
namespace {

/// Data may be spread over lines, which a file of lines cannot have. A line break inside JSON is
/// white space: strings have none.
std::string on_one_line(std::string_view json) {
  std::string line{json};
  for (char& c : line) {
    if (c == '\n' || c == '\r') {
      c = ' ';
    }
  }
  return line;
}

}  // namespace

std::string write_archive_line(const ExpiredEvent& old) {
  std::string line;
  JsonWriter writer{line};
  writer.open_object();
  writer.key("event");
  Event event = old.event;
  event.metadata = on_one_line(event.metadata);
  open_event(writer, event);
  writer.member_raw("data", on_one_line(old.event.data));
  writer.close_object();
  writer.key("deliveries");
  writer.open_array();
  for (const ExpiredDelivery& delivery : old.deliveries) {
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
