// `postrider dlq`: lists, retries and discards dead letters.
#include <memory>

#include "cli/commands/dlq_commands.h"
#include "cli/commands/query_flags.h"
#include "cli/text/json_text.h"
#include "cli/text/table.h"

namespace postrider::cli {
namespace {

constexpr const char* examples = R"(Examples:
  postrider dlq list --age gt_24h
  postrider dlq retry dlv_01jx...
  postrider dlq retry-batch --webhook whk_01jx... --category timeout --rate 10
  postrider dlq retry-batch --classification recoverable --rate 5 --repeat 1d
  postrider dlq discard --classification permanent --to 30d

Environment:
  POSTRIDER_SERVER   the server, instead of --server
  POSTRIDER_KEY      the API key, instead of --key)";

const std::vector<Column> columns = {{"ID", "id"},
                                     {"TYPE", "event_type"},
                                     {"ATTEMPTS", "attempt_count"},
                                     {"HTTP", "http_status"},
                                     {"FAILURE", "failure_category"},
                                     {"REASON", "dead_letter.reason"},
                                     {"WEBHOOK", "webhook_id"},
                                     {"COMPLETED", "completed_at"}};

void add_list(Group& group) {
  const auto flags = std::make_shared<QueryFlags>();
  const auto run = [flags](const Session& session) {
    return flags->query(session.now()).and_then([&](const QueryFlags::Query& query) {
      return session.show_page({.path = "/v1/dlq", .query = query}, columns);
    });
  };
  const Syntax syntax = group.add("list", "List dead letters, newest first", run);
  add_dead_letter_flags(syntax, *flags);
  flags->add_page(syntax);
}

void add_retry(Group& group) {
  const auto id = std::make_shared<std::string>();
  const auto run = [id](const Session& session) {
    return session.show({.method = "POST", .path = "/v1/dlq/" + path_part(*id) + "/retry"},
                        fields_text);
  };
  group.add("retry", "Retry a dead letter, with a new set of attempts", run)
      .argument("ID", *id, "Id of the delivery");
}

}  // namespace

void add_dead_letter_flags(Syntax syntax, QueryFlags& flags) {
  flags.add_list(syntax, {"--webhook ID", "webhook_id", "Only deliveries to this webhook"});
  flags.add_list(
      syntax, {"--event-type TYPE", "event_type", "Only events of this type or pattern (order.*)"});
  flags.add_list(syntax, {"--category CATEGORY", "failure_category",
                          "Only deliveries whose last failure has this category, such as timeout"});
  flags.add(syntax, {"--classification CLASS", "classification",
                     "Only this class of failure: permanent or recoverable"});
  flags.add(syntax, {"--age AGE", "age", "Only dead letters of this age: lt_1h, 1h_24h or gt_24h"});
  flags.add(syntax, {"--resource ID", "resource_id", "Only events of this resource"});
  flags.add(syntax, {"--tenant ID", "tenant_id", "Only dead letters of this tenant"});
  flags.add_time(syntax, {"--from TIME", "from",
                          "Became a dead letter at or after this time; 2h means two hours ago"});
  flags.add_time(syntax, {"--to TIME", "to",
                          "Became a dead letter before this time; a date includes that day"});
}

std::unique_ptr<Subcommand> add_dlq(Syntax root) {
  auto group = std::make_unique<Group>(root, "dlq", "List, retry and discard dead letters");
  group->syntax().footer(examples);
  add_list(*group);
  add_retry(*group);
  add_dlq_retry_batch(*group);
  add_dlq_discard(*group);
  return group;
}

}  // namespace postrider::cli
