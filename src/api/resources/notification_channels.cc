#include "api/json/channel_json.h"
#include "api/json/json_body.h"
#include "api/json/list_answer.h"
#include "api/json/memory_page.h"
#include "api/json/query_reader.h"
#include "api/resources/answers.h"
#include "api/resources/audit.h"
#include "api/resources/channel_draft.h"
#include "api/resources/publishing.h"
#include "api/resources/resources.h"
#include "api/resources/verification.h"

namespace postrider::api {
namespace {

struct ChannelQuery {
  std::optional<TenantId> tenant_id;
  std::optional<ChannelKind> kind;
  IdPage page;
};

Parsed<ChannelQuery> read_query(const HttpRequest& request) {
  QueryReader query{request};
  const auto find = [](std::string_view text) { return channel_kinds.find(text); };
  ChannelQuery asked{.tenant_id = query.text("tenant_id"),
                     .kind = query.one_of("kind", find, "email, webhook, slack or teams"),
                     .page = {}};
  POSTRIDER_TRY(asked.page, read_id_page(query, ListKind::channels));
  return asked;
}

WebhookRef webhook_of(const Directory& webhooks, const NotificationChannel& channel) {
  return channel.webhook_id ? webhooks.find(*channel.webhook_id) : nullptr;
}

std::string channel_text(const Context& context, const NotificationChannel& channel,
                         const std::optional<NotificationCounts>& counts) {
  const WebhookRef webhook = webhook_of(*context.services.snapshots.directory(), channel);
  std::string body;
  JsonWriter writer{body};
  open_channel(writer, channel, webhook.get());
  if (counts) {
    writer.key("notifications");
    write_counts(writer, *counts);
  }
  writer.close_object();
  return body;
}

AuditEntry entry_of(const Context& context, const NotificationChannel& channel,
                    std::string action) {
  return audit_entry(context, {.action = std::move(action),
                               .subject = channel.id.to_string(),
                               .tenant_id = channel.tenant_id.value_or(TenantId{})});
}

Problem change_problem(const Error& error, ChannelId id) {
  return error.code == Errc::conflict ? conflict("channel_configured", error.message)
                                      : to_problem(error, channel_noun, id.to_string());
}

/// Verifies the URL if the server requires that of new URLs. A chat service does not repeat a
/// challenge, so only the operator can name one then.
Awaitable<Parsed<void>> verify_target(Context context, OwnedChannel owned) {
  if (!context.options->require_verification || !owned.webhook) {
    co_return Parsed<void>{};
  }
  if (owned.channel.kind != ChannelKind::webhook) {
    if (context.caller.tenant_id) {
      co_return tl::make_unexpected(verification_failed(
          "This server verifies URLs, which a chat service does not support. Ask its operator to "
          "create the channel."));
    }
    co_return Parsed<void>{};
  }
  POSTRIDER_CO_CHECK(check_not_suspended(context.services.snapshots, owned.webhook->tenant_id));
  auto pending = verify(context, *std::move(owned.webhook));
  const Parsed<std::optional<std::string>> fault = co_await std::move(pending);
  POSTRIDER_CO_CHECK(fault);
  if (*fault) {
    co_return tl::make_unexpected(verification_failed(**fault));
  }
  co_return Parsed<void>{};
}

Parsed<OwnedChannel> read_new(const Context& context, const HttpRequest& request) {
  POSTRIDER_TRY(std::vector<JsonMember> members, read_body(request));
  return draft_new_channel(context, std::move(members));
}

}  // namespace

Awaitable<Reply> list_channels(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(const ChannelQuery asked, read_query(request));
  const auto passes = [&asked](const NotificationChannel& channel) {
    return (!asked.tenant_id || channel.tenant_id == asked.tenant_id) &&
           (!asked.kind || channel.kind == *asked.kind);
  };
  const std::shared_ptr<const ChannelDirectory> channels = context.services.snapshots.channels();
  const std::shared_ptr<const Directory> webhooks = context.services.snapshots.directory();
  const auto write_item = [&webhooks](JsonWriter& writer, const ChannelRef& channel) {
    open_channel(writer, *channel, webhook_of(*webhooks, *channel).get());
    writer.close_object();
  };
  co_return json_answer(200, write_list(select_page(channels->all(), asked.page, passes),
                                        ListKind::channels, write_item));
}

Awaitable<Reply> create_channel(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(OwnedChannel draft, read_new(context, request));
  auto verifying = verify_target(context, draft);
  const Parsed<void> verified = co_await std::move(verifying);
  POSTRIDER_CO_CHECK(verified);
  AuditEntry entry = entry_of(context, draft.channel, "notification_channel.create");
  auto pending = context.services.channels.add_channel(std::move(draft), std::move(entry),
                                                       context.request_key);
  const Result<ChannelRef> added = co_await std::move(pending);
  if (!added && added.error().code == Errc::conflict) {
    co_return tl::make_unexpected(conflict("too_many_channels", added.error().message));
  }
  if (!added) {
    co_return tl::make_unexpected(to_problem(added.error()));
  }
  HttpResponse response = json_answer(201, channel_text(context, **added, NotificationCounts{}));
  response.headers.emplace_back("Location",
                                "/v1/notification-channels/" + (*added)->id.to_string());
  co_return response;
}

Awaitable<Reply> get_channel(Context context, HttpRequest request) {
  POSTRIDER_CO_CHECK(check_no_query(request));
  POSTRIDER_CO_TRY(const ChannelRef channel, path_channel(context.services.snapshots, request));
  const auto query = [id = channel->id](Reader& reader) {
    return reader.notifications->count_notifications(id);
  };
  auto pending = context.queries().read(query);
  const Result<NotificationCounts> counts = co_await std::move(pending);
  if (!counts) {
    co_return tl::make_unexpected(to_problem(counts.error()));
  }
  co_return json_answer(200, channel_text(context, *channel, *counts));
}

Awaitable<Reply> update_channel(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(const ChannelRef current, path_channel(context.services.snapshots, request));
  POSTRIDER_CO_TRY(std::vector<JsonMember> members, read_body(request));
  POSTRIDER_CO_TRY(OwnedChannel before, find_owned(context.services.snapshots, *current));
  POSTRIDER_CO_TRY(OwnedChannel trial, draft_changed_channel(context, before, std::move(members)));
  if (trial.webhook && trial.webhook->url != before.webhook->url) {
    auto verifying = verify_target(context, std::move(trial));
    const Parsed<void> verified = co_await std::move(verifying);
    POSTRIDER_CO_CHECK(verified);
  }
  const auto merged = std::make_shared<Parsed<void>>();
  ChannelEdit edit = make_channel_edit(context, request.body, merged);
  AuditEntry entry = entry_of(context, *current, "notification_channel.update");
  auto pending =
      context.services.channels.edit_channel(current->id, std::move(edit), std::move(entry));
  const Result<ChannelRef> changed = co_await std::move(pending);
  POSTRIDER_CO_CHECK(*merged);
  if (!changed) {
    co_return tl::make_unexpected(change_problem(changed.error(), current->id));
  }
  co_return json_answer(200, channel_text(context, **changed, std::nullopt));
}

Awaitable<Reply> delete_channel(Context context, HttpRequest request) {
  POSTRIDER_CO_CHECK(check_no_query(request));
  POSTRIDER_CO_TRY(const ChannelRef channel, path_channel(context.services.snapshots, request));
  AuditEntry entry = entry_of(context, *channel, "notification_channel.delete");
  auto pending = context.services.channels.remove_channel(channel->id, std::move(entry));
  const Result<void> removed = co_await std::move(pending);
  if (!removed) {
    co_return tl::make_unexpected(change_problem(removed.error(), channel->id));
  }
  co_return HttpResponse{.status = 204, .content_type = "", .headers = {}, .body = {}};
}

}  // namespace postrider::api
