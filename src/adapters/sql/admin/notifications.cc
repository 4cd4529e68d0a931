#include "adapters/sql/admin/notifications.h"

#include <utility>

#include <fmt/format.h>

#include "adapters/sql/admin/channel_row.h"
#include "adapters/sql/select.h"

namespace postrider::sql {
namespace {

// These numbers are stored on disk and must never change.
static_assert(static_cast<int>(NotificationTransition::raised) == 0 &&
              static_cast<int>(NotificationTransition::test) == 3 &&
              static_cast<int>(NotificationState::waiting) == 0 &&
              static_cast<int>(NotificationState::failed) == 3);

#define POSTRIDER_NOTIFICATION_COLUMNS                                                         \
  "id, channel_id, kind, transition, alert_id, tenant_id, webhook_id, webhook_name,"           \
  " webhook_url, source, operation_id, detail, measured, measured_limit, unit, raised_at,"     \
  " resolved_at, owner_email, made_at, state, attempts, last_error, sent_at, next_attempt_at," \
  " message_id, event_id"

constexpr std::string_view add_sql =
    "INSERT INTO notification (" POSTRIDER_NOTIFICATION_COLUMNS
    ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,"
    " ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26)"
    " ON CONFLICT (id) DO NOTHING";

constexpr std::string_view settle_sql =
    "UPDATE notification SET state = ?2, attempts = ?3, last_error = ?4, sent_at = ?5,"
    " next_attempt_at = ?6, message_id = ?7, event_id = ?8 WHERE id = ?1 AND state = 0";

constexpr std::string_view waiting_sql =
    "SELECT " POSTRIDER_NOTIFICATION_COLUMNS
    " FROM notification WHERE state = 0 AND id > ?1"
    "   AND EXISTS (SELECT 1 FROM notification_channel c"
    "                WHERE c.id = notification.channel_id AND c.removed = 0)"
    " ORDER BY id LIMIT ?2";

constexpr std::string_view remove_old_sql =
    "DELETE FROM notification WHERE sequence IN"
    " (SELECT sequence FROM notification WHERE state > 0 AND made_at < ?1 ORDER BY made_at LIMIT "
    "?2)";

constexpr std::string_view remove_of_removed_sql =
    "DELETE FROM notification WHERE sequence IN"
    " (SELECT sequence FROM notification WHERE channel_id IN"
    "   (SELECT id FROM notification_channel WHERE removed = 1) LIMIT ?1)";

constexpr std::string_view remove_channels_sql =
    "DELETE FROM notification_channel WHERE removed = 1";

constexpr std::string_view count_sql =
    "SELECT state, count(*) FROM notification WHERE channel_id = ?1 GROUP BY state";

std::optional<AlertMeasure> read_measure(const Query& query, int first) {
  if (query.is_null(first)) {
    return std::nullopt;
  }
  return AlertMeasure{.count = query.real(first),
                      .limit = query.real(first + 1),
                      .unit = query.as<AlertUnit>(first + 2)};
}

/// The columns begin with `first`.
Result<Notification> read_notification(const Query& query, int first) {
  const std::optional<NotificationKind> kind = parse_notification_kind(query.bytes(first + 2));
  if (!kind) {
    return fail(Errc::corrupt, "A stored notification has an unknown kind.");
  }
  return Notification{.id = query.id<NotificationId>(first),
                      .channel_id = query.id<ChannelId>(first + 1),
                      .kind = *kind,
                      .transition = query.as<NotificationTransition>(first + 3),
                      .alert_id = query.id_or_null<AlertId>(first + 4),
                      .facts = {.tenant_id = query.text_or_null(first + 5),
                                .webhook_id = query.id_or_null<WebhookId>(first + 6),
                                .webhook_name = query.text_or_null(first + 7),
                                .webhook_url = query.text_or_null(first + 8),
                                .source = query.text_or_null(first + 9),
                                .operation_id = query.id_or_null<OperationId>(first + 10),
                                .detail = query.text(first + 11),
                                .measure = read_measure(query, first + 12),
                                .raised_at = query.time(first + 15),
                                .resolved_at = query.time_or_null(first + 16),
                                .owner_email = query.text_or_null(first + 17)},
                      .made_at = query.time(first + 18),
                      .state = query.as<NotificationState>(first + 19),
                      .attempts = query.as<std::uint32_t>(first + 20),
                      .last_error = query.text(first + 21),
                      .sent_at = query.time_or_null(first + 22),
                      .next_attempt_at = query.time_or_null(first + 23),
                      .message_id = query.id_or_null<MessageId>(first + 24),
                      .event_id = query.id_or_null<EventId>(first + 25)};
}

Result<void> insert(Statement& statement, const Notification& notification) {
  const NotificationFacts& facts = notification.facts;
  const std::optional<AlertMeasure>& measure = facts.measure;
  return statement.run(
      notification.id, notification.channel_id, to_string(notification.kind),
      notification.transition, notification.alert_id, facts.tenant_id, facts.webhook_id,
      facts.webhook_name, facts.webhook_url, facts.source, facts.operation_id, facts.detail,
      measure ? std::optional{measure->count} : std::nullopt,
      measure ? std::optional{measure->limit} : std::nullopt,
      measure ? std::optional{measure->unit} : std::nullopt, facts.raised_at, facts.resolved_at,
      facts.owner_email, notification.made_at, notification.state, notification.attempts,
      notification.last_error, notification.sent_at, notification.next_attempt_at,
      notification.message_id, notification.event_id);
}

class SqlNotificationWriter final : public NotificationWriter {
 public:
  explicit SqlNotificationWriter(std::shared_ptr<Writer> writer) : writer_(std::move(writer)) {}

