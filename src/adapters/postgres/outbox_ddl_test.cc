#include "adapters/postgres/outbox_ddl.h"

#include <gtest/gtest.h>

#include "adapters/postgres/test_server.h"

namespace postrider {
namespace {

using postgres::test::server_address;
using postgres::test::Session;

TEST(OutboxDdl, CanBeAppliedTwice) {
  Session session;
  session.run("CREATE SCHEMA app_schema");
  const Result<std::string> ddl = outbox_cursor_ddl({.table = "app_schema.order"});
  ASSERT_TRUE(ddl.has_value());
  for (int round = 0; round < 2; ++round) {
    const Result<void> applied = apply_outbox_ddl(server_address(), *ddl);
    ASSERT_TRUE(applied.has_value()) << applied.error().message;
    session.run("SELECT app_schema.order_emit('a.b', '1', resource_id => 'r')");
  }
  EXPECT_EQ(session.value("SELECT count(*) FROM app_schema.order"), "2");
  EXPECT_EQ(session.value("SELECT epoch FROM app_schema.order_cursor"), "0");
}

TEST(OutboxDdl, EmitWritesOneRow) {
  Session session;
  const std::string native = postgres::test::make_outbox();
  session.run("SELECT " + native + "_emit('a.b', '{\"x\":  1}', resource_id => 'r')");
  EXPECT_EQ(session.value("SELECT data || type || resource_id || ordering_key || coalesce("
                          "tenant_id, '-') FROM " +
                          native),
            "{\"x\":  1}a.brr-");
  session.run("SELECT " + native +
              "_emit('a.b', '1', ordering_key => 'o', tenant_id => 't', "
              "priority => 'high', source => 's', metadata => '{}', "
              "id => '772b81c5-e559-442a-8923-8f5f64c77bdc')");
  EXPECT_EQ(session.value("SELECT concat_ws(' ', id, ordering_key, tenant_id, priority, source, "
                          "metadata) FROM " +
                          native + " WHERE ordering_key = 'o'"),
            "772b81c5-e559-442a-8923-8f5f64c77bdc o t high s {}");

  const std::string debezium = postgres::test::make_outbox(OutboxColumns::debezium);
  session.run("SELECT " + debezium +
              "_emit('OrderPaid', '{}', resource_id => '7', aggregate_type => 'order')");
  EXPECT_EQ(session.value("SELECT concat_ws(' ', aggregatetype, aggregateid, type, payload) FROM " +
                          debezium),
            "order 7 OrderPaid {}");
}

TEST(OutboxDdl, ATableOfTheApplicationIsNotTouched) {
  Session session;
  session.run("CREATE TABLE my_orders (id int)");
  const Result<void> applied =
      apply_outbox_ddl(server_address(), *outbox_cursor_ddl({.table = "my_orders"}));
  ASSERT_FALSE(applied.has_value());
  EXPECT_EQ(applied.error().message,
            "The table my_orders exists and was not made for the mode cursor.");
  EXPECT_EQ(session.value("SELECT to_regclass('my_orders_bucket')"), "");
}

TEST(OutboxDdl, TheDefaultTableHasTheShortFunction) {
  EXPECT_NE(outbox_cursor_ddl({})->find("FUNCTION postrider_emit("), std::string::npos);
  EXPECT_NE(
      outbox_cursor_ddl({.table = "app.webhook_outbox"})->find("FUNCTION \"app\".postrider_emit("),
      std::string::npos);
  EXPECT_EQ(outbox_cursor_ddl({})->find('@'), std::string::npos);
  EXPECT_FALSE(outbox_cursor_ddl({.table = "a;b"}).has_value());
}

}  // namespace
}  // namespace postrider
