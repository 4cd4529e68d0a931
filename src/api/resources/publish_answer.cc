#include "api/resources/publish_answer.h"

#include <string>
#include <string_view>

#include "api/http/problem.h"
#include "api/resources/answers.h"

namespace postrider::api {
namespace {

/// What a receipt means to the publisher.
struct Reading {
  std::uint16_t status = 202;
  EventId id;
  std::uint64_t deliveries = 0;
  bool duplicate = false;
  std::string_view code;  // Of a problem; empty when there is none.
  std::string_view detail;
};

std::string_view reused_detail(bool key_derived) {
  return key_derived ? "An event with this `resource_id`, `type` and second of `timestamp`, from "
                       "which the idempotency key was derived, was published before with another "
                       "body; give this one an `idempotency_key` of its own."
                     : "This idempotency key was used for another body; use a new key for a new "
                       "event.";
}

std::string_view repeated_detail(bool key_derived) {
  return key_derived ? "This event was published before and is still being delivered: it has the "
                       "same `resource_id`, `type` and second of `timestamp`, from which the "
                       "idempotency key was derived."
                     : "This event was published before and is still being delivered.";
}

Reading read_duplicate(const Duplicate& duplicate, bool key_derived) {
  Reading reading{.status = 200,
                  .id = duplicate.first_id,
                  .deliveries = duplicate.first_deliveries,
                  .duplicate = true,
                  .code = {},
                  .detail = {}};
  if (!duplicate.same_body) {
    reading.status = 422;
    reading.code = "idempotency_key_reused";
    reading.detail = reused_detail(key_derived);
  } else if (!duplicate.finished) {
    reading.status = 409;
    reading.code = "duplicate_event";
    reading.detail = repeated_detail(key_derived);
  }
  return reading;
}

Reading read_receipt(const AskedEvent& asked, const PublishReceipt& receipt) {
  if (const auto* duplicate = std::get_if<Duplicate>(&receipt)) {
    return read_duplicate(*duplicate, asked.key_derived);
  }
  if (const auto* accepted = std::get_if<Accepted>(&receipt)) {
    return {.status = 202,
            .id = asked.id,
            .deliveries = accepted->deliveries.size(),
            .duplicate = false,
            .code = {},
            .detail = {}};
  }
  return {.status = 422,
          .id = asked.id,
          .deliveries = 0,
          .duplicate = false,
          .code = "batch_refused",
          .detail = "Nothing was stored, because another event of the batch was refused."};
}

void write_members(JsonWriter& writer, const Reading& reading) {
  writer.member("id", reading.id);
  writer.member("deliveries", reading.deliveries);
  writer.member("duplicate", reading.duplicate);
}

}  // namespace

HttpResponse answer_publish(const AskedEvent& asked, const PublishReceipt& receipt) {
  const Reading reading = read_receipt(asked, receipt);
  if (!reading.code.empty()) {
    const Problem problem{.status = reading.status,
                          .code = std::string{reading.code},
                          .title = "The event was not accepted",
                          .detail = std::string{reading.detail},
                          .errors = {}};
    return render_with(problem, "id", reading.id.to_string());
  }
  std::string body;
  body.reserve(96);
  JsonWriter writer{body};
  writer.open_object();
  write_members(writer, reading);
  writer.close_object();
  return json_answer(reading.status, std::move(body));
}

void write_result(JsonWriter& writer, std::size_t index, const AskedEvent& asked,
                  const PublishReceipt& receipt) {
  const Reading reading = read_receipt(asked, receipt);
  writer.open_object();
  writer.member("index", index);
  writer.member("status", reading.status);
  if (reading.code == "batch_refused") {
    writer.member("id", nullptr);
  } else {
    write_members(writer, reading);
  }
  if (!reading.code.empty()) {
    writer.member("code", reading.code);
    writer.member("detail", reading.detail);
  }
  writer.close_object();
}

}  // namespace postrider::api
