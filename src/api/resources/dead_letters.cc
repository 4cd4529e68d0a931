#include <array>

#include "api/json/delivery_query.h"
#include "api/json/list_answer.h"
#include "api/json/operation_json.h"
#include "api/resources/operation_start.h"
#include "api/resources/resources.h"

namespace postrider::api {
namespace {

constexpr std::array ages = {DeadLetterAge::under_1h, DeadLetterAge::between_1h_and_24h,
                             DeadLetterAge::over_24h};

/// One page, and the number of dead letters of each age with the same filters.
struct DeadLetters {
  Listed<DeliveryRecord> listed;
  std::array<PartialCount, ages.size()> by_age;
};

Result<DeadLetters> read_dead_letters(History& history, const DeadLetterQuery& asked,
                                      WallTime now) {
  DeadLetters found;
  DeliveryFilter filter = asked.filter;
  if (asked.age) {
    restrict_age(filter, *asked.age, now);
  }
  POSTRIDER_TRY(found.listed, history.list_deliveries(filter, asked.page));
  for (std::size_t i = 0; i < ages.size(); ++i) {
    DeliveryFilter of_age = asked.filter;
    restrict_age(of_age, ages[i], now);
    POSTRIDER_TRY(found.by_age[i], history.count_deliveries(of_age, {}));
  }
  return found;
}

std::string write_dead_letters(const DeadLetters& found, const Directory& webhooks) {
  std::string body;
  JsonWriter writer{body};
  const auto write_item = [&webhooks](JsonWriter& list, const DeliveryRecord& record) {
    write_delivery(list, record, {}, webhooks);
  };
  open_list(writer, found.listed.items, next_cursor(ListKind::deliveries, found.listed.next),
            write_item);
  writer.key("age_buckets");
  writer.open_object();
  bool complete = true;
  for (std::size_t i = 0; i < ages.size(); ++i) {
    writer.member(to_string(ages[i]), found.by_age[i].count);
    complete = complete && !found.by_age[i].next;
  }
  writer.close_object();
  writer.member("age_buckets_complete", complete);
  writer.close_object();
  return body;
}

}  // namespace

Awaitable<Reply> list_dead_letters(Context context, HttpRequest request) {
  const auto read = [now = context.services.clock.now().wall](Reader& reader,
                                                              const DeadLetterQuery& asked) {
    return read_dead_letters(*reader.history, asked, now);
  };
  const auto write = [webhooks = context.services.snapshots.directory()](const DeadLetters& found) {
    return write_dead_letters(found, *webhooks);
  };
  return answer_list(std::move(context), read_dead_letter_query(request), read, write);
}

Awaitable<Reply> discard_dead_letters(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(DiscardQuery asked,
                   read_discard_query(request, context.services.clock.now().wall));
  OperationSpec spec;
  spec.filter = std::move(asked.filter);
  auto pending = start_operation(context, {.kind = OperationKind::discard,
                                           .spec = std::move(spec),
                                           .action = "dead_letters.discard",
                                           .dry_run = asked.dry_run});
  co_return co_await std::move(pending);
}

Awaitable<Reply> retry_dead_letters(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(OperationAsked asked,
                   read_retry_batch(request, context.services.clock.now().wall));
  auto pending = start_operation(context, {.kind = OperationKind::retry_batch,
                                           .spec = std::move(asked.spec),
                                           .action = "dead_letters.retry",
                                           .dry_run = asked.dry_run});
  co_return co_await std::move(pending);
}

}  // namespace postrider::api
