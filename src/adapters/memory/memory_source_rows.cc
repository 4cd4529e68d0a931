#include "adapters/memory/memory_source_rows.h"

#include <mutex>
#include <tuple>

#include "adapters/memory/memory_fanouts.h"
#include "adapters/memory/memory_rows.h"

namespace postrider {
namespace {

TrackedRow read_row(const MemoryStore& store, const std::string& row_id,
                    const MemorySourceRow& row) {
  const MemoryEvent& stored = store.events.at(row.event_sequence);
  const MemoryFanout* note = find_note(store, *stored.event);
  TrackedRow tracked{
      .row_id = row_id,
      .event_id = stored.event->id,
      .generation = row.generation,
      .revision = row.revision,
      .facts = {.published_at = stored.event->created_at,
                .expected = stored.fanned_out > 0 ? stored.fanned_out : stored.deliveries.size(),
                .remaining = note == nullptr ? 0u : note->remaining}};
  for (const auto* sequences : {&stored.deliveries, &stored.late}) {
    for (const std::int64_t sequence : *sequences) {
      const auto found = store.deliveries.find(sequence);  // Retention may have removed it.
      if (found == store.deliveries.end()) {
        continue;
      }
      const DeliveryRecord record = complete(store, found->second);
      RowDelivery delivery{.state = record.delivery.state,
                           .attempts = record.delivery.attempt_count,
                           .due = record.delivery.due,
                           .completed_at = record.completed_at,
                           .webhook_removed = !store.webhooks.contains(record.delivery.webhook_id)};
      if (record.last_failure && record.last_attempt) {
        delivery.failed_at = record.last_attempt->executed_at;
        delivery.http_status = record.last_http_status;
        delivery.error = record.last_attempt->error_message;
      }
      tracked.facts.add(delivery);
    }
  }
  return tracked;
}

class MemorySourceRowReader final : public SourceRowReader {
 public:
  explicit MemorySourceRowReader(MemoryStore& store) : store_(store) {}

  Result<std::vector<TrackedRow>> rows_of(const std::string& source,
                                          const std::vector<EventId>& events) override {
    const std::lock_guard guard{store_.mutex};
    std::vector<TrackedRow> rows;
    for (const auto& [key, row] : store_.source_rows) {
      if (key.first == source && !row.settled &&
          std::ranges::count(events, store_.events.at(row.event_sequence).event->id) > 0) {
        rows.push_back(read_row(store_, key.second, row));
      }
    }
    return rows;
  }

  Result<TrackedRowPage> unsettled(const std::string& source, const RowCursor& after,
                                   std::uint32_t limit) override {
    const std::lock_guard guard{store_.mutex};
    std::map<std::pair<std::int64_t, std::string>, const MemorySourceRow*> in_order;
    for (const auto& [key, row] : store_.source_rows) {
      if (key.first == source && !row.settled) {
        in_order.emplace(std::pair{row.event_sequence, key.second}, &row);
      }
    }
    TrackedRowPage page;
    for (auto each = in_order.upper_bound({after.event, after.row_id});
         each != in_order.end() && page.rows.size() < limit; ++each) {
      page.rows.push_back(read_row(store_, each->first.second, *each->second));
      page.next = RowCursor{.event = each->first.first, .row_id = each->first.second};
    }
    if (page.rows.size() < limit) {
      page.next.reset();
    }
    return page;
  }

 private:
  MemoryStore& store_;
};

class MemorySourceRowWriter final : public SourceRowWriter {
 public:
  explicit MemorySourceRowWriter(MemoryStore& store) : store_(store) {}

  Result<void> record(const std::string& source, const std::vector<RowWrittenBack>& rows) override {
    const std::lock_guard guard{store_.mutex};
    for (const RowWrittenBack& written : rows) {
      const auto found = store_.source_rows.find({source, written.row_id});
      const auto event = store_.event_sequences.find(written.event_id);
      if (found != store_.source_rows.end() && event != store_.event_sequences.end() &&
          found->second.event_sequence == event->second &&
          found->second.generation == written.generation) {
        found->second.generation = written.generation_now;
        found->second.settled = written.settled && found->second.revision == written.revision;
      }
    }
    return {};
  }

  Result<std::string> store_id() override { return std::string{"memory"}; }

 private:
  MemoryStore& store_;
};

}  // namespace

std::unique_ptr<SourceRowWriter> make_memory_source_row_writer(MemoryStore& store) {
  return std::make_unique<MemorySourceRowWriter>(store);
}

std::unique_ptr<SourceRowReader> make_memory_source_row_reader(MemoryStore& store) {
  return std::make_unique<MemorySourceRowReader>(store);
}

}  // namespace postrider
