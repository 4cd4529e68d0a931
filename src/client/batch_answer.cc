#include "client/batch_answer.h"

#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "core/json/json_text.h"
#include "core/policy/retry.h"

namespace postrider::client {
namespace {

constexpr std::uint16_t status_conflict = 409;

bool is_success(std::uint16_t status) { return status >= 200 && status < 300; }

/// The server, or a proxy before it, may accept the same request later.
bool is_temporary(std::uint16_t status) {
  return status == 408 || status == 425 || status == 429 || status >= 500;
}

/// The content of one event can be the cause.
bool is_about_content(std::uint16_t status) {
  return status == 400 || status == 413 || status == 422;
}

/// The members of a JSON object that the decisions need. Missing or of another type: empty.
struct Members {
  std::uint16_t status = 0;
  std::string id;
  bool duplicate = false;
  std::string code;
  std::string detail;
  std::string_view results;
};

std::uint16_t to_status(std::string_view number) {
  std::uint16_t status = 0;
  const auto [end, error] = std::from_chars(number.begin(), number.end(), status);
  return error == std::errc{} && end == number.end() ? status : std::uint16_t{0};
}

std::optional<Members> read_members(std::string_view text) {
  const Result<std::vector<JsonMember>> object = read_json_object(text);
  if (!object) {
    return std::nullopt;
  }
  Members members;
  for (const JsonMember& member : *object) {
    if (member.key == "status") {
      members.status = to_status(member.value);
    } else if (member.key == "id") {
      members.id = decode_json_string(member.value).value_or("");
    } else if (member.key == "duplicate") {
      members.duplicate = member.value == "true";
    } else if (member.key == "code") {
      members.code = decode_json_string(member.value).value_or("");
    } else if (member.key == "detail") {
      members.detail = decode_json_string(member.value).value_or("");
    } else if (member.key == "results") {
      members.results = member.value;
    }
  }
  return members;
}

std::string sentence(std::uint16_t status, const std::optional<Members>& problem) {
  return problem && !problem->detail.empty() ? problem->detail
                                             : fmt::format("The server answered {}.", status);
}

EventVerdict judge_event(std::string_view text) {
  std::optional<Members> members = read_members(text);
  if (!members || members->status == 0) {
    return EventUnclear{};
  }
  const std::uint16_t status = members->status;
  if (is_success(status)) {
    return EventStored{status, std::move(members->id), members->duplicate};
  }
  // The same event was published before and is still being delivered.
  if (status == status_conflict && members->code == "duplicate_event") {
    return EventStored{status, std::move(members->id), true};
  }
  if (is_temporary(status)) {
    return EventPostponed{status};
  }
  std::string message = sentence(status, members);
  return EventRejected{status, std::move(members->code), std::move(message)};
}

std::vector<EventVerdict> judge_results(const HttpAnswer& answer, std::size_t events) {
  const std::optional<Members> members = read_members(answer.body);
  const auto results = read_json_array(members ? members->results : std::string_view{});
  if (!results || results->size() != events) {
    return std::vector<EventVerdict>(events, EventUnclear{answer.status});
  }
  std::vector<EventVerdict> verdicts;
  verdicts.reserve(events);
  for (const std::string_view result : *results) {
    verdicts.push_back(judge_event(result));
  }
  return verdicts;
}

}  // namespace

BatchVerdict judge_answer(const HttpAnswer& answer, std::size_t events, WallTime now) {
  if (is_success(answer.status)) {
    return judge_results(answer, events);
  }
  const std::optional<Members> problem = read_members(answer.body);
  if (is_temporary(answer.status)) {
    const std::optional<Millis> retry_after =
        answer.retry_after ? parse_retry_after(*answer.retry_after, now) : std::nullopt;
    return RepeatBatch{retry_after, sentence(answer.status, problem)};
  }
  if (is_about_content(answer.status) && events > 1) {
    return SplitBatch{};
  }
  const EventRejected rejected{answer.status, problem ? problem->code : std::string{},
                               sentence(answer.status, problem)};
  return std::vector<EventVerdict>(events, rejected);
}

}  // namespace postrider::client
