#include "adapters/sql/admin/channel_row.h"

#include <string>
#include <utility>

#include "core/stored/text_lines.h"

#include "adapters/sql/upsert.h"

namespace postrider::sql {
namespace {

// These numbers are stored on disk and must never change.
static_assert(static_cast<int>(Severity::info) == 0 && static_cast<int>(Severity::critical) == 2);

#define POSTRIDER_CHANNEL_COLUMNS                                                     \
  "id, tenant_id, name, kind, email_to, to_owner, to_contacts, webhook_id, kinds,"    \
  " severity_min, webhook_ids, send_resolved, group_window_ms, per_hour_max, active," \
  " configured, created_at, updated_at"

constexpr std::string_view select_sql =
    "SELECT " POSTRIDER_CHANNEL_COLUMNS " FROM notification_channel WHERE removed = 0 ORDER BY id";

constexpr UpsertColumns written_columns{.all = POSTRIDER_CHANNEL_COLUMNS ", removed", .key = "id"};

Result<std::vector<NotificationKind>> parse_kinds(std::string_view text) {
  std::vector<NotificationKind> kinds;
  for (const std::string& line : stored::split_lines(text)) {
    const std::optional<NotificationKind> kind = parse_notification_kind(line);
    if (!kind) {
      return fail(Errc::corrupt, "A stored notification channel names an unknown kind.");
    }
    kinds.push_back(*kind);
  }
  return kinds;
}

Result<std::vector<WebhookId>> parse_webhook_ids(std::string_view text) {
  std::vector<WebhookId> ids;
  for (const std::string& line : stored::split_lines(text)) {
    const std::optional<WebhookId> id = WebhookId::parse(line);
    if (!id) {
      return fail(Errc::corrupt, "A stored notification channel names a damaged webhook id.");
    }
    ids.push_back(*id);
  }
  return ids;
}

Result<NotificationChannel> read_channel(const Query& query) {
  const std::optional<ChannelKind> kind = channel_kinds.find(query.bytes(3));
  if (!kind) {
    return fail(Errc::corrupt, "A stored notification channel has an unknown kind.");
  }
  NotificationChannel channel{.id = query.id<ChannelId>(0),
                              .tenant_id = query.text_or_null(1),
                              .name = query.text(2),
                              .kind = *kind,
                              .email = {.to = stored::split_lines(query.bytes(4)),
                                        .to_owner = query.integer(5) != 0,
                                        .to_contacts = query.integer(6) != 0},
                              .webhook_id = query.id_or_null<WebhookId>(7),
                              .kinds = {},
                              .severity_min = query.as<Severity>(9),
                              .webhook_ids = {},
                              .send_resolved = query.integer(11) != 0,
                              .group_window = Millis{query.integer(12)},
                              .per_hour_max = query.as<std::uint32_t>(13),
                              .active = query.integer(14) != 0,
                              .configured = query.integer(15) != 0,
                              .created_at = query.time(16),
                              .updated_at = query.time(17)};
  POSTRIDER_TRY(channel.kinds, parse_kinds(query.bytes(8)));
  POSTRIDER_TRY(channel.webhook_ids, parse_webhook_ids(query.bytes(10)));
  return channel;
}

}  // namespace

Result<std::vector<NotificationChannel>> read_channels(Database& database) {
  POSTRIDER_TRY(Statement statement, database.prepare(select_sql));
  std::vector<NotificationChannel> channels;
  Query query = statement.query();
  for (;;) {
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return channels;
    }
    POSTRIDER_TRY(NotificationChannel channel, read_channel(query));
    channels.push_back(std::move(channel));
  }
}

Result<void> write_channel(Database& database, const NotificationChannel& channel) {
  std::vector<std::string> kinds;
  kinds.reserve(channel.kinds.size());
  for (const NotificationKind kind : channel.kinds) {
    kinds.emplace_back(to_string(kind));
  }
  std::vector<std::string> webhook_ids;
  webhook_ids.reserve(channel.webhook_ids.size());
  for (const WebhookId id : channel.webhook_ids) {
    webhook_ids.push_back(id.to_string());
  }
  POSTRIDER_TRY(Statement statement,
                database.prepare(upsert_sql("notification_channel", written_columns)));
  return statement.run(channel.id, channel.tenant_id, channel.name, to_string(channel.kind),
                       stored::join_lines(channel.email.to), channel.email.to_owner,
                       channel.email.to_contacts, channel.webhook_id, stored::join_lines(kinds),
                       channel.severity_min, stored::join_lines(webhook_ids), channel.send_resolved,
                       channel.group_window, channel.per_hour_max, channel.active,
                       channel.configured, channel.created_at, channel.updated_at, false);
}

}  // namespace postrider::sql
