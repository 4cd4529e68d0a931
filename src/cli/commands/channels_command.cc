// `postrider channels`: manages notification channels and shows what they told.
#include <memory>

#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "cli/commands/channel_commands.h"
#include "cli/commands/query_flags.h"
#include "cli/text/json_text.h"
#include "cli/text/print.h"
#include "cli/text/table.h"

namespace postrider::cli {
namespace {

constexpr const char* examples = R"(Examples:
  postrider channels create --kind email --name 'On call' --to ops@example.com
  postrider channels create --kind slack --name Chat --url https://hooks.example.com/x
  postrider channels create --kind webhook --name Ops --url https://ops.example.com/hook \
      --only circuit_opened --only webhook_disabled
  postrider channels create --kind email --name Owners --to-owner --tenant tnt_7
  postrider channels test ntc_01jx...
      Sends a test and shows what became of it.
  postrider channels notifications ntc_01jx... --state failed
  postrider channels update ntc_01jx... --severity critical --per-hour 5

Environment:
  POSTRIDER_SERVER   the server, instead of --server
  POSTRIDER_KEY      the API key, instead of --key)";

const std::vector<Column> columns = {{"ID", "id"},
                                     {"NAME", "name"},
                                     {"KIND", "kind"},
                                     {"TENANT", "tenant_id"},
                                     {"SEVERITY", "severity_min"},
                                     {"ACTIVE", "active"},
                                     {"CONFIGURED", "configured"},
                                     {"CREATED", "created_at"}};

const std::vector<Column> notification_columns = {{"ID", "id"},
                                                  {"KIND", "kind"},
                                                  {"TRANSITION", "transition"},
                                                  {"STATE", "state"},
                                                  {"MADE", "made_at"},
                                                  {"SENT", "sent_at"},
                                                  {"WEBHOOK", "webhook_id"},
                                                  {"ERROR", "last_error"}};

std::string path_of(const std::string& id) { return "/v1/notification-channels/" + path_part(id); }

void add_list(Group& group) {
  const auto flags = std::make_shared<QueryFlags>();
  const auto run = [flags](const Session& session) -> Result<void> {
    POSTRIDER_TRY(QueryFlags::Query query, flags->query(session.now()));
    return session.show_page({.path = "/v1/notification-channels", .query = std::move(query)},
                             columns);
  };
  const Syntax syntax = group.add("list", "List notification channels", run);
  flags->add(syntax, {"--kind KIND", "kind", "Only channels of this kind"});
  flags->add(syntax, {"--tenant ID", "tenant_id", "Only channels of this tenant"});
  flags->add_page(syntax);
}

void add_test(Group& group) {
  const auto id = std::make_shared<std::string>();
  const auto run = [id](const Session& session) -> Result<void> {
    POSTRIDER_TRY(const json::value answer,
                  session.call({.method = "POST", .path = path_of(*id) + "/test"}));
    print(session.json() ? json::serialize(answer) + "\n" : fields_text(answer));
    if (text_at(answer, "state") == "failed") {
      return fail(Errc::conflict, "The test failed; its fields show the reason.");
    }
    return {};
  };
  group.add("test", "Send a test through a channel and show what became of it", run)
      .argument("ID", *id, "Id of the channel");
}

void add_notifications(Group& group) {
  const auto id = std::make_shared<std::string>();
  const auto flags = std::make_shared<QueryFlags>();
  const auto run = [id, flags](const Session& session) -> Result<void> {
    POSTRIDER_TRY(QueryFlags::Query query, flags->query(session.now()));
    return session.show_page({.path = path_of(*id) + "/notifications", .query = std::move(query)},
                             notification_columns);
  };
  Syntax syntax = group.add("notifications", "List what a channel told or is about to tell", run);
  syntax.argument("ID", *id, "Id of the channel");
  flags->add_list(syntax, {"--state STATE", "state",
                           "Only notifications in this state: waiting, sent, held_back or failed"});
  flags->add(syntax, {"--alert ID", "alert_id", "Only notifications of this alert"});
  flags->add_page(syntax);
}

}  // namespace

std::unique_ptr<Subcommand> add_channels(Syntax root) {
  auto group = std::make_unique<Group>(root, "channels",
                                       "Manage notification channels: who is told about alerts");
  group->syntax().footer(examples);
  add_list(*group);
  const auto id = std::make_shared<std::string>();
  group
      ->add("show", "Show a channel and the number of its notifications",
            [id](const Session& session) {
              return session.show({.path = path_of(*id)}, fields_text);
            })
      .argument("ID", *id, "Id of the channel");
  add_channel_create(*group);
  add_channel_update(*group);
  const auto removed = std::make_shared<std::string>();
  const auto remove = [removed](const Session& session) {
    return session.show({.method = "DELETE", .path = path_of(*removed)},
                        [&](const json::value&) { return fmt::format("{} deleted.\n", *removed); });
  };
  group->add("delete", "Delete a channel", remove).argument("ID", *removed, "Id of the channel");
  add_test(*group);
  add_notifications(*group);
  return group;
}

}  // namespace postrider::cli
