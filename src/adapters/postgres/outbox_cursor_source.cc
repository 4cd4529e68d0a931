// The mode `cursor`. read_position.h explains the order and why nothing is lost.
//
// The cursor, the lease and the buckets are in the application's database, and its clock decides
// about the lease. Statements that move the cursor name the epoch of the lease, so a node that lost
// it cannot.
//
// Works through a connection pool in transaction mode: nothing relies on the session then, and new
// rows are found by polling.
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/assert.h"

#include "adapters/postgres/connection.h"
#include "adapters/postgres/outbox_queries.h"
#include "adapters/postgres/outbox_source.h"
#include "adapters/postgres/outbox_space.h"
#include "adapters/postgres/outbox_table.h"
#include "adapters/postgres/read_position.h"
#include "adapters/postgres/storable_text.h"
#include "adapters/postgres/waiting.h"

namespace postrider {
namespace {

using namespace postgres;  // NOLINT(google-build-using-namespace)

/// The pause between two looks at an outbox that was empty doubles from the first to the second.
constexpr Millis pause_min{10};
constexpr Millis pause_max{1'000};
/// From this pause on, the reader asks to be woken.
constexpr Millis sleep_pause{40};
/// A standby looks this often whether the lease is free.
constexpr Millis standby_pause{1'000};
/// The lease is renewed when less than this is left of it.
constexpr Millis renewal_margin{lease_seconds * 1'000 * 2 / 3};
/// Buckets are looked at after this time or this many rows.
constexpr std::int64_t space_interval_ms = 10'000;
constexpr std::size_t space_interval_rows = 20'000;
/// The positions that one page looks at. Bounds the time of a statement if most rows in between
/// are read already or belong to later steps.
constexpr std::int64_t page_span = 200'000;
/// Must be the number in ddl/cursor_3_reading.sql.
constexpr int wake_lock = 1'886'548'850;

class OutboxCursorSource final : public EventSource {
 public:
  explicit OutboxCursorSource(OutboxOptions options) : options_(std::move(options)) {}
  ~OutboxCursorSource() override { release(); }

  Result<void> connect() override;
  Result<std::vector<SourceRecord>> receive(const ReceiveOptions& options) override;
  Result<void> settle(const std::vector<SettledRecord>& records) override;
  Result<SourceLag> lag() override;
  [[nodiscard]] bool is_standby() const override { return connection_ && !epoch_; }
  void interrupt() override { interruption_.set(); }

 private:
  Result<void> open_connection();
  /// Two sources of one node may read one table by mistake.
  [[nodiscard]] std::string owner() const { return options_.node + "/" + options_.name; }
  Result<void> take_lease();
  Result<void> renew_if_needed(Millis left);
  void release();

  /// Reads. If there is nothing, uses the time to give space back.
  Result<std::vector<SourceRecord>> look(std::size_t records_max);
  Result<std::vector<SourceRecord>> read(std::size_t rows_max);
  Result<std::vector<SourceRecord>> read_step(std::size_t rows_max);
  Result<std::vector<SourceRecord>> read_page(std::size_t rows_max);
  Result<void> open_step();
  /// Checks the state that every reading statement returns. False: the lease is lost.
  Result<bool> check_read(const TextRows& rows, const Snapshot& snapshot);
  std::vector<SourceRecord> take_batch(const TextRows& rows, OpenStep step, bool ends_step);

  Result<void> pause(Millis span);
  Result<bool> wait_for_notification(Millis span);
  Result<void> fall_asleep();
  Result<void> wake_up();
  Result<void> tidy_space();

  [[nodiscard]] tl::unexpected<Error> foreign();
  /// All failures of statements become unavailable and close the connection: the caller connects
  /// again, and writers do not notify a reader that is not there.
  Result<TextRows> execute(const std::string& sql, const TextParameters& parameters = {});
  Result<TextRows> script(const std::string& sql);
  tl::unexpected<Error> disconnected(Error error);
  [[nodiscard]] tl::unexpected<Error> not_connected() const;

  OutboxOptions options_;
  Interruption interruption_;
  std::optional<Connection> connection_;  // After `interruption_`, which it refers to.
  std::string disconnected_reason_ = "The database is not connected.";
  OutboxTable table_;
  std::optional<std::int64_t> epoch_;  // nullopt: another node has the lease.
  ReadPosition position_;
  std::optional<ReadBatch> batch_;  // Received and not settled.

  Millis pause_ = pause_min;
  bool is_asleep_ = false;   // Holds the lock that makes writers notify.
  std::int64_t now_ms_ = 0;  // The database's clock at the last read.
  std::int64_t space_due_ms_ = 0;
  std::size_t rows_since_space_ = 0;
};

Result<TextRows> OutboxCursorSource::execute(const std::string& sql,
                                             const TextParameters& parameters) {
  if (!connection_) {
    return not_connected();
  }
  Result<TextRows> rows = connection_->execute(sql, parameters);
  return rows ? std::move(rows) : disconnected(std::move(rows).error());
}

Result<TextRows> OutboxCursorSource::script(const std::string& sql) {
  if (!connection_) {
    return not_connected();
  }
  Result<TextRows> rows = connection_->script(sql);
  return rows ? std::move(rows) : disconnected(std::move(rows).error());
}

tl::unexpected<Error> OutboxCursorSource::disconnected(Error error) {
  connection_.reset();
  epoch_.reset();
  disconnected_reason_ = error.message;
  return fail(Errc::unavailable, std::move(error).message);
}

tl::unexpected<Error> OutboxCursorSource::not_connected() const {
  return fail(Errc::unavailable, disconnected_reason_);
}

Result<void> OutboxCursorSource::connect() {
  connection_.reset();
  batch_.reset();
  epoch_.reset();
  is_asleep_ = false;
  pause_ = pause_min;
  Result<void> opened = open_connection();
  return opened ? Result<void>{} : disconnected(std::move(opened).error());
}

Result<void> OutboxCursorSource::open_connection() {
  POSTRIDER_TRY(const TableName name, parse_table_name(options_.table));
  POSTRIDER_TRY(
      connection_,
      Connection::open({.address = options_.address, .ca_file = options_.ca_file}, interruption_));
  POSTRIDER_TRY(table_, inspect_outbox(*connection_, name));
  if (table_.notifies) {
    POSTRIDER_TRY(const TextRows listening,
                  execute(fmt::format("LISTEN \"postrider_{}\"", table_.oid)));
  }
  return take_lease();
}

tl::unexpected<Error> OutboxCursorSource::foreign() {
  return disconnected(
      {Errc::unavailable,
       fmt::format("The cursor of the table {} belongs to another database cluster: the database "
                   "was restored from a dump or upgraded. Run `SELECT {}()` once.",
                   options_.table, qualified(table_.name, "_adopt"))});
}

Result<void> OutboxCursorSource::take_lease() {
  POSTRIDER_TRY(const TextRows rows,
                execute(postgres::take_lease(table_), {owner(), options_.name}));
  epoch_.reset();
  if (rows.count() == 0) {
    POSTRIDER_TRY(const TextRows cursors,
                  execute("SELECT count(*) FROM " + qualified(table_.name, "_cursor")));
    return cursors.integer(0, 0) > 0
               ? Result<void>{}
               : fail(Errc::unavailable,
                      fmt::format("The table {} has lost its row. Insert it with `INSERT INTO {} "
                                  "DEFAULT VALUES`; all rows are read again.",
                                  qualified(table_.name, "_cursor"),
                                  qualified(table_.name, "_cursor")));
  }
  const std::optional<Snapshot> finished = parse_snapshot(rows.text(0, lease_finished));
  const std::optional<Snapshot> now = parse_snapshot(rows.text(0, lease_snapshot));
  const std::optional<Snapshot> open = parse_snapshot(rows.text(0, lease_open));
  if (!finished || !now || (!open && !rows.is_null(0, lease_open))) {
    return fail(Errc::unavailable, "The database server returned a snapshot of an unknown form.");
  }
  if (rows.boolean(0, lease_is_foreign) || finished->xmax > now->xmax) {
    return foreign();
  }
  position_ = {.finished = *finished};
  if (open) {
    position_.open = OpenStep{.snapshot = *open,
                              .after = rows.integer(0, lease_open_after),
                              .until = rows.integer(0, lease_open_until)};
  }
  epoch_ = rows.integer(0, lease_epoch);
  return {};
}

Result<void> OutboxCursorSource::renew_if_needed(Millis left) {
  if (left >= renewal_margin) {
    return {};
  }
  POSTRIDER_TRY(const TextRows renewed, execute(renew_lease(table_), {std::to_string(*epoch_)}));
  if (renewed.affected() == 0) {
    epoch_.reset();
  }
  return {};
}

void OutboxCursorSource::release() {
  if (connection_ && epoch_) {
    interruption_.set();  // Do not wait long for a server that hangs.
    // If it fails, the lease ends by itself.
    [[maybe_unused]] const Result<TextRows> released =
        execute(release_lease(table_), {std::to_string(*epoch_)});
  }
}

Result<std::vector<SourceRecord>> OutboxCursorSource::receive(const ReceiveOptions& options) {
  POSTRIDER_ASSERT(options.records_max > 0);
  POSTRIDER_ASSERT(!batch_);
  const Deadline deadline{options.wait_max};
  while (true) {
    if (interruption_.is_set()) {
      interruption_.clear();
      // Perhaps nobody calls for a long time, and notifications would pile up.
      POSTRIDER_CHECK(wake_up());
      return std::vector<SourceRecord>{};
    }
    if (!epoch_) {
      POSTRIDER_CHECK(wake_up());
      POSTRIDER_CHECK(take_lease());
    }
    if (epoch_) {
      POSTRIDER_TRY(std::vector<SourceRecord> records, look(options.records_max));
      if (!records.empty()) {
        return records;
      }
    }
    const Millis left = deadline.left();
    if (left == Millis{0}) {
      return std::vector<SourceRecord>{};
    }
    if (!position_.open) {
      POSTRIDER_CHECK(pause(left));
    }
  }
}

Result<std::vector<SourceRecord>> OutboxCursorSource::look(std::size_t records_max) {
  POSTRIDER_TRY(std::vector<SourceRecord> records, read(records_max));
  if (records.empty()) {
    POSTRIDER_CHECK(tidy_space());
  } else {
    pause_ = pause_min;
    POSTRIDER_CHECK(wake_up());
  }
  return records;
}

Result<bool> OutboxCursorSource::wait_for_notification(Millis span) {
  Result<bool> notified = connection_->wait_for_notification(span);
  return notified ? std::move(notified) : disconnected(std::move(notified).error());
}

/// Waits until the next look is due, but no longer than `span`.
Result<void> OutboxCursorSource::pause(Millis span) {
  if (!epoch_) {
    return wait_for_notification(std::min(span, standby_pause)).map([](bool) {});
  }
  if (pause_ >= sleep_pause && !is_asleep_) {
    POSTRIDER_CHECK(fall_asleep());
    if (is_asleep_) {
      return {};  // Look once more: a commit just before did not notify.
    }
  }
  POSTRIDER_TRY(const bool notified,
                wait_for_notification(std::min(span, is_asleep_ ? pause_max : pause_)));
  pause_ = notified ? pause_min : std::min(2 * pause_, pause_max);
  return {};
}

Result<void> OutboxCursorSource::fall_asleep() {
  if (!table_.notifies) {
    return {};
  }
  POSTRIDER_TRY(const TextRows locked,
                execute(fmt::format("SELECT pg_try_advisory_lock({}, {})", wake_lock,
                                    static_cast<std::int32_t>(table_.oid))));
  is_asleep_ = locked.boolean(0, 0);
  return {};
}

Result<void> OutboxCursorSource::wake_up() {
  if (is_asleep_) {
    is_asleep_ = false;
    POSTRIDER_TRY(const TextRows unlocked,
                  execute(fmt::format("SELECT pg_advisory_unlock({}, {})", wake_lock,
                                      static_cast<std::int32_t>(table_.oid))));
  }
  return {};
}

Result<std::vector<SourceRecord>> OutboxCursorSource::read(std::size_t rows_max) {
  if (position_.open) {
    POSTRIDER_TRY(std::vector<SourceRecord> records, read_page(rows_max));
    if (!records.empty() || !epoch_ || position_.open) {
      return records;
    }
  }
  POSTRIDER_TRY(std::vector<SourceRecord> records, read_step(rows_max));
  if (records.empty() && position_.open) {
    return read_page(rows_max);
  }
  return records;
}

Result<bool> OutboxCursorSource::check_read(const TextRows& rows, const Snapshot& snapshot) {
  now_ms_ = rows.integer(0, read_now_ms);
  if (rows.integer(0, read_epoch) != *epoch_) {
    epoch_.reset();
    return false;
  }
  // Transaction numbers that the server has not reached come from somewhere else.
  bool is_foreign = snapshot.xmax < position_.finished.xmax;
  for (int row = 0; row < rows.count(); ++row) {
    is_foreign = is_foreign || static_cast<Txid>(rows.integer(row, read_txid)) >= snapshot.xmax;
  }
  if (is_foreign) {
    return foreign();
  }
  POSTRIDER_CHECK(renew_if_needed(Millis{rows.integer(0, read_lease_left_ms)}));
  return epoch_.has_value();
}

Result<std::vector<SourceRecord>> OutboxCursorSource::read_step(std::size_t rows_max) {
  POSTRIDER_TRY(const TextRows rows, script(next_step(table_, position_.finished, rows_max)));
  const std::optional<Snapshot> snapshot =
      rows.count() == 0 ? std::nullopt : parse_snapshot(rows.text(0, read_snapshot));
  if (!snapshot) {
    return fail(Errc::unavailable, "The cursor of the outbox is missing.");
  }
  POSTRIDER_TRY(const bool is_ours, check_read(rows, *snapshot));
  const auto total = static_cast<std::size_t>(rows.integer(0, read_total));
  if (!is_ours) {
    return std::vector<SourceRecord>{};
  }
  if (total == 0) {
    // An empty step is finished. The database need not know.
    position_ = {.finished = *snapshot};
    return std::vector<SourceRecord>{};
  }
  if (total > rows_max) {
    POSTRIDER_CHECK(open_step());
    return std::vector<SourceRecord>{};
  }
  const bool is_complete = static_cast<std::size_t>(rows.count()) == total;
  return take_batch(rows, {.snapshot = *snapshot, .after = 0, .until = rows.integer(0, read_until)},
                    is_complete);
}

Result<void> OutboxCursorSource::open_step() {
  POSTRIDER_TRY(const TextRows bounds, script(step_bounds(table_, position_.finished)));
  const std::optional<Snapshot> snapshot = parse_snapshot(bounds.text(0, bounds_snapshot));
  if (!snapshot || bounds.boolean(0, bounds_is_foreign)) {
    return foreign();
  }
  position_.open = OpenStep{.snapshot = *snapshot,
                            .after = bounds.integer(0, bounds_first) - 1,
                            .until = bounds.integer(0, bounds_last)};
  return {};
}

/// Returns none if the step has no further row, which closes it, or if the caller should look
/// after the lease and interruptions first.
Result<std::vector<SourceRecord>> OutboxCursorSource::read_page(std::size_t rows_max) {
  const OpenStep step = *position_.open;
  const std::int64_t end = std::min(step.until, step.after + page_span);
  POSTRIDER_TRY(const TextRows rows, script(next_page(table_, position_, end, rows_max)));
  const std::optional<Snapshot> now =
      rows.count() == 0 ? std::nullopt : parse_snapshot(rows.text(0, read_snapshot));
  if (!now) {
    return fail(Errc::unavailable, "The cursor of the outbox is missing.");
  }
  POSTRIDER_TRY(const bool is_ours, check_read(rows, *now));
  const auto total = static_cast<std::size_t>(rows.integer(0, read_total));
  if (!is_ours) {
    return std::vector<SourceRecord>{};
  }
  if (total == 0) {
    // The database will know with the next batch.
    if (end < step.until) {
      position_.open->after = end;
    } else {
      position_ = {.finished = step.snapshot};
    }
    return std::vector<SourceRecord>{};
  }
  const bool is_complete = static_cast<std::size_t>(rows.count()) == total;
  const bool is_last = total < rows_max || rows.integer(0, read_until) == end;
  return take_batch(rows, step, is_complete && is_last && end == step.until);
}

std::vector<SourceRecord> OutboxCursorSource::take_batch(const TextRows& rows, OpenStep step,
                                                         bool ends_step) {
  ReadBatch batch{.step = std::move(step), .positions = {}, .ends_step = ends_step};
  std::vector<SourceRecord> records;
  for (int row = 0; row < rows.count(); ++row) {
    batch.positions.push_back(rows.integer(row, postgres::read_position));
    SourceRecord record{.receipt = std::to_string(batch.positions.back()), .fields = {}};
    for (std::size_t index = 0; index < table_.columns.size(); ++index) {
      const int column = read_first_column + static_cast<int>(index);
      if (!rows.is_null(row, column)) {
        record.fields.push_back({.name = table_.columns[index].name,
                                 .value = std::string{rows.text(row, column)},
                                 .is_json = table_.columns[index].is_json});
      }
    }
    records.push_back(std::move(record));
  }
  batch_ = std::move(batch);
  return records;
}

Result<void> OutboxCursorSource::settle(const std::vector<SettledRecord>& records) {
  if (!connection_ || !batch_ || !epoch_) {
    return not_connected();
  }
  POSTRIDER_ASSERT(records.size() == batch_->positions.size());
  // The cursor cannot pass a deferred row. It and all behind it are offered again.
  const auto deferred = std::ranges::find_if(records, [](const SettledRecord& record) {
    return std::holds_alternative<RecordDeferred>(record.outcome);
  });
  const auto count = static_cast<std::size_t>(deferred - records.begin());
  std::vector<std::int64_t> rejected;
  std::vector<std::string> reasons;
  for (std::size_t index = 0; index < count; ++index) {
    if (const auto* outcome = std::get_if<RecordRejected>(&records[index].outcome)) {
      rejected.push_back(batch_->positions[index]);
      reasons.push_back(storable_text(outcome->reason, table_.is_utf8));
    }
  }
  const ReadPosition next = advance(position_, *batch_, count);
  batch_.reset();
  if (count == 0) {
    return {};
  }
  const OpenStep open = next.open.value_or(OpenStep{});
  TextParameters parameters = {
      to_text(next.finished), next.open ? std::optional{to_text(open.snapshot)} : std::nullopt,
      std::to_string(open.after), std::to_string(open.until), std::to_string(*epoch_)};
  if (!rejected.empty()) {
    parameters.push_back(fmt::format("{{{}}}", fmt::join(rejected, ",")));
    parameters.push_back(array_text(reasons));
  }
  POSTRIDER_TRY(const TextRows moved, execute(move_cursor(table_, !rejected.empty()), parameters));
  if (moved.integer(0, 0) == 0) {
    epoch_.reset();
    return fail(Errc::unavailable, "Another node has taken over this outbox.");
  }
  position_ = next;
  rows_since_space_ += count;
  return rows_since_space_ < space_interval_rows ? Result<void>{} : tidy_space();
}

/// Does something only if it is due.
Result<void> OutboxCursorSource::tidy_space() {
  if (!epoch_ || (now_ms_ < space_due_ms_ && rows_since_space_ < space_interval_rows)) {
    return {};
  }
  space_due_ms_ = now_ms_ + space_interval_ms;
  rows_since_space_ = 0;
  POSTRIDER_TRY(const TextRows rows, execute(bucket_state(table_)));
  if (rows.count() == 0) {
    return {};  // New rows go to the first bucket for ever.
  }
  BucketState state{.current = static_cast<int>(rows.integer(0, space_current)) % bucket_count,
                    .age = Millis{rows.integer(0, space_age_s) * 1'000}};
  for (std::size_t bucket = 0; bucket < state.rows.size(); ++bucket) {
    state.rows[bucket] = rows.integer(0, space_rows + static_cast<int>(bucket));
  }
  const SpacePlan plan = plan_space(state);
  if (plan.next_bucket) {
    POSTRIDER_TRY(const TextRows changed, execute(use_bucket(table_, *plan.next_bucket)));
  }
  for (const int bucket : plan.to_empty) {
    const Result<TextRows> emptied =
        connection_->script(empty_bucket(table_, bucket, position_.finished));
    // A transaction that is still open uses the bucket. It is tried again later.
    if (!emptied && emptied.error().code != Errc::conflict) {
      return disconnected(emptied.error());
    }
  }
  return {};
}

Result<SourceLag> OutboxCursorSource::lag() {
  if (!epoch_) {
    return connection_ ? Result<SourceLag>{SourceLag{}} : not_connected();
  }
  const std::optional<OpenStep>& open = position_.open;
  POSTRIDER_TRY(const TextRows rows,
                script(count_unread(table_, open ? open->snapshot : position_.finished)));
  const bool is_estimate = rows.integer(0, lag_rows) > lag_rows_max;
  std::int64_t messages = rows.integer(0, is_estimate ? lag_span : lag_rows);
  SourceLag lag;
  if (!rows.is_null(0, lag_oldest_age_ms)) {
    lag.oldest_age = Millis{std::max<std::int64_t>(rows.integer(0, lag_oldest_age_ms), 0)};
  }
  if (open) {
    messages += open->until - open->after;
    POSTRIDER_TRY(const TextRows age, script(age_behind(table_, open->after)));
    if (age.count() > 0 && !age.is_null(0, 0)) {
      lag.oldest_age = Millis{std::max<std::int64_t>(age.integer(0, 0), 0)};
    }
  }
  lag.messages = static_cast<std::uint64_t>(messages);
  return lag;
}

}  // namespace

std::unique_ptr<EventSource> make_outbox_cursor_source(OutboxOptions options) {
  return std::make_unique<OutboxCursorSource>(std::move(options));
}

}  // namespace postrider
