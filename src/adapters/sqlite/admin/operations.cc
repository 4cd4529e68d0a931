#include "adapters/sqlite/admin/operations.h"

#include <utility>

#include "adapters/sqlite/admin/operation_row.h"
#include "adapters/sqlite/database/state_sql.h"

namespace postrider::sqlite {
namespace {

constexpr auto remove_finished_sql = with_states(R"sql(
  DELETE FROM operation WHERE id IN
    (SELECT id FROM operation INDEXED BY operation_finished
      WHERE status > {last_unfinished} AND finished_at <= ?1 ORDER BY finished_at LIMIT ?2)
)sql");

class SqliteOperationWriter final : public OperationWriter {
 public:
  explicit SqliteOperationWriter(std::shared_ptr<Writer> writer) : writer_(std::move(writer)) {}

  Result<void> put(const Operation& operation) override {
    return writer_->transact(
        [this, &operation] { return write_operation(writer_->database(), operation); });
  }

  Result<Operation> find(OperationId id) override {
    POSTRIDER_CHECK(writer_->usable());
    return read_operation(writer_->database(), id);
  }

  Result<std::vector<Operation>> load_unfinished() override {
    POSTRIDER_CHECK(writer_->usable());
    return read_unfinished_operations(writer_->database());
  }

  Result<std::uint32_t> remove_finished(WallTime before, std::uint32_t limit) override {
    return writer_->transact([&]() -> Result<std::uint32_t> {
      POSTRIDER_TRY(Statement statement, writer_->database().prepare(remove_finished_sql));
      POSTRIDER_CHECK(statement.run(before, limit));
      return static_cast<std::uint32_t>(writer_->database().changes());
    });
  }

 private:
  std::shared_ptr<Writer> writer_;
};

class SqliteOperationReader final : public OperationReader {
 public:
  explicit SqliteOperationReader(std::shared_ptr<Database> database)
      : database_(std::move(database)) {}

  Result<std::vector<Operation>> list(const OperationFilter& filter,
                                      const OperationPage& page) override {
    return read_operations(*database_, filter, page);
  }

  Result<Operation> find(OperationId id) override { return read_operation(*database_, id); }

 private:
  std::shared_ptr<Database> database_;
};

}  // namespace

std::unique_ptr<OperationWriter> make_operation_writer(std::shared_ptr<Writer> writer) {
  return std::make_unique<SqliteOperationWriter>(std::move(writer));
}

std::unique_ptr<OperationReader> make_operation_reader(std::shared_ptr<Database> database) {
  return std::make_unique<SqliteOperationReader>(std::move(database));
}

}  // namespace postrider::sqlite
