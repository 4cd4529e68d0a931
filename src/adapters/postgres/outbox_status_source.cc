// The reading half of the mode `status`.
//
// Why no row is lost or sent by two nodes: a row is claimed in a transaction of its own before it
// is stored, and only the claimer stores it. The row stays locked in an open transaction from then
// until it is marked as handed over, so a node that hangs keeps its rows. A node that dies between
// storing and marking claims the same rows after its restart and finds them stored. Only if it
// stays away for longer than the claim lasts does another node take them.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/assert.h"

#include "adapters/postgres/outbox_status.h"
#include "adapters/postgres/status_session.h"
#include "adapters/postgres/status_table.h"
#include "adapters/postgres/storable_text.h"
#include "adapters/postgres/waiting.h"

namespace postrider {
namespace {

using namespace postgres;  // NOLINT(google-build-using-namespace)

/// The pause between two looks at a table without due rows doubles from the first to the second.
constexpr Millis pause_min{10};
constexpr Millis pause_max{250};

class OutboxStatusSource final : public EventSource {
 public:
  explicit OutboxStatusSource(OutboxOptions options) : session_(std::move(options)) {}

  Result<void> connect() override {
    batch_.clear();
    pause_ = pause_min;
    return session_.connect();
  }

  Result<std::vector<SourceRecord>> receive(const ReceiveOptions& options) override {
    POSTRIDER_ASSERT(options.records_max > 0);
    POSTRIDER_ASSERT(batch_.empty());
    const Deadline deadline{options.wait_max};
    while (true) {
      if (session_.interruption().is_set()) {
        session_.interruption().clear();
        return std::vector<SourceRecord>{};
      }
      POSTRIDER_TRY(std::vector<SourceRecord> records, claim(options.records_max));
      const Millis left = deadline.left();
      if (!records.empty() || left == Millis{0}) {
        pause_ = records.empty() ? pause_ : pause_min;
        return records;
      }
      const Deadline pause{std::min(pause_, left)};
      pause_ = std::min(2 * pause_, pause_max);
      (void)wait(-1, Direction::read, &session_.interruption(), pause);
    }
  }

  Result<void> settle(const std::vector<SettledRecord>& records) override {
    ClaimOutcome outcome;
    for (const SettledRecord& record : records) {
      if (std::holds_alternative<RecordStored>(record.outcome)) {
        outcome.handed_over.push_back(record.receipt);
      } else if (const auto* rejected = std::get_if<RecordRejected>(&record.outcome)) {
        outcome.rejected.push_back(record.receipt);
        outcome.reasons.push_back(storable_text(rejected->reason, session_.table().is_utf8));
      }
    }
    batch_.clear();
    POSTRIDER_TRY([[maybe_unused]] const TextRows done,
                  session_.script(end_claim(session_.table(), outcome)));
    return {};
  }

  Result<SourceLag> lag() override {
    POSTRIDER_TRY(const TextRows rows,
                  session_.script(count_due(session_.table(), session_.node())));
    SourceLag lag{.messages = static_cast<std::uint64_t>(rows.integer(0, 0))};
    if (!rows.is_null(0, 1)) {
      lag.oldest_age = Millis{std::max<std::int64_t>(rows.integer(0, 1), 0)};
    }
    return lag;
  }

  void interrupt() override { session_.interruption().set(); }

 private:
  /// Leaves a transaction open if there are rows.
  Result<std::vector<SourceRecord>> claim(std::size_t rows_max) {
    POSTRIDER_TRY(const TextRows rows,
                  session_.script(claim_rows(session_.table(), session_.node(), rows_max)));
    std::vector<SourceRecord> records;
    for (int row = 0; row < rows.count(); ++row) {
      records.push_back(read_record(rows, row));
      batch_.push_back(records.back().receipt);
    }
    if (records.empty()) {
      POSTRIDER_TRY([[maybe_unused]] const TextRows ended, session_.script("ROLLBACK"));
    }
    return records;
  }

  [[nodiscard]] SourceRecord read_record(const TextRows& rows, int row) const {
    const std::string id{rows.text(row, claim_id)};
    SourceRecord record{.receipt = id, .fields = {}};
    record.row = RecordRow{
        .id = id, .generation = static_cast<std::uint32_t>(rows.integer(row, claim_generation))};
    if (!rows.text(row, claim_url).empty()) {
      record.target = SourceTarget{.url = std::string{rows.text(row, claim_url)}};
      if (!rows.text(row, claim_secret).empty()) {
        record.target->secret = Secret{std::string{rows.text(row, claim_secret)}};
      }
    }
    for (std::size_t index = 0; index < session_.table().columns.size(); ++index) {
      const int column = claim_first_column + static_cast<int>(index);
      if (!rows.is_null(row, column)) {
        record.fields.push_back({.name = session_.table().columns[index].name,
                                 .value = std::string{rows.text(row, column)},
                                 .is_json = session_.table().columns[index].is_json});
      }
    }
    return record;
  }

  StatusSession session_;
  std::vector<std::string> batch_;  // Received and not settled.
  Millis pause_ = pause_min;
};

}  // namespace

std::unique_ptr<EventSource> make_outbox_status_source(OutboxOptions options) {
  return std::make_unique<OutboxStatusSource>(std::move(options));
}

}  // namespace postrider
