#include "api/resources/event_type_gate.h"

#include <fmt/format.h>

#include "api/json/event_type_json.h"

namespace postrider::api {
namespace {

std::string field_of(const std::string& path, std::string_view name) {
  return path.empty() ? std::string{name} : fmt::format("{}.{}", path, name);
}

Problem type_problem(std::string code, std::string title, const std::string& path,
                     std::string message) {
  const std::string field = field_of(path, "type");
  return {.status = 422,
          .code = std::move(code),
          .title = std::move(title),
          .detail = fmt::format("`{}` {}", field, message),
          .errors = {{field, message}}};
}

Problem violation(const Event& event, const std::string& path,
                  const std::vector<SchemaFault>& faults) {
  Problem problem{.status = 422,
                  .code = "schema_violation",
                  .title = "The data does not satisfy the schema of its event type",
                  .detail = {},
                  .errors = {}};
  for (const SchemaFault& fault : faults) {
    problem.errors.push_back({fault_field(field_of(path, "data"), fault), fault.message});
  }
  problem.detail = fmt::format("`{}` {} The schema is that of event type {}.",
                               problem.errors.front().field, faults.front().message, event.type);
  return problem;
}

Problem too_costly(const Event& event, const std::string& path) {
  const std::string field = field_of(path, "data");
  std::string message = fmt::format(
      "takes too long to check with the schema of event type {}. Simplify the schema, or send less "
      "data or fewer events in one request.",
      event.type);
  return {.status = 422,
          .code = "validation_budget_exceeded",
          .title = "Checking the data takes too long",
          .detail = fmt::format("`{}` {}", field, message),
          .errors = {{field, std::move(message)}}};
}

}  // namespace

EventTypeGate::EventTypeGate(const Context& context)
    : catalog_(context.services.snapshots.event_types()), options_(*context.options) {}

Parsed<void> EventTypeGate::check(const Event& event, const std::string& path) {
  if (is_reserved_type(event.type)) {
    return tl::make_unexpected(
        type_problem("validation_failed", "The event type is reserved", path,
                     "must not begin with `postrider.`: only the server publishes such events."));
  }
  const EventTypeRef known = catalog_->find(event.type);
  if (!known && options_.require_known_event_types) {
    return tl::make_unexpected(
        type_problem("unknown_event_type", "The event type is not known", path,
                     fmt::format("is {}, which is not in the catalogue. Add it with POST "
                                 "/v1/event-types first.",
                                 event.type)));
  }
  if (!known) {
    return {};
  }
  if (known->type.archived) {
    return tl::make_unexpected(type_problem(
        "event_type_archived", "The event type is archived", path,
        fmt::format("is {}, which is archived: its events are no longer accepted.", event.type)));
  }
  if (!known->type.schema || !known->type.validate) {
    return {};
  }
  if (!known->check) {
    return tl::make_unexpected(type_problem(
        "event_type_schema_unusable", "The schema of the event type cannot be used", path,
        fmt::format("is {}, whose stored schema cannot be used: {} Correct the schema, or set "
                    "`validate` to false, with PATCH /v1/event-types/{}.",
                    event.type, known->schema_fault, event.type)));
  }
  const SchemaVerdict verdict = known->check->check(event.data, budget_);
  if (verdict.out_of_steps) {
    return tl::make_unexpected(too_costly(event, path));
  }
  if (!verdict.faults.empty()) {
    return tl::make_unexpected(violation(event, path, verdict.faults));
  }
  return {};
}

}  // namespace postrider::api
