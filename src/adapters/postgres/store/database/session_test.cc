#include "adapters/postgres/store/database/session.h"

#include <gtest/gtest.h>

#include "tests/support/postgres_schema.h"

namespace postrider::postgres {
namespace {

class SessionTest : public testing::Test {
 protected:
  Session open(Millis statement_max = Millis{10'000}) {
    Result<Session> opened = Session::open(
        {.address = schema_.address(), .statement_max = statement_max}, interruption_);
    EXPECT_TRUE(opened.has_value()) << opened.error().message;
    return *std::move(opened);
  }

  Rows run(Session& session, std::string_view sql, Parameters parameters = {}) {
    Result<Rows> rows = session.run(sql, std::move(parameters));
    EXPECT_TRUE(rows.has_value()) << rows.error().message;
    return rows ? *std::move(rows) : Rows{};
  }

  postrider::test::PostgresSchema schema_;
  Interruption interruption_;
};

constexpr WallTime some_time = wall_from_unix_ms(1'700'000'000'123);
const WebhookId some_id{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 255}};

TEST_F(SessionTest, ValuesKeepTheirTypeAndContent) {
  Session session = open();
  using namespace std::string_view_literals;
  const std::string odd{"a'b\"\0\x01\xFF\xC3\xA4"sv};
  for (int round = 0; round < 2; ++round) {  // The second time the statement is prepared already.
    const Rows rows =
        run(session, "SELECT $1, $2, $3, $4, $5, $6, $7, $8::text, $9::bigint, pg_typeof($6)::text",
            Parameters::of(-42, 0.5, odd, Blob{odd}, some_id, some_time, true, std::nullopt,
                           std::optional<std::int64_t>{}));
    ASSERT_EQ(rows.count(), 1);
    EXPECT_EQ(rows.integer(0, 0), -42);
    EXPECT_EQ(rows.real(0, 1), 0.5);
    EXPECT_EQ(rows.text(0, 2), odd);
    EXPECT_EQ(rows.bytes(0, 3), odd);
    EXPECT_EQ(rows.id<WebhookId>(0, 4), some_id);
    EXPECT_EQ(rows.time(0, 5), some_time);
    EXPECT_TRUE(rows.boolean(0, 6));
    EXPECT_EQ(rows.text_or_null(0, 7), std::nullopt);
    EXPECT_EQ(rows.time_or_null(0, 8), std::nullopt);
    EXPECT_EQ(rows.text(0, 9), "bigint");
  }
}

TEST_F(SessionTest, ArraysBecomeRows) {
  Session session = open();
  Array small{ElementType::int2};
  Array medium{ElementType::int4};
  Array large{ElementType::int8};
  Array texts{ElementType::text};
  Array blobs{ElementType::bytea};
  Array ids{ElementType::uuid};
  Array flags{ElementType::boolean};
  Array reals{ElementType::real};
  for (int i = 0; i < 3; ++i) {
    small.add(i - 1);
    medium.add(std::optional<int>{i == 1 ? std::nullopt : std::optional{i}});
    large.add(some_time + Millis{i});
    texts.add(std::string(static_cast<std::size_t>(i), '\1'));
    blobs.add(Blob{"\1\2\3"});
    ids.add(some_id);
    flags.add(i == 2);
    reals.add(i * 0.25);
  }
  const Rows rows = run(session, "SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8)",
                        Parameters::of(small, medium, large, texts, blobs, ids, flags, reals));
  ASSERT_EQ(rows.count(), 3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(rows.integer(i, 0), i - 1);
    EXPECT_EQ(rows.as_or_null<int>(i, 1), i == 1 ? std::nullopt : std::optional{i});
    EXPECT_EQ(rows.time(i, 2), some_time + Millis{i});
    EXPECT_EQ(rows.text(i, 3), std::string(static_cast<std::size_t>(i), '\1'));
    EXPECT_EQ(rows.bytes(i, 4), "\1\2\3");
    EXPECT_EQ(rows.id<WebhookId>(i, 5), some_id);
    EXPECT_EQ(rows.boolean(i, 6), i == 2);
    EXPECT_EQ(rows.real(i, 7), i * 0.25);
  }
}

TEST_F(SessionTest, AnArrayIsEmptyAgainAfterClear) {
  Session session = open();
  Array numbers{ElementType::int8};
  EXPECT_EQ(run(session, "SELECT unnest($1)", Parameters::of(numbers)).count(), 0);
  numbers.add_null();
  EXPECT_EQ(run(session, "SELECT unnest($1)", Parameters::of(numbers)).count(), 1);
  numbers.clear();
  EXPECT_EQ(numbers.size(), 0u);
  EXPECT_EQ(run(session, "SELECT unnest($1)", Parameters::of(std::move(numbers))).count(), 0);
}

TEST_F(SessionTest, AnExchangeAnswersEveryStatementInOrder) {
  Session session = open();
  EXPECT_EQ(session.exchange()->size(), 0u);
  EXPECT_EQ(session.queue("SELECT $1 + 1", Parameters::of(1)), 0u);
  EXPECT_EQ(session.queue("SELECT $1 + 1", Parameters::of(2)), 1u);
  EXPECT_EQ(session.queue_once("SELECT 'three'"), 2u);
  EXPECT_EQ(session.queued(), 3u);
  const Result<std::vector<Rows>> rows = session.exchange();
  ASSERT_TRUE(rows.has_value()) << rows.error().message;
  ASSERT_EQ(rows->size(), 3u);
  EXPECT_EQ((*rows)[0].integer(0, 0), 2);
  EXPECT_EQ((*rows)[1].integer(0, 0), 3);
  EXPECT_EQ((*rows)[2].text(0, 0), "three");
  EXPECT_EQ(session.queued(), 0u);
}

TEST_F(SessionTest, AnExchangeIsOneTransactionAndEndsWithTheFirstError) {
  Session session = open();
  run(session, "CREATE TABLE session_test (n bigint)");
  session.queue("INSERT INTO session_test VALUES ($1)", Parameters::of(1));
  session.queue("SELECT 1 / $1", Parameters::of(0));
  session.queue("INSERT INTO session_test VALUES ($1)", Parameters::of(2));
  const Result<std::vector<Rows>> failed = session.exchange();
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().code, Errc::unavailable);
  EXPECT_EQ(failed.error().message, "division by zero.");
  EXPECT_EQ(session.sqlstate(), "22012");
  EXPECT_TRUE(session.is_open());
  EXPECT_EQ(run(session, "SELECT count(*) FROM session_test").integer(0, 0), 0);
  const Rows inserted = run(session, "INSERT INTO session_test VALUES ($1)", Parameters::of(3));
  EXPECT_EQ(inserted.affected(), 1);
}

TEST_F(SessionTest, AStatementIsPreparedForEachSetOfTypes) {
  Session session = open();
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(run(session, "SELECT pg_typeof($1)::text", Parameters::of(1)).text(0, 0), "bigint");
    EXPECT_EQ(run(session, "SELECT pg_typeof($1)::text", Parameters::of("1")).text(0, 0), "text");
  }
  const Rows prepared =
      run(session,
          "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE 'SELECT pg_typeof%'");
  EXPECT_EQ(prepared.integer(0, 0), 2);
}

