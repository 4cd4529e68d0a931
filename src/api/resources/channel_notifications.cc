#include "api/json/channel_json.h"
#include "api/json/json_body.h"
#include "api/json/list_answer.h"
#include "api/json/query_reader.h"
#include "api/resources/answers.h"
#include "api/resources/api_shares.h"
#include "api/resources/audit.h"
#include "api/resources/channel_draft.h"
#include "api/resources/publishing.h"
#include "api/resources/resources.h"

namespace postrider::api {
namespace {

struct NotificationQuery {
  NotificationFilter filter;
  Page page;
};

Parsed<NotificationQuery> read_query(const Context& context, const HttpRequest& request) {
  POSTRIDER_TRY(const ChannelRef channel, path_channel(context.services.snapshots, request));
  const auto find = [](std::string_view text) { return notification_states.find(text); };
  QueryReader query{request};
  NotificationQuery asked;
  asked.filter = {.channel_id = channel->id,
                  .states = query.list_of("state", find, "waiting, sent, held_back or failed"),
                  .alert_id = query.one_of("alert_id", AlertId::parse, "an alert's id")};
  POSTRIDER_TRY(asked.page, read_history_page(query, ListKind::notifications));
  return asked;
}

Result<Listed<Notification>> read_notifications(Reader& reader, const NotificationQuery& asked) {
  return reader.notifications->list_notifications(asked.filter, asked.page);
}

std::string write_page(const Listed<Notification>& listed) {
  return write_list(listed, ListKind::notifications, write_notification);
}

Notification new_test(const Context& context, const NotificationChannel& channel) {
  const WallTime now = context.services.clock.now().wall;
  return {.id = NotificationId{context.services.ids.new_uuid()},
          .channel_id = channel.id,
          .kind = NotificationKind::test(),
          .transition = NotificationTransition::test,
          .facts = {.tenant_id = channel.tenant_id,
                    .detail = "This is a test of the notification channel.",
                    .raised_at = now},
          .made_at = now,
          .next_attempt_at = now};
}

HttpResponse show(const Notification& notification) {
  std::string body;
  JsonWriter writer{body};
  write_notification(writer, notification);
  return json_answer(200, std::move(body));
}

Problem test_problem(const Error& error, ChannelId id) {
  if (error.code != Errc::conflict) {
    return to_problem(error, channel_noun, id.to_string());
  }
  return {.status = 429,
          .code = "too_many_tests",
          .title = "The channel was tested too often",
          .detail = error.message,
          .errors = {}};
}

}  // namespace

Awaitable<Reply> list_notifications(Context context, HttpRequest request) {
  Parsed<NotificationQuery> asked = read_query(context, request);
  return answer_list(std::move(context), std::move(asked), read_notifications, write_page);
}

Awaitable<Reply> test_channel(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(const ChannelRef channel, path_channel(context.services.snapshots, request));
  POSTRIDER_CO_CHECK(check_no_parameters(request));
  POSTRIDER_CO_CHECK(check_not_suspended(context.services.snapshots, owner_of(*channel)));
  POSTRIDER_CO_TRY(const SharePlace place, take_test_place(context));
  AuditEntry entry = audit_entry(context, {.action = "notification_channel.test",
                                           .subject = channel->id.to_string(),
                                           .tenant_id = channel->tenant_id.value_or(TenantId{})});
  Notification test = new_test(context, *channel);
  auto pending = context.services.channel_tests.send_test_notification(
      std::move(test), std::move(entry), context.request_key);
  const Result<Notification> sent = co_await std::move(pending);
  if (!sent) {
    co_return tl::make_unexpected(test_problem(sent.error(), channel->id));
  }
  co_return show(*sent);
}

Awaitable<Reply> show_channel_test(Context context, HttpRequest request) {
  POSTRIDER_CO_TRY(const NotificationId id, path_id<NotificationId>(request, "id", "notification"));
  const auto query = [id](Reader& reader) { return reader.notifications->find_notification(id); };
  auto pending = context.queries().read(query);
  const Result<Notification> found = co_await std::move(pending);
  if (!found) {
    co_return tl::make_unexpected(to_problem(found.error(), "notification", id.to_string()));
  }
  co_return show(*found);
}

}  // namespace postrider::api
