// `postrider webhooks`: look at webhooks and change them.
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
  POSTRIDER_URL   the server, instead of --url
  POSTRIDER_KEY   the API key, instead of --key)";

const std::vector<Column> columns = {{"ID", "id"},         {"ACTIVE", "active"},
                                     {"PAUSED", "paused"}, {"CIRCUIT", "circuit.state"},
                                     {"EVENTS", "events"}, {"TENANT", "tenant_id"},
                                     {"NAME", "name"},     {"URL", "url"}};

void add_list(Group& group) {
  const auto flags = std::make_shared<QueryFlags>();
  const Syntax syntax = group.add("list", "List webhooks", [flags](const Session& session) {
    return flags->query().and_then([&](const QueryFlags::Query& query) {
      return session.show({.path = "/v1/webhooks", .query = query}, [](const json::value& page) {
        return page_text(page, columns, shown_width());
      });
    });
  });
  flags->add(syntax, {"--active true|false", "active", "Only active ones, or only the others"});
  flags->add(syntax, {"--event-type TYPE", "event_type", "Only those that want this event type"});
  flags->add(syntax, {"--tenant ID", "tenant_id", "Only this tenant's"});
  flags->add(syntax,
             {"--search TEXT", "q", "Only those with this text in name, description or URL"});
  flags->add_page(syntax);
}

/// A command on one webhook that shows what the server answers, field by field.
void add_on_one(Group& group, const std::string& name, const std::string& description, Call call) {
  const auto id = std::make_shared<std::string>();
  const auto run = [id, call](const Session& session) {
    Call made = call;
    made.path = "/v1/webhooks/" + path_part(*id) + call.path;
    return session.show(made, [&](const json::value& answer) {
      return made.method == "DELETE" ? fmt::format("{} deleted.\n", *id) : fields_text(answer);
    });
  };
  group.add(name, description, run).argument("ID", *id, "The webhook");
}

}  // namespace

std::unique_ptr<Subcommand> add_webhooks(Syntax root) {
  auto group = std::make_unique<Group>(root, "webhooks", "List, create and change webhooks");
  group->syntax().footer(examples);
  add_list(*group);
  add_on_one(*group, "get", "Show one webhook", {.path = ""});
  add_webhook_create(*group);
  add_webhook_update(*group);
  add_on_one(*group, "delete", "Delete a webhook; what waits for it is cancelled",
             {.method = "DELETE", .path = ""});
  add_on_one(*group, "pause", "Hold its deliveries; they wait, nothing is lost",
             {.method = "POST", .path = "/pause"});
  add_on_one(*group, "resume", "Go on delivering", {.method = "POST", .path = "/resume"});
  add_on_one(*group, "health", "Circuit, success rate, response times and errors",
             {.path = "/health"});
  add_on_one(*group, "secret", "Show the secret that signs its requests", {.path = "/secret"});
  add_webhook_rotate(*group);
  add_webhook_test(*group);
  add_webhook_circuit(*group);
  return group;
}

}  // namespace postrider::cli
