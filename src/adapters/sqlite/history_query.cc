#include "adapters/sqlite/history_query.h"

#include <algorithm>

#include <fmt/format.h>

#include "adapters/sqlite/rows.h"

namespace postrider::sqlite {
namespace {

// Enters the chain at its newest end and follows it, past what was removed to what stayed behind.
// The rows come as the chain goes, newest first; it is read no further than the page needs.
constexpr std::string_view along_the_lane =
    "WITH RECURSIVE chain (sequence) AS (SELECT {0} UNION ALL SELECT"
    " ifnull((SELECT p.sequence FROM delivery p WHERE p.sequence = d.previous),"
    " (SELECT max(s.sequence) FROM straggler s WHERE s.lane = {1} AND s.sequence < d.previous))"
    " FROM chain c CROSS JOIN delivery d ON d.sequence = c.sequence WHERE d.previous > 0)"
    " SELECT " POSTRIDER_RECORD_COLUMNS
    " FROM chain c CROSS JOIN delivery d ON d.sequence = c.sequence";

bool follows_chain(const DeliveryFilter& filter, const DeliveryTerms& terms) {
  return terms.lane && !terms.event && !lists_dead_letters(filter);
}

std::string delivery_head(const DeliveryFilter& filter, const DeliveryTerms& terms) {
  if (follows_chain(filter, terms)) {
    return fmt::format(along_the_lane, terms.lane->newest, terms.lane->lane);
  }
  std::string_view index = "NOT INDEXED";
  if (lists_dead_letters(filter) && !terms.event) {
    index = terms.lane     ? "INDEXED BY delivery_dead_lane"
            : terms.tenant ? "INDEXED BY delivery_dead_tenant"
                           : "INDEXED BY delivery_dead";
  }
  return fmt::format("SELECT " POSTRIDER_RECORD_COLUMNS " FROM delivery d {}", index);
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
  Select select{delivery_head(filter, terms)};
  if (terms.tenant) {
    select.where("d.tenant = ?", *terms.tenant);
  }
  if (terms.event) {
    select.where("d.event = ?", terms.event->sequence);
    select.where("d.sequence >= ?", terms.event->sequence);
    select.where("d.sequence < ?", terms.event->sequence + terms.event->delivery_count);
  }
  if (terms.lane) {
    select.where("d.lane = ?", terms.lane->lane);
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
  }
  select.append(follows_chain(filter, terms) ? "" : " ORDER BY d.sequence DESC");
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
