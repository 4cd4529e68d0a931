#include "adapters/postgres/store/retention/removal.h"

#include <unordered_map>
#include <utility>

namespace postrider::postgres {
namespace {

constexpr std::uint32_t shapes_per_transaction = 1'000;

// The rows are found by sequence and locked in the order of ids. The plan settings of a writer
// forbid sorting, so the planner would read the whole index of ids.
constexpr std::string_view allow_sorting_sql = "SELECT set_config('enable_sort', 'on', true)";

constexpr std::string_view lock_events_sql = R"sql(
  SELECT e.id, e.created_at,
         EXISTS (SELECT FROM claim c WHERE c.event_id = e.id AND c.expires_at > $2) OR
         EXISTS (SELECT FROM fanout f WHERE f.event = e.sequence)
    FROM event e WHERE e.sequence = ANY($1) ORDER BY e.id FOR UPDATE OF e
)sql";

constexpr std::string_view lock_deliveries_sql = R"sql(
  SELECT id, event_id, tenant_id, state, completed_at
    FROM delivery WHERE event_id = ANY($1) ORDER BY id FOR UPDATE
)sql";

// Runs after the rows of `delivery` are locked: a delivery that was moved to `waiting` meanwhile,
// or back from it, is counted here and was not locked.
constexpr std::string_view count_deliveries_sql = R"sql(
  SELECT event_id, count(*)
    FROM (SELECT event_id FROM waiting WHERE event_id = ANY($1)
          UNION ALL
          SELECT event_id FROM delivery WHERE event_id = ANY($1)) stored
   GROUP BY event_id
)sql";

constexpr std::string_view lock_single_deliveries_sql = R"sql(
  SELECT d.id, d.event_id, d.tenant_id, d.state, d.completed_at, r.removed_at
    FROM delivery d LEFT JOIN removed_webhook r ON r.webhook_id = d.webhook_id
   WHERE d.sequence = ANY($1) ORDER BY d.id FOR UPDATE OF d
)sql";

// $2 and $3 are the first and the last id: only the partitions between them are searched.
constexpr std::string_view delete_attempts_sql =
    "DELETE FROM attempt WHERE delivery_id = ANY($1) AND delivery_id >= $2 AND delivery_id <= $3";
constexpr std::string_view delete_deliveries_sql =
    "DELETE FROM delivery WHERE id = ANY($1) AND id >= $2 AND id <= $3";
constexpr std::string_view delete_events_sql =
    "DELETE FROM event WHERE id = ANY($1) AND id >= $2 AND id <= $3";
constexpr std::string_view delete_claims_sql = "DELETE FROM claim WHERE event_id = ANY($1)";
constexpr std::string_view delete_source_rows_sql =
    "DELETE FROM source_row WHERE event_id = ANY($1)";

constexpr std::string_view delete_unused_shapes_sql = R"sql(
  DELETE FROM request_shape WHERE (webhook_id, number) IN
    (SELECT webhook_id, number FROM request_shape
      WHERE named_below <= coalesce((SELECT min(sequence) FROM event), 9223372036854775807)
      ORDER BY named_below LIMIT $1)
)sql";

template <class SomeId>
Parameters ids_between(const std::set<SomeId>& ids) {
  Array array{ElementType::uuid};
  for (const SomeId& id : ids) {
    array.add(id);
  }
  return Parameters::of(std::move(array), *ids.begin(), *ids.rbegin());
}

template <class SomeId>
Array to_array(const std::set<SomeId>& ids) {
  Array array{ElementType::uuid};
  for (const SomeId& id : ids) {
    array.add(id);
  }
  return array;
}

LockedDelivery read_locked_delivery(const Rows& rows, int row) {
  return {.id = rows.id<DeliveryId>(row, 0),
          .event_id = rows.id<EventId>(row, 1),
          .tenant_id = rows.text(row, 2),
          .standing = {rows.as<DeliveryState>(row, 3), rows.time_or_null(row, 4)}};
}

void add_delivery(const LockedDelivery& delivery, RowsToRemove& rows) {
  const bool is_new = rows.deliveries.insert(delivery.id).second;
  if (is_new && delivery.standing.state == DeliveryState::dead_letter) {
    ++rows.dead_letters[delivery.tenant_id];
  }
}

Result<void> lock_events(Session& session, Array sequences, const RetentionCutoffs& cutoffs,
                         RowsToRemove& rows) {
  POSTRIDER_TRY(const Rows found,
                session.run(lock_events_sql, Parameters::of(std::move(sequences), cutoffs.now)));
  std::vector<LockedEvent> events;
  std::unordered_map<EventId, std::size_t> places;
  Array ids{ElementType::uuid};
  for (int row = 0; row < found.count(); ++row) {
    events.push_back({.id = found.id<EventId>(row, 0),
                      .created_at = found.time(row, 1),
                      .is_needed = found.boolean(row, 2)});
    ids.add(events.back().id);
    places.emplace(events.back().id, events.size() - 1);
  }
  if (events.empty()) {
    return {};
  }
  const std::size_t locked = session.queue(lock_deliveries_sql, Parameters::of(ids));
  const std::size_t counted = session.queue(count_deliveries_sql, Parameters::of(std::move(ids)));
  POSTRIDER_TRY(const std::vector<Rows> answers, session.exchange());
  std::vector<LockedDelivery> deliveries;
  for (int row = 0; row < answers[locked].count(); ++row) {
    deliveries.push_back(read_locked_delivery(answers[locked], row));
  }
  const Rows& counts = answers[counted];
  for (int row = 0; row < counts.count(); ++row) {
    events[places.at(counts.id<EventId>(row, 0))].deliveries_stored = counts.integer(row, 1);
  }
  choose_events(events, deliveries, cutoffs, rows);
  return {};
}

