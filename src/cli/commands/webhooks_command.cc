// `postrider webhooks`: lists, creates and changes webhooks.
#include <memory>

#include <fmt/format.h>

#include "cli/commands/group.h"
#include "cli/commands/query_flags.h"
#include "cli/commands/webhook_commands.h"
#include "cli/text/json_text.h"
#include "cli/text/table.h"

namespace postrider::cli {
namespace {

constexpr const char* examples = R"(Examples:
  postrider webhooks create https://example.com/hooks --event 'order.*'
  postrider webhooks list --tenant tnt_7
  postrider webhooks pause whk_01jx...
  postrider webhooks rotate-secret whk_01jx... --grace 3600
  postrider webhooks circuit whk_01jx... force-open --for 2h

Environment:
  POSTRIDER_SERVER   the server, instead of --server
  POSTRIDER_KEY      the API key, instead of --key)";

const std::vector<Column> columns = {{"ID", "id"},         {"ACTIVE", "active"},
                                     {"PAUSED", "paused"}, {"CIRCUIT", "circuit.state"},
                                     {"EVENTS", "events"}, {"TENANT", "tenant_id"},
                                     {"NAME", "name"},     {"URL", "url"}};

void add_list(Group& group) {
  const auto flags = std::make_shared<QueryFlags>();
  const Syntax syntax = group.add("list", "List webhooks", [flags](const Session& session) {
    return flags->query(session.now()).and_then([&](const QueryFlags::Query& query) {
      return session.show_page({.path = "/v1/webhooks", .query = query}, columns);
    });
  });
  flags->add(syntax, {"--active true|false", "active", "Only active or only inactive webhooks"});
  flags->add(syntax,
             {"--event-type TYPE", "event_type", "Only webhooks that receive this event type"});
  flags->add(syntax, {"--resource ID", "resource_id", "Only webhooks of this resource"});
  flags->add(syntax, {"--tenant ID", "tenant_id", "Only webhooks of this tenant"});
  flags->add(syntax,
             {"--search TEXT", "q", "Only webhooks with this text in name, description or URL"});
  flags->add_page(syntax);
}

/// Adds a command on one webhook that shows the response field by field.
void add_webhook_action(Group& group, const std::string& name, const std::string& description,
                        const Call& call) {
  const auto id = std::make_shared<std::string>();
  const auto run = [id, call](const Session& session) {
    Call made = call;
    made.path = "/v1/webhooks/" + path_part(*id) + call.path;
    return session.show(made, [&](const json::value& answer) {
      return made.method == "DELETE" ? fmt::format("{} deleted.\n", *id) : fields_text(answer);
    });
  };
  group.add(name, description, run).argument("ID", *id, "Id of the webhook");
}

}  // namespace

std::unique_ptr<Subcommand> add_webhooks(Syntax root) {
  auto group = std::make_unique<Group>(root, "webhooks", "List, create and change webhooks");
  group->syntax().footer(examples);
  add_list(*group);
  add_webhook_action(*group, "get", "Show a webhook", {.path = ""});
  add_webhook_create(*group);
  add_webhook_update(*group);
  add_webhook_action(*group, "delete", "Delete a webhook and cancel its waiting deliveries",
                     {.method = "DELETE", .path = ""});
  add_webhook_action(*group, "pause",
                     "Pause deliveries to a webhook; they wait until it is resumed",
                     {.method = "POST", .path = "/pause"});
  add_webhook_action(*group, "resume", "Resume deliveries to a webhook",
                     {.method = "POST", .path = "/resume"});
  add_webhook_action(*group, "health",
                     "Show circuit, success rate, response times and errors of a webhook",
                     {.path = "/health"});
  add_webhook_action(*group, "secret", "Show the signing secret of a webhook", {.path = "/secret"});
  add_webhook_rotate(*group);
  add_webhook_test(*group);
  add_webhook_circuit(*group);
  return group;
}

}  // namespace postrider::cli
