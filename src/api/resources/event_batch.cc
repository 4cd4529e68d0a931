#include <algorithm>

#include <fmt/format.h>

#include "core/json/json_split.h"

#include "api/json/event_json.h"
#include "api/json/json_body.h"
#include "api/json/query_reader.h"
#include "api/resources/answers.h"
#include "api/resources/event_type_gate.h"
#include "api/resources/publish_answer.h"
#include "api/resources/publishing.h"
#include "api/resources/resources.h"

namespace postrider::api {
namespace {

constexpr std::size_t batch_events_max = 1'000;
constexpr std::size_t batch_errors_max = 25;  // Enough to act on; an answer stays small.

/// One item of the request: an event to publish or what is wrong with it.
using Item = Parsed<EventDraft>;

struct BatchRequest {
  bool atomic = true;
  std::vector<Item> items;
};

Problem wrong_shape(std::string message) {
  FieldErrors errors;
  errors.add("events", std::move(message));
  return errors.problem();
}

/// The array in `{"events": […]}` when that is all there is. Whatever else there may be is left to
/// find_array.
std::string_view only_array(std::string_view body) {
  const auto take = [&body](std::string_view expected) {
    body.remove_prefix(std::min(body.find_first_not_of(" \t\r\n"), body.size()));
    const bool there = body.starts_with(expected);
    body.remove_prefix(there ? expected.size() : 0);
    return there;
  };
  if (!take("{") || !take("\"events\"") || !take(":")) {
    return {};
  }
  const std::size_t last = body.find_last_not_of(" \t\r\n");
  return last != std::string_view::npos && body[last] == '}' ? body.substr(0, last)
                                                             : std::string_view{};
}

/// The array in `{"events": […]}`, checked to the last byte.
Parsed<std::string_view> find_array(std::string_view body) {
  Result<std::vector<JsonMember>> members = read_json_object(body);
  if (!members) {
    return tl::make_unexpected(json_problem(body, members.error()));
  }
  FieldErrors errors;
  ObjectReader reader{*std::move(members), "", errors};
  const std::string_view events = reader.raw("events").value_or("");
  reader.finish();
  if (!events.starts_with('[')) {
    errors.add("events", fmt::format("must be an array of 1 to {} events.", batch_events_max));
  }
  if (!errors.empty()) {
    return tl::make_unexpected(errors.problem());
  }
  return events;
}

/// What is wrong with a body that does not come apart into items.
Parsed<std::vector<std::string_view>> read_strictly(std::string_view body, bool bare) {
  const Parsed<std::string_view> array = bare ? body : find_array(body);
  if (!array) {
    return tl::make_unexpected(array.error());
  }
  Result<std::vector<std::string_view>> items = read_json_array(*array);
  if (!items) {
    return tl::make_unexpected(json_problem(*array, items.error()));
  }
  return *std::move(items);
}

/// `{"events": […]}` or the array alone. What the items are is not looked at yet.
Parsed<std::vector<std::string_view>> read_items(std::string_view body) {
  const std::size_t first = body.find_first_not_of(" \t\r\n");
  const bool bare = first != std::string_view::npos && body[first] == '[';
  Parsed<std::vector<std::string_view>> items;
  if (auto split = split_json_array(bare ? body : only_array(body))) {
    items = *std::move(split);
  } else {
    items = read_strictly(body, bare);
  }
  if (items && (items->empty() || items->size() > batch_events_max)) {
    return tl::make_unexpected(wrong_shape(
        fmt::format("has {} items; a batch has 1 to {}.", items->size(), batch_events_max)));
  }
  return items;
}

Problem item_problem(const std::string& path, std::string_view text, const Error& error) {
  if (!text.starts_with('{') && check_json(text)) {
    FieldErrors errors;
    errors.add(path, "must be an event object.");
    return errors.problem();
  }
  Problem problem = json_problem(text, error);
  problem.errors.push_back({path, problem.detail});
  problem.detail = fmt::format("`{}`: {}", path, problem.detail);
  return problem;
}

Item read_item(const Context& context, std::string_view text, EventArrival arrival) {
  Result<std::vector<JsonMember>> members = read_json_envelope(text);
  if (!members) {
    return tl::make_unexpected(item_problem(arrival.path, text, members.error()));
  }
  arrival.text = text;
  Item item = read_event(*std::move(members), arrival, *context.options);
  if (item) {
    const auto types = context.service->event_types();
    if (std::optional<Problem> problem =
            event_type_problem(*types, item->event, arrival.path, *context.options)) {
      return tl::make_unexpected(*std::move(problem));
    }
  }
  return item;
}

Parsed<BatchRequest> read_batch(const Context& context, const HttpRequest& request) {
  QueryReader query{request};
  BatchRequest batch{.atomic = query.boolean("atomic").value_or(true), .items = {}};
  if (std::optional<Problem> fault = query.fault()) {
    return tl::make_unexpected(*std::move(fault));
  }
  if (std::optional<Problem> problem = media_type_problem(request)) {
    return tl::make_unexpected(*std::move(problem));
  }
  const Parsed<std::optional<std::string>> key = read_key_header(request);
  if (!key) {
    return tl::make_unexpected(key.error());
  }
  const Parsed<std::vector<std::string_view>> texts = read_items(request.body);
  if (!texts) {
    return tl::make_unexpected(texts.error());
  }
  const std::optional<std::string>& batch_key = *key;
  const WallTime now = context.service->now().wall;
  batch.items.reserve(texts->size());
  for (std::size_t index = 0; index < texts->size(); ++index) {
    EventArrival arrival{.text = {},
                         .path = fmt::format("events[{}]", index),
                         .key = std::nullopt,
                         .id = EventId{context.service->new_uuid()},
                         .now = now,
                         .tenant_id = context.caller.tenant_id};
    if (batch_key) {
      // A batch sent again finds each of its items again.
      arrival.key = fmt::format("{}/{}", *batch_key, index);
    }
    batch.items.push_back(read_item(context, (*texts)[index], std::move(arrival)));
  }
  return batch;
}

void append_errors(std::vector<FieldError>& all, const std::vector<FieldError>& more) {
  for (const FieldError& error : more) {
    if (all.size() < batch_errors_max) {
      all.push_back(error);
    }
  }
}

/// Unknown tenants and used up quotas, item by item.
void judge_alone(const Context& context, std::vector<Item>& items) {
  for (Item& item : items) {
    if (!item) {
      continue;
    }
    if (std::optional<Problem> problem = refuse_draft(context, *item)) {
      item = tl::make_unexpected(*std::move(problem));
    }
  }
}

/// One problem for all that is wrong with a batch that is all or nothing: that of the first item
/// that is no JSON at all, or else of the first, with the errors of the others.
std::optional<Problem> whole_problem(const std::vector<Item>& items) {
  const auto is_wrong = [](const Item& item) { return !item.has_value(); };
  const auto is_no_json = [](const Item& item) {
    return !item.has_value() && item.error().code == "invalid_json";
  };
  auto first = std::ranges::find_if(items, is_no_json);
  if (first == items.end()) {
    first = std::ranges::find_if(items, is_wrong);
  }
  if (first == items.end()) {
    return std::nullopt;
  }
  Problem whole = first->error();
  whole.detail += " Nothing of the batch was stored.";
  for (const Item& item : items) {
    if (!item && &item != &*first) {
      append_errors(whole.errors, item.error().errors);
    }
  }
  return whole;
}

/// What was asked, item by item: an event that was sent on to the store, or its problem.
using Asked = std::vector<Parsed<AskedEvent>>;

/// A key reused in a batch that is all or nothing, every item of which was asked for, refuses the
/// whole batch.
std::optional<Problem> refusal(const Asked& asked, const std::vector<PublishReceipt>& receipts) {
  Problem problem{.status = 422,
                  .code = "idempotency_key_reused",
                  .title = "The event was not accepted",
                  .detail =
                      "An idempotency key was used for another body before. Nothing of the "
                      "batch was stored.",
                  .errors = {}};
  for (std::size_t index = 0; index < receipts.size(); ++index) {
    const auto* duplicate = std::get_if<Duplicate>(&receipts[index]);
    if (duplicate != nullptr && !duplicate->same_body && problem.errors.size() < batch_errors_max) {
      const std::string_view how =
          asked[index]->key_derived
              ? "was derived from `resource_id`, `type` and the second of `timestamp`, and "
              : "";
      problem.errors.push_back({fmt::format("events[{}].idempotency_key", index),
                                fmt::format("{}was used for {} with another body.", how,
                                            duplicate->first_id.to_string())});
    }
  }
  return problem.errors.empty() ? std::nullopt : std::optional{std::move(problem)};
}

void write_failed_item(JsonWriter& writer, std::size_t index, const Problem& problem) {
  writer.open_object();
  writer.member("index", index);
  writer.member("status", problem.status);
  writer.member("id", nullptr);
  writer.member("code", problem.code);
  writer.member("detail", problem.detail);
  writer.key("errors");
  writer.open_array();
  for (const FieldError& error : problem.errors) {
    writer.open_object();
    writer.member("field", error.field);
    writer.member("message", error.message);
    writer.close_object();
  }
  writer.close_array();
  writer.close_object();
}

std::string write_results(const Asked& asked, const std::vector<PublishReceipt>& receipts) {
  const auto accepted = std::ranges::count_if(receipts, [](const PublishReceipt& receipt) {
    return std::holds_alternative<Accepted>(receipt);
  });
  std::string body;
  JsonWriter writer{body};
  writer.open_object();
  writer.member("accepted", accepted);
  writer.key("results");
  writer.open_array();
  std::size_t next_receipt = 0;
  for (std::size_t index = 0; index < asked.size(); ++index) {
    if (asked[index]) {
      write_result(writer, index, *asked[index], receipts[next_receipt++]);
    } else {
      write_failed_item(writer, index, asked[index].error());
    }
  }
  writer.close_array();
  writer.close_object();
  return body;
}

}  // namespace

Awaitable<HttpResponse> publish_batch(Context context, HttpRequest request) {
  Parsed<BatchRequest> batch = read_batch(context, request);
  if (!batch) {
    co_return render(batch.error());
  }
  if (const std::optional<Problem> problem = whole_problem(batch->items);
      problem && (batch->atomic || problem->code == "invalid_json")) {
    co_return render(*problem);
  }
  if (!batch->atomic) {
    judge_alone(context, batch->items);
  }
  Asked asked;
  std::vector<EventDraft> drafts;
  for (Item& item : batch->items) {
    asked.push_back(item.map([&context](const EventDraft& draft) {
      return AskedEvent{draft.event.id, has_derived_key(draft.event, *context.options)};
    }));
    if (item) {
      drafts.push_back(*std::move(item));
    }
  }
  if (batch->atomic) {
    if (std::optional<HttpResponse> refused = refuse_drafts(context, drafts)) {
      co_return *std::move(refused);
    }
  }
  std::vector<PublishReceipt> receipts;
  if (!drafts.empty()) {
    auto pending = publish_drafts(context, std::move(drafts), batch->atomic);
    Published stored = co_await std::move(pending);
    if (!stored) {
      co_return std::move(stored.error());
    }
    receipts = *std::move(stored);
  }
  if (batch->atomic) {
    if (const std::optional<Problem> problem = refusal(asked, receipts)) {
      co_return render(*problem);
    }
  }
  co_return json_answer(202, write_results(asked, receipts));
}

}  // namespace postrider::api
