#include "api/resources/verification.h"

#include <fmt/format.h>

#include "core/base/trim.h"
#include "core/json/json_text.h"
#include "core/request/signature.h"

#include "api/json/event_json.h"
#include "api/resources/api_shares.h"

namespace postrider::api {
namespace {

constexpr std::size_t challenge_bytes = 24;

bool repeats(std::string_view body, std::string_view challenge) {
  if (trim(body, white_space) == challenge) {
    return true;
  }
  const Result<std::vector<JsonMember>> members = read_json_object(body);
  if (!members) {
    return decode_json_string(trim(body, white_space)) == challenge;
  }
  for (const JsonMember& member : *members) {
    if (member.key == "challenge") {
      return decode_json_string(member.value) == challenge;
    }
  }
  return false;
}

Event challenge_event(const Context& context, const Webhook& webhook, std::string_view challenge) {
  Event event;
  event.id = EventId{context.services.ids.new_uuid()};
  event.tenant_id = webhook.tenant_id;
  event.type = verification_type;
  event.data = fmt::format(R"({{"challenge":"{}"}})", challenge);
  event.idempotency_key = generated_key(event.id);
  event.created_at = context.services.clock.now().wall;
  event.timestamp = event.created_at;
  return event;
}

}  // namespace

VerificationRequest read_verification_request(ObjectReader& reader) {
  return {.verify = reader.boolean("verify_url").value.value_or(false),
          .require = reader.boolean("require_verification").value.value_or(false)};
}

std::optional<std::string> verification_fault(const Outcome& outcome, std::string_view challenge) {
  if (outcome.failure || !outcome.http_status) {
    return "The URL could not be verified: " + outcome.error_message;
  }
  if (*outcome.http_status < 200 || *outcome.http_status > 299) {
    return fmt::format(
        "The URL could not be verified: the receiver answered {} instead of 2xx with the challenge "
        "in its body.",
        *outcome.http_status);
  }
  if (!repeats(outcome.response_sample, challenge)) {
    return "The URL could not be verified: the receiver's answer does not repeat the challenge.";
  }
  return std::nullopt;
}

Awaitable<Parsed<std::optional<std::string>>> verify(Context context, Webhook webhook) {
  POSTRIDER_CO_TRY(const SharePlace place, take_test_place(context));
  const std::string challenge = to_hex(context.options->crypto->random_bytes(challenge_bytes));
  Event event = challenge_event(context, webhook, challenge);
  auto pending =
      context.services.test_sends.probe(std::move(webhook), std::move(event), verification_timeout);
  const Result<Outcome> outcome = co_await std::move(pending);
  if (!outcome) {
    co_return tl::make_unexpected(to_problem(outcome.error()));
  }
  if (outcome->shortage != Shortage::none) {
    co_return tl::make_unexpected(to_problem(Error{Errc::unavailable, outcome->error_message}));
  }
  co_return verification_fault(*outcome, challenge);
}

Problem verification_failed(std::string detail) {
  return {.status = 422,
          .code = "verification_failed",
          .title = "The receiver's URL could not be verified",
          .detail = detail,
          .errors = {{"url", detail}}};
}

}  // namespace postrider::api
