#include "adapters/sqlite/history/history_lists.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "adapters/sqlite/history/history_floor.h"
#include "adapters/sqlite/history/history_query.h"
#include "adapters/sqlite/history/history_rows.h"
#include "adapters/sqlite/ledger/rows.h"

namespace postrider::sqlite {
namespace {

// For a tenant with at most this many webhooks, merging their chains is cheaper than scanning the
// deliveries of all tenants. A tenant with more webhooks usually has enough deliveries to fill a
// page quickly.
constexpr std::int64_t lanes_merged_max = 64;

constexpr std::string_view lane_sql = "SELECT lane FROM lane WHERE webhook_id = ?1";

constexpr std::string_view resource_size_sql =
    "SELECT total(max(delivery_count, fanned_out, 1)) FROM (SELECT delivery_count, fanned_out"
    " FROM event"
    " INDEXED BY event_resource WHERE resource_id = ?1 LIMIT ?2)";

constexpr std::string_view event_range_sql =
    "SELECT sequence, delivery_count FROM event WHERE id = ?1";

// A lane without a tenant has deliveries of several tenants.
constexpr std::string_view tenant_lanes_sql =
    "SELECT lane FROM lane WHERE tenant = ?1 OR tenant IS NULL LIMIT ?2";

// The next row of a lane's chain: the row `below`, or, if that was removed, the youngest straggler
// below it.
#define POSTRIDER_NEXT_IN_CHAIN(below)                                  \
  "ifnull((SELECT p.sequence FROM delivery p WHERE p.sequence = " below \
  "), (SELECT max(s.sequence) FROM straggler s WHERE s.lane = ?1 AND s.sequence < " below "))"

constexpr std::string_view lane_end_sql =
    "SELECT " POSTRIDER_NEXT_IN_CHAIN("l.last_delivery") " FROM lane l WHERE l.lane = ?1";

// Usually the cursor is a delivery of the lane, and the chain continues below it.
constexpr std::string_view after_cursor_sql =
    "SELECT " POSTRIDER_NEXT_IN_CHAIN("d.previous") " FROM delivery d"
    " WHERE d.sequence = ?2 AND d.lane = ?1";

constexpr std::string_view below_cursor_sql =
    "WITH RECURSIVE chain (sequence) AS ("
    " SELECT " POSTRIDER_NEXT_IN_CHAIN("l.last_delivery") " FROM lane l WHERE l.lane = ?1"
    " UNION ALL"
    " SELECT " POSTRIDER_NEXT_IN_CHAIN("d.previous")
    " FROM chain c CROSS JOIN delivery d ON d.sequence = c.sequence WHERE d.previous > 0)"
    " SELECT sequence FROM chain WHERE sequence < ?2 LIMIT 1";

Result<std::optional<DeliveryTerms::EventRange>> event_range(Database& database, EventId id) {
  POSTRIDER_TRY(Statement statement, database.prepare(event_range_sql));
  Query query = statement.query(id);
  POSTRIDER_TRY(const bool found, query.next());
  if (!found) {
    return std::nullopt;
  }
  return DeliveryTerms::EventRange{query.integer(0), query.integer(1)};
}

/// True if all deliveries of the resource can be read within the limit. Otherwise the list is read
/// as without the resource, and the resource is compared row by row.
Result<bool> is_small_resource(Database& database, const std::string& resource_id,
                               std::uint32_t scanned_max) {
  POSTRIDER_TRY(Statement statement, database.prepare(resource_size_sql));
  Query query = statement.query(resource_id, std::int64_t{scanned_max} + 1);
  POSTRIDER_TRY(const bool found, query.next());
  return found && query.integer(0) <= std::int64_t{scanned_max};
}

/// The first delivery of the lane's chain below the cursor. Returns nullopt if there is none.
Result<std::optional<std::int64_t>> chain_start(Database& database, std::int64_t lane,
                                                std::optional<std::int64_t> before) {
  std::vector<std::int64_t> found;
  if (!before) {
    POSTRIDER_TRY(found, read_numbers(database, lane_end_sql, lane));
  } else {
    POSTRIDER_TRY(found, read_numbers(database, after_cursor_sql, lane, *before));
    if (found.empty()) {
      POSTRIDER_TRY(found, read_numbers(database, below_cursor_sql, lane, *before));
    }
  }
  return found.empty() || found.front() == 0 ? std::nullopt : std::optional{found.front()};
}

using DeliveryRows = std::vector<Row<DeliveryRecord>>;

std::vector<DeliveryTerms> along_resource(DeliveryTerms terms, std::vector<std::int64_t> lanes) {
  terms.resource = {.late = false, .lanes = std::move(lanes)};
  std::vector<DeliveryTerms> parts(2, terms);
  parts.back().resource->late = true;
  return parts;
}

/// Splits the filter into parts that are read one after the other: one per webhook, and the
/// original and late deliveries of an event or a resource separately.
Result<std::vector<DeliveryTerms>> plan_parts(Database& database, const DeliveryFilter& filter,
                                              const Page& page) {
  DeliveryTerms terms;
  POSTRIDER_TRY(terms.types, find_types(database, filter.event_types));
  POSTRIDER_TRY(std::vector<std::int64_t> lanes,
                numbers_of(database, lane_sql, filter.webhook_ids));
  if (filter.tenant_id) {
    POSTRIDER_TRY(terms.tenant, tenant_number(database, *filter.tenant_id));
  }
  if (filter.event_id) {
    POSTRIDER_TRY(terms.event, event_range(database, *filter.event_id));
  }
  const bool nothing = (filter.tenant_id && !terms.tenant) || (filter.event_id && !terms.event) ||
                       terms.types.match_nothing() ||
                       (!filter.webhook_ids.empty() && lanes.empty()) || page.limit == 0;
  if (nothing) {
    return std::vector<DeliveryTerms>{};
  }
  if (filter.resource_id && !terms.event) {
    POSTRIDER_TRY(const bool small,
                  is_small_resource(database, *filter.resource_id, page.scanned_max));
    if (small) {
      return along_resource(std::move(terms), std::move(lanes));
    }
  }
  if (lanes.empty() && terms.tenant && !terms.event && !lists_dead_letters(filter)) {
    POSTRIDER_TRY(lanes,
                  read_numbers(database, tenant_lanes_sql, *terms.tenant, lanes_merged_max + 1));
    if (std::ssize(lanes) > lanes_merged_max) {
      lanes.clear();
    }
  }
  std::vector<DeliveryTerms> parts;
  for (const std::int64_t lane : lanes) {
    DeliveryTerms& part = parts.emplace_back(terms);
    part.lane = {.lane = lane, .newest = 0, .steps_max = std::max(page.scanned_max, 1u)};
    if (follows_chain(filter, part)) {
      POSTRIDER_TRY(const std::optional<std::int64_t> newest,
                    chain_start(database, lane, page.before));
      part.lane->newest = newest.value_or(0);  // No delivery has sequence 0.
    }
  }
  if (parts.empty()) {
    parts.push_back(std::move(terms));
  }
  for (std::size_t i = 0, count = parts.size(); i < count && parts[i].event; ++i) {
    parts.push_back(parts[i]);
    parts.back().event->late = true;
  }
  return parts;
}

/// Merges the first rows of each part, which contain the page.
Result<DeliveryRows> merge_parts(Database& database, const DeliveryFilter& filter,
                                 const std::vector<DeliveryTerms>& parts, const Page& page) {
  if (parts.size() == 1) {
    return read_rows<DeliveryRecord>(database, select_deliveries(filter, parts.front(), page),
                                     read_record);
  }
  Page each = page;
  each.limit += each.offset;
  each.offset = 0;
  DeliveryRows rows;
  for (const DeliveryTerms& part : parts) {
    POSTRIDER_TRY(
        DeliveryRows found,
        read_rows<DeliveryRecord>(database, select_deliveries(filter, part, each), read_record));
    std::ranges::move(found, std::back_inserter(rows));
  }
  std::ranges::sort(rows, std::greater<>{}, &Row<DeliveryRecord>::sequence);
  return rows;
}

/// The highest floor of all parts: all rows above it are read.
Result<std::optional<std::int64_t>> common_floor(Database& database, const DeliveryFilter& filter,
                                                 const std::vector<DeliveryTerms>& parts,
                                                 const ScanLimit& limit) {
  std::optional<std::int64_t> floor;
  for (const DeliveryTerms& part : parts) {
    POSTRIDER_TRY(const std::optional<std::int64_t> each,
                  delivery_floor(database, filter, part, limit));
    floor = each && floor ? std::max(*floor, *each) : (each ? each : floor);
  }
  return floor;
}

/// What to read of each delivery, and what to do with it.
struct RangeReading {
  std::string_view columns;
  std::function<Result<void>(const Query&)> take;
};

/// Reads the matching deliveries of a range. Returns where the next range begins.
Result<std::optional<std::int64_t>> read_range(Database& database, const DeliveryFilter& filter,
                                               const CountRange& range,
                                               const RangeReading& reading) {
  const Page page{
      .limit = 1, .offset = 0, .before = range.before, .scanned_max = range.scanned_max};
  POSTRIDER_TRY(std::vector<DeliveryTerms> parts, plan_parts(database, filter, page));
  const ScanLimit limit{.before = page.before, .scanned_max = std::max(page.scanned_max, 1u)};
  POSTRIDER_TRY(const std::optional<std::int64_t> next,
                common_floor(database, filter, parts, limit));
  for (DeliveryTerms& part : parts) {
    part.floor = next;
    POSTRIDER_TRY(Statement statement,
                  select_columns(filter, part, range.before, reading.columns).prepare(database));
    Query query = statement.query();
    POSTRIDER_TRY(bool found, query.next());
    while (found) {
      POSTRIDER_CHECK(reading.take(query));
      POSTRIDER_TRY(found, query.next());
    }
  }
  return next;
}

/// The webhooks of lanes and the names of event types, each looked up once. The results are valid
/// as long as this object.
class NameCache {
 public:
  static Result<NameCache> make(Database& database) {
    POSTRIDER_TRY(Statement webhook,
                  database.prepare("SELECT webhook_id FROM lane WHERE lane = ?1"));
    POSTRIDER_TRY(Statement type, database.prepare("SELECT name FROM event_type WHERE type = ?1"));
    return NameCache{std::move(webhook), std::move(type)};
  }

