#include "api/resources/publish_answer.h"

#include <string>
#include <string_view>

#include "api/http/problem.h"
#include "api/json/event_json.h"
#include "api/resources/answers.h"

namespace postrider::api {
namespace {

/// The answer that a receipt leads to.
struct PublishResult {
  std::uint16_t status = 202;
  EventId id;
  std::uint64_t deliveries = 0;
  bool duplicate = false;
  std::string_view code;  // Of a problem. Empty: accepted.
  std::string_view detail;
};

std::string_view reused_detail(bool key_derived) {
  return key_derived ? "An event with this `resource_id`, `type` and second of `timestamp`, from "
                       "which the idempotency key was derived, was published before with another "
                       "body. Give this one its own `idempotency_key`."
                     : "This idempotency key was used for another body. Use a new key for a new "
                       "event.";
}

std::string_view repeated_detail(bool key_derived) {
  return key_derived ? "This event was published before and is still being delivered: it has the "
                       "same `resource_id`, `type` and second of `timestamp`, from which the "
                       "idempotency key was derived."
                     : "This event was published before and is still being delivered.";
}

PublishResult result_of_duplicate(const Duplicate& duplicate, const SubmittedEvent& event) {
  PublishResult result{.status = 200,
                       .id = duplicate.first_id,
                       .deliveries = duplicate.first_deliveries,
                       .duplicate = true,
                       .code = {},
                       .detail = {}};
  if (!duplicate.same_body) {
    result.status = 422;
    result.code = "idempotency_key_reused";
    result.detail = reused_detail(event.key_derived);
  } else if (!duplicate.finished && event.refuse_in_progress) {
    result.status = 409;
    result.code = "duplicate_event";
    result.detail = repeated_detail(event.key_derived);
  }
  return result;
}

PublishResult result_of(const SubmittedEvent& event, const PublishReceipt& receipt) {
  if (const auto* duplicate = std::get_if<Duplicate>(&receipt)) {
    return result_of_duplicate(*duplicate, event);
  }
  if (const auto* accepted = std::get_if<Accepted>(&receipt)) {
    return {.status = 202,
            .id = event.id,
            .deliveries = accepted->deliveries.size() + accepted->fanned_out,
            .duplicate = false,
            .code = {},
            .detail = {}};
  }
  return {.status = 422,
          .id = event.id,
          .deliveries = 0,
          .duplicate = false,
          .code = "batch_refused",
          .detail = "Nothing was stored, because another event of the batch was refused."};
}

void write_members(JsonWriter& writer, const PublishResult& result) {
  writer.member("id", result.id);
  writer.member("deliveries", result.deliveries);
  writer.member("duplicate", result.duplicate);
}

}  // namespace

SubmittedEvent submitted_event(const Event& event, const ApiOptions& options) {
  return {.id = event.id,
          .key_derived = has_derived_key(event, options),
          .refuse_in_progress = options.refuse_in_progress};
}

Reply answer_publish(const SubmittedEvent& event, const PublishReceipt& receipt) {
  const PublishResult result = result_of(event, receipt);
  if (!result.code.empty()) {
    Problem problem{.status = result.status,
                    .code = std::string{result.code},
                    .title = "The event was not accepted",
                    .detail = std::string{result.detail},
                    .errors = {}};
    problem.members = {{"id", result.id.to_string()}};
    return tl::make_unexpected(std::move(problem));
  }
  std::string body;
  body.reserve(96);
  JsonWriter writer{body};
  writer.open_object();
  write_members(writer, result);
  writer.close_object();
  return json_answer(result.status, std::move(body));
}

void write_result(JsonWriter& writer, std::size_t index, const SubmittedEvent& event,
                  const PublishReceipt& receipt) {
  const PublishResult result = result_of(event, receipt);
  writer.open_object();
  writer.member("index", index);
  writer.member("status", result.status);
  if (result.code == "batch_refused") {
    writer.member("id", nullptr);
  } else {
    write_members(writer, result);
  }
  if (!result.code.empty()) {
    writer.member("code", result.code);
    writer.member("detail", result.detail);
  }
  writer.close_object();
}

}  // namespace postrider::api
