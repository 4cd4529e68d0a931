#include "adapters/sqlite/history/history_query.h"

#include <fmt/format.h>

#include "core/policy/breaker.h"

#include "adapters/sql/state_sql.h"
#include "adapters/sqlite/ledger/rows.h"

namespace postrider::sqlite {
namespace {

// Returns rows in the order of the chain, newest first, and reads no more than the page needs.
constexpr std::string_view select_along_chain =
    "{} SELECT {} FROM chain c CROSS JOIN delivery d ON d.sequence = c.sequence";

constexpr std::string_view select_along_resource =
    "SELECT {} FROM event e INDEXED BY event_resource CROSS JOIN delivery d NOT INDEXED"
    " ON d.sequence >= e.sequence AND d.sequence < e.sequence + e.delivery_count"
    " AND d.event = e.sequence";

constexpr std::string_view select_late_along_resource =
    "SELECT {} FROM event e INDEXED BY event_resource CROSS JOIN delivery d INDEXED BY"
    " delivery_late ON d.event = e.sequence AND d.late = 1";

constexpr std::string_view circuit_is_open =
    "EXISTS (SELECT 1 FROM circuit k WHERE k.webhook_id ="
    " (SELECT w.webhook_id FROM lane w WHERE w.lane = d.lane)"
    " AND (k.state <> 0 OR (k.forced_until IS NOT NULL AND k.forced_open = 1)))";
static_assert(static_cast<int>(CircuitState::closed) == 0);

std::string delivery_head(const DeliveryFilter& filter, const DeliveryTerms& terms,
                          std::string_view columns) {
  if (follows_chain(filter, terms)) {
    return fmt::format(select_along_chain, chain_of(*terms.lane), columns);
  }
  if (terms.resource) {
    return terms.resource->late ? fmt::format(select_late_along_resource, columns)
                                : fmt::format(select_along_resource, columns);
  }
  return fmt::format("SELECT {} FROM delivery d {}", columns, delivery_index(filter, terms));
}

std::string event_head(const EventFilter& filter, const EventTerms& terms,
                       std::string_view columns) {
  return fmt::format("SELECT {} FROM event e {}", columns, event_index(filter, terms));
}

bool wants_unmatched(const EventFilter& filter) { return filter.matched == false; }

void where_state(Select& select, const DeliveryFilter& filter) {
  if (filter.circuit_blocked) {
    std::vector<int> states;
    states.reserve(filter.states.size());
    for (const DeliveryState state : filter.states) {
      states.push_back(static_cast<int>(state));
    }
    constexpr auto waits = sql::with_states("+d.state <= {last_waiting}");
    select.where(fmt::format("(+d.state IN ({}) OR ({} AND {}))", fmt::join(states, ", "),
                             std::string_view{waits}, circuit_is_open));
  } else if (!lists_dead_letters(filter)) {
    select.where_in("+d.state", filter.states);
  }
}

/// All conditions except the cursor.
void where_all(Select& select, const DeliveryFilter& filter, const DeliveryTerms& terms) {
  where_indexed(select, filter, terms);
  where_state(select, filter);
  if (filter.resource_id && !terms.resource) {
    select.where("(SELECT r.resource_id FROM event r WHERE r.sequence = d.event) = ?",
                 *filter.resource_id);
  }
  where_type(select, "d", terms.types);
  select.where_in("d.last_failure", filter.failure_categories);
  if (filter.classification) {
    select.where("d.dead_classification = ?", *filter.classification);
  }
  where_between(select, lists_dead_letters(filter) ? "d.completed_at" : "d.created_at", filter.from,
                filter.to);
  if (terms.floor) {
    select.where("d.sequence >= ?", *terms.floor);
  }
}

void where_owner_and_match(Select& select, const EventFilter& filter, const EventTerms& terms) {
  if (terms.tenant) {
    select.where("e.tenant = ?", *terms.tenant);
  }
  if (wants_unmatched(filter)) {
    select.where("e.delivery_count = 0");
  }
}

void where_all(Select& select, const EventFilter& filter, const EventTerms& terms) {
  where_indexed(select, filter, terms);
  if (filter.resource_id) {
    where_owner_and_match(select, filter, terms);
  }
  if (filter.matched) {
    constexpr std::string_view late =
        "EXISTS (SELECT 1 FROM delivery l INDEXED BY delivery_late"
        " WHERE l.event = e.sequence AND l.late = 1)";
    select.where(wants_unmatched(filter) ? fmt::format("NOT {}", late)
                                         : fmt::format("(e.delivery_count > 0 OR {})", late));
  }
  where_type(select, "e", terms.types);
  where_between(select, "e.created_at", filter.from, filter.to);
  if (terms.floor) {
    select.where("e.sequence >= ?", *terms.floor);
  }
  if (terms.ceiling) {
    select.where("e.sequence <= ?", *terms.ceiling);
  }
}

std::string limit_clause(const Page& page) {
  return fmt::format(" LIMIT {} OFFSET {}", std::int64_t{page.limit} + 1, page.offset);
}

}  // namespace

void where_between(Select& select, std::string_view column, std::optional<WallTime> from,
                   std::optional<WallTime> to) {
  if (from) {
    select.where(fmt::format("{} >= ?", column), *from);
  }
  if (to) {
    select.where(fmt::format("{} < ?", column), *to);
  }
}

void where_type(Select& select, std::string_view row, const TypeTerms& types) {
  if (types.everything) {
    return;
  }
  std::string condition = fmt::format("({}.type IN ({})", row, fmt::join(types.numbers, ", "));
  std::vector<std::string> bounds;
  for (const std::string& prefix : types.prefixes) {
    condition += fmt::format("{} t.name > ? AND t.name < ?",
                             bounds.empty() ? " OR EXISTS (SELECT 1 FROM event_type t WHERE"
                                              " t.type = " +
                                                  std::string{row} + ".type AND ("
                                            : " OR");
    bounds.push_back(prefix);
    bounds.push_back(prefix);
    ++bounds.back().back();  // The character after the dot: larger than every name with the prefix.
  }
  select.where_with(condition + (bounds.empty() ? ")" : ")))"), bounds);
}

bool follows_chain(const DeliveryFilter& filter, const DeliveryTerms& terms) {
  return terms.lane && !terms.event && !terms.resource && !lists_dead_letters(filter);
}

std::string chain_of(const DeliveryTerms::LaneStart& start) {
  return fmt::format(
      "WITH RECURSIVE chain (sequence) AS (SELECT {} UNION ALL SELECT"
      " ifnull((SELECT p.sequence FROM delivery p WHERE p.sequence = d.previous),"
      " (SELECT max(s.sequence) FROM straggler s WHERE s.lane = {} AND s.sequence < d.previous))"
      " FROM chain c CROSS JOIN delivery d ON d.sequence = c.sequence WHERE d.previous > 0 LIMIT "
      "{})",
      start.newest, start.lane, start.steps_max);
}

std::string_view delivery_index(const DeliveryFilter& filter, const DeliveryTerms& terms) {
  if (terms.event) {
    return terms.event->late ? "INDEXED BY delivery_late" : "NOT INDEXED";
  }
  if (!lists_dead_letters(filter)) {
    return "NOT INDEXED";
  }
  return terms.lane     ? "INDEXED BY delivery_dead_lane"
         : terms.tenant ? "INDEXED BY delivery_dead_tenant"
                        : "INDEXED BY delivery_dead";
}

std::string_view event_index(const EventFilter& filter, const EventTerms& terms) {
  if (filter.resource_id) {
    return "INDEXED BY event_resource";
  }
  if (wants_unmatched(filter)) {
    return terms.tenant ? "INDEXED BY event_unmatched_tenant" : "INDEXED BY event_unmatched";
  }
  return terms.tenant ? "INDEXED BY event_tenant" : "NOT INDEXED";
}

void where_indexed(Select& select, const DeliveryFilter& filter, const DeliveryTerms& terms) {
  if (terms.tenant) {
    select.where("d.tenant = ?", *terms.tenant);
  }
  if (terms.event) {
    select.where("d.event = ?", terms.event->sequence);
    if (terms.event->late) {
      select.where("d.late = 1");  // A literal, or the partial index does not apply.
    } else {
      select.where("d.sequence >= ?", terms.event->sequence);
      select.where("d.sequence < ?", terms.event->sequence + terms.event->delivery_count);
    }
  }
  if (terms.lane) {
    select.where("d.lane = ?", terms.lane->lane);
  }
  if (terms.resource) {
    select.where("e.resource_id = ?", filter.resource_id.value_or(""));
    select.where_in("d.lane", terms.resource->lanes);
  }
  if (lists_dead_letters(filter)) {
    select.where(sql::with_states("d.state = {dead_letter}"));  // A literal, for the same reason.
  }
}

void where_indexed(Select& select, const EventFilter& filter, const EventTerms& terms) {
  if (filter.resource_id) {
    select.where("e.resource_id = ?", *filter.resource_id);
  } else {
    where_owner_and_match(select, filter, terms);
  }
}

Select select_deliveries(const DeliveryFilter& filter, const DeliveryTerms& terms,
                         const Page& page) {
  Select select{delivery_head(filter, terms, POSTRIDER_RECORD_COLUMNS)};
  where_all(select, filter, terms);
  if (page.before) {
    select.where("d.sequence < ?", *page.before);
  }
  if (terms.resource && !terms.resource->late) {
    select.append(" ORDER BY e.sequence DESC, d.sequence DESC");  // Needs no sort.
  } else if (!follows_chain(filter, terms)) {
    select.append(" ORDER BY d.sequence DESC");
  }
  select.append(limit_clause(page));
  return select;
}

Select select_events(const EventFilter& filter, const EventTerms& terms, const Page& page) {
  Select select{event_head(filter, terms, POSTRIDER_EVENT_COLUMNS)};
  where_all(select, filter, terms);
  if (page.before) {
    select.where("e.sequence < ?", *page.before);
  }
  select.append(" ORDER BY e.sequence DESC");
  select.append(limit_clause(page));
  return select;
}

Select select_events_forward(const EventFilter& filter, const EventTerms& terms,
                             const ForwardPage& page) {
  Select select{event_head(filter, terms, POSTRIDER_EVENT_COLUMNS ", e.delivery_count")};
  where_all(select, filter, terms);
  select.where("e.sequence > ?", page.after);
  select.append(fmt::format(" ORDER BY e.sequence LIMIT {}", std::int64_t{page.limit} + 1));
  return select;
}

Select select_columns(const DeliveryFilter& filter, const DeliveryTerms& terms,
                      std::optional<std::int64_t> before, std::string_view columns) {
  Select select{delivery_head(filter, terms, columns)};
  where_all(select, filter, terms);
  if (before) {
    select.where("d.sequence < ?", *before);
  }
  return select;
}

}  // namespace postrider::sqlite
