#include <algorithm>

#include <fmt/format.h>

#include "core/json/json_split.h"

#include "api/json/event_json.h"
#include "api/json/json_body.h"
#include "api/json/query_reader.h"
#include "api/resources/answers.h"
#include "api/resources/event_type_gate.h"
#include "api/resources/publish_answer.h"
#include "api/resources/publish_tries.h"
#include "api/resources/publishing.h"
#include "api/resources/resources.h"

namespace postrider::api {
namespace {

constexpr std::size_t batch_events_max = 1'000;
constexpr std::size_t batch_errors_max = 25;  // Keeps the answer small.

/// One item of the request: an event to publish, or its problem.
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

/// Returns the array in `{"events": […]}` if the object has no other member, otherwise an empty
/// text. Does not check the JSON: find_array does.
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

/// Returns the array in `{"events": […]}`. Checks the whole object.
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

/// Reads the items with full checks, to report what is wrong.
Parsed<std::vector<std::string_view>> read_strictly(std::string_view body, bool bare) {
  POSTRIDER_TRY(const std::string_view array, bare ? body : find_array(body));
  Result<std::vector<std::string_view>> items = read_json_array(array);
  if (!items) {
    return tl::make_unexpected(json_problem(array, items.error()));
  }
  return *std::move(items);
}

/// Splits `{"events": […]}`, or the array alone, into items. Does not check the items.
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

Item read_item(std::string_view text, EventArrival arrival, const ApiOptions& options,
               EventTypeGate& gate) {
  Result<std::vector<JsonMember>> members = read_json_envelope(text);
  if (!members) {
    return tl::make_unexpected(item_problem(arrival.path, text, members.error()));
  }
  arrival.text = text;
  POSTRIDER_TRY(EventDraft draft, read_event(*std::move(members), arrival, options));
  POSTRIDER_CHECK(gate.check(draft.event, arrival.path));
  return draft;
}

Parsed<BatchRequest> read_batch(const Context& context, const HttpRequest& request) {
  QueryReader query{request};
  BatchRequest batch{.atomic = query.boolean("atomic").value_or(true), .items = {}};
  POSTRIDER_CHECK(query.finish());
  POSTRIDER_CHECK(check_media_type(request));
  POSTRIDER_TRY(const std::optional<std::string> key, read_key_header(request));
  POSTRIDER_TRY(const std::vector<std::string_view> texts, read_items(request.body));
  const std::optional<TraceContext> trace = read_trace_headers(request);
  const WallTime now = context.services.clock.now().wall;
  EventTypeGate gate{context};
  batch.items.reserve(texts.size());
  for (std::size_t index = 0; index < texts.size(); ++index) {
    EventArrival arrival{.text = {},
                         .path = fmt::format("events[{}]", index),
                         .key = std::nullopt,
                         .id = EventId{context.services.ids.new_uuid()},
                         .now = now,
                         .tenant_id = context.caller.tenant_id,
                         .trace = trace};
    if (key) {
      // A repeated batch gives each item the same key again.
      arrival.key = fmt::format("{}/{}", *key, index);
    }
    batch.items.push_back(read_item(texts[index], std::move(arrival), *context.options, gate));
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

/// Checks tenants and quotas item by item.
void check_each(const Context& context, std::vector<Item>& items) {
  for (Item& item : items) {
    if (!item) {
      continue;
    }
    if (const Parsed<void> allowed = check_draft(context, *item); !allowed) {
      item = tl::make_unexpected(allowed.error());
    }
  }
}

/// Fails if an item is wrong, with one problem for the whole batch: that of the first item that is
/// not JSON, otherwise of the first wrong item, plus the errors of the others.
Parsed<void> check_items(const std::vector<Item>& items) {
  const auto is_wrong = [](const Item& item) { return !item.has_value(); };
  const auto is_not_json = [](const Item& item) {
    return !item.has_value() && item.error().code == "invalid_json";
  };
  auto first = std::ranges::find_if(items, is_not_json);
  if (first == items.end()) {
    first = std::ranges::find_if(items, is_wrong);
  }
  if (first == items.end()) {
    return {};
  }
  Problem whole = first->error();
  whole.detail += " Nothing in the batch was stored.";
  for (const Item& item : items) {
    if (!item && &item != &*first) {
      append_errors(whole.errors, item.error().errors);
    }
  }
  return tl::make_unexpected(std::move(whole));
}

/// Fails if an item was refused because of the catalogue, which may have changed: the request is
/// tried again when this server has caught up.
Parsed<void> check_current(const Context& context, const std::vector<Item>& items) {
  if (context.tries == nullptr) {
    return {};
  }
  const auto refused = std::ranges::find_if(
      items, [](const Item& item) { return !item && is_due_to_catalog(item.error()); });
  context.tries->has_refused = refused != items.end();
  if (context.tries->has_refused && !context.tries->is_current) {
    return tl::make_unexpected(refused->error());
  }
  return {};
}

/// The result of each item so far: an event that was handed to the store, or its problem.
using Submitted = std::vector<Parsed<SubmittedEvent>>;

/// Fails if an item of an atomic batch reuses a key with another body. Then nothing was stored.
Parsed<void> check_keys(const Submitted& submitted, const std::vector<PublishReceipt>& receipts) {
  Problem problem{.status = 422,
                  .code = "idempotency_key_reused",
                  .title = "The event was not accepted",
                  .detail =
                      "An idempotency key was used for another body before. Nothing in the "
                      "batch was stored.",
                  .errors = {}};
  for (std::size_t index = 0; index < receipts.size(); ++index) {
    const auto* duplicate = std::get_if<Duplicate>(&receipts[index]);
    if (duplicate != nullptr && !duplicate->same_body && problem.errors.size() < batch_errors_max) {
      const std::string_view how =
          submitted[index]->key_derived
              ? "was derived from `resource_id`, `type` and the second of `timestamp`, and "
              : "";
      problem.errors.push_back({fmt::format("events[{}].idempotency_key", index),
                                fmt::format("{}was used for {} with another body.", how,
                                            duplicate->first_id.to_string())});
    }
  }
  if (problem.errors.empty()) {
    return {};
  }
  return tl::make_unexpected(std::move(problem));
}

void write_errors(JsonWriter& writer, const std::vector<FieldError>& errors) {
  writer.key("errors");
  writer.open_array();
  for (const FieldError& error : errors) {
    writer.open_object();
    writer.member("field", error.field);
    writer.member("message", error.message);
    writer.close_object();
  }
  writer.close_array();
}

void write_failed_item(JsonWriter& writer, std::size_t index, const Problem& problem) {
  writer.open_object();
  writer.member("index", index);
  writer.member("status", problem.status);
  writer.member("id", nullptr);
  writer.member("code", problem.code);
  writer.member("detail", problem.detail);
  if (!problem.errors.empty()) {
    write_errors(writer, problem.errors);
  }
  writer.close_object();
}

std::string write_results(const Submitted& submitted, const std::vector<PublishReceipt>& receipts) {
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
  for (std::size_t index = 0; index < submitted.size(); ++index) {
    if (submitted[index]) {
      write_result(writer, index, *submitted[index], receipts[next_receipt++]);
    } else {
      write_failed_item(writer, index, submitted[index].error());
    }
  }
  writer.close_array();
  writer.close_object();
  return body;
}

}  // namespace

Awaitable<Reply> publish_batch(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(BatchRequest batch, read_batch(context, request));
  if (const Parsed<void> checked = check_items(batch.items);
      !checked && (batch.atomic || checked.error().code == "invalid_json")) {
    co_return tl::make_unexpected(checked.error());
  }
  if (!batch.atomic) {
    check_each(context, batch.items);
    POSTRIDER_CO_CHECK(check_current(context, batch.items));
  }
  Submitted submitted;
  std::vector<EventDraft> drafts;
  for (Item& item : batch.items) {
    submitted.push_back(item.map([&context](const EventDraft& draft) {
      return submitted_event(draft.event, *context.options);
    }));
    if (item) {
      drafts.push_back(*std::move(item));
    }
  }
  if (batch.atomic) {
    POSTRIDER_CO_CHECK(check_drafts(context, drafts));
  }
  std::vector<PublishReceipt> receipts;
  if (!drafts.empty()) {
    auto pending = publish_drafts(context, std::move(drafts), batch.atomic);
    Parsed<std::vector<PublishReceipt>> stored = co_await std::move(pending);
    if (!stored) {
      co_return tl::make_unexpected(stored.error());
    }
    receipts = *std::move(stored);
  }
  if (batch.atomic) {
    POSTRIDER_CO_CHECK(check_keys(submitted, receipts));
  }
  co_return json_answer(202, write_results(submitted, receipts));
}

}  // namespace postrider::api
