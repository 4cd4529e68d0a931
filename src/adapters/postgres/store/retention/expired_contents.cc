#include "adapters/postgres/store/retention/expired_contents.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "adapters/postgres/store/history/record_rows.h"

namespace postrider::postgres {
namespace {

std::string_view events_sql() {
  static const std::string sql =
      fmt::format("SELECT {} FROM event e WHERE e.id = ANY($1)", POSTRIDER_EVENT_COLUMNS);
  return sql;
}

std::string deliveries_where(std::string_view condition) {
  return fmt::format(
      "SELECT p.*, {} FROM (SELECT {} FROM delivery d WHERE {}) p"
      " LEFT JOIN attempt z ON z.delivery_id = p.id AND z.number = p.attempt_count"
      " ORDER BY p.sequence",
      last_attempt_columns, final_columns, condition);
}

std::string_view deliveries_of_events_sql() {
  static const std::string sql = deliveries_where("d.event_id = ANY($1)");
  return sql;
}

std::string_view single_deliveries_sql() {
  static const std::string sql = deliveries_where("d.id = ANY($1)");
  return sql;
}

std::string_view attempts_sql() {
  static const std::string sql = fmt::format(
      "SELECT {}, a.delivery_id FROM attempt a WHERE a.delivery_id = ANY($1)"
      " ORDER BY a.delivery_id, a.number",
      attempt_columns);
  return sql;
}

using Attempts = std::unordered_map<DeliveryId, std::vector<Attempt>>;

Result<Attempts> read_attempts(Session& session, const std::vector<DeliveryRecord>& records) {
  Attempts attempts;
  if (records.empty()) {
    return attempts;
  }
  Array ids{ElementType::uuid};
  for (const DeliveryRecord& record : records) {
    ids.add(record.delivery.id);
  }
  POSTRIDER_TRY(const Rows rows, session.run(attempts_sql(), Parameters::of(std::move(ids))));
  for (int row = 0; row < rows.count(); ++row) {
    POSTRIDER_TRY(Attempt attempt, read_attempt(rows, row));
    attempts[rows.id<DeliveryId>(row, attempt_column_count)].push_back(std::move(attempt));
  }
  return attempts;
}

}  // namespace

Result<std::vector<ExpiredEvent>> read_contents(Session& session,
                                                const std::vector<ExpiredIds>& ids) {
  std::vector<ExpiredEvent> items;
  if (ids.empty()) {
    return items;
  }
  const bool whole_events = !ids.front().delivery_id;
  std::unordered_multimap<EventId, std::size_t> of_event;
  std::unordered_map<DeliveryId, std::size_t> of_delivery;
  Array event_ids{ElementType::uuid};
  Array delivery_ids{ElementType::uuid};
  for (const ExpiredIds& each : ids) {
    of_event.emplace(each.event_id, items.size());
    event_ids.add(each.event_id);
    if (each.delivery_id) {
      of_delivery.emplace(*each.delivery_id, items.size());
      delivery_ids.add(*each.delivery_id);
    }
    items.push_back({.sequence = each.key.sequence, .only_delivery = each.key.only_delivery});
  }
  const std::size_t events = session.queue(events_sql(), Parameters::of(event_ids));
  const std::size_t deliveries =
      whole_events
          ? session.queue(deliveries_of_events_sql(), Parameters::of(std::move(event_ids)))
          : session.queue(single_deliveries_sql(), Parameters::of(std::move(delivery_ids)));
  POSTRIDER_TRY(const std::vector<Rows> answers, session.exchange());

  for (int row = 0; row < answers[events].count(); ++row) {
    const Event event = read_event(answers[events], row);
    const auto [first, last] = of_event.equal_range(event.id);
    for (auto place = first; place != last; ++place) {
      items[place->second].event = event;
    }
  }
  std::vector<DeliveryRecord> records;
  for (int row = 0; row < answers[deliveries].count(); ++row) {
    POSTRIDER_TRY(DeliveryRecord record, read_record(answers[deliveries], row));
    records.push_back(std::move(record));
  }
  POSTRIDER_TRY(Attempts attempts, read_attempts(session, records));
  for (DeliveryRecord& record : records) {
    const std::size_t place = whole_events ? of_event.find(record.delivery.event_id)->second
                                           : of_delivery.at(record.delivery.id);
    std::vector<Attempt>& made = attempts[record.delivery.id];
    items[place].deliveries.push_back({.record = std::move(record), .attempts = std::move(made)});
  }
  return items;
}

}  // namespace postrider::postgres
