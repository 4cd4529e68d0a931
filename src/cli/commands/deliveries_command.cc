// `postrider deliveries`: one event on its way to one webhook, and every attempt.
#include <memory>
#include <optional>

#include "cli/commands/group.h"
#include "cli/commands/query_flags.h"
#include "cli/text/delivery_text.h"
#include "cli/text/json_text.h"
#include "cli/text/table.h"

namespace postrider::cli {
namespace {

constexpr const char* examples = R"(Examples:
  postrider deliveries list --status dead_letter --webhook whk_01jx...
  postrider deliveries get dlv_01jx...
  postrider deliveries retry dlv_01jx... --priority high

Environment:
  POSTRIDER_URL   the server, instead of --url
  POSTRIDER_KEY   the API key, instead of --key)";

const std::vector<Column> columns = {{"ID", "id"},
                                     {"STATUS", "status"},
                                     {"TYPE", "event_type"},
                                     {"ATTEMPTS", "attempt_count"},
                                     {"HTTP", "http_status"},
                                     {"FAILURE", "failure_category"},
                                     {"NEXT", "next_attempt_at"},
                                     {"WEBHOOK", "webhook_id"},
                                     {"CREATED", "created_at"}};

void add_list(Group& group) {
  const auto flags = std::make_shared<QueryFlags>();
  const auto run = [flags](const Session& session) {
    return flags->query().and_then([&](const QueryFlags::Query& query) {
      return session.show({.path = "/v1/deliveries", .query = query}, [](const json::value& page) {
        return page_text(page, columns, shown_width());
      });
    });
  };
  const Syntax syntax = group.add("list", "List deliveries, newest first", run);
  flags->add_list(syntax, {"--status STATUS", "status",
                           "pending, retrying, succeeded, dead_letter or cancelled"});
  flags->add_list(syntax, {"--webhook ID", "webhook_id", "Only those to this webhook"});
  flags->add(syntax, {"--event ID", "event_id", "Only those of this event"});
  flags->add_list(syntax, {"--event-type TYPE", "event_type",
                           "Only events of this type, or of a pattern (order.*)"});
  flags->add_list(syntax, {"--category CATEGORY", "failure_category",
                           "Only those that failed last in this way, such as timeout"});
  flags->add(syntax, {"--tenant ID", "tenant_id", "Only this tenant's"});
  flags->add_time(syntax, {"--from TIME", "from", "Made at this time or later, or 2h ago"});
  flags->add_time(syntax, {"--to TIME", "to", "Made before this time"});
  flags->add_page(syntax);
}

struct RetryFlags {
  std::string id;
  std::optional<std::string> priority;
};

void add_retry(Group& group) {
  const auto flags = std::make_shared<RetryFlags>();
  const auto run = [flags](const Session& session) {
    Call call{.method = "POST", .path = "/v1/deliveries/" + path_part(flags->id) + "/retry"};
    if (flags->priority) {
      call.body = json::object{{"priority", *flags->priority}};
    }
    return session.show(call, fields_text);
  };
  Syntax syntax = group.add("retry", "Put it in line again, with a fresh budget of attempts", run);
  syntax.argument("ID", flags->id, "The delivery");
  syntax.option("--priority PRIORITY", flags->priority, "high, normal or low")
      .one_of({"high", "normal", "low"});
}

}  // namespace

std::unique_ptr<Subcommand> add_deliveries(Syntax root) {
  auto group = std::make_unique<Group>(root, "deliveries", "Look at deliveries, retry or cancel");
  group->syntax().footer(examples);
  add_list(*group);
  const auto got = std::make_shared<std::string>();
  const auto get = [got](const Session& session) {
    return session.show({.path = "/v1/deliveries/" + path_part(*got)}, one_delivery);
  };
  group->add("get", "Show one delivery with every attempt", get)
      .argument("ID", *got, "The delivery");
  add_retry(*group);
  const auto cancelled = std::make_shared<std::string>();
  const auto cancel = [cancelled](const Session& session) {
    return session.show(
        {.method = "POST", .path = "/v1/deliveries/" + path_part(*cancelled) + "/cancel"},
        fields_text);
  };
  group->add("cancel", "Stop trying", cancel).argument("ID", *cancelled, "The delivery");
  return group;
}

}  // namespace postrider::cli