  Result<std::vector<NotificationChannel>> load_channels() override {
    POSTRIDER_CHECK(writer_->usable());
    return read_channels(writer_->database());
  }

  Result<void> put_channel(const NotificationChannel& channel) override {
    return writer_->transact_repeatedly(
        [&] { return write_channel(writer_->database(), channel); });
  }

  Result<void> remove_channel(ChannelId id) override {
    return writer_->transact_repeatedly([&]() -> Result<void> {
      POSTRIDER_TRY(Statement statement,
                    writer_->database().prepare("UPDATE notification_channel SET removed = 1"
                                                " WHERE id = ?1 AND removed = 0"));
      POSTRIDER_CHECK(statement.run(id));
      if (writer_->database().changes() == 0) {
        return fail(Errc::not_found, "There is no such notification channel.");
      }
      return {};
    });
  }

  Result<void> add(std::span<const Notification> notifications) override {
    return writer_->transact_repeatedly([&]() -> Result<void> {
      POSTRIDER_TRY(Statement statement, writer_->database().prepare(add_sql));
      for (const Notification& notification : notifications) {
        POSTRIDER_CHECK(insert(statement, notification));
      }
      return {};
    });
  }

  Result<void> settle(std::span<const NotificationOutcome> outcomes) override {
    return writer_->transact_repeatedly([&]() -> Result<void> {
      POSTRIDER_TRY(Statement statement, writer_->database().prepare(settle_sql));
      for (const NotificationOutcome& outcome : outcomes) {
        POSTRIDER_CHECK(statement.run(outcome.id, outcome.state, outcome.attempts,
                                      outcome.last_error, outcome.sent_at, outcome.next_attempt_at,
                                      outcome.message_id, outcome.event_id));
      }
      return {};
    });
  }

  Result<std::vector<Notification>> load_waiting(std::optional<NotificationId> after,
                                                 std::uint32_t limit) override {
    POSTRIDER_CHECK(writer_->usable());
    POSTRIDER_TRY(Statement statement, writer_->database().prepare(waiting_sql));
    std::vector<Notification> waiting;
    Query query = statement.query(after.value_or(NotificationId{}), limit);
    for (;;) {
      POSTRIDER_TRY(const bool found, query.next());
      if (!found) {
        return waiting;
      }
      POSTRIDER_TRY(Notification notification, read_notification(query, 0));
      waiting.push_back(std::move(notification));
    }
  }

