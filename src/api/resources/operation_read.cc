// Reads the requests that start operations.
#include <string>

#include "core/filter/event_type_filter.h"

#include "api/json/json_body.h"
#include "api/json/operation_json.h"
#include "api/json/status_words.h"

namespace postrider::api {
namespace {

constexpr IntegerRange list_range{1, 100};
constexpr IntegerRange rate_range{1, 10'000};
constexpr IntegerRange repeat_range{60, 2'592'000};  // A minute to thirty days.
constexpr TextRule name_rule{.bytes_max = 512, .multiline = false};
constexpr std::chrono::hours ahead_max{24 * 366};

/// Reads a list whose items `parse` understands. An absent list is empty.
template <class Parse>
auto read_list(ObjectReader& reader, std::string_view name, Parse parse, std::string_view what) {
  std::vector<typename decltype(parse(std::string_view{}))::value_type> items;
  const JsonField<std::vector<std::string_view>> given = reader.array(name, list_range);
  for (const std::string_view raw : given.value.value_or(std::vector<std::string_view>{})) {
    const std::optional<std::string> word = decode_json_string(raw);
    auto item = word ? parse(std::string_view{*word}) : std::nullopt;
    if (!item) {
      reader.refuse(name, "must contain only " + std::string{what} + ".");
      return items;
    }
    items.push_back(*std::move(item));
  }
  return items;
}

void check_range(ObjectReader& reader, std::string_view last, const DeliveryFilter& filter) {
  if (filter.from && filter.to && *filter.to <= *filter.from) {
    reader.refuse(last, "must be later than the beginning of the range.");
  }
}

void read_filter(ObjectReader& body, DeliveryFilter& filter) {
  JsonField<ObjectReader> given = body.object("filter");
  if (!given.value) {
    return;
  }
  ObjectReader& reader = *given.value;
  filter.tenant_id = reader.text("tenant_id", name_rule).value;
  filter.resource_id = reader.text("resource_id", name_rule).value;
  filter.webhook_ids = read_list(reader, "webhook_ids", WebhookId::parse, "webhook ids (whk_…)");
  filter.event_types = read_list(reader, "event_types", parse_event_type_word, event_type_words);
  filter.failure_categories = read_list(reader, "failure_categories", parse_failure_category,
                                        "failure categories such as timeout or server_error");
  filter.classification =
      reader.choice("classification", parse_classification, "permanent, recoverable").value;
  filter.from = reader.start_time("from").value;
  filter.to = reader.end_time("to").value;
  check_range(reader, "to", filter);
  reader.finish();
}

/// Reads the members that all operations share.
void read_pacing(ObjectReader& body, OperationSpec& spec, WallTime now) {
  spec.priority = body.choice("priority", parse_priority, "high, normal, low").value;
  JsonField<ObjectReader> rate = body.object("rate_limit");
  if (rate.value) {
    const JsonField<std::int64_t> count = rate.value->integer("requests_per_second", rate_range);
    if (count.value) {
      spec.requests_per_second = static_cast<std::uint32_t>(*count.value);
    }
    rate.value->finish();
  }
  spec.start_at = body.time("start_at").value;
  if (spec.start_at && *spec.start_at > now + ahead_max) {
    body.refuse("start_at", "must be within a year from now.");
  }
}

Parsed<OperationAsked> finish(ObjectReader& body, OperationSpec spec) {
  const bool dry_run = body.boolean("dry_run").value.value_or(false);
  body.finish();
  if (!body.errors().empty()) {
    return tl::make_unexpected(body.errors().problem());
  }
  return OperationAsked{std::move(spec), dry_run};
}

}  // namespace

Parsed<OperationAsked> read_retry_batch(const HttpRequest& request, WallTime now) {
  POSTRIDER_TRY(std::vector<JsonMember> members, read_optional_body(request));
  FieldErrors errors;
  ObjectReader body{std::move(members), "", errors};
  OperationSpec spec;
  read_filter(body, spec.filter);
  spec.filter.states = {DeliveryState::dead_letter};
  read_pacing(body, spec, now);
  if (const auto repeat = body.integer("repeat_every_seconds", repeat_range).value) {
    spec.repeat_every = std::chrono::seconds{*repeat};
  }
  return finish(body, std::move(spec));
}

Parsed<OperationAsked> read_replay(const HttpRequest& request, const Webhook& webhook,
                                   WallTime now) {
  POSTRIDER_TRY(std::vector<JsonMember> members, read_body(request));
  FieldErrors errors;
  ObjectReader body{std::move(members), "", errors};
  OperationSpec spec;
  DeliveryFilter& filter = spec.filter;
  if (!webhook.tenant_id.empty()) {  // An empty id means no tenant.
    filter.tenant_id = webhook.tenant_id;
  }
  filter.webhook_ids = {webhook.id};
  filter.from = body.start_time("since").value;
  filter.to = body.end_time("until").value;
  if (body.raw("since").value_or("null") == "null") {
    body.refuse("since", "is required: the time of the first event to replay.");
  }
  check_range(body, "until", filter);
  filter.states = read_list(body, "status", parse_final_status,
                            "dead_letter, cancelled or succeeded (or an alias: failed, exhausted, "
                            "dead_lettered, success, delivered)");
  if (filter.states.empty()) {
    filter.states = {DeliveryState::dead_letter, DeliveryState::cancelled};
  }
  filter.event_types = read_list(body, "event_types", parse_event_type_word, event_type_words);
  read_pacing(body, spec, now);
  return finish(body, std::move(spec));
}

}  // namespace postrider::api