TEST_F(SessionTest, TheServerInfersTypes) {
  Session session = open();
  const std::string_view sql = "SELECT $1::smallint, $2::uuid, $3::text";
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(session.parameter_types(sql), (std::vector<Oid>{oid::int2, oid::uuid, oid::text}));
  }
  EXPECT_FALSE(session.parameter_types("SELECT FROM WHERE").has_value());
  EXPECT_TRUE(session.is_open());
}

TEST_F(SessionTest, ErrorsSayWhatTheCallerCanDo) {
  Session session = open();
  struct Case {
    const char* condition;
    Errc code;
  };
  const Case cases[] = {
      {"lock_not_available", Errc::conflict},
      {"unique_violation", Errc::conflict},
      {"deadlock_detected", Errc::conflict},
      {"serialization_failure", Errc::conflict},
      {"disk_full", Errc::unavailable},
      {"read_only_sql_transaction", Errc::unavailable},
      {"insufficient_privilege", Errc::unavailable},
      {"undefined_table", Errc::unavailable},
      {"data_corrupted", Errc::corrupt},
      {"index_corrupted", Errc::corrupt},
  };
  for (const Case& c : cases) {
    const Result<Rows> rows =
        session.run_once(std::string{"DO $$ BEGIN RAISE "} + c.condition + "; END $$");
    ASSERT_FALSE(rows.has_value()) << c.condition;
    EXPECT_EQ(rows.error().code, c.code) << c.condition;
    EXPECT_TRUE(session.is_open());
  }
}

