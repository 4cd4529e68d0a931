#include "adapters/postgres/outbox_table.h"

#include <gtest/gtest.h>

#include "adapters/postgres/test_server.h"

namespace postrider::postgres {
namespace {

TEST(OutboxTableName, IsATableWithOrWithoutASchema) {
  EXPECT_EQ(parse_table_name("webhook_outbox"),
            (TableName{.schema = "", .name = "webhook_outbox"}));
  EXPECT_EQ(parse_table_name("app.Outbox"), (TableName{.schema = "app", .name = "Outbox"}));
  for (const std::string text :
       {"", ".", "a.", ".a", "a.b.c", "a b", "a;b", "a\"b", "a'b", "a-b", "\xC3\xA4"}) {
    EXPECT_FALSE(parse_table_name(text).has_value()) << text;
  }
  EXPECT_TRUE(parse_table_name(std::string(48, 'a')).has_value());
  EXPECT_FALSE(parse_table_name(std::string(49, 'a')).has_value());
}

TEST(OutboxTableName, IsQuotedWhereNecessary) {
  EXPECT_EQ(qualified({"", "webhook_outbox"}), "webhook_outbox");
  EXPECT_EQ(qualified({"", "webhook_outbox"}, "_0"), "webhook_outbox_0");
  EXPECT_EQ(qualified({"app", "order"}), "\"app\".\"order\"");
  EXPECT_EQ(qualified({"app", "order"}, "_cursor"), "\"app\".order_cursor");
  EXPECT_EQ(qualified({"", "Out_Box"}), "\"Out_Box\"");
  EXPECT_EQ(qualified({"", "current_user"}), "\"current_user\"");
  EXPECT_EQ(unqualified({"app", "out_box"}, "_txid"), "out_box_txid");
}

class OutboxTableTest : public testing::Test {
 protected:
  std::string problem(const std::string& table) {
    const Result<OutboxTable> inspected =
        inspect_outbox(session_.connection(), *parse_table_name(table));
    EXPECT_FALSE(inspected.has_value());
    return inspected ? "" : inspected.error().message;
  }

  test::Session session_;
};

TEST_F(OutboxTableTest, ColumnsOfTheMessageAreAllButOurOwn) {
  const std::string name = test::make_outbox(OutboxColumns::debezium);
  const Result<OutboxTable> table = inspect_outbox(session_.connection(), *parse_table_name(name));
  ASSERT_TRUE(table.has_value()) << table.error().message;
  std::string columns;
  for (const OutboxColumn& column : table->columns) {
    columns += column.name + (column.is_json ? "(json) " : " ");
  }
  EXPECT_EQ(columns, "id aggregatetype aggregateid type payload(json) created_at ");
  EXPECT_TRUE(table->is_utf8);
  EXPECT_TRUE(table->notifies);
  EXPECT_NE(table->oid, 0u);
}

TEST_F(OutboxTableTest, AMissingTableIsSaidWithTheCommandThatMakesIt) {
  EXPECT_EQ(problem("nowhere.no_outbox"),
            "The table nowhere.no_outbox does not exist. Make it with `postrider outbox init --dsn "
            "ADDRESS --table nowhere.no_outbox --apply`.");
}

TEST_F(OutboxTableTest, ATableOfAnotherKindIsSaid) {
  session_.run("CREATE TABLE plain_outbox (id uuid, position bigint, payload json)");
  EXPECT_EQ(problem("plain_outbox"),
            "The table plain_outbox was not made for the mode `cursor`: it has no column `txid`. "
            "Make it with `postrider outbox init --dsn ADDRESS --table plain_outbox --apply`.");
  const std::string name = test::make_outbox();
  session_.run("DROP TABLE " + name + "_rejected");
  EXPECT_EQ(problem(name), "The table " + name + " is incomplete: " + name +
                               "_rejected does not exist. Make it with `postrider outbox init "
                               "--dsn ADDRESS --table " +
                               name + " --apply`.");
}

TEST_F(OutboxTableTest, AMissingPrivilegeIsSaidWithTheStatementThatGrantsIt) {
  const std::string name = test::make_outbox();
  session_.run("REVOKE TRUNCATE ON " + name + "_1 FROM app");
  EXPECT_EQ(problem(name),
            "The role app lacks a privilege. Run `GRANT TRUNCATE ON " + name + "_1 TO \"app\"`.");
}

}  // namespace
}  // namespace postrider::postgres
