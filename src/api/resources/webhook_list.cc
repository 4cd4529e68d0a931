#include <algorithm>
#include <map>

#include "core/base/enum_names.h"
#include "core/base/text_search.h"

#include "api/json/list_answer.h"
#include "api/json/memory_page.h"
#include "api/json/webhook_json.h"
#include "api/resources/resources.h"

namespace postrider::api {
namespace {

/// A disabled webhook is not active. A paused one is active and holds its deliveries.
enum class WebhookState : std::uint8_t { active, paused, disabled };
constexpr EnumNames<WebhookState, WebhookState::disabled> states{{"active", "paused", "disabled"}};

WebhookState state_of(const Webhook& webhook) {
  return !webhook.active  ? WebhookState::disabled
         : webhook.paused ? WebhookState::paused
                          : WebhookState::active;
}

struct WebhookFilter {
  std::optional<bool> active;
  std::optional<WebhookState> state;
  std::optional<CircuitState> circuit;
  std::optional<std::string> event_type;
  std::optional<std::string> tenant_id;
  std::optional<std::string> resource_id;
  std::optional<std::string> words;
};

std::string to_lower(std::string_view text) {
  std::string lower{text};
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

bool mentions(const Webhook& webhook, const std::string& words) {
  const auto contains = [wanted = to_lower(words)](std::string_view text) {
    return find_text(to_lower(text), wanted) != std::string::npos;
  };
  return contains(webhook.url) || contains(webhook.name.value_or("")) ||
         contains(webhook.description.value_or("")) || contains(webhook.id.to_string());
}

using OpenCircuits = std::map<WebhookId, CircuitState>;

bool has_circuit(const OpenCircuits& circuits, WebhookId id, CircuitState wanted) {
  const auto found = circuits.find(id);
  return (found == circuits.end() ? CircuitState::closed : found->second) == wanted;
}

bool passes(const Webhook& webhook, const WebhookFilter& filter, const OpenCircuits& circuits) {
  const auto matches_type = [&](const EventPattern& pattern) {
    return pattern.matches(*filter.event_type);
  };
  return (!filter.active || webhook.active == *filter.active) &&
         (!filter.state || state_of(webhook) == *filter.state) &&
         (!filter.circuit || has_circuit(circuits, webhook.id, *filter.circuit)) &&
         (!filter.tenant_id || webhook.tenant_id == *filter.tenant_id) &&
         (!filter.resource_id || webhook.resource_id == filter.resource_id) &&
         (!filter.event_type || std::ranges::any_of(webhook.events, matches_type)) &&
         (!filter.words || mentions(webhook, *filter.words));
}

struct WebhookQuery {
  WebhookFilter filter;
  IdPage page;
};

/// What is known about the webhooks of a page besides their settings.
struct PageDetails {
  LaneViews lanes;
  std::map<WebhookId, LatestResults> latest;
};

Parsed<WebhookQuery> read_query(const HttpRequest& request) {
  QueryReader query{request};
  WebhookQuery asked;
  const auto parse_state = [](std::string_view text) { return states.find(text); };
  asked.filter = {
      .active = query.boolean("active"),
      .state = query.one_of("status", parse_state, "active, paused or disabled"),
      .circuit = query.one_of("circuit", parse_circuit_state, "closed, open or half_open"),
      .event_type = query.text("event_type"),
      .tenant_id = query.text("tenant_id"),
      .resource_id = query.text("resource_id"),
      .words = query.text("q")};
  if (asked.filter.event_type && !is_event_type(*asked.filter.event_type)) {
    query.refuse("event_type", "must be an event type such as order.created.");
  }
  POSTRIDER_TRY(const IdPage page, read_id_page(query, ListKind::webhooks));
  asked.page = page;
  return asked;
}

std::string write_page(const ListedById<WebhookRef>& page, const PageDetails& details,
                       const Crypto& crypto) {
  const auto write_item = [&details, &crypto](JsonWriter& writer, const WebhookRef& webhook) {
    const auto lane = details.lanes.find(webhook->id);
    const auto latest = details.latest.find(webhook->id);
    write_webhook(writer, *webhook,
                  {.lane = lane == details.lanes.end() ? nullptr : &lane->second,
                   .latest = latest == details.latest.end() ? LatestResults{} : latest->second,
                   .public_key = public_key(crypto, webhook->signature.scheme, webhook->secret)});
  };
  return write_list(page, ListKind::webhooks, write_item);
}

}  // namespace

Awaitable<Reply> list_webhooks(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(const WebhookQuery asked, read_query(request));
  const auto directory = context.services.snapshots.directory();
  OpenCircuits circuits;
  if (asked.filter.circuit) {
    const auto query = [](Reader& reader) { return reader.history->open_circuits(); };
    auto reading = context.queries().read(query);
    Result<OpenCircuits> found = co_await std::move(reading);
    if (!found) {
      co_return tl::make_unexpected(to_problem(found.error()));
    }
    circuits = *std::move(found);
  }
  const auto wanted = [&](const Webhook& webhook) {
    return passes(webhook, asked.filter, circuits);
  };
  const ListedById<WebhookRef> page = select_page(directory->all(), asked.page, wanted);
  std::vector<WebhookId> ids;
  ids.reserve(page.items.size());
  for (const WebhookRef& webhook : page.items) {
    ids.push_back(webhook->id);
  }
  const auto query = [ids](Reader& reader) { return reader.history->latest_results(ids); };
  auto reading = context.queries().read(query);
  Result<std::map<WebhookId, LatestResults>> latest = co_await std::move(reading);
  if (!latest) {
    co_return tl::make_unexpected(to_problem(latest.error()));
  }
  auto pending = context.services.lanes.lane_views(std::move(ids));
  LaneViews lanes = co_await std::move(pending);
  const PageDetails details{std::move(lanes), *std::move(latest)};
  co_return json_answer(200, write_page(page, details, *context.options->crypto));
}

}  // namespace postrider::api
