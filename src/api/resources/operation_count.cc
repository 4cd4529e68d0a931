#include "api/resources/operation_count.h"

#include <utility>

#include "engine/admin/operation_step.h"

#include "api/json/json_writer.h"
#include "api/resources/answers.h"
#include "api/resources/counting.h"

namespace postrider::api {
namespace {

constexpr std::uint32_t events_per_round = 1'000;  // Each is compared with the webhook's filter.

/// One round of counting. `next` is where the following round begins.
Result<PartialCount> count_round(History& history, const Operation& operation,
                                 const WebhookRef& replayed, std::optional<std::int64_t> place) {
  if (operation.kind != OperationKind::replay) {
    return history.count_deliveries(dead_letters_of(operation), {.before = place});
  }
  POSTRIDER_TRY(const Listed<EventForWebhook> page,
                history.list_events_for(replayed->id, events_of(operation, *replayed),
                                        {.after = place.value_or(0), .limit = events_per_round}));
  return PartialCount{.count = count_replayed(operation, page, *replayed), .next = page.next};
}

HttpResponse answer_count(std::uint64_t count, bool more) {
  std::string body;
  JsonWriter writer{body};
  writer.open_object();
  writer.member("count", count);
  writer.member("more", more);
  writer.close_object();
  return json_answer(200, std::move(body));
}

}  // namespace

Awaitable<Reply> count_operation(Context context, Operation operation) {
  operation.started_at = context.services.clock.now().wall;
  WebhookRef replayed;
  if (operation.kind == OperationKind::replay) {
    const WebhookId id = operation.spec.filter.webhook_ids.front();
    replayed = context.services.snapshots.directory()->find(id);
    if (replayed == nullptr) {  // Deleted since the path was read.
      co_return tl::make_unexpected(not_found("webhook", id.to_string()));
    }
  }
  std::uint64_t count = 0;
  std::optional<std::int64_t> place;
  for (int round = 0; round < count_rounds_max; ++round) {
    const auto query = [&operation, &replayed, place](Reader& reader) {
      return count_round(*reader.history, operation, replayed, place);
    };
    auto pending = context.queries().read(query);
    const Result<PartialCount> part = co_await std::move(pending);
    if (!part) {
      co_return tl::make_unexpected(to_problem(part.error()));
    }
    count += part->count;
    place = part->next;
    if (!place) {
      break;
    }
  }
  co_return answer_count(count, place.has_value());
}

}  // namespace postrider::api
