#include "adapters/sqlite/admin/channel_row.h"

#include <string>
#include <utility>

#include "adapters/sqlite/database/text_lines.h"

namespace postrider::sqlite {
namespace {

// These numbers are stored on disk and must never change.
static_assert(static_cast<int>(Severity::info) == 0 && static_cast<int>(Severity::critical) == 2);

#define POSTRIDER_CHANNEL_COLUMNS                                                     \
  "id, tenant_id, name, kind, email_to, to_owner, to_contacts, webhook_id, kinds,"    \
  " severity_min, webhook_ids, send_resolved, group_window_ms, per_hour_max, active," \
  " configured, created_at, updated_at"

constexpr std::string_view select_sql =
    "SELECT " POSTRIDER_CHANNEL_COLUMNS " FROM notification_channel WHERE removed = 0 ORDER BY id";

constexpr std::string_view replace_sql =
    "INSERT OR REPLACE INTO notification_channel (" POSTRIDER_CHANNEL_COLUMNS
    ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)";

Result<std::vector<NotificationKind>> parse_kinds(std::string_view text) {
  std::vector<NotificationKind> kinds;
  for (const std::string& line : split_lines(text)) {
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
  for (const std::string& line : split_lines(text)) {
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
  NotificationChannel channel{
      .id = query.id<ChannelId>(0),
      .tenant_id = query.text_or_null(1),
      .name = query.text(2),
      .kind = *kind,
      .email = {.to = split_lines(query.bytes(4)),
                .to_owner = query.integer(5) != 0,
                .to_contacts = query.integer(6) != 0},
      .webhook_id = query.is_null(7) ? std::nullopt : std::optional{query.id<WebhookId>(7)},
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
  for (const NotificationKind kind : channel.kinds) {
    kinds.emplace_back(to_string(kind));
  }
  std::vector<std::string> webhook_ids;
  for (const WebhookId id : channel.webhook_ids) {
    webhook_ids.push_back(id.to_string());
  }
  POSTRIDER_TRY(Statement statement, database.prepare(replace_sql));
  return statement.run(channel.id, channel.tenant_id, channel.name, to_string(channel.kind),
                       join_lines(channel.email.to), channel.email.to_owner,
                       channel.email.to_contacts, channel.webhook_id, join_lines(kinds),
                       channel.severity_min, join_lines(webhook_ids), channel.send_resolved,
                       channel.group_window, channel.per_hour_max, channel.active,
                       channel.configured, channel.created_at, channel.updated_at);
}

}  // namespace postrider::sqlite
