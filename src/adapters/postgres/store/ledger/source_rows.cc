#include "adapters/postgres/store/ledger/source_rows.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace postrider::postgres {
namespace {

// The rows are locked in the order in which they are given. The condition is checked again if
// another transaction has changed a row meanwhile.
constexpr std::string_view record_sql = R"sql(
  UPDATE source_row r
     SET generation = k.generation_now,
         settled = CASE WHEN k.settled AND r.revision = k.revision THEN 1 ELSE 0 END
    FROM (SELECT unnest($2::text[]) AS row_id, unnest($3::uuid[]) AS event_id,
                 unnest($4::bigint[]) AS generation, unnest($5::bigint[]) AS revision,
                 unnest($6::bigint[]) AS generation_now, unnest($7::boolean[]) AS settled) k
   WHERE r.source = $1 AND r.row_id = k.row_id AND r.event_id = k.event_id
     AND r.generation = k.generation
)sql";

class PostgresSourceRowWriter final : public SourceRowWriter {
 public:
  explicit PostgresSourceRowWriter(std::shared_ptr<Writer> writer) : writer_(std::move(writer)) {}

  Result<void> record(const std::string& source, const std::vector<RowWrittenBack>& rows) override {
    std::vector<const RowWrittenBack*> sorted;
    for (const RowWrittenBack& row : rows) {
      sorted.push_back(&row);
    }
    std::ranges::stable_sort(sorted, {}, [](const RowWrittenBack* row) { return row->row_id; });
    return writer_->transact_repeatedly([&]() -> Result<void> {
      queue(source, sorted);
      POSTRIDER_CHECK(writer_->exchange_and_commit());
      return {};
    });
  }

  Result<std::string> store_id() override {
    POSTRIDER_CHECK(writer_->usable());
    POSTRIDER_TRY(const Rows rows, writer_->session().run("SELECT id FROM source_reader"));
    if (rows.count() == 0) {
      return fail(Errc::corrupt, "The store has no id.");
    }
    return rows.text(0, 0);
  }

 private:
  void queue(const std::string& source, const std::vector<const RowWrittenBack*>& rows) {
    Array row_ids{ElementType::text};
    Array event_ids{ElementType::uuid};
    Array generations{ElementType::int8};
    Array revisions{ElementType::int8};
    Array generations_now{ElementType::int8};
    Array settled{ElementType::boolean};
    for (const RowWrittenBack* row : rows) {
      row_ids.add(row->row_id);
      event_ids.add(row->event_id);
      generations.add(row->generation);
      revisions.add(row->revision);
      generations_now.add(row->generation_now);
      settled.add(row->settled);
    }
    writer_->session().queue(
        record_sql,
        Parameters::of(source, std::move(row_ids), std::move(event_ids), std::move(generations),
                       std::move(revisions), std::move(generations_now), std::move(settled)));
  }

  std::shared_ptr<Writer> writer_;
};

}  // namespace

std::unique_ptr<SourceRowWriter> make_source_row_writer(std::shared_ptr<Writer> writer) {
  return std::make_unique<PostgresSourceRowWriter>(std::move(writer));
}

}  // namespace postrider::postgres
