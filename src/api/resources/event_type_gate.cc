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

}  // namespace

Parsed<void> check_event_type(const EventTypeCatalog& catalog, const Event& event,
                              const std::string& path, const ApiOptions& options) {
  const EventTypeRef known = catalog.find(event.type);
  if (!known && options.require_known_event_types) {
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
  if (!known->check || !known->type.validate) {
    return {};
  }
  const std::vector<SchemaFault> faults = known->check->check(event.data);
  if (faults.empty()) {
    return {};
  }
  return tl::make_unexpected(violation(event, path, faults));
}

}  // namespace postrider::api
