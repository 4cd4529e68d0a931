#include "adapters/postgres/store/peers/postgres_peer_signals.h"

#include <thread>

#include <gtest/gtest.h>

#include "tests/support/postgres_schema.h"
#include "tests/support/server_process.h"

namespace postrider::test {
namespace {

using namespace std::chrono_literals;

class PeerSignalsTest : public testing::Test {
 protected:
  static std::unique_ptr<PeerSignals> make(Secret<std::string> address, std::uint8_t number) {
    return make_postgres_peer_signals({.address = std::move(address)}, NodeId{{number}});
  }

  /// Connects it, so that it hears what follows.
  static void connect(PeerSignals& signals) { EXPECT_EQ(signals.wait(0ms), false); }

  PostgresSchema schema_;
  std::unique_ptr<PeerSignals> one_ = make(schema_.address(), 1);
  std::unique_ptr<PeerSignals> other_ = make(schema_.address(), 2);
};

TEST_F(PeerSignalsTest, ASignalEndsTheWaitsOfAllOtherNodes) {
  const auto third = make(schema_.address(), 3);
  EXPECT_FALSE(one_->is_listening());
  connect(*one_);
  connect(*third);
  EXPECT_TRUE(one_->is_listening());
  std::jthread signalling{[&] { EXPECT_TRUE(other_->signal().has_value()); }};
  EXPECT_EQ(one_->wait(60s), true);
  EXPECT_EQ(third->wait(60s), true);
  signalling.join();
  EXPECT_EQ(other_->wait(0ms), false);
}

TEST_F(PeerSignalsTest, SignalsBetweenTwoWaitsCountOnce) {
  connect(*one_);
  ASSERT_TRUE(other_->signal().has_value());
  ASSERT_TRUE(other_->signal().has_value());
  ASSERT_TRUE(one_->signal().has_value());
  EXPECT_EQ(one_->wait(60s), true);
  EXPECT_EQ(one_->wait(0ms), false);
}

TEST_F(PeerSignalsTest, NodesOfAnotherSchemaAreNotWoken) {
  const PostgresSchema another;
  const auto stranger = make(another.address(), 3);
  connect(*one_);
  ASSERT_TRUE(stranger->signal().has_value());
  EXPECT_EQ(one_->wait(0ms), false);
}

TEST_F(PeerSignalsTest, AnotherThreadEndsTheCurrentOrTheNextWait) {
  connect(*one_);
  one_->wake();
  EXPECT_EQ(one_->wait(60s), false);
  EXPECT_EQ(one_->wait(0ms), false);
  std::jthread waking{[&] { one_->wake(); }};
  EXPECT_EQ(one_->wait(60s), false);
}

TEST_F(PeerSignalsTest, ALostConnectionIsMadeAgain) {
  connect(*one_);
  connect(*other_);
  run_as_admin(
      "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
      " WHERE usename = 'app'");
  const Result<bool> lost = one_->wait(60s);
  ASSERT_FALSE(lost.has_value());
  EXPECT_EQ(lost.error().code, Errc::unavailable);
  EXPECT_FALSE(one_->is_listening());
  const Result<void> unsent = other_->signal();
  ASSERT_FALSE(unsent.has_value());
  EXPECT_EQ(unsent.error().code, Errc::unavailable);
  EXPECT_EQ(one_->wait(60s), true);  // It may have missed one.
  EXPECT_TRUE(one_->is_listening());
  EXPECT_EQ(one_->wait(0ms), false);
  ASSERT_TRUE(other_->signal().has_value());
  EXPECT_EQ(one_->wait(60s), true);
}

TEST_F(PeerSignalsTest, ADatabaseThatCannotBeReachedIsUnavailable) {
  const auto refused = make(Secret<std::string>{"postgres://app@127.0.0.1:1/app"}, 3);
  EXPECT_EQ(refused->signal().error().code, Errc::unavailable);
  EXPECT_EQ(refused->wait(60s).error().code, Errc::unavailable);
  EXPECT_EQ(make(Secret<std::string>{"nonsense"}, 3)->signal().error().code, Errc::unavailable);
}

TEST_F(PeerSignalsTest, BehindAConnectionPoolSignalsAreSentButNotReceived) {
  // A pool accepts no search_path in an address.
  run_as_admin("CREATE DATABASE pooled_signals OWNER app STRATEGY file_copy");
  {
    const ServerProcess pool{"pgbouncer",
                             {postgres_server().member("port"), "pooled_signals", "2"}};
    const auto pooled = make(Secret{pool.member("address")}, 1);
    const auto direct = make(Secret{local_postgres_address("app", "pooled_signals")}, 2);
    connect(*pooled);
    connect(*direct);
    EXPECT_FALSE(pooled->is_listening());
    ASSERT_TRUE(direct->signal().has_value());
    pooled->wake();
    EXPECT_EQ(pooled->wait(60s), false);
    ASSERT_TRUE(pooled->signal().has_value());
    EXPECT_EQ(direct->wait(60s), true);
  }
  run_as_admin("DROP DATABASE pooled_signals WITH (FORCE)");
}

}  // namespace
}  // namespace postrider::test
