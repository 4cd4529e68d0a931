#include "adapters/postgres/store/ledger/ledger.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "adapters/postgres/store/ledger/batch_commit.h"
#include "adapters/postgres/store/ledger/circuit_store.h"
#include "adapters/postgres/store/ledger/fanout_writer.h"
#include "adapters/postgres/store/ledger/lanes.h"
#include "adapters/postgres/store/ledger/reschedule_writer.h"
#include "adapters/postgres/store/ledger/rows.h"

namespace postrider::postgres {
namespace {

constexpr std::string_view load_events_sql =
    "SELECT " POSTRIDER_EVENT_COLUMNS
    " FROM unnest($1::uuid[]) WITH ORDINALITY AS k (id, place)"
    " JOIN event e ON e.id = k.id ORDER BY k.place";

class PostgresLedger final : public Ledger {
 public:
  PostgresLedger(std::shared_ptr<Writer> writer, std::shared_ptr<const HeldShards> held)
      : writer_(std::move(writer)),
        held_(std::move(held)),
        stats_(writer_->id()),
        shapes_(writer_->vault()) {}

  Result<BatchReceipt> commit(const Batch& batch) override {
    Result<BatchReceipt> receipt = writer_->transact_repeatedly([&] {
      forget_after_failure();
      return BatchCommit{batch, {*writer_, stats_, shapes_, *held_, claims_added_}}.run();
    });
    if (receipt) {
      stats_.remember();
      shapes_.remember();
    }
    return receipt;
  }

  Result<void> recover() override { return writer_->reopen(); }

  Result<LanePage> load_lane(const LoadLane& query) override {
    POSTRIDER_CHECK(writer_->usable());
    return postgres::load_lane(*writer_, query);
  }

  Result<std::vector<LaneBacklog>> backlog() override {
    POSTRIDER_CHECK(writer_->usable());
    return read_backlog(writer_->session());
  }

  Result<std::vector<PastCall>> recent_calls(WebhookId id, const CallsToRestore& which) override {
    POSTRIDER_CHECK(writer_->usable());
    return read_recent_calls(writer_->session(), id, which);
  }

  Result<BroughtForward> bring_forward(const BringForward& order) override {
    return writer_->transact_repeatedly(
        [&] { return postgres::bring_forward(*writer_, *held_, order); });
  }

  Result<FannedOut> fan_out(const FanOutStep& step) override {
    Result<FannedOut> done = writer_->transact_repeatedly([&] {
      forget_after_failure();
      return postgres::fan_out({*writer_, stats_, *held_}, step);
    });
    if (done) {
      stats_.remember();
    }
    return done;
  }

  Result<std::map<TenantId, std::uint64_t>> open_fanouts() override {
    POSTRIDER_CHECK(writer_->usable());
    return read_open_fanouts(writer_->session());
  }

  Result<TenantCounts> count_waiting() override {
    POSTRIDER_CHECK(writer_->usable());
    return postgres::count_waiting(writer_->session());
  }

  Result<std::vector<Event>> load_events(const std::vector<EventId>& ids) override {
    POSTRIDER_CHECK(writer_->usable());
    Array wanted{ElementType::uuid};
    for (const EventId& id : ids) {
      wanted.add(id);
    }
    POSTRIDER_TRY(const Rows rows,
                  writer_->session().run(load_events_sql, Parameters::of(std::move(wanted))));
    std::vector<Event> events;
    events.reserve(static_cast<std::size_t>(rows.count()));
    for (int row = 0; row < rows.count(); ++row) {
      events.push_back(read_event(rows, row));
    }
    return events;
  }

 private:
  /// Cached rows may come from a transaction that was rolled back, because a nested commit succeeds
  /// before the outer transaction ends.
  void forget_after_failure() {
    if (failures_ != writer_->failures()) {
      failures_ = writer_->failures();
      stats_.start_new_rows();
      shapes_.forget();
    }
  }

  std::shared_ptr<Writer> writer_;
  std::shared_ptr<const HeldShards> held_;
  StatsWriter stats_;
  RequestShapes shapes_;
  std::size_t claims_added_ = 0;
  std::uint64_t failures_ = 0;  // Of the writer, up to the last transaction.
};

}  // namespace

std::unique_ptr<Ledger> make_ledger(std::shared_ptr<Writer> writer,
                                    std::shared_ptr<const HeldShards> held) {
  return std::make_unique<PostgresLedger>(std::move(writer), std::move(held));
}

}  // namespace postrider::postgres
