#include <fmt/format.h>

#include "adapters/postgres/store/database/session.h"

#include "tests/support/open_postgres.h"
#include "tests/support/stored_shapes.h"

namespace postrider::test {
namespace {

class PostgresShapes final : public ShapeStore {
 public:
  OpenStore& open() override { return store_; }
  void reopen_with(std::shared_ptr<const Vault> vault) override {
    store_.reopen_with(std::move(vault));
  }

  std::int64_t query(const std::string& sql) override { return run(sql).integer(0, 0); }

  bool contains(std::string_view text) override {
    return query(fmt::format(
               "SELECT count(*) FROM request_shape WHERE position('{}'::bytea IN shape) > 0",
               text)) > 0;
  }

  void skip_sequences() override {
    run("SELECT setval('sequence_block', (SELECT last_value + 1000 FROM sequence_block))");
  }

 private:
  postgres::Rows run(const std::string& sql) {
    Result<postgres::Session> session =
        postgres::Session::open({.address = store_.schema().address()}, interruption_);
    EXPECT_TRUE(session.has_value()) << session.error().message;
    Result<postgres::Rows> rows = session->run_once(sql);
    EXPECT_TRUE(rows.has_value()) << rows.error().message;
    return *std::move(rows);
  }

  postgres::Interruption interruption_;
  OpenPostgres store_;
};

INSTANTIATE_TEST_SUITE_P(Postgres, StoredShapes,
                         testing::Values(ShapeStoreFactory{
                             "Postgres", [] { return std::make_unique<PostgresShapes>(); }}));

/// Another node's retention can remove a shape that this one still names.
TEST_P(StoredShapes, AShapeThatWasRemovedMeanwhileIsStoredAgain) {
  put_webhook();
  Delivery delivery = publish();
  const RequestShapeRef same = sample_shape("a");
  attempt(delivery, same);
  EXPECT_EQ(query("WITH gone AS (DELETE FROM request_shape RETURNING 1) SELECT count(*) FROM gone"),
            1);
  finish(delivery, same);
  EXPECT_EQ(count(), 1);
  EXPECT_EQ(urls(delivery).back(), "a");
}

}  // namespace
}  // namespace postrider::test
