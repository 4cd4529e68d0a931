#include "adapters/sqlite/history_lists.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/sqlite/history_query.h"
#include "adapters/sqlite/rows.h"

namespace postrider::sqlite {
namespace {

// Merging the chains of so many webhooks is cheaper than looking at everyone's deliveries; a tenant
// with more of them has enough deliveries for its page to fill soon.
constexpr std::int64_t lanes_merged_max = 64;

constexpr std::string_view tenant_sql = "SELECT tenant FROM tenant WHERE name = ?1";
constexpr std::string_view type_sql = "SELECT type FROM event_type WHERE name = ?1";
constexpr std::string_view lane_sql = "SELECT lane FROM lane WHERE webhook_id = ?1";

constexpr std::string_view event_range_sql =
    "SELECT sequence, delivery_count FROM event WHERE id = ?1";

// Lanes without a tenant have had deliveries of several.
constexpr std::string_view tenant_lanes_sql =
    "SELECT lane FROM lane WHERE tenant = ?1 OR tenant IS NULL LIMIT ?2";

// The cursor is a delivery of the lane, as a rule, and the chain goes on behind it. When what it
// leads to was removed, the youngest that stayed behind is next.
constexpr std::string_view lane_start_sql = R"sql(
  SELECT ifnull((SELECT sequence FROM delivery WHERE sequence = start.sequence),
                (SELECT max(s.sequence) FROM straggler s
                  WHERE s.lane = ?1 AND s.sequence < start.sequence))
    FROM (SELECT ifnull((SELECT previous FROM delivery WHERE sequence = ?2 AND lane = ?1),
                        last_delivery) AS sequence
            FROM lane WHERE lane = ?1) AS start
)sql";

template <class... Keys>
Result<std::vector<std::int64_t>> read_numbers(Database& database, std::string_view sql,
                                               const Keys&... keys) {
  POSTRIDER_TRY(Statement statement, database.prepare(sql));
  std::vector<std::int64_t> numbers;
  Query query = statement.query(keys...);
  for (;;) {
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return numbers;
    }
    numbers.push_back(query.integer(0));
  }
}

/// The numbers of those names that have one, each once.
template <class Key>
Result<std::vector<std::int64_t>> numbers_of(Database& database, std::string_view sql,
                                             const std::vector<Key>& keys) {
  std::vector<std::int64_t> numbers;
  for (const Key& key : keys) {
    POSTRIDER_TRY(const std::vector<std::int64_t> found, read_numbers(database, sql, key));
    numbers.insert(numbers.end(), found.begin(), found.end());
  }
  std::ranges::sort(numbers);
  const auto repeats = std::ranges::unique(numbers);
  numbers.erase(repeats.begin(), repeats.end());
  return numbers;
}

Result<std::optional<std::int64_t>> tenant_number(Database& database, const TenantId& tenant_id) {
  POSTRIDER_TRY(const std::vector<std::int64_t> found,
                read_numbers(database, tenant_sql, tenant_id));
  return found.empty() ? std::nullopt : std::optional{found.front()};
}

Result<std::optional<DeliveryTerms::EventRange>> event_range(Database& database, EventId id) {
  POSTRIDER_TRY(Statement statement, database.prepare(event_range_sql));
  Query query = statement.query(id);
  POSTRIDER_TRY(const bool found, query.next());
  if (!found) {
    return std::nullopt;
  }
  return DeliveryTerms::EventRange{query.integer(0), query.integer(1)};
}

template <class Item>
struct Row {
  std::int64_t sequence = 0;
  Item item;
};

template <class Item>
Result<std::vector<Row<Item>>> read_rows(Database& database, const Select& select,
                                         Item (*read)(const Query&)) {
  POSTRIDER_TRY(Statement statement, select.prepare(database));
  std::vector<Row<Item>> rows;
  Query query = statement.query();
  for (;;) {
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return rows;
    }
    rows.push_back({query.integer(0), read(query)});
  }
}

/// `rows` holds one more than the page when there are more.
template <class Item>
Listed<Item> to_page(std::vector<Row<Item>> rows, const Page& page) {
  Listed<Item> listed;
  if (rows.size() > page.limit) {
    rows.resize(page.limit);
    listed.next = rows.back().sequence;
  }
  for (Row<Item>& row : rows) {
    listed.items.push_back(std::move(row.item));
  }
  return listed;
}

