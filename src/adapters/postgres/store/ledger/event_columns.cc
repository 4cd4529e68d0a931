#include "adapters/postgres/store/ledger/event_columns.h"

#include <string>
#include <utility>

#include "core/stored/trace_bytes.h"

namespace postrider::postgres {
namespace {

constexpr std::string_view insert_sql = R"sql(
  INSERT INTO event (id, sequence, tenant_id, type, priority, "timestamp", created_at,
                     delivery_count, fanned_out, idempotency_key, resource_id, source,
                     ordering_key, source_id, metadata, data, trace, trace_state)
  SELECT unnest($1::uuid[]), unnest($2::bigint[]), unnest($3::text[]), unnest($4::text[]),
         unnest($5::smallint[]), unnest($6::bigint[]), unnest($7::bigint[]),
         unnest($8::integer[]), unnest($9::integer[]), unnest($10::text[]), unnest($11::text[]),
         unnest($12::text[]), unnest($13::text[]), unnest($14::text[]), unnest($15::text[]),
         unnest($16::text[]), unnest($17::bytea[]), unnest($18::text[])
)sql";

}  // namespace

void EventColumns::reserve(std::size_t count, std::size_t data_bytes) {
  ids_.reserve(count, sizeof(Uuid));
  for (Array* numbers : {&sequences_, &timestamps_, &created_}) {
    numbers->reserve(count, sizeof(std::int64_t));
  }
  if (count > 0) {
    data_.reserve(count, data_bytes / count + 1);
  }
}

void EventColumns::add(const Event& event, const EventPlace& place) {
  ids_.add(event.id);
  sequences_.add(place.sequence);
  tenant_ids_.add(event.tenant_id);
  types_.add(event.type);
  priorities_.add(event.priority);
  timestamps_.add(event.timestamp);
  created_.add(event.created_at);
  delivery_counts_.add(place.delivery_count);
  fanned_out_.add(place.fanned_out);
  idempotency_keys_.add(event.idempotency_key);
  resource_ids_.add(event.resource_id);
  sources_.add(event.source);
  ordering_keys_.add(event.ordering_key);
  source_ids_.add(event.source_id);
  metadata_.add(event.metadata);
  data_.add(event.data);
  if (event.trace) {
    const std::string packed = stored::pack_trace(event.trace);
    traces_.add(Blob{packed});
  } else {
    traces_.add_null();
  }
  trace_states_.add(stored::state_of(event.trace));
}

void EventColumns::add_to(JoinedStatement& joined) {
  if (ids_.size() == 0) {
    return;
  }
  joined.add(
      "new_events", insert_sql,
      Parameters::of(std::move(ids_), std::move(sequences_), std::move(tenant_ids_),
                     std::move(types_), std::move(priorities_), std::move(timestamps_),
                     std::move(created_), std::move(delivery_counts_), std::move(fanned_out_),
                     std::move(idempotency_keys_), std::move(resource_ids_), std::move(sources_),
                     std::move(ordering_keys_), std::move(source_ids_), std::move(metadata_),
                     std::move(data_), std::move(traces_), std::move(trace_states_)));
}

}  // namespace postrider::postgres
