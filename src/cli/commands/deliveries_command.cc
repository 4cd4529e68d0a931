// `postrider deliveries`: lists, shows, retries and cancels deliveries, and lists their attempts.
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
  postrider deliveries list --resource swap-17 --from 2026-01-31
  postrider deliveries attempts --status failed --from 1h
  postrider deliveries get dlv_01jx...
  postrider deliveries retry dlv_01jx... --priority high

Environment:
  POSTRIDER_SERVER   the server, instead of --server
  POSTRIDER_KEY      the API key, instead of --key)";

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
    return flags->query(session.now()).and_then([&](const QueryFlags::Query& query) {
      return session.show_page({.path = "/v1/deliveries", .query = query}, columns);
    });
  };
  const Syntax syntax = group.add("list", "List deliveries, newest first", run);
  flags->add_list(
      syntax, {"--status STATUS", "status",
               "Only with this status: pending, retrying, succeeded, dead_letter, cancelled, or an "
               "alias: failed, success, delivered, exhausted, circuit_blocked"});
  flags->add_list(syntax, {"--webhook ID", "webhook_id", "Only deliveries to this webhook"});
  flags->add(syntax, {"--event ID", "event_id", "Only deliveries of this event"});
  flags->add(syntax, {"--resource ID", "resource_id", "Only events of this resource"});
  flags->add_list(
      syntax, {"--event-type TYPE", "event_type", "Only events of this type or pattern (order.*)"});
  flags->add_list(syntax,
                  {"--category CATEGORY", "failure_category",
                   "Only deliveries whose last failure has this category, such as timeout"});
  flags->add(syntax, {"--tenant ID", "tenant_id", "Only deliveries of this tenant"});
  flags->add_time(syntax,
                  {"--from TIME", "from", "Created at or after this time; 2h means two hours ago"});
  flags->add_time(syntax,
                  {"--to TIME", "to", "Created before this time; a date includes that day"});
  flags->add_page(syntax);
}

const std::vector<Column> attempt_columns = {
    {"AT", "executed_at"},           {"STATUS", "status"},
    {"HTTP", "http_status"},         {"MS", "duration_ms"},
    {"FAILURE", "failure_category"}, {"TYPE", "event_type"},
    {"DELIVERY", "delivery_id"},     {"NUMBER", "number"},
    {"WEBHOOK", "webhook_id"},       {"MESSAGE", "error_message"}};

void add_attempts(Group& group) {
  const auto flags = std::make_shared<QueryFlags>();
  const auto run = [flags](const Session& session) {
    return flags->query(session.now()).and_then([&](const QueryFlags::Query& query) {
      return session.show_page({.path = "/v1/attempts", .query = query}, attempt_columns);
    });
  };
  const Syntax syntax = group.add("attempts", "List attempts, newest first", run);
  flags->add_list(syntax, {"--status STATUS", "status",
                           "Only with this status: succeeded, failed, timeout or exhausted"});
  flags->add_list(syntax, {"--webhook ID", "webhook_id", "Only attempts to this webhook"});
  flags->add(syntax, {"--delivery ID", "delivery_id", "Only attempts of this delivery"});
  flags->add_list(
      syntax, {"--event-type TYPE", "event_type", "Only events of this type or pattern (order.*)"});
  flags->add_list(syntax, {"--category CATEGORY", "failure_category",
                           "Only attempts that failed with this category, such as timeout"});
  flags->add(syntax, {"--tenant ID", "tenant_id", "Only attempts of this tenant"});
  flags->add_time(
      syntax, {"--from TIME", "from", "Executed at or after this time; 2h means two hours ago"});
  flags->add_time(syntax,
                  {"--to TIME", "to", "Executed before this time; a date includes that day"});
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
  Syntax syntax = group.add("retry", "Send a delivery again, with a new set of attempts", run);
  syntax.argument("ID", flags->id, "Id of the delivery");
  syntax.option("--priority PRIORITY", flags->priority, "Priority: high, normal or low")
      .one_of({"high", "normal", "low"});
}

}  // namespace

std::unique_ptr<Subcommand> add_deliveries(Syntax root) {
  auto group = std::make_unique<Group>(root, "deliveries", "List, retry and cancel deliveries");
  group->syntax().footer(examples);
  add_list(*group);
  const auto got = std::make_shared<std::string>();
  const auto get = [got](const Session& session) {
    return session.show({.path = "/v1/deliveries/" + path_part(*got)},
                        [&](const json::value& delivery) {
                          return delivery_text(delivery, session.table_style());
                        });
  };
  group->add("get", "Show a delivery and its attempts", get)
      .argument("ID", *got, "Id of the delivery");
  add_attempts(*group);
  add_retry(*group);
  const auto cancelled = std::make_shared<std::string>();
  const auto cancel = [cancelled](const Session& session) {
    return session.show(
        {.method = "POST", .path = "/v1/deliveries/" + path_part(*cancelled) + "/cancel"},
        fields_text);
  };
  group->add("cancel", "Cancel a delivery: it is not sent again", cancel)
      .argument("ID", *cancelled, "Id of the delivery");
  return group;
}

}  // namespace postrider::cli
