#include "adapters/sql/admin/operations.h"

#include <utility>

#include "adapters/sql/admin/operation_row.h"

namespace postrider::sql {
namespace {

class SqlOperationWriter final : public OperationWriter {
 public:
  explicit SqlOperationWriter(std::shared_ptr<Writer> writer) : writer_(std::move(writer)) {}

  Result<void> put(const Operation& operation) override {
    return writer_->transact_repeatedly(
        [this, &operation] { return write_operation(writer_->database(), operation); });
  }

  Result<Operation> find(OperationId id) override {
    POSTRIDER_CHECK(writer_->usable());
    return lock_operation(writer_->database(), id);
  }

  Result<std::vector<Operation>> load_unfinished() override {
    POSTRIDER_CHECK(writer_->usable());
    return read_unfinished_operations(writer_->database());
  }

  Result<std::uint32_t> remove_finished(WallTime before, std::uint32_t limit) override {
    return writer_->transact_repeatedly(
        [&] { return remove_finished_operations(writer_->database(), before, limit); });
  }

 private:
  std::shared_ptr<Writer> writer_;
};

class SqlOperationReader final : public OperationReader {
 public:
  explicit SqlOperationReader(std::shared_ptr<Database> database)
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
  return std::make_unique<SqlOperationWriter>(std::move(writer));
}

std::unique_ptr<OperationReader> make_operation_reader(std::shared_ptr<Database> database) {
  return std::make_unique<SqlOperationReader>(std::move(database));
}

}  // namespace postrider::sql
