// `postrider events`: lists and shows published events.
#include <memory>

#include "cli/commands/group.h"
#include "cli/commands/query_flags.h"
#include "cli/text/json_text.h"
#include "cli/text/table.h"

namespace postrider::cli {
namespace {

constexpr const char* examples = R"(Examples:
  postrider events list --type order.paid --from 2h
  postrider events get evt_01jx... --json

Environment:
  POSTRIDER_SERVER   the server, instead of --server
  POSTRIDER_KEY      the API key, instead of --key)";

const std::vector<Column> columns = {{"ID", "id"},
                                     {"TYPE", "type"},
                                     {"TENANT", "tenant_id"},
                                     {"RESOURCE", "resource_id"},
                                     {"CREATED", "created_at"}};

const std::vector<Column> delivery_columns = {{"DELIVERY", "id"},
                                              {"WEBHOOK", "webhook_id"},
                                              {"STATUS", "status"},
                                              {"ATTEMPTS", "attempt_count"}};

std::string event_text(const json::value& event, const TableStyle& style) {
  std::string text = fields_text(event);
  if (const json::value* const list = member(event, "deliveries");
      list != nullptr && list->is_array() && !list->get_array().empty()) {
    text += "\n" + list_text(*list, delivery_columns, style);
  }
  return text;
}

void add_list(Group& group) {
  const auto flags = std::make_shared<QueryFlags>();
  const Syntax syntax =
      group.add("list", "List events, newest first", [flags](const Session& session) {
        return flags->query(session.now()).and_then([&](const QueryFlags::Query& query) {
          return session.show_page({.path = "/v1/events", .query = query}, columns);
        });
      });
  flags->add_list(syntax,
                  {"--type TYPE", "event_type", "Only events of this type or pattern (order.*)"});
  flags->add(syntax, {"--resource ID", "resource_id", "Only events of this resource"});
  flags->add(syntax, {"--tenant ID", "tenant_id", "Only events of this tenant"});
  flags->add_time(
      syntax, {"--from TIME", "from", "Published at or after this time; 2h means two hours ago"});
  flags->add_time(syntax,
                  {"--to TIME", "to", "Published before this time; a date includes that day"});
  flags->add_page(syntax);
}

}  // namespace

std::unique_ptr<Subcommand> add_events(Syntax root) {
  auto group = std::make_unique<Group>(root, "events", "List and show events");
  group->syntax().footer(examples);
  add_list(*group);
  const auto id = std::make_shared<std::string>();
  const auto get = [id](const Session& session) {
    return session.show({.path = "/v1/events/" + path_part(*id)}, [&](const json::value& event) {
      return event_text(event, session.table_style());
    });
  };
  group->add("get", "Show an event and its deliveries", get).argument("ID", *id, "Id of the event");
  return group;
}

}  // namespace postrider::cli
