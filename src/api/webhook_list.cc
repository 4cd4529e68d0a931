#include <algorithm>
#include <iterator>

#include "api/answers.h"
#include "api/pagination.h"
#include "api/resources.h"
#include "api/webhook_json.h"

namespace postrider::api {
namespace {

struct WebhookFilter {
  std::optional<bool> active;
  std::optional<std::string> event_type;
  std::optional<std::string> tenant_id;
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
    return to_lower(text).find(wanted) != std::string::npos;
  };
  return contains(webhook.url) || contains(webhook.name.value_or("")) ||
         contains(webhook.description.value_or("")) || contains(webhook.id.to_string());
}

bool passes(const Webhook& webhook, const WebhookFilter& filter) {
  const auto matches_type = [&](const EventPattern& pattern) {
    return pattern.matches(*filter.event_type);
  };
  return (!filter.active || webhook.active == *filter.active) &&
         (!filter.tenant_id || webhook.tenant_id == *filter.tenant_id) &&
         (!filter.event_type || std::ranges::any_of(webhook.events, matches_type)) &&
         (!filter.words || mentions(webhook, *filter.words));
}

struct WebhookPage {
  std::vector<WebhookRef> webhooks;
  bool more = false;
};

/// Newest first: ids sort by time.
WebhookPage select_page(const Directory& directory, const WebhookFilter& filter,
                        const PageQuery& asked) {
  WebhookPage page;
  const auto& all = directory.all();
  auto end = all.end();
  if (asked.place) {
    WebhookId last;
    std::ranges::copy(*asked.place, last.bytes.begin());
    end = all.lower_bound(last);
  }
  std::uint32_t to_skip = asked.offset;
  for (auto next = std::make_reverse_iterator(end); next != all.rend(); ++next) {
    if (!passes(*next->second, filter)) {
      continue;
    }
    if (to_skip > 0) {
      --to_skip;
      continue;
    }
    if (page.webhooks.size() == asked.limit) {
      page.more = true;
      break;
    }
    page.webhooks.push_back(next->second);
  }
  return page;
}

struct WebhookQuery {
  WebhookFilter filter;
  PageQuery page;
};

Parsed<WebhookQuery> read_query(const HttpRequest& request) {
  QueryReader query{request};
  WebhookQuery asked;
  asked.filter = {.active = query.boolean("active"),
                  .event_type = query.text("event_type"),
                  .tenant_id = query.text("tenant_id"),
                  .words = query.text("q")};
  if (asked.filter.event_type && !is_event_type(*asked.filter.event_type)) {
    query.refuse("event_type", "must be an event type such as order.created.");
  }
  Parsed<PageQuery> page = read_page(query, ListKind::webhooks);
  if (std::optional<Problem> fault = query.fault()) {
    return tl::make_unexpected(*std::move(fault));
  }
  if (!page) {
    return tl::make_unexpected(page.error());
  }
  asked.page = *std::move(page);
  if (asked.page.place && asked.page.place->size() != sizeof(Uuid)) {
    return tl::make_unexpected(invalid_cursor());
  }
  return asked;
}

std::string write_page(const WebhookPage& page, const LaneViews& lanes) {
  std::string body;
  JsonWriter writer{body};
  writer.open_object();
  writer.key("data");
  writer.open_array();
  for (const WebhookRef& webhook : page.webhooks) {
    const auto lane = lanes.find(webhook->id);
    write_webhook(writer, *webhook, {.lane = lane == lanes.end() ? nullptr : &lane->second});
  }
  writer.close_array();
  writer.key("next_cursor");
  if (page.more) {
    const Uuid& last = page.webhooks.back()->id.bytes;
    writer.value(write_cursor(ListKind::webhooks, std::string{last.begin(), last.end()}));
  } else {
    writer.value(nullptr);
  }
  writer.close_object();
  return body;
}

}  // namespace

Awaitable<HttpResponse> list_webhooks(Context context, HttpRequest request) {
  const Parsed<WebhookQuery> asked = read_query(request);
  if (!asked) {
    co_return render(asked.error());
  }
  const auto directory = context.service->directory();
  const WebhookPage page = select_page(*directory, asked->filter, asked->page);
  std::vector<WebhookId> ids;
  ids.reserve(page.webhooks.size());
  for (const WebhookRef& webhook : page.webhooks) {
    ids.push_back(webhook->id);
  }
  auto pending = view_lanes(context, std::move(ids));
  const LaneViews lanes = co_await std::move(pending);
  co_return json_answer(200, write_page(page, lanes));
}

}  // namespace postrider::api
