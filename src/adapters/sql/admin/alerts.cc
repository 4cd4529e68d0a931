#include "adapters/sql/admin/alerts.h"

#include <utility>

#include <fmt/format.h>

#include "adapters/sql/select.h"

namespace postrider::sql {
namespace {

// These numbers are stored on disk and must never change.
static_assert(static_cast<int>(AlertKind::circuit_opened) == 0 &&
              static_cast<int>(AlertKind::webhook_disabled) == 2 &&
              static_cast<int>(AlertKind::store_failing) == 6 &&
              static_cast<int>(AlertKind::pool_busy) == 12 &&
              static_cast<int>(AlertKind::p99_high) == 17 &&
              static_cast<int>(AlertKind::store_data_lost) == 20 &&
              static_cast<int>(AlertKind::messages_rejected) == 22 &&
              static_cast<int>(AlertKind::notifications_failing) == 23 &&
              static_cast<int>(AlertUnit::days) == 3);

#define POSTRIDER_ALERT_COLUMNS                                                               \
  "sequence, id, kind, webhook_id, tenant_id, raised_at, resolved_at, detail, webhook_name, " \
  "webhook_url, measured, measured_limit, unit, source"

constexpr std::string_view active_sql =
    "SELECT " POSTRIDER_ALERT_COLUMNS " FROM alert WHERE resolved_at IS NULL ORDER BY sequence";

constexpr std::string_view raise_sql =
    "INSERT INTO alert (id, kind, webhook_id, tenant_id, raised_at, resolved_at, detail,"
    " webhook_name, webhook_url, measured, measured_limit, unit, source)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"
    " ON CONFLICT (id) DO NOTHING";

constexpr std::string_view update_sql =
    "UPDATE alert SET detail = ?2, measured = ?3, measured_limit = ?4, unit = ?5"
    " WHERE id = ?1 AND resolved_at IS NULL";

constexpr std::string_view resolve_sql =
    "UPDATE alert SET resolved_at = ?2 WHERE id = ?1 AND resolved_at IS NULL";

constexpr std::string_view remove_sql =
    "DELETE FROM alert WHERE sequence IN (SELECT sequence FROM alert WHERE resolved_at < ?1"
    " ORDER BY sequence LIMIT ?2)";

std::optional<double> count_of(const Alert& alert) {
  return alert.measure ? std::optional{alert.measure->count} : std::nullopt;
}
std::optional<double> limit_of(const Alert& alert) {
  return alert.measure ? std::optional{alert.measure->limit} : std::nullopt;
}
std::optional<AlertUnit> unit_of(const Alert& alert) {
  return alert.measure ? std::optional{alert.measure->unit} : std::nullopt;
}

std::optional<AlertMeasure> read_measure(const Query& query) {
  if (query.is_null(12)) {
    return std::nullopt;
  }
  return AlertMeasure{
      .count = query.real(10), .limit = query.real(11), .unit = query.as<AlertUnit>(12)};
}

Alert read_alert(const Query& query) {
  const auto kind = query.as<AlertKind>(2);
  return {.id = query.id<AlertId>(1),
          .subject = {.kind = kind,
                      .webhook_id = query.id_or_null<WebhookId>(3),
                      .tenant_id = is_about_tenant(kind) ? query.text_or_null(4) : std::nullopt,
                      .source = query.text_or_null(13)},
          .tenant_id = query.text_or_null(4),
          .raised_at = query.time(5),
          .resolved_at = query.time_or_null(6),
          .detail = query.text(7),
          .measure = read_measure(query),
          .webhook_name = query.text_or_null(8),
          .webhook_url = query.text_or_null(9)};
}

class SqlAlertWriter final : public AlertWriter {
 public:
  explicit SqlAlertWriter(std::shared_ptr<Writer> writer) : writer_(std::move(writer)) {}

  Result<std::vector<Alert>> load_active() override {
    POSTRIDER_CHECK(writer_->usable());
    POSTRIDER_TRY(Statement statement, writer_->database().prepare(active_sql));
    std::vector<Alert> alerts;
    Query query = statement.query();
    for (;;) {
      POSTRIDER_TRY(const bool found, query.next());
      if (!found) {
        return alerts;
      }
      alerts.push_back(read_alert(query));
    }
  }

  Result<void> raise(const Alert& alert) override {
    return writer_->transact_repeatedly([&]() -> Result<void> {
      POSTRIDER_TRY(Statement statement, writer_->database().prepare(raise_sql));
      return statement.run(alert.id, alert.subject.kind, alert.subject.webhook_id, alert.tenant_id,
                           alert.raised_at, alert.resolved_at, alert.detail, alert.webhook_name,
                           alert.webhook_url, count_of(alert), limit_of(alert), unit_of(alert),
                           alert.subject.source);
    });
  }

  Result<void> update(const Alert& alert) override {
    return writer_->transact_repeatedly([&]() -> Result<void> {
      POSTRIDER_TRY(Statement statement, writer_->database().prepare(update_sql));
      return statement.run(alert.id, alert.detail, count_of(alert), limit_of(alert),
                           unit_of(alert));
    });
  }

  Result<void> resolve(AlertId id, WallTime at) override {
    return writer_->transact_repeatedly([&]() -> Result<void> {
      POSTRIDER_TRY(Statement statement, writer_->database().prepare(resolve_sql));
      return statement.run(id, at);
    });
  }

  Result<std::uint32_t> remove_resolved(WallTime before, std::uint32_t limit) override {
    return writer_->transact_repeatedly([&]() -> Result<std::uint32_t> {
      POSTRIDER_TRY(Statement statement, writer_->database().prepare(remove_sql));
      POSTRIDER_CHECK(statement.run(before, limit));
      return static_cast<std::uint32_t>(writer_->database().changes());
    });
  }

 private:
  std::shared_ptr<Writer> writer_;
};

class SqlAlertReader final : public AlertReader {
 public:
  explicit SqlAlertReader(std::shared_ptr<Database> database) : database_(std::move(database)) {}

  Result<Listed<Alert>> list_alerts(const AlertFilter& filter, const Page& page) override {
    POSTRIDER_TRY(Statement statement, select(filter, page).prepare(*database_));
    Listed<Alert> listed;
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
      listed.items.push_back(read_alert(query));
    }
  }

 private:
  static Select select(const AlertFilter& filter, const Page& page) {
    Select select{"SELECT " POSTRIDER_ALERT_COLUMNS " FROM alert"};
    if (filter.active) {
      select.where(*filter.active ? "resolved_at IS NULL" : "resolved_at IS NOT NULL");
    }
    if (filter.tenant_id) {
      select.where("tenant_id = ?", *filter.tenant_id);
    }
    if (filter.webhook_id) {
      select.where("webhook_id = ?", *filter.webhook_id);
    }
    select.where_in("kind", filter.kinds);
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

std::unique_ptr<AlertWriter> make_alert_writer(std::shared_ptr<Writer> writer) {
  return std::make_unique<SqlAlertWriter>(std::move(writer));
}

std::unique_ptr<AlertReader> make_alert_reader(std::shared_ptr<Database> database) {
  return std::make_unique<SqlAlertReader>(std::move(database));
}

}  // namespace postrider::sql