  Result<const WebhookId*> webhook(std::int64_t lane) {
    return look_up(webhooks_, webhook_, lane,
                   [](const Query& query) { return query.id<WebhookId>(0); });
  }
  Result<const std::string*> type(std::int64_t number) {
    return look_up(types_, type_, number, [](const Query& query) { return query.text(0); });
  }

 private:
  NameCache(Statement webhook, Statement type)
      : webhook_(std::move(webhook)), type_(std::move(type)) {}

  template <class Value, class Read>
  static Result<const Value*> look_up(std::unordered_map<std::int64_t, Value>& known,
                                      Statement& statement, std::int64_t number, Read read) {
    const auto found = known.find(number);
    if (found != known.end()) {
      return &found->second;
    }
    Query query = statement.query(number);
    POSTRIDER_TRY(const bool some, query.next());
    return &known.emplace(number, some ? read(query) : Value{}).first->second;
  }

  Statement webhook_;
  Statement type_;
  std::unordered_map<std::int64_t, WebhookId> webhooks_;
  std::unordered_map<std::int64_t, std::string> types_;
};

}  // namespace

Result<Listed<DeliveryRecord>> list_deliveries(Database& database, const DeliveryFilter& filter,
                                               const Page& page) {
  POSTRIDER_TRY(std::vector<DeliveryTerms> parts, plan_parts(database, filter, page));
  if (parts.empty()) {
    return Listed<DeliveryRecord>{};
  }
  const ScanLimit limit{.before = page.before, .scanned_max = std::max(page.scanned_max, 1u)};
  const bool chained = follows_chain(filter, parts.front());
  std::optional<std::int64_t> floor;
  if (!chained) {
    POSTRIDER_TRY(floor, common_floor(database, filter, parts, limit));
    for (DeliveryTerms& part : parts) {
      part.floor = floor;
    }
  }
  POSTRIDER_TRY(DeliveryRows rows, merge_parts(database, filter, parts, page));
  // A chain limits its own steps. Its end is needed only if the page is not full.
  const std::size_t wanted = std::size_t{page.limit} + (parts.size() > 1 ? page.offset : 0);
  if (chained && rows.size() <= wanted) {
    POSTRIDER_TRY(floor, common_floor(database, filter, parts, limit));
    std::erase_if(rows, [&](const auto& row) { return floor && row.sequence < *floor; });
  }
  if (parts.size() > 1) {
    const auto skipped = std::min<std::ptrdiff_t>(page.offset, std::ssize(rows));
    rows.erase(rows.begin(), rows.begin() + skipped);
  }
  return to_page(std::move(rows), page, floor);
}

Result<PartialCount> count_deliveries(Database& database, const DeliveryFilter& filter,
                                      const CountRange& range) {
  PartialCount counted;
  const auto take = [&counted](const Query& query) -> Result<void> {
    counted.count += query.as<std::uint64_t>(0);
    return {};
  };
  POSTRIDER_TRY(counted.next, read_range(database, filter, range, {"count(*)", take}));
  return counted;
}

Result<std::optional<std::int64_t>> scan_dead_letters(Database& database,
                                                      const DeadLetterScan& scan) {
  POSTRIDER_TRY(NameCache names, NameCache::make(database));
  const auto take = [&names, &scan](const Query& query) -> Result<void> {
    POSTRIDER_TRY(const WebhookId* const webhook_id, names.webhook(query.integer(0)));
    POSTRIDER_TRY(const std::string* const type, names.type(query.integer(1)));
    scan.take({.webhook_id = *webhook_id,
               .event_type = *type,
               .failure_category = query.as_or_null<FailureCategory>(2),
               .classification = query.as_or_null<Classification>(3),
               .completed_at = query.time(4)});
    return {};
  };
  return read_range(
      database, scan.filter, scan.range,
      {"d.lane, d.type, d.last_failure, d.dead_classification, d.completed_at", take});
}

}  // namespace postrider::sqlite
