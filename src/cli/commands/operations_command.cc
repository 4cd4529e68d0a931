// `postrider operations`: lists, shows and cancels bulk operations.
#include <memory>

#include "cli/commands/group.h"
#include "cli/commands/query_flags.h"
#include "cli/text/json_text.h"
#include "cli/text/table.h"

namespace postrider::cli {
namespace {

constexpr const char* examples = R"(Examples:
  postrider operations list --status running
  postrider operations get opr_01jx...
  postrider operations cancel opr_01jx...

Environment:
  POSTRIDER_SERVER   the server, instead of --server
  POSTRIDER_KEY      the API key, instead of --key)";

const std::vector<Column> columns = {{"ID", "id"},
                                     {"KIND", "kind"},
                                     {"STATUS", "status"},
                                     {"DONE", "done"},
                                     {"SKIPPED", "skipped"},
                                     {"FAILED", "failed"},
                                     {"TOTAL", "total"},
                                     {"SUCCEEDED", "succeeded"},
                                     {"DEAD", "dead_again"},
                                     {"WAITING", "waiting"},
                                     {"TENANT", "tenant_id"},
                                     {"ETA", "eta"},
                                     {"CREATED", "created_at"}};

void add_list(Group& group) {
  const auto flags = std::make_shared<QueryFlags>();
  const auto run = [flags](const Session& session) {
    return flags->query(session.now()).and_then([&](const QueryFlags::Query& query) {
      return session.show_page({.path = "/v1/operations", .query = query}, columns);
    });
  };
  const Syntax syntax = group.add("list", "List operations, newest first", run);
  flags->add_list(syntax,
                  {"--kind KIND", "kind", "Only this kind: retry_batch, replay or discard"});
  flags->add_list(syntax,
                  {"--status STATUS", "status",
                   "Only with this status: scheduled, running, completed, cancelled or failed"});
  flags->add(syntax, {"--tenant ID", "tenant_id", "Only operations of this tenant"});
  flags->add_page(syntax);
}

}  // namespace

std::unique_ptr<Subcommand> add_operations(Syntax root) {
  auto group = std::make_unique<Group>(root, "operations",
                                       "List and cancel bulk retries, discards and replays");
  group->syntax().footer(examples);
  add_list(*group);
  const auto got = std::make_shared<std::string>();
  const auto get = [got](const Session& session) {
    return session.show({.path = "/v1/operations/" + path_part(*got)}, fields_text);
  };
  group->add("get", "Show an operation and its progress", get)
      .argument("ID", *got, "Id of the operation");
  const auto cancelled = std::make_shared<std::string>();
  const auto cancel = [cancelled](const Session& session) {
    return session.show(
        {.method = "POST", .path = "/v1/operations/" + path_part(*cancelled) + "/cancel"},
        fields_text);
  };
  group
      ->add("cancel", "Cancel an operation; deliveries that are already queued are still sent",
            cancel)
      .argument("ID", *cancelled, "Id of the operation");
  return group;
}

}  // namespace postrider::cli
