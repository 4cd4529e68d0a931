#include "adapters/postgres/store/ledger/named_deliveries.h"

#include <algorithm>
#include <utility>

#include "adapters/postgres/store/ledger/rows.h"

namespace postrider::postgres {
namespace {

// The ids are sorted, so the rows are locked in their order.
constexpr std::string_view lock_waiting_sql =
    "SELECT " POSTRIDER_DELIVERY_COLUMNS
    ", d.tenant_id, d.updated_at, d.last_failure, d.last_http_status"
    " FROM (SELECT unnest($1::uuid[]) AS id) k JOIN waiting d ON d.id = k.id FOR UPDATE OF d";

constexpr std::string_view lock_final_sql =
    "SELECT " POSTRIDER_DELIVERY_COLUMNS
    ", d.tenant_id, d.updated_at, d.last_failure, d.last_http_status, d.completed_at,"
    " d.dead_classification, d.dead_reason"
    " FROM (SELECT unnest($1::uuid[]) AS id) k JOIN delivery d ON d.id = k.id FOR UPDATE OF d";

constexpr std::string_view find_attempts_sql =
    "SELECT a.delivery_id, a.number"
    " FROM (SELECT unnest($1::uuid[]) AS delivery_id, unnest($2::integer[]) AS number) k"
    " JOIN attempt a ON a.delivery_id = k.delivery_id AND a.number = k.number";

Array to_array(const std::vector<DeliveryId>& ids) {
  Array array{ElementType::uuid};
  array.reserve(ids.size(), sizeof(Uuid));
  for (const DeliveryId& id : ids) {
    array.add(id);
  }
  return array;
}

NamedDelivery read_waiting(const Rows& rows, int row) {
  const int rest = delivery_column_count;
  return {.delivery = read_delivery(rows, row),
          .tenant_id = rows.text(row, rest),
          .updated_at = rows.time(row, rest + 1),
          .completed_at = {},
          .dead = {},
          .last_failure = rows.as_or_null<FailureCategory>(row, rest + 2),
          .last_http_status = rows.as_or_null<std::uint16_t>(row, rest + 3),
          .operation = rows.id_or_null<OperationId>(row, operation_column)};
}

NamedDelivery read_final(const Rows& rows, int row) {
  const int rest = delivery_column_count;
  NamedDelivery named = read_waiting(rows, row);
  named.is_in_waiting = false;
  named.completed_at = rows.time_or_null(row, rest + 4);
  if (!rows.is_null(row, rest + 5)) {
    named.dead = DeadReason{rows.as<Classification>(row, rest + 5), rows.text(row, rest + 6)};
  }
  return named;
}

template <class Read>
void add_all(const Rows& rows, Read read, DeliveryChanges& changes) {
  for (int row = 0; row < rows.count(); ++row) {
    changes.add(read(rows, row));
  }
}

void sort_unique(std::vector<DeliveryId>& ids) {
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

Result<void> find_stored_attempts(Session& session, const std::vector<Settlement>& settlements,
                                  DeliveryChanges& changes) {
  const std::vector<DeliveryChanges::AttemptKey> wanted = changes.attempts_to_find(settlements);
  if (wanted.empty()) {
    return {};
  }
  Array ids{ElementType::uuid};
  Array numbers{ElementType::int4};
  for (const auto& [id, number] : wanted) {
    ids.add(id);
    numbers.add(number);
  }
  POSTRIDER_TRY(const Rows found,
                session.run(find_attempts_sql, Parameters::of(std::move(ids), std::move(numbers))));
  for (int row = 0; row < found.count(); ++row) {
    changes.add_stored_attempt({found.id<DeliveryId>(row, 0), found.as<std::uint32_t>(row, 1)});
  }
  return {};
}

}  // namespace

NamedDeliveries::NamedDeliveries(const Batch& batch) {
  ids_.reserve(batch.settlements.size() + batch.revivals.size() + batch.cancels.size());
  for (const Settlement& settlement : batch.settlements) {
    ids_.push_back(settlement.delivery.id);
  }
  for (const Revive& order : batch.revivals) {
    ids_.push_back(order.delivery_id);
    likely_final_.push_back(order.delivery_id);
  }
  for (const Cancel& order : batch.cancels) {
    ids_.push_back(order.delivery_id);
    if (order.of == CancelOf::dead_letter) {
      likely_final_.push_back(order.delivery_id);
    }
  }
  sort_unique(ids_);
  sort_unique(likely_final_);
}

void NamedDeliveries::queue(Session& session) {
  if (!ids_.empty()) {
    waiting_answer_ = session.queue(lock_waiting_sql, Parameters::of(to_array(ids_)));
  }
  if (!likely_final_.empty()) {
    final_answer_ = session.queue(lock_final_sql, Parameters::of(to_array(likely_final_)));
  }
}

Result<void> NamedDeliveries::take(Session& session, const std::vector<Rows>& answers,
                                   const std::vector<Settlement>& settlements,
                                   DeliveryChanges& changes) {
  if (waiting_answer_) {
    add_all(answers[*waiting_answer_], read_waiting, changes);
  }
  if (final_answer_) {
    add_all(answers[*final_answer_], read_final, changes);
  }
  POSTRIDER_CHECK(find_missing(session, changes));
  return find_stored_attempts(session, settlements, changes);
}

Result<void> NamedDeliveries::find_missing(Session& session, DeliveryChanges& changes) const {
  std::vector<DeliveryId> missing;
  std::ranges::copy_if(ids_, std::back_inserter(missing),
                       [&](DeliveryId id) { return !changes.contains(id); });
  if (missing.empty()) {
    return {};
  }
  const std::size_t of_final = session.queue(lock_final_sql, Parameters::of(to_array(missing)));
  // It may have been revived between the two reads.
  const std::size_t of_waiting = session.queue(lock_waiting_sql, Parameters::of(to_array(missing)));
  POSTRIDER_TRY(const std::vector<Rows> answers, session.exchange());
  add_all(answers[of_final], read_final, changes);
  add_all(answers[of_waiting], read_waiting, changes);
  return {};
}

}  // namespace postrider::postgres
