#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/sqlite/history/history_floor.h"
#include "adapters/sqlite/history/history_lists.h"
#include "adapters/sqlite/history/history_query.h"
#include "adapters/sqlite/history/history_rows.h"
#include "adapters/sqlite/ledger/rows.h"

namespace postrider::sqlite {
namespace {

// The approximate payload bytes of one page. The largest event is smaller.
constexpr std::size_t page_bytes_max = 4u << 20;
constexpr int delivery_count_column = 16;

constexpr std::string_view lane_sql = "SELECT lane FROM lane WHERE webhook_id = ?1";

constexpr std::string_view own_delivery_sql =
    "SELECT " POSTRIDER_RECORD_COLUMNS
    " FROM delivery d NOT INDEXED WHERE d.sequence >= ?1 AND d.sequence < ?1 + ?2 AND d.event = ?1"
    " AND d.lane = ?3";

constexpr std::string_view late_delivery_sql =
    "SELECT " POSTRIDER_RECORD_COLUMNS
    " FROM delivery d INDEXED BY delivery_late WHERE d.event = ?1 AND d.late = 1 AND d.lane = ?2";

/// Returns nullopt if nothing can match.
Result<std::optional<EventTerms>> find_terms(Database& database, const EventFilter& filter) {
  EventTerms terms;
  POSTRIDER_TRY(terms.types, find_types(database, filter.types));
  if (filter.tenant_id) {
    POSTRIDER_TRY(terms.tenant, tenant_number(database, *filter.tenant_id));
  }
  const bool nothing = (filter.tenant_id && !terms.tenant) || terms.types.match_nothing();
  return nothing ? std::nullopt : std::optional{std::move(terms)};
}

/// Finds the delivery of an event to one webhook.
class DeliveryFinder {
 public:
  [[nodiscard]] static Result<DeliveryFinder> open(Database& database, WebhookId webhook_id) {
    DeliveryFinder finder;
    POSTRIDER_TRY(const std::vector<std::int64_t> lanes,
                  read_numbers(database, lane_sql, webhook_id));
    if (!lanes.empty()) {
      finder.lane_ = lanes.front();
    }
    POSTRIDER_CHECK(database.prepare_all(
        {{&finder.own_, own_delivery_sql}, {&finder.late_, late_delivery_sql}}));
    return finder;
  }

  [[nodiscard]] Result<std::optional<DeliveryRecord>> find(std::int64_t event,
                                                           std::int64_t delivery_count) {
    if (!lane_) {
      return std::nullopt;
    }
    POSTRIDER_TRY(std::optional<DeliveryRecord> own,
                  first(own_.query(event, delivery_count, *lane_)));
    return own ? Result<std::optional<DeliveryRecord>>{std::move(own)}
               : first(late_.query(event, *lane_));
  }

 private:
  static Result<std::optional<DeliveryRecord>> first(Query query) {
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return std::nullopt;
    }
    POSTRIDER_TRY(DeliveryRecord record, read_record(query));
    return record;
  }

  std::optional<std::int64_t> lane_;
  Statement own_;
  Statement late_;
};

/// Reads until the page is full. Sets `next` if there are more events.
Result<Listed<EventForWebhook>> read_forward(Query events, DeliveryFinder& finder,
                                             const ForwardPage& page) {
  Listed<EventForWebhook> listed;
  std::size_t bytes = 0;
  for (;;) {
    POSTRIDER_TRY(const bool found, events.next());
    if (!found) {
      return listed;
    }
    if (listed.items.size() == page.limit || bytes > page_bytes_max) {
      listed.next = listed.items.empty() ? page.after : listed.items.back().sequence;
      return listed;
    }
    EventForWebhook item{
        .sequence = events.integer(0), .event = read_event(events), .delivery = {}};
    POSTRIDER_TRY(item.delivery, finder.find(item.sequence, events.integer(delivery_count_column)));
    bytes += item.event.data.size();
    listed.items.push_back(std::move(item));
  }
}

}  // namespace

Result<Listed<Event>> list_events(Database& database, const EventFilter& filter, const Page& page) {
  POSTRIDER_TRY(std::optional<EventTerms> terms, find_terms(database, filter));
  if (!terms || page.limit == 0) {
    return Listed<Event>{};
  }
  const ScanLimit limit{.before = page.before, .scanned_max = std::max(page.scanned_max, 1u)};
  POSTRIDER_TRY(terms->floor, event_floor(database, filter, *terms, limit));
  POSTRIDER_TRY(std::vector<Row<Event>> rows,
                read_rows<Event>(database, select_events(filter, *terms, page), read_event));
  return to_page(std::move(rows), page, terms->floor);
}

Result<Listed<EventForWebhook>> list_events_for(Database& database, const EventsForQuery& query) {
  POSTRIDER_TRY(std::optional<EventTerms> terms, find_terms(database, query.filter));
  if (!terms) {
    return Listed<EventForWebhook>{};
  }
  ForwardPage page = query.page;
  page.scanned_max = std::max(page.scanned_max, 1u);
  POSTRIDER_TRY(terms->ceiling, event_ceiling(database, query.filter, *terms, page));
  POSTRIDER_TRY(DeliveryFinder finder, DeliveryFinder::open(database, query.webhook_id));
  POSTRIDER_TRY(Statement statement,
                select_events_forward(query.filter, *terms, page).prepare(database));
  POSTRIDER_TRY(Listed<EventForWebhook> listed, read_forward(statement.query(), finder, page));
  if (!listed.next) {
    listed.next = terms->ceiling;
  }
  return listed;
}

}  // namespace postrider::sqlite