using DeliveryRows = std::vector<Row<DeliveryRecord>>;

struct DeliveryListing {
  const DeliveryFilter& filter;
  DeliveryTerms terms;
  Page page;
};

Result<DeliveryRows> read_deliveries(Database& database, const DeliveryListing& listing) {
  return read_rows(database, select_deliveries(listing.filter, listing.terms, listing.page),
                   read_record);
}

Result<DeliveryRows> read_lane(Database& database, DeliveryListing listing, std::int64_t lane) {
  POSTRIDER_TRY(const std::vector<std::int64_t> newest,
                read_numbers(database, lane_start_sql, lane, listing.page.before.value_or(0)));
  if (newest.empty()) {
    return DeliveryRows{};
  }
  listing.terms.lane = {.lane = lane, .newest = newest.front()};
  return read_deliveries(database, listing);
}

/// The page of several lanes is within the first rows of each.
Result<DeliveryRows> merge_lanes(Database& database, const DeliveryListing& listing,
                                 const std::vector<std::int64_t>& lanes) {
  DeliveryListing each = listing;
  each.page.limit += each.page.offset;
  each.page.offset = 0;
  DeliveryRows rows;
  for (const std::int64_t lane : lanes) {
    POSTRIDER_TRY(DeliveryRows part, read_lane(database, each, lane));
    std::ranges::move(part, std::back_inserter(rows));
  }
  std::ranges::sort(rows, std::greater<>{}, &Row<DeliveryRecord>::sequence);
  const auto skipped = std::min<std::ptrdiff_t>(listing.page.offset, std::ssize(rows));
  rows.erase(rows.begin(), rows.begin() + skipped);
  return rows;
}

}  // namespace

Result<Listed<DeliveryRecord>> list_deliveries(Database& database, const DeliveryFilter& filter,
                                               const Page& page) {
  DeliveryTerms terms;
  POSTRIDER_TRY(terms.types, numbers_of(database, type_sql, filter.event_types));
  POSTRIDER_TRY(std::vector<std::int64_t> lanes,
                numbers_of(database, lane_sql, filter.webhook_ids));
  if (filter.tenant_id) {
    POSTRIDER_TRY(terms.tenant, tenant_number(database, *filter.tenant_id));
  }
  if (filter.event_id) {
    POSTRIDER_TRY(terms.event, event_range(database, *filter.event_id));
  }
  const bool nothing = (filter.tenant_id && !terms.tenant) || (filter.event_id && !terms.event) ||
                       (!filter.event_types.empty() && terms.types.empty()) ||
                       (!filter.webhook_ids.empty() && lanes.empty()) || page.limit == 0;
  if (nothing) {
    return Listed<DeliveryRecord>{};
  }
  if (lanes.empty() && terms.tenant && !terms.event && !lists_dead_letters(filter)) {
    POSTRIDER_TRY(lanes,
                  read_numbers(database, tenant_lanes_sql, *terms.tenant, lanes_merged_max + 1));
    if (std::ssize(lanes) > lanes_merged_max) {
      lanes.clear();
    }
  }
  const DeliveryListing listing{filter, std::move(terms), page};
  POSTRIDER_TRY(DeliveryRows rows, lanes.empty() ? read_deliveries(database, listing)
                                                 : merge_lanes(database, listing, lanes));
  return to_page(std::move(rows), page);
}

Result<Listed<Event>> list_events(Database& database, const EventFilter& filter, const Page& page) {
  EventTerms terms;
  POSTRIDER_TRY(terms.types, numbers_of(database, type_sql, filter.types));
  if (filter.tenant_id) {
    POSTRIDER_TRY(terms.tenant, tenant_number(database, *filter.tenant_id));
  }
  const bool nothing = (filter.tenant_id && !terms.tenant) ||
                       (!filter.types.empty() && terms.types.empty()) || page.limit == 0;
  if (nothing) {
    return Listed<Event>{};
  }
  POSTRIDER_TRY(std::vector<Row<Event>> rows,
                read_rows(database, select_events(filter, terms, page), read_event));
  return to_page(std::move(rows), page);
}

}  // namespace postrider::sqlite
