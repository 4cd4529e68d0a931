#include "adapters/postgres/connection.h"

#include <gtest/gtest.h>

#include "adapters/postgres/test_server.h"

namespace postrider::postgres {
namespace {

using test::server;

class ConnectionTest : public testing::Test {
 protected:
  Connection connect() {
    Result<Connection> opened =
        Connection::open({.address = Secret{server().member("address")}}, interruption_);
    EXPECT_TRUE(opened.has_value()) << opened.error().message;
    return *std::move(opened);
  }

  Error open_error(std::string address, Millis connect_max = Millis{10'000}) {
    const Result<Connection> opened = Connection::open(
        {.address = Secret{std::move(address)}, .connect_max = connect_max}, interruption_);
    EXPECT_FALSE(opened.has_value());
    return opened ? Error{} : opened.error();
  }

  Interruption interruption_;
};

TEST_F(ConnectionTest, ParametersAndValuesKeepTheirText) {
  Connection connection = connect();
  const std::string odd = "a'b\"c\\d\n\xC3\xA4";
  const Result<TextRows> rows = connection.execute(
      "SELECT $1::text, $2::text, $3::bigint, $4::boolean", {odd, std::nullopt, "-42", "true"});
  ASSERT_TRUE(rows.has_value()) << rows.error().message;
  ASSERT_EQ(rows->count(), 1);
  EXPECT_EQ(rows->text(0, 0), odd);
  EXPECT_TRUE(rows->is_null(0, 1));
  EXPECT_EQ(rows->text_or_null(0, 1), std::nullopt);
  EXPECT_EQ(rows->integer(0, 2), -42);
  EXPECT_TRUE(rows->boolean(0, 3));
}

TEST_F(ConnectionTest, QuotedTextIsTheSameText) {
  Connection connection = connect();
  const std::string odd = "a'b\"c\\d";
  const Result<TextRows> rows = connection.script("SELECT 1 AS " + Connection::identifier(odd) +
                                                  "; " + "SELECT " + Connection::literal(odd));
  ASSERT_TRUE(rows.has_value()) << rows.error().message;
  EXPECT_EQ(rows->text(0, 0), odd);
}

TEST_F(ConnectionTest, AScriptIsOneTransaction) {
  Connection connection = connect();
  ASSERT_TRUE(connection.script("CREATE TABLE script_test (n int)").has_value());
  EXPECT_FALSE(connection.script("INSERT INTO script_test VALUES (1); SELECT 1/0").has_value());
  EXPECT_EQ(connection.sqlstate(), "22012");
  EXPECT_FALSE(connection.script("BEGIN; INSERT INTO script_test VALUES (1); SELECT 1/0; COMMIT"));
  EXPECT_EQ(connection.sqlstate(), "22012");
  const Result<TextRows> rows = connection.execute("SELECT count(*) FROM script_test");
  ASSERT_TRUE(rows.has_value()) << rows.error().message;
  EXPECT_EQ(rows->integer(0, 0), 0);
  EXPECT_EQ(connection.execute("INSERT INTO script_test SELECT generate_series(1, 3)")->affected(),
            3);
}

TEST_F(ConnectionTest, ErrorsSayWhatTheCallerCanDo) {
  Connection connection = connect();
  struct Case {
    const char* sql;
    Errc code;
    const char* sqlstate;
  };
  const Case cases[] = {{"SELECT * FROM missing_table", Errc::invalid, "42P01"},
                        {"SELEC", Errc::invalid, "42601"},
                        {"SET lock_timeout = 'x'", Errc::invalid, "22023"},
                        {"DO $$ BEGIN RAISE lock_not_available; END $$", Errc::conflict, "55P03"},
                        {"DO $$ BEGIN RAISE unique_violation; END $$", Errc::conflict, "23505"},
                        {"DO $$ BEGIN RAISE deadlock_detected; END $$", Errc::conflict, "40P01"},
                        {"DO $$ BEGIN RAISE disk_full; END $$", Errc::unavailable, "53100"}};
  for (const Case& c : cases) {
    const Result<TextRows> rows = connection.execute(c.sql);
    ASSERT_FALSE(rows.has_value()) << c.sql;
    EXPECT_EQ(rows.error().code, c.code) << c.sql;
    EXPECT_EQ(connection.sqlstate(), c.sqlstate) << c.sql;
    EXPECT_TRUE(rows.error().message.ends_with(".")) << rows.error().message;
    EXPECT_TRUE(connection.is_open());
  }
  EXPECT_EQ(connection.execute("SELECT * FROM missing_table").error().message,
            "relation \"missing_table\" does not exist.");
}

TEST_F(ConnectionTest, ANotificationEndsTheWait) {
  Connection listener = connect();
  ASSERT_TRUE(listener.execute("LISTEN some_channel").has_value());
  EXPECT_EQ(listener.wait_for_notification(Millis{0}), false);
  ASSERT_TRUE(connect().execute("NOTIFY some_channel").has_value());
  EXPECT_EQ(listener.wait_for_notification(Millis{60'000}), true);
  EXPECT_EQ(listener.wait_for_notification(Millis{0}), false);
  interruption_.set();
  EXPECT_EQ(listener.wait_for_notification(Millis{60'000}), false);
}

TEST_F(ConnectionTest, ANotificationWithAnIgnoredPayloadDoesNotEndTheWait) {
  Connection listener = connect();
  ASSERT_TRUE(listener.execute("LISTEN some_channel").has_value());
  Interruption other;
  const auto wait = [&](Millis max) {
    return listener.wait_for_notification(
        {.max = max, .ignored_payload = "own", .interruption = &other});
  };
  ASSERT_TRUE(connect().execute("NOTIFY some_channel, 'own'").has_value());
  EXPECT_EQ(wait(Millis{20}), false);
  ASSERT_TRUE(connect().execute("NOTIFY some_channel, 'theirs'").has_value());
  EXPECT_EQ(wait(Millis{60'000}), true);
  other.set();
  EXPECT_EQ(wait(Millis{60'000}), false);
}

TEST_F(ConnectionTest, AStatementThatTakesTooLongClosesTheConnection) {
  Result<Connection> connection = Connection::open(
      {.address = Secret{server().member("address")}, .statement_max = Millis{50}}, interruption_);
  ASSERT_TRUE(connection.has_value()) << connection.error().message;
  const Result<TextRows> rows = connection->execute("SELECT pg_sleep(60)");
  ASSERT_FALSE(rows.has_value());
  EXPECT_EQ(rows.error().code, Errc::unavailable);
  EXPECT_EQ(rows.error().message, "The database server did not answer in time.");
  EXPECT_EQ(connection->sqlstate(), "");
  EXPECT_FALSE(connection->is_open());
  EXPECT_EQ(connection->execute("SELECT 1").error().code, Errc::unavailable);
  EXPECT_EQ(connection->wait_for_notification(Millis{0}).error().code, Errc::unavailable);
}

TEST_F(ConnectionTest, AnInterruptionShortensAStatement) {
  Connection connection = connect();
  interruption_.set();
  EXPECT_TRUE(connection.execute("SELECT 1").has_value());
  EXPECT_FALSE(connection.execute("SELECT pg_sleep(3600)").has_value());
}

TEST_F(ConnectionTest, AConnectionThatTheServerEndedIsUnavailable) {
  Connection connection = connect();
  Connection other = connect();
  ASSERT_TRUE(
      other.execute("SELECT pg_terminate_backend($1)", {std::to_string(connection.server_pid())})
          .has_value());
  const Result<TextRows> rows = connection.execute("SELECT 1");
  ASSERT_FALSE(rows.has_value());
  EXPECT_EQ(rows.error().code, Errc::unavailable);
  EXPECT_FALSE(connection.is_open());
}

TEST_F(ConnectionTest, NoMessageContainsThePassword) {
  const Error malformed =
      open_error("postgres://user:hidden-word@host:port:1/x?nonsense=hidden-word");
  EXPECT_EQ(malformed.code, Errc::invalid);
  EXPECT_EQ(malformed.message.find("hidden-word"), std::string::npos) << malformed.message;
  const Error refused = open_error("postgres://hidden-word:hidden-word@127.0.0.1:1/hidden-word");
  EXPECT_EQ(refused.code, Errc::unavailable);
  EXPECT_EQ(refused.message.find("hidden-word"), std::string::npos) << refused.message;
}

TEST_F(ConnectionTest, ServersAreTriedInTurn) {
  const std::string address = server().member("address");
  const std::string before = address.substr(0, address.find('@') + 1);
  const std::string host =
      address.substr(before.size(), address.find('/', before.size()) - before.size());
  for (const std::string& first : {server().member("silent_address"), std::string{"127.0.0.1:1"}}) {
    const Result<Connection> opened = Connection::open(
        {.address = Secret{before + first + "," + host + "/app?target_session_attrs=read-write"},
         .connect_max = Millis{4'000}},
        interruption_);
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
  }
  const Error error =
      open_error(before + server().member("silent_address") + ",127.0.0.1:1/app", Millis{40});
  EXPECT_EQ(error.code, Errc::unavailable);
}

TEST_F(ConnectionTest, AnInterruptionEndsAConnectionThatIsNotAnswered) {
  // An address that accepts no connection and refuses none is not at hand; a server that accepts
  // and never answers is.
  interruption_.set();
  const Error hung = open_error("postgres://a@" + server().member("silent_address") + "/a");
  EXPECT_EQ(hung.code, Errc::unavailable);
  interruption_.clear();
  EXPECT_EQ(open_error("postgres://a@" + server().member("silent_address") + "/a", Millis{20}).code,
            Errc::unavailable);
}

}  // namespace
}  // namespace postrider::postgres
