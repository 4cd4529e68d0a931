// `postrider operations`: long work that the server does by itself, watched and stopped.
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
  POSTRIDER_URL   the server, instead of --url
  POSTRIDER_KEY   the API key, instead of --key)";

const std::vector<Column> columns = {
    {"ID", "id"},           {"KIND", "kind"},         {"STATUS", "status"}, {"DONE", "done"},
    {"SKIPPED", "skipped"}, {"FAILED", "failed"},     {"TOTAL", "total"},   {"TENANT", "tenant_id"},
    {"READY", "eta"},       {"CREATED", "created_at"}};

void add_list(Group& group) {
  const auto flags = std::make_shared<QueryFlags>();
  const auto run = [flags](const Session& session) {
    return flags->query().and_then([&](const QueryFlags::Query& query) {
      return session.show({.path = "/v1/operations", .query = query}, [](const json::value& page) {
        return page_text(page, columns, shown_width());
      });
    });
  };
  const Syntax syntax = group.add("list", "List operations, newest first", run);
  flags->add_list(syntax, {"--kind KIND", "kind", "retry_batch, replay or discard"});
  flags->add_list(
      syntax, {"--status STATUS", "status", "scheduled, running, completed, cancelled or failed"});
  flags->add(syntax, {"--tenant ID", "tenant_id", "Only this tenant's"});
  flags->add_page(syntax);
}

}  // namespace

std::unique_ptr<Subcommand> add_operations(Syntax root) {
  auto group =
      std::make_unique<Group>(root, "operations", "Look at bulk retries and replays, or stop them");
  group->syntax().footer(examples);
  add_list(*group);
  const auto got = std::make_shared<std::string>();
  const auto get = [got](const Session& session) {
    return session.show({.path = "/v1/operations/" + path_part(*got)}, fields_text);
  };
  group->add("get", "Show how far one is", get).argument("ID", *got, "The operation");
  const auto cancelled = std::make_shared<std::string>();
  const auto cancel = [cancelled](const Session& session) {
    return session.show(
        {.method = "POST", .path = "/v1/operations/" + path_part(*cancelled) + "/cancel"},
        fields_text);
  };
  group->add("cancel", "Begin nothing more; what is in line already is delivered", cancel)
      .argument("ID", *cancelled, "The operation");
  return group;
}

}  // namespace postrider::cli
