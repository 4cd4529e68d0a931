// The writing half of the mode `status`. One statement writes many rows and says what became of
// each: see write_statuses.
#include <array>
#include <utility>

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/enum_names.h"

#include "adapters/postgres/outbox_status.h"
#include "adapters/postgres/status_session.h"
#include "adapters/postgres/status_table.h"
#include "adapters/postgres/storable_text.h"

namespace postrider {
namespace {

using namespace postgres;  // NOLINT(google-build-using-namespace)

constexpr EnumNames<RowWriteOutcome, RowWriteOutcome::locked> outcome_names{
    {"written", "ahead", "armed", "superseded", "missing", "locked"}};

std::string time_text(const std::optional<WallTime>& time) {
  return time ? to_rfc3339(*time) : std::string{};
}

/// One array per column, in the order of write_statuses.
TextParameters parameters_of(const std::string& node, const std::vector<RowWrite>& rows) {
  std::array<std::vector<std::string>, 7> columns;
  for (const RowWrite& row : rows) {
    const RowStatus& status = row.status;
    const std::array<std::string, 7> values = {row.row_id,
                                               std::to_string(row.generation),
                                               std::string{to_string(status.state)},
                                               std::to_string(status.attempts),
                                               status.last_error.value_or(""),
                                               time_text(status.next_attempt_at),
                                               time_text(status.delivered_at)};
    for (std::size_t column = 0; column < columns.size(); ++column) {
      columns[column].push_back(values[column]);
    }
  }
  TextParameters parameters = {node};
  for (const std::vector<std::string>& column : columns) {
    parameters.emplace_back(array_text(column));
  }
  return parameters;
}

// The first half of the number of an advisory lock: "prws" in ASCII.
constexpr int writer_locks = 0x70727773;

/// Begins a transaction that no two servers of a node have at the same time. A lock of the
/// transaction, and not of the session, because a connection pool may be in between.
std::string begin_alone(const std::string& node, const StatusWriterWaits& waits) {
  return fmt::format(
      "BEGIN ISOLATION LEVEL READ COMMITTED;"
      "SET LOCAL idle_in_transaction_session_timeout = {2};"
      "SET LOCAL lock_timeout = {3};"
      "SELECT pg_advisory_xact_lock({0}, hashtext({1}));"
      "SET LOCAL lock_timeout TO DEFAULT",
      writer_locks, Connection::literal(node), waits.idle_max.count(), waits.others_max.count());
}

class OutboxStatusSink final : public RowStatusSink {
 public:
  OutboxStatusSink(OutboxOptions options, const StatusWriterWaits& waits)
      : session_(std::move(options)), waits_(waits) {}

  Result<void> connect() override {
    has_begun_ = false;
    return session_.connect();
  }

  Result<void> begin() override {
    POSTRIDER_ASSERT(!has_begun_);
    POSTRIDER_CHECK(session_.lock(begin_alone(session_.node(), waits_)));
    has_begun_ = true;
    return {};
  }

  Result<void> end() override { return finish("ROLLBACK"); }

  Result<std::vector<RowWriteOutcome>> write(const std::vector<RowWrite>& rows) override {
    POSTRIDER_TRY(const TextRows written, session_.execute(write_statuses(session_.table()),
                                                           parameters_of(session_.node(), rows)));
    POSTRIDER_CHECK(finish("COMMIT"));
    std::vector<RowWriteOutcome> outcomes;
    for (int row = 0; row < written.count(); ++row) {
      const std::string_view name = written.text(row, 1);
      const std::optional<RowWriteOutcome> outcome =
          name == "repeated" ? RowWriteOutcome::written : outcome_names.find(name);
      POSTRIDER_ASSERT(outcome.has_value());
      outcomes.push_back(*outcome);
    }
    if (outcomes.size() != rows.size()) {
      return fail(Errc::unavailable, "The database server answered with too few rows.");
    }
    return outcomes;
  }

  Result<std::uint64_t> remove_delivered(Millis age, std::uint32_t limit) override {
    POSTRIDER_TRY(const TextRows removed,
                  session_.execute(remove_delivered_rows(session_.table()),
                                   {std::to_string(age.count()), std::to_string(limit)}));
    return static_cast<std::uint64_t>(removed.affected());
  }

  void interrupt() override { session_.interruption().set(); }

 private:
  /// Ends the transaction, if there is one.
  Result<void> finish(const std::string& sql) {
    if (std::exchange(has_begun_, false)) {
      POSTRIDER_TRY([[maybe_unused]] const TextRows done, session_.script(sql));
    }
    return {};
  }

  StatusSession session_;
  StatusWriterWaits waits_;
  bool has_begun_ = false;
};

}  // namespace

std::unique_ptr<RowStatusSink> make_outbox_status_sink(OutboxOptions options,
                                                       const StatusWriterWaits& waits) {
  return std::make_unique<OutboxStatusSink>(std::move(options), waits);
}

}  // namespace postrider