Result<void> lock_single_deliveries(Session& session, Array sequences,
                                    const RetentionCutoffs& cutoffs, RowsToRemove& rows) {
  POSTRIDER_TRY(const Rows found,
                session.run(lock_single_deliveries_sql, Parameters::of(std::move(sequences))));
  std::vector<LockedDelivery> deliveries;
  for (int row = 0; row < found.count(); ++row) {
    deliveries.push_back(read_locked_delivery(found, row));
    deliveries.back().webhook_removed_at = found.time_or_null(row, 5);
  }
  choose_single_deliveries(deliveries, cutoffs, rows);
  return {};
}

Result<Removed> write(Writer& writer, const RowsToRemove& rows) {
  Removed removed{.events = rows.events.size(),
                  .deliveries = rows.deliveries.size(),
                  .attempts = 0,
                  .dead_letters = rows.dead_letters};
  Session& session = writer.session();
  std::optional<std::size_t> attempts;
  if (!rows.deliveries.empty()) {
    attempts = session.queue(delete_attempts_sql, ids_between(rows.deliveries));
    session.queue(delete_deliveries_sql, ids_between(rows.deliveries));
  }
  if (!rows.events.empty()) {
    session.queue(delete_claims_sql, Parameters::of(to_array(rows.events)));
    session.queue(delete_source_rows_sql, Parameters::of(to_array(rows.events)));
    session.queue(delete_events_sql, ids_between(rows.events));
  }
  session.queue(delete_unused_shapes_sql, Parameters::of(shapes_per_transaction));
  POSTRIDER_TRY(const std::vector<Rows> answers, writer.exchange_and_commit());
  if (attempts) {
    removed.attempts = static_cast<std::uint64_t>(answers[*attempts].affected());
  }
  return removed;
}

}  // namespace

void choose_events(const std::vector<LockedEvent>& events,
                   const std::vector<LockedDelivery>& deliveries, const RetentionCutoffs& cutoffs,
                   RowsToRemove& rows) {
  std::unordered_map<EventId, std::vector<const LockedDelivery*>> by_event;
  for (const LockedDelivery& delivery : deliveries) {
    by_event[delivery.event_id].push_back(&delivery);
  }
  for (const LockedEvent& event : events) {
    const std::vector<const LockedDelivery*>& locked = by_event[event.id];
    std::vector<DeliveryCompletion> standings;
    standings.reserve(locked.size());
    for (const LockedDelivery* delivery : locked) {
      standings.push_back(delivery->standing);
    }
    if (event.is_needed || std::ssize(locked) != event.deliveries_stored ||
        !event_is_expired(event.created_at, standings, cutoffs)) {
      continue;
    }
    rows.events.insert(event.id);
    for (const LockedDelivery* delivery : locked) {
      add_delivery(*delivery, rows);
    }
  }
}

void choose_single_deliveries(const std::vector<LockedDelivery>& deliveries,
                              const RetentionCutoffs& cutoffs, RowsToRemove& rows) {
  for (const LockedDelivery& delivery : deliveries) {
    const bool webhook_expired = delivery.webhook_removed_at && cutoffs.removed_webhooks &&
                                 *delivery.webhook_removed_at <= *cutoffs.removed_webhooks;
    if (webhook_expired || dead_letter_is_expired(delivery.standing, cutoffs)) {
      add_delivery(delivery, rows);
    }
  }
}

Result<Removed> remove_expired(Writer& writer, const std::vector<ExpiredKey>& keys,
                               const RetentionCutoffs& cutoffs) {
  Array events{ElementType::int8};
  Array deliveries{ElementType::int8};
  for (const ExpiredKey& key : keys) {
    (key.only_delivery ? deliveries : events).add(key.only_delivery.value_or(key.sequence));
  }
  if (keys.empty()) {
    return Removed{};
  }
  return writer.transact_repeatedly([&]() -> Result<Removed> {
    RowsToRemove rows;
    writer.session().queue(allow_sorting_sql);
    if (events.size() > 0) {
      POSTRIDER_CHECK(lock_events(writer.session(), events, cutoffs, rows));
    }
    if (deliveries.size() > 0) {
      POSTRIDER_CHECK(lock_single_deliveries(writer.session(), deliveries, cutoffs, rows));
    }
    return write(writer, rows);
  });
}

}  // namespace postrider::postgres
