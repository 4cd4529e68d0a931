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
Parameters parameters_of(const std::string& node, const std::vector<RowWrite>& rows) {
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
  Parameters parameters = {node};
  for (const std::vector<std::string>& column : columns) {
    parameters.emplace_back(array_text(column));
  }
  return parameters;
}

class OutboxStatusSink final : public RowStatusSink {
 public:
  explicit OutboxStatusSink(OutboxOptions options) : session_(std::move(options)) {}

  Result<void> connect() override { return session_.connect(); }

  Result<std::vector<RowWriteOutcome>> write(const std::vector<RowWrite>& rows) override {
    POSTRIDER_TRY(const Rows written, session_.execute(write_statuses(session_.table()),
                                                       parameters_of(session_.node(), rows)));
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
    POSTRIDER_TRY(const Rows removed,
                  session_.execute(remove_delivered_rows(session_.table()),
                                   {std::to_string(age.count()), std::to_string(limit)}));
    return static_cast<std::uint64_t>(removed.affected());
  }

  void interrupt() override { session_.interruption().set(); }

 private:
  StatusSession session_;
};

}  // namespace

std::unique_ptr<RowStatusSink> make_outbox_status_sink(OutboxOptions options) {
  return std::make_unique<OutboxStatusSink>(std::move(options));
}

}  // namespace postrider
