// `postrider events`: what was published, and what became of it.
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
  POSTRIDER_URL   the server, instead of --url
  POSTRIDER_KEY   the API key, instead of --key)";

const std::vector<Column> columns = {{"ID", "id"},
                                     {"TYPE", "type"},
                                     {"TENANT", "tenant_id"},
                                     {"RESOURCE", "resource_id"},
                                     {"CREATED", "created_at"}};

const std::vector<Column> delivery_columns = {{"DELIVERY", "id"},
                                              {"WEBHOOK", "webhook_id"},
                                              {"STATUS", "status"},
                                              {"ATTEMPTS", "attempt_count"}};

std::string one_event(const json::value& event) {
  std::string text = fields_text(event);
  if (const json::value* const list = member(event, "deliveries");
      list != nullptr && list->is_array() && !list->get_array().empty()) {
    text += "\n" + list_text(*list, delivery_columns, shown_width());
  }
  return text;
}

void add_list(Group& group) {
  const auto flags = std::make_shared<QueryFlags>();
  const Syntax syntax =
      group.add("list", "List events, newest first", [flags](const Session& session) {
        return flags->query().and_then([&](const QueryFlags::Query& query) {
          return session.show({.path = "/v1/events", .query = query}, [](const json::value& page) {
            return page_text(page, columns, shown_width());
          });
        });
      });
  flags->add_list(
      syntax, {"--type TYPE", "event_type", "Only events of this type, or of a pattern (order.*)"});
  flags->add(syntax, {"--tenant ID", "tenant_id", "Only this tenant's"});
  flags->add_time(syntax, {"--from TIME", "from", "Published at this time or later, or 2h ago"});
  flags->add_time(syntax, {"--to TIME", "to", "Published before this time"});
  flags->add_page(syntax);
}

}  // namespace

std::unique_ptr<Subcommand> add_events(Syntax root) {
  auto group = std::make_unique<Group>(root, "events", "Look at published events");
  group->syntax().footer(examples);
  add_list(*group);
  const auto id = std::make_shared<std::string>();
  const auto get = [id](const Session& session) {
    return session.show({.path = "/v1/events/" + path_part(*id)}, one_event);
  };
  group->add("get", "Show one event and its deliveries", get).argument("ID", *id, "The event");
  return group;
}

}  // namespace postrider::cli
