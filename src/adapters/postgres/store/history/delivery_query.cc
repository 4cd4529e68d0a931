#include "adapters/postgres/store/history/delivery_query.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/policy/breaker.h"

#include "adapters/postgres/store/history/record_rows.h"

namespace postrider::postgres {
namespace {

static_assert(static_cast<int>(CircuitState::closed) == 0);  // See open_circuits.
static_assert(static_cast<int>(DeliveryState::retrying) == 1 && is_waiting(DeliveryState::pending));

// What the conditions and the users of a scan need, from either table as `d`.
constexpr std::string_view waiting_filter_columns =
    "d.sequence, d.event_id, d.webhook_id, d.tenant_id, d.type, d.state, d.created_at,"
    " NULL::bigint AS completed_at, d.last_failure, NULL::smallint AS dead_classification";
constexpr std::string_view final_filter_columns =
    "d.sequence, d.event_id, d.webhook_id, d.tenant_id, d.type, d.state, d.created_at,"
    " d.completed_at, d.last_failure, d.dead_classification";

struct ScanColumns {
  std::string_view waiting;
  std::string_view final;
};
constexpr ScanColumns record_columns{waiting_columns, final_columns};
constexpr ScanColumns filter_columns{waiting_filter_columns, final_filter_columns};
constexpr ScanColumns sequence_column{"d.sequence", "d.sequence"};

bool contains(const std::vector<DeliveryState>& states, DeliveryState state) {
  return std::ranges::find(states, state) != states.end();
}

bool wants_waiting(const DeliveryFilter& filter) {
  return filter.circuit_blocked || filter.states.empty() ||
         std::ranges::any_of(filter.states, is_waiting);
}

bool wants_final(const DeliveryFilter& filter) {
  return filter.states.empty() ? !filter.circuit_blocked
                               : std::ranges::any_of(filter.states, [](DeliveryState state) {
                                   return !is_waiting(state);
                                 });
}

/// True if the tables that are read have no row in another state.
bool tables_have_only(const DeliveryFilter& filter) {
  const auto wants = [&filter](std::initializer_list<DeliveryState> states) {
    return std::ranges::all_of(states, [&](DeliveryState s) { return contains(filter.states, s); });
  };
  const bool all_waiting = wants({DeliveryState::pending, DeliveryState::retrying});
  const bool all_final =
      wants({DeliveryState::succeeded, DeliveryState::dead_letter, DeliveryState::cancelled});
  return (!wants_waiting(filter) || all_waiting) && (!wants_final(filter) || all_final);
}

/// One table, read along one index.
struct Branch {
  bool is_waiting = false;
  std::string condition;  // Empty: all rows.
};

void add_branches(std::vector<Branch>& branches, bool is_waiting,
                  const std::vector<std::string>& conditions) {
  for (const std::string& condition : conditions) {
    branches.push_back({.is_waiting = is_waiting, .condition = condition});
  }
}

std::vector<std::string> webhook_conditions(const std::vector<WebhookId>& webhooks,
                                            ParameterList& parameters) {
  std::vector<std::string> conditions;
  for (const WebhookId id : webhooks) {
    conditions.push_back("d.webhook_id = " + parameters.bind(id));
  }
  return conditions;
}

std::vector<std::string> index_conditions(const DeliveryScan& scan, ParameterList& parameters) {
  const DeliveryFilter& filter = *scan.filter;
  switch (scan.along) {
    case ScanAlong::sequence:
      break;
    case ScanAlong::tenant:
      return {"d.tenant_id = " + parameters.bind(filter.tenant_id.value_or(""))};
    case ScanAlong::webhooks:
      return webhook_conditions(scan.webhooks, parameters);
    case ScanAlong::event:
      return {"d.event_id = " + parameters.bind(filter.event_id.value_or(EventId{}))};
    case ScanAlong::resource:
      return {"r.resource_id = " + parameters.bind(filter.resource_id.value_or(""))};
  }
  return {""};
}

std::vector<Branch> branches_of(const DeliveryScan& scan, ParameterList& parameters) {
  const std::vector<std::string> conditions = index_conditions(scan, parameters);
  std::vector<Branch> branches;
  if (wants_waiting(*scan.filter)) {
    add_branches(
        branches, true,
        scan.waiting_only ? webhook_conditions(*scan.waiting_only, parameters) : conditions);
  }
  if (wants_final(*scan.filter)) {
    add_branches(branches, false, conditions);
  }
  return branches;
}

std::string branch_sql(const DeliveryScan& scan, const Branch& branch, const ScanColumns& columns,
                       std::int64_t limit) {
  Conditions conditions;
  if (!branch.condition.empty()) {
    conditions.add(branch.condition);
  }
  if (!branch.is_waiting && lists_dead_letters(*scan.filter)) {
    conditions.add("d.state = 3");  // As in the partial indexes.
  }
  if (scan.before) {
    conditions.add(fmt::format("d.sequence < {}", *scan.before));
  }
  const bool joins_event = scan.along == ScanAlong::resource;
  // The rows of an event or a resource are few and are sorted. `+ 0` keeps the planner from
  // scanning the index of all sequences for them.
  const bool is_sorted = joins_event || scan.along == ScanAlong::event;
  return fmt::format("(SELECT {} FROM {}{} d{}{} ORDER BY d.sequence{} DESC LIMIT {})",
                     branch.is_waiting ? columns.waiting : columns.final,
                     joins_event ? "event r JOIN " : "", branch.is_waiting ? "waiting" : "delivery",
                     joins_event ? " ON d.event_id = r.id" : "", conditions.where(),
                     is_sorted ? " + 0" : "", limit);
}

/// The rows of the scan as a parenthesized query, newest first. Each branch has the limit of the
/// whole: without it the planner sorts instead of merging.
std::string scan_sql(const DeliveryScan& scan, ParameterList& parameters,
                     const ScanColumns& columns, std::int64_t limit) {
  std::vector<std::string> parts;
  for (const Branch& branch : branches_of(scan, parameters)) {
    parts.push_back(branch_sql(scan, branch, columns, limit));
  }
  return fmt::format("(SELECT * FROM ({}) u ORDER BY sequence DESC LIMIT {})",
                     fmt::join(parts, " UNION ALL "), limit);
}

void add_states(Conditions& conditions, const DeliveryFilter& filter) {
  const std::string states =
      filter.states.empty() ? "false" : fmt::format("c.state IN ({})", number_list(filter.states));
  if (filter.circuit_blocked) {
    conditions.add(
        fmt::format("({} OR (c.state <= 1 AND c.webhook_id IN ({})))", states, open_circuits));
  } else if (!filter.states.empty() && !lists_dead_letters(filter) && !tables_have_only(filter)) {
    conditions.add(states);
  }
}

/// The conditions that the index does not cover.
Conditions remaining_conditions(const DeliveryScan& scan, ParameterList& parameters) {
  const DeliveryFilter& filter = *scan.filter;
  Conditions conditions;
  if (filter.tenant_id && scan.along != ScanAlong::tenant) {
    conditions.add("c.tenant_id = " + parameters.bind(*filter.tenant_id));
  }
  if (!scan.webhooks.empty() && scan.along != ScanAlong::webhooks) {
    conditions.add(
        fmt::format("c.webhook_id = ANY ({})", parameters.bind(id_array(scan.webhooks))));
  }
  if (filter.resource_id && scan.along != ScanAlong::resource) {
    conditions.add(
        fmt::format("EXISTS (SELECT 1 FROM event r WHERE r.id = c.event_id AND r.resource_id = {})",
                    parameters.bind(*filter.resource_id)));
  }
  add_states(conditions, filter);
  add_types(conditions, parameters, scan.types, "c.type");
  if (!filter.failure_categories.empty()) {
    conditions.add(fmt::format("c.last_failure IN ({})", number_list(filter.failure_categories)));
  }
  if (filter.classification) {
    conditions.add(
        fmt::format("c.dead_classification = {}", static_cast<int>(*filter.classification)));
  }
  add_between(conditions, lists_dead_letters(filter) ? "c.completed_at" : "c.created_at",
              filter.from, filter.to);
  return conditions;
}

}  // namespace

void add_types(Conditions& conditions, ParameterList& parameters, const EventTypeFilter& types,
               std::string_view column) {
  if (types.everything) {
    return;
  }
  std::vector<std::string> choices;
  for (const std::string& name : types.names) {
    choices.push_back(fmt::format("{} = {}", column, parameters.bind(name)));
  }
  for (const std::string& prefix : types.prefixes) {
    choices.push_back(fmt::format("starts_with({}, {})", column, parameters.bind(prefix)));
  }
  conditions.add(choices.empty() ? "false" : fmt::format("({})", fmt::join(choices, " OR ")));
}

DeliveryScan plan_scan(const DeliveryFilter& filter, ResourceSize resource) {
  DeliveryScan scan{.filter = &filter,
                    .along = ScanAlong::sequence,
                    .types = sort_event_type_words(filter.event_types),
                    .webhooks = filter.webhook_ids};
  std::ranges::sort(scan.webhooks);
  const auto repeats = std::ranges::unique(scan.webhooks);
  scan.webhooks.erase(repeats.begin(), repeats.end());
  if (filter.event_id) {
    scan.along = ScanAlong::event;
  } else if (filter.resource_id && resource == ResourceSize::small) {
    scan.along = ScanAlong::resource;
  } else if (!scan.webhooks.empty() && scan.webhooks.size() <= merged_webhooks_max) {
    scan.along = ScanAlong::webhooks;
  } else if (filter.tenant_id) {
    scan.along = ScanAlong::tenant;
  }
  return scan;
}

bool can_match(const DeliveryScan& scan) {
  const bool no_type =
      !scan.types.everything && scan.types.names.empty() && scan.types.prefixes.empty();
  const bool no_waiting =
      !wants_waiting(*scan.filter) || (scan.waiting_only && scan.waiting_only->empty());
  return !no_type && (!no_waiting || wants_final(*scan.filter));
}

BuiltQuery select_deliveries(const DeliveryScan& scan, const Page& page) {
  ParameterList parameters;
  const std::string rows = scan_sql(scan, parameters, record_columns, scan.scanned_max);
  const std::string where = remaining_conditions(scan, parameters).where();
  return std::move(parameters)
      .build(fmt::format(
          "SELECT p.*, {} FROM (SELECT * FROM {} c{} ORDER BY sequence DESC LIMIT {} OFFSET {}) p"
          " LEFT JOIN attempt z ON z.delivery_id = p.id AND z.number = p.attempt_count"
          " ORDER BY p.sequence DESC",
          last_attempt_columns, rows, where, std::int64_t{page.limit} + 1, page.offset));
}

BuiltQuery count_scanned(const DeliveryScan& scan) {
  ParameterList parameters;
  Conditions conditions = remaining_conditions(scan, parameters);
  const std::string rows = scan_sql(
      scan, parameters, conditions.empty() ? sequence_column : filter_columns, scan.scanned_max);
  return std::move(parameters)
      .build(fmt::format("SELECT count(*) FROM {} c{}", rows, conditions.where()));
}

BuiltQuery select_dead_letter_facts(const DeliveryScan& scan) {
  ParameterList parameters;
  const std::string rows = scan_sql(scan, parameters, filter_columns, scan.scanned_max);
  const std::string where = remaining_conditions(scan, parameters).where();
  return std::move(parameters)
      .build(fmt::format("SELECT c.webhook_id, c.type, c.last_failure, c.dead_classification,"
                         " c.completed_at FROM {} c{}",
                         rows, where));
}

BuiltQuery select_scan_end(const DeliveryScan& scan) {
  ParameterList parameters;
  const std::string rows =
      scan_sql(scan, parameters, sequence_column, std::int64_t{scan.scanned_max} + 1);
  return std::move(parameters)
      .build(fmt::format("SELECT sequence FROM {} c ORDER BY sequence DESC OFFSET {} LIMIT 2", rows,
                         scan.scanned_max - 1));
}

BuiltQuery select_resource_size(const std::string& resource_id, std::uint32_t limit) {
  ParameterList parameters;
  const std::string resource = parameters.bind(resource_id);
  return std::move(parameters)
      .build(fmt::format(
          "SELECT coalesce(sum(n), 0)::bigint FROM (SELECT greatest(delivery_count, fanned_out, 1)"
          " AS n FROM event WHERE resource_id = {} ORDER BY sequence DESC LIMIT {}) s",
          resource, std::int64_t{limit} + 1));
}

}  // namespace postrider::postgres
