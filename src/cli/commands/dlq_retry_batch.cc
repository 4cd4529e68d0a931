// `postrider dlq retry-batch`: brings back every dead letter that fits, at a bearable pace.
#include <memory>
#include <optional>

#include "cli/commands/dlq_commands.h"
#include "cli/commands/operation.h"
#include "cli/text/time_argument.h"

namespace postrider::cli {
namespace {

struct BatchFlags {
  std::vector<std::string> webhooks, types, categories;
  std::optional<std::string> classification, tenant, from, to, priority, start_at, repeat;
  std::optional<std::uint32_t> rate;
  bool all = false;
  bool no_wait = false;

  /// What begins later or never ends is not watched.
  [[nodiscard]] bool waits() const { return !no_wait && !start_at && !repeat; }
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
                      const std::optional<std::string>& text) {
  if (text) {
    POSTRIDER_TRY(std::string time, time_argument("--" + name, *text));
    filter[name] = std::move(time);
  }
  return {};
}

Result<json::value> body_of(const BatchFlags& flags) {
  json::object filter;
  set_list(filter, "webhook_ids", flags.webhooks);
  set_list(filter, "event_types", flags.types);
  set_list(filter, "failure_categories", flags.categories);
  set_text(filter, "classification", flags.classification);
  set_text(filter, "tenant_id", flags.tenant);
  POSTRIDER_CHECK(set_time(filter, "from", flags.from));
  POSTRIDER_CHECK(set_time(filter, "to", flags.to));
  if (filter.empty() && !flags.all) {
    return fail(Errc::invalid, "Say which dead letters, or --all for every one of them.");
  }
  json::object body{{"filter", std::move(filter)}};
  if (flags.rate) {
    body["rate_limit"] = json::object{{"requests_per_second", *flags.rate}};
  }
  if (flags.priority) {
    body["priority"] = *flags.priority;
  }
  if (flags.start_at) {
    POSTRIDER_TRY(std::string time, later_argument("--start-at", *flags.start_at));
    body["start_at"] = std::move(time);
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
    POSTRIDER_TRY(json::value body, body_of(*flags));
    return run_operation(session,
                         {.method = "POST", .path = "/v1/dlq/retry-batch", .body = std::move(body)},
                         {.label = "retry", .wait = flags->waits()});
  };
  Syntax syntax = group.add("retry-batch", "Bring back all that fit", run);
  syntax.option("--webhook ID", flags->webhooks,
                "Only those to this webhook; several may be given");
  syntax.option("--event-type TYPE", flags->types,
                "Only events of this type or pattern; several may be given");
  syntax.option("--category CATEGORY", flags->categories,
                "Only those that failed last in this way");
  syntax.option("--classification CLASS", flags->classification, "permanent or recoverable")
      .one_of({"permanent", "recoverable"});
  syntax.option("--tenant ID", flags->tenant, "Only this tenant's");
  syntax.option("--from TIME", flags->from, "From this time on, or 2h ago");
  syntax.option("--to TIME", flags->to, "Before this time");
  syntax.flag("--all", flags->all, "Every dead letter, when nothing else narrows it down");
  syntax.option("--rate N", flags->rate, "At most this many a second").positive();
  syntax.option("--priority PRIORITY", flags->priority, "high, normal or low")
      .one_of({"high", "normal", "low"});
  syntax.option("--start-at TIME", flags->start_at, "Begin then, or in 2h; it is not watched");
  syntax.option("--repeat DURATION", flags->repeat,
                "Again so often, a minute to thirty days, until cancelled");
  syntax.flag("--no-wait", flags->no_wait, "Start it and do not watch");
}

}  // namespace postrider::cli
