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

std::optional<Problem> event_type_problem(const EventTypeCatalog& catalog, const Event& event,
                                          const std::string& path, const ApiOptions& options) {
  const EventTypeRef known = catalog.find(event.type);
  if (!known) {
    return options.require_known_event_types
               ? std::optional{type_problem("unknown_event_type", "The event type is not known",
                                            path,
                                            fmt::format("is {}, which is not in the catalogue; add "
                                                        "it with POST /v1/event-types.",
                                                        event.type))}
               : std::nullopt;
  }
  if (known->type.archived) {
    return type_problem(
        "event_type_archived", "The event type is archived", path,
        fmt::format("is {}, which is archived: no more events of it are accepted.", event.type));
  }
  if (!known->check || !known->type.validate) {
    return std::nullopt;
  }
  const std::vector<SchemaFault> faults = known->check->check(event.data);
  return faults.empty() ? std::nullopt : std::optional{violation(event, path, faults)};
}

}  // namespace postrider::api
