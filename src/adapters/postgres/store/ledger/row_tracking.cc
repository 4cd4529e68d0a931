#include "adapters/postgres/store/ledger/row_tracking.h"

#include <string>
#include <utility>

#include "core/base/assert.h"

namespace postrider::postgres {
namespace {

constexpr std::string_view read_sql = R"sql(
  SELECT r.source, r.row_id, r.event_id, e.id IS NOT NULL, r.generation, r.settled,
         CASE WHEN e.fanned_out > 0 THEN e.fanned_out ELSE e.delivery_count END,
         NOT EXISTS (SELECT 1 FROM waiting w WHERE w.event_id = r.event_id)
         AND NOT EXISTS (SELECT 1 FROM fanout f WHERE f.event = r.event)
    FROM (SELECT unnest($1::text[]) AS source, unnest($2::text[]) AS row_id) k
    JOIN source_row r ON r.source = k.source AND r.row_id = k.row_id
    LEFT JOIN event e ON e.id = r.event_id
)sql";

constexpr std::string_view remove_sql = R"sql(
  DELETE FROM source_row r
   USING (SELECT unnest($1::text[]) AS source, unnest($2::text[]) AS row_id,
                 unnest($3::uuid[]) AS event_id) k
   WHERE r.source = k.source AND r.row_id = k.row_id AND r.event_id = k.event_id
)sql";

constexpr std::string_view insert_sql = R"sql(
  INSERT INTO source_row (source, row_id, event_id, event, generation, revision, settled)
  SELECT k.source, k.row_id, k.event_id, e.sequence, k.generation, 0, 0
    FROM (SELECT unnest($1::text[]) AS source, unnest($2::text[]) AS row_id,
                 unnest($3::uuid[]) AS event_id, unnest($4::bigint[]) AS generation) k
    JOIN event e ON e.id = k.event_id
)sql";

}  // namespace

RowTracking::RowTracking(std::span<const Publish> publishes) {
  for (const Publish& publish : publishes) {
    if (publish.row) {
      rows_.try_emplace({publish.row->source, publish.row->row_id});
    }
  }
}

void RowTracking::queue_read(Session& session) {
  if (rows_.empty()) {
    return;
  }
  Array sources{ElementType::text};
  Array row_ids{ElementType::text};
  for (const auto& [key, tracked] : rows_) {
    sources.add(key.first);
    row_ids.add(key.second);
  }
  answer_ = session.queue(read_sql, Parameters::of(std::move(sources), std::move(row_ids)));
}

void RowTracking::take(const std::vector<Rows>& answers) {
  if (!answer_) {
    return;
  }
  const Rows& rows = answers[*answer_];
  for (int row = 0; row < rows.count(); ++row) {
    const std::string source = rows.text(row, 0);
    const std::string row_id = rows.text(row, 1);
    const auto tracked = rows_.find({source, row_id});
    POSTRIDER_ASSERT(tracked != rows_.end());
    tracked->second.stored_event = rows.id<EventId>(row, 2);
    if (rows.boolean(row, 3)) {
      tracked->second.row = StoredRow{.generation = rows.as<std::uint32_t>(row, 4),
                                      .settled = rows.boolean(row, 5),
                                      .first = {.first_id = rows.id<EventId>(row, 2),
                                                .first_deliveries = rows.as<std::uint32_t>(row, 6),
                                                .finished = rows.boolean(row, 7)}};
    }
  }
}

std::optional<StoredRow> RowTracking::find(const SourceRow& row) const {
  return rows_.at({row.source, row.row_id}).row;
}

void RowTracking::track(const Publish& publish, const Duplicate& event) {
  if (publish.row) {
    Tracked& tracked = rows_.at({publish.row->source, publish.row->row_id});
    tracked.row = StoredRow{.generation = publish.row->generation, .first = event};
    tracked.changed = true;
  }
}

void RowTracking::queue_writes(Session& session) const {
  Array old_sources{ElementType::text};
  Array old_rows{ElementType::text};
  Array old_events{ElementType::uuid};
  Array sources{ElementType::text};
  Array row_ids{ElementType::text};
  Array event_ids{ElementType::uuid};
  Array generations{ElementType::int8};
  for (const auto& [key, tracked] : rows_) {
    if (!tracked.changed) {
      continue;
    }
    if (tracked.stored_event) {
      old_sources.add(key.first);
      old_rows.add(key.second);
      old_events.add(*tracked.stored_event);
    }
    sources.add(key.first);
    row_ids.add(key.second);
    event_ids.add(tracked.row->first.first_id);
    generations.add(tracked.row->generation);
  }
  if (old_rows.size() > 0) {
    session.queue(remove_sql, Parameters::of(std::move(old_sources), std::move(old_rows),
                                             std::move(old_events)));
  }
  if (row_ids.size() > 0) {
    session.queue(insert_sql, Parameters::of(std::move(sources), std::move(row_ids),
                                             std::move(event_ids), std::move(generations)));
  }
}

}  // namespace postrider::postgres
