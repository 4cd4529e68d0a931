// `postrider dlq retry-batch`: retries matching dead letters, optionally at a limited rate.
#include <memory>
#include <optional>

#include "cli/commands/dlq_commands.h"
#include "cli/commands/operation.h"
#include "cli/text/time_argument.h"

namespace postrider::cli {
namespace {

struct BatchFlags {
  std::vector<std::string> webhooks, types, categories;
  std::optional<std::string> classification, resource, tenant, from, to, priority, start_at, repeat;
  std::optional<std::uint32_t> rate;
  bool all = false;
  bool no_wait = false;
  bool no_outcome = false;

  /// The command does not wait for an operation that starts later or repeats.
  [[nodiscard]] Wait wait() const { return wait_of(no_wait || start_at || repeat, no_outcome); }
};

void set_list(json::object& filter, std::string_view name, const std::vector<std::string>& list) {
  if (!list.empty()) {
    filter[name] = json::array(list.begin(), list.end());
  }
}

void set_text(json::object& filter, std::string_view name, const std::optional<std::string>& text) {
  if (text) {
    filter[name] = *text;
  }
}

Result<void> set_time(json::object& filter, const std::string& name,
                      const std::optional<std::string>& text, WallTime now) {
  if (text) {
    POSTRIDER_TRY(const std::string time, time_argument("--" + name, *text, now));
    filter[name] = time;
  }
  return {};
}

Result<json::value> body_of(const BatchFlags& flags, WallTime now) {
  json::object filter;
  set_list(filter, "webhook_ids", flags.webhooks);
  set_list(filter, "event_types", flags.types);
  set_list(filter, "failure_categories", flags.categories);
  set_text(filter, "classification", flags.classification);
  set_text(filter, "resource_id", flags.resource);
  set_text(filter, "tenant_id", flags.tenant);
  POSTRIDER_CHECK(set_time(filter, "from", flags.from, now));
  POSTRIDER_CHECK(set_time(filter, "to", flags.to, now));
  if (filter.empty() && !flags.all) {
    return fail(Errc::invalid, "Select dead letters with a filter, or use --all.");
  }
  json::object body{{"filter", std::move(filter)}};
  if (flags.rate) {
    body["rate_limit"] = json::object{{"requests_per_second", *flags.rate}};
  }
  if (flags.priority) {
    body["priority"] = *flags.priority;
  }
  if (flags.start_at) {
    POSTRIDER_TRY(const std::string time, later_argument("--start-at", *flags.start_at, now));
    body["start_at"] = time;
  }
  if (flags.repeat) {
    POSTRIDER_TRY(const std::chrono::seconds every, duration_argument("--repeat", *flags.repeat));
    body["repeat_every_seconds"] = every.count();
  }
  return json::value(std::move(body));
}

}  // namespace

void add_dlq_retry_batch(Group& group) {
  const auto flags = std::make_shared<BatchFlags>();
  const auto run = [flags](const Session& session) -> Result<void> {
    POSTRIDER_TRY(json::value body, body_of(*flags, session.now()));
    return run_operation(session,
                         {.method = "POST", .path = "/v1/dlq/retry-batch", .body = std::move(body)},
                         {.label = "retry", .wait = flags->wait()});
  };
  Syntax syntax = group.add("retry-batch", "Retry all matching dead letters", run);
  syntax.option("--webhook ID", flags->webhooks,
                "Only deliveries to this webhook; may be repeated");
  syntax.option("--event-type TYPE", flags->types,
                "Only events of this type or pattern; may be repeated");
  syntax.option("--category CATEGORY", flags->categories,
                "Only deliveries whose last failure has this category; may be repeated");
  syntax
      .option("--classification CLASS", flags->classification,
              "Only this class of failure: permanent or recoverable")
      .one_of({"permanent", "recoverable"});
  syntax.option("--resource ID", flags->resource, "Only events of this resource");
  syntax.option("--tenant ID", flags->tenant, "Only dead letters of this tenant");
  syntax.option("--from TIME", flags->from,
                "Became a dead letter at or after this time; 2h means two hours ago");
  syntax.option("--to TIME", flags->to,
                "Became a dead letter before this time; a date includes that day");
  syntax.flag("--all", flags->all, "All dead letters, if no filter is given");
  syntax.option("--rate N", flags->rate, "Retry at most this many per second").positive();
  syntax.option("--priority PRIORITY", flags->priority, "Priority: high, normal or low")
      .one_of({"high", "normal", "low"});
  syntax.option("--start-at TIME", flags->start_at,
                "Start at this time (2h: in two hours); does not wait for the end");
  syntax.option(
      "--repeat DURATION", flags->repeat,
      "Repeat at this interval, 1 minute to 30 days, until cancelled; does not wait for the end");
  syntax.flag("--no-wait", flags->no_wait, "Start the operation without waiting for its end");
  syntax.flag("--no-outcome", flags->no_outcome, no_outcome_help);
}

}  // namespace postrider::cli
