#include "api/json/request_json.h"

#include "api/json/delivery_json.h"

namespace postrider::api {

std::optional<SentRequest> request_of(const Attempt& attempt, const RequestSource& source) {
  if (source.shape == nullptr || source.event == nullptr) {
    return std::nullopt;
  }
  const AttemptStamp stamp{.delivery_id = source.delivery_id,
                           .attempt_number = attempt.number,
                           .now = attempt.outcome.executed_at};
  return reconstruct_request(*source.shape, *source.event, stamp);
}

void write_request(JsonWriter& writer, const std::optional<SentRequest>& request,
                   const std::string* known_body) {
  if (!request) {
    writer.value(nullptr);
    return;
  }
  writer.open_object();
  writer.member("method", "POST");
  writer.member("url", request->url);
  writer.key("headers");
  write_joined_headers(writer, request->headers);
  if (known_body == nullptr || *known_body != request->body) {
    writer.member_bytes("body", request->body);
  }
  writer.close_object();
}

}  // namespace postrider::api