TEST_F(SessionTest, AStatementThatTakesTooLongIsEndedByTheServer) {
  Session session = open(Millis{50});
  const Result<Rows> rows = session.run("SELECT pg_sleep(60)");
  ASSERT_FALSE(rows.has_value());
  EXPECT_EQ(rows.error().code, Errc::unavailable);
  EXPECT_EQ(session.sqlstate(), "57014");
  EXPECT_TRUE(session.is_open());
}

TEST_F(SessionTest, ASessionThatTheServerEndedIsClosed) {
  Session session = open();
  Session other = open();
  const std::int64_t pid = run(session, "SELECT pg_backend_pid()").integer(0, 0);
  run(other, "SELECT pg_terminate_backend($1::integer)", Parameters::of(pid));
  const Result<Rows> rows = session.run("SELECT 1");
  ASSERT_FALSE(rows.has_value());
  EXPECT_EQ(rows.error().code, Errc::unavailable);
  EXPECT_EQ(rows.error().message, "terminating connection due to administrator command.");
  EXPECT_FALSE(session.is_open());
  EXPECT_EQ(session.run("SELECT 1").error().code, Errc::unavailable);
}

TEST_F(SessionTest, ALargeExchangeInBothDirectionsDoesNotBlock) {
  Session session = open();
  const std::string large(1u << 20, 'x');
  for (int i = 0; i < 20; ++i) {
    session.queue("SELECT $1", Parameters::of(large));
  }
  const Result<std::vector<Rows>> rows = session.exchange();
  ASSERT_TRUE(rows.has_value()) << rows.error().message;
  EXPECT_EQ(rows->back().text(0, 0), large);
}

TEST(SessionErrors, DoNotNameTheAddressOfTheDatabase) {  // P11
  const Interruption interruption;
  const ConnectOptions closed{
      .address = Secret{std::string{"postgres://app:word@127.0.0.1:1,localhost:1/orders"}}};
  const Result<Session> refused = Session::open(closed, interruption);
  ASSERT_FALSE(refused.has_value());
  const std::string& message = refused.error().message;
  EXPECT_TRUE(message.starts_with("The database cannot be reached: Connection refused")) << message;
  for (const char* detail : {"127.0.0.1", "localhost", "port 1", "word"}) {
    EXPECT_EQ(message.find(detail), std::string::npos) << message;
  }
}

TEST_F(SessionTest, AScriptIsOneTransaction) {
  Session session = open();
  EXPECT_TRUE(session.run_script("CREATE TABLE a (n int); CREATE TABLE b (n int)", Millis{60'000}));
  EXPECT_FALSE(session.run_script("DROP TABLE a; DROP TABLE missing", Millis{60'000}));
  EXPECT_EQ(session.sqlstate(), "42P01");
  EXPECT_EQ(run(session, "SELECT count(*) FROM a").integer(0, 0), 0);
}

TEST_F(SessionTest, ATransactionIsKnownToBeOpenOrFailed) {
  Session session = open();
  EXPECT_FALSE(session.in_transaction());
  session.queue_begin(Isolation::read);
  EXPECT_TRUE(session.run("SELECT 1").has_value());
  EXPECT_TRUE(session.in_transaction());
  EXPECT_FALSE(session.transaction_failed());
  EXPECT_FALSE(session.run("CREATE TABLE c (n int)").has_value());
  EXPECT_EQ(session.sqlstate(), "25006");
  EXPECT_TRUE(session.transaction_failed());
  run(session, "ROLLBACK");
  EXPECT_FALSE(session.in_transaction());
}

TEST_F(SessionTest, ADatabaseOfAnotherEncodingIsRefused) {
  postrider::test::run_as_admin("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0");
  std::string address = postrider::test::postgres_server().member("address");
  address.replace(address.rfind('/'), std::string::npos, "/latin");
  const Result<Session> opened = Session::open({.address = Secret{address}}, interruption_);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, Errc::invalid);
}

}  // namespace
}  // namespace postrider::postgres
