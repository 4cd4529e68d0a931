#include "adapters/sqlite/history_query.h"

#include <algorithm>

#include <fmt/format.h>

#include "adapters/sqlite/rows.h"

namespace postrider::sqlite {
namespace {

std::string delivery_source(const DeliveryFilter& filter, const DeliveryTerms& terms) {
  const bool dead = lists_dead_letters(filter);
  if (terms.event) {
    return "delivery d INDEXED BY delivery_event";
  }
  if (terms.lane) {
    return dead ? "delivery d INDEXED BY delivery_dead_lane"
                : "delivery d INDEXED BY delivery_lane";
  }
  if (dead) {
    return terms.tenant ? "delivery d INDEXED BY delivery_dead_tenant"
                        : "delivery d INDEXED BY delivery_dead";
  }
  // A tenant's deliveries are found through its events: they are in the same order.
  return terms.tenant ? "event e INDEXED BY event_tenant CROSS JOIN"
                        " delivery d INDEXED BY delivery_event"
                      : "delivery d NOT INDEXED";
}

bool through_events(const DeliveryFilter& filter, const DeliveryTerms& terms) {
  return terms.tenant && !terms.event && !terms.lane && !lists_dead_letters(filter);
}

void where_states(Select& select, const DeliveryFilter& filter) {
  if (lists_dead_letters(filter)) {
    select.where("d.state = 3 AND ?", true);  // Spelled out, or the partial index does not apply.
    return;
  }
  select.where_in("+d.state", filter.states);
}

void where_between(Select& select, std::string_view column, std::optional<WallTime> from,
                   std::optional<WallTime> to) {
  if (from) {
    select.where(fmt::format("{} >= ?", column), *from);
  }
  if (to) {
    select.where(fmt::format("{} < ?", column), *to);
  }
}

std::string limit_clause(const Page& page) {
  return fmt::format(" LIMIT {} OFFSET {}", std::int64_t{page.limit} + 1, page.offset);
}

}  // namespace

void Select::add(std::string_view condition) {
  sql_.append(restricted_ ? " AND " : " WHERE ").append(condition);
  restricted_ = true;
}

Result<Statement> Select::prepare(Database& database) const {
  POSTRIDER_TRY(Statement statement, database.prepare(sql_));
  int index = 0;
  for (const auto& bind : binders_) {
    bind(statement, ++index);
  }
  return statement;
}

Select select_deliveries(const DeliveryFilter& filter, const DeliveryTerms& terms,
                         const Page& page) {
  const bool joined = through_events(filter, terms);
  Select select{"SELECT " POSTRIDER_RECORD_COLUMNS " FROM " + delivery_source(filter, terms)};
  if (joined) {
    select.where("d.event = e.sequence AND e.tenant = ?", *terms.tenant);
  } else if (terms.tenant) {
    select.where("d.tenant = ?", *terms.tenant);
  }
  if (terms.event) {
    select.where("d.event = ?", *terms.event);
  }
  if (terms.lane) {
    select.where("d.lane = ?", *terms.lane);
  }
  where_states(select, filter);
  select.where_in("d.type", terms.types);
  select.where_in("d.last_failure", filter.failure_categories);
  if (filter.classification) {
    select.where("d.dead_classification = ?", *filter.classification);
  }
  where_between(select, lists_dead_letters(filter) ? "d.completed_at" : "d.created_at", filter.from,
                filter.to);
  if (page.before) {
    select.where("d.sequence < ?", *page.before);
    if (joined) {
      select.where("e.sequence < ?", *page.before);
    }
  }
  select.append(joined ? " ORDER BY e.sequence DESC, d.sequence DESC"
                       : " ORDER BY d.sequence DESC");
  select.append(limit_clause(page));
  return select;
}

Select select_events(const EventFilter& filter, const EventTerms& terms, const Page& page) {
  Select select{std::string{"SELECT " POSTRIDER_EVENT_COLUMNS " FROM event e "} +
                (terms.tenant ? "INDEXED BY event_tenant" : "NOT INDEXED")};
  if (terms.tenant) {
    select.where("e.tenant = ?", *terms.tenant);
  }
  select.where_in("e.type", terms.types);
  where_between(select, "e.created_at", filter.from, filter.to);
  if (page.before) {
    select.where("e.sequence < ?", *page.before);
  }
  select.append(" ORDER BY e.sequence DESC");
  select.append(limit_clause(page));
  return select;
}

}  // namespace postrider::sqlite