  Result<std::uint32_t> remove_old(WallTime before, std::uint32_t limit) override {
    return writer_->transact_repeatedly([&]() -> Result<std::uint32_t> {
      POSTRIDER_TRY(const std::uint32_t removed, run_removal(remove_of_removed_sql, limit));
      if (removed == limit) {
        return removed;
      }
      POSTRIDER_CHECK(run_removal(remove_channels_sql));
      POSTRIDER_TRY(const std::uint32_t old, run_removal(remove_old_sql, before, limit - removed));
      return removed + old;
    });
  }

 private:
  template <class... Values>
  Result<std::uint32_t> run_removal(std::string_view sql, const Values&... values) {
    POSTRIDER_TRY(Statement statement, writer_->database().prepare(sql));
    POSTRIDER_CHECK(statement.run(values...));
    return static_cast<std::uint32_t>(writer_->database().changes());
  }

  std::shared_ptr<Writer> writer_;
};

class SqlNotificationReader final : public NotificationReader {
 public:
  explicit SqlNotificationReader(std::shared_ptr<Database> database)
      : database_(std::move(database)) {}

  Result<Listed<Notification>> list_notifications(const NotificationFilter& filter,
                                                  const Page& page) override {
    POSTRIDER_TRY(Statement statement, select(filter, page).prepare(*database_));
    Listed<Notification> listed;
    std::int64_t last = 0;
    Query query = statement.query();
    for (;;) {
      POSTRIDER_TRY(const bool found, query.next());
      if (!found) {
        return listed;
      }
      if (listed.items.size() == page.limit) {
        listed.next = last;
        return listed;
      }
      last = query.integer(0);
      POSTRIDER_TRY(Notification notification, read_notification(query, 1));
      listed.items.push_back(std::move(notification));
    }
  }

  Result<Notification> find_notification(NotificationId id) override {
    POSTRIDER_TRY(Statement statement, database_->prepare("SELECT " POSTRIDER_NOTIFICATION_COLUMNS
                                                          " FROM notification WHERE id = ?1"));
    Query query = statement.query(id);
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return fail(Errc::not_found, "There is no such notification.");
    }
    return read_notification(query, 0);
  }

  Result<NotificationCounts> count_notifications(ChannelId id) override {
    POSTRIDER_TRY(Statement statement, database_->prepare(count_sql));
    NotificationCounts counts;
    Query query = statement.query(id);
    for (;;) {
      POSTRIDER_TRY(const bool found, query.next());
      if (!found) {
        return counts;
      }
      count_of(counts, query.as<NotificationState>(0)) = query.as<std::uint64_t>(1);
    }
  }

 private:
  static Select select(const NotificationFilter& filter, const Page& page) {
    Select select{"SELECT sequence, " POSTRIDER_NOTIFICATION_COLUMNS " FROM notification"};
    if (filter.channel_id) {
      select.where("channel_id = ?", *filter.channel_id);
    }
    if (filter.alert_id) {
      select.where("alert_id = ?", *filter.alert_id);
    }
    select.where_in("state", filter.states);
    if (page.before) {
      select.where("sequence < ?", *page.before);
    }
    select.append(fmt::format(" ORDER BY sequence DESC LIMIT {} OFFSET {}",
                              std::int64_t{page.limit} + 1, page.offset));
    return select;
  }

  std::shared_ptr<Database> database_;
};

}  // namespace

std::unique_ptr<NotificationWriter> make_notification_writer(std::shared_ptr<Writer> writer) {
  return std::make_unique<SqlNotificationWriter>(std::move(writer));
}

std::unique_ptr<NotificationReader> make_notification_reader(std::shared_ptr<Database> database) {
  return std::make_unique<SqlNotificationReader>(std::move(database));
}

std::vector<std::string_view> notification_queries() {
  return {waiting_sql, remove_old_sql, remove_of_removed_sql, count_sql};
}

}  // namespace postrider::sql
