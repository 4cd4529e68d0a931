#include "adapters/sqlite/database/tail_check.h"

#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/sqlite/database/data_directory.h"
#include "adapters/sqlite/database/maintenance.h"

#include "tests/support/open_sqlite.h"

namespace postrider::sqlite {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// A store with some transactions, of which a few are only in its log.
class TailCheckTest : public testing::Test {
 protected:
  TailCheckTest() {
    run();
    add("a");
    add("b");
    stop();
    run();
    add("c");
    add("d");
  }

  void run() {
    Result<Store> opened = open_sqlite_store({.directory = data()});
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    store_.emplace(*std::move(opened));
  }
  void stop() { store_.reset(); }

  void add(const std::string& name) {
    EventType type;
    type.name = name;
    ASSERT_TRUE(store_->event_types->put(type).has_value());
  }

  /// The directory as SIGKILL would leave it now.
  void kill() {
    const fs::path image = parent_.path() / "image";
    fs::copy(data(), image);
    stop();
    fs::remove_all(data());
    fs::rename(image, data());
  }

  /// What a start says, or nothing if it succeeds.
  [[nodiscard]] std::string refusal() const {
    const Result<Store> opened = open_sqlite_store({.directory = data()});
    return opened ? std::string{} : opened.error().message;
  }

  /// Starts in spite of it. Returns the number of event types that are left.
  std::size_t accept() {
    Result<Store> opened = open_sqlite_store({.directory = data(), .accept_data_loss = true});
    EXPECT_TRUE(opened.has_value()) << opened.error().message;
    EXPECT_TRUE(opened->incident.has_value());
    EXPECT_EQ(opened->incident->kind, StoreIncident::Kind::data_loss);
    return opened->event_types->load().value().size();
  }

  void expect_loss(const std::string& words, std::size_t left) {
    EXPECT_THAT(refusal(), HasSubstr(words));
    EXPECT_THAT(refusal(), HasSubstr("--accept-data-loss")) << "The refusal changed something.";
    EXPECT_EQ(accept(), left);
    EXPECT_EQ(refusal(), "") << "Accepted once is enough.";
  }

  [[nodiscard]] fs::path data() const { return parent_.path() / "data"; }
  [[nodiscard]] fs::path database() const { return database_file(data()); }
  [[nodiscard]] fs::path log() const { return database().string() + "-wal"; }
  [[nodiscard]] fs::path saved(const std::string& name) const { return parent_.path() / name; }

  test::TemporaryDirectory parent_;
  std::optional<Store> store_;
};

TEST_F(TailCheckTest, OrdinaryStartsAreNotRefused) {
  kill();
  EXPECT_EQ(refusal(), "") << "after SIGKILL";
  EXPECT_EQ(refusal(), "") << "after an orderly end";
  run();
  EXPECT_EQ(store_->event_types->load().value().size(), 4u);
  EXPECT_FALSE(store_->incident.has_value());
}

TEST_F(TailCheckTest, AStoreOfAnOlderVersionHasNoMarker) {
  kill();
  fs::remove(marker_file(data()));
  EXPECT_EQ(refusal(), "");
  EXPECT_TRUE(fs::exists(marker_file(data())));
}

TEST_F(TailCheckTest, ALogThatAnotherProgramCheckpointedIsNotMissed) {
  kill();
  {
    Database shell = Database::open({.file = database()}).value();
    ASSERT_TRUE(shell.execute("SELECT count(*) FROM event").has_value());
    ASSERT_TRUE(shell.truncate_wal().has_value());
    ASSERT_TRUE(shell.log_copied());
  }
  fs::remove(log());
  EXPECT_EQ(refusal(), "");
}

TEST_F(TailCheckTest, AMissingLogIsNoticed) {
  kill();
  fs::remove(log());
  expect_loss("lost its newest transactions", 2);
}

TEST_F(TailCheckTest, AMissingLogAndIndexIsNoticed) {
  kill();
  fs::remove(log());
  fs::remove(database().string() + "-shm");
  expect_loss("postrider.db-wal is missing or empty", 2);
}

TEST_F(TailCheckTest, AnEmptyLogIsNoticed) {
  kill();
  fs::resize_file(log(), 0);
  expect_loss("postrider.db-wal is missing or empty", 2);
}

TEST_F(TailCheckTest, ACutLogIsNoticed) {
  kill();
  fs::resize_file(log(), fs::file_size(log()) - 1);
  fs::remove(database().string() + "-shm");
  expect_loss("lost its newest transactions", 3);
}

TEST_F(TailCheckTest, AZeroedLogIsNoticed) {
  kill();
  const auto size = static_cast<std::size_t>(fs::file_size(log()));
  std::ofstream{log(), std::ios::binary} << std::string(size, '\0');
  fs::remove(database().string() + "-shm");
  expect_loss("lost its newest transactions", 2);
}

TEST_F(TailCheckTest, AnOlderLogIsNoticed) {
  fs::copy(log(), saved("log"));
  add("e");
  kill();
  fs::rename(saved("log"), log());
  fs::remove(database().string() + "-shm");
  expect_loss("lost its newest transactions", 4);
}

TEST_F(TailCheckTest, AMissingDatabaseIsNoticed) {
  kill();
  fs::remove(database());
  expect_loss("postrider.db is missing", 0);
  EXPECT_TRUE(fs::exists(log().string() + ".set-aside"));
}

TEST_F(TailCheckTest, AMissingDatabaseIsNoticedAfterAnOrderlyEnd) {
  stop();
  for (const char* suffix : {"", "-wal", "-shm"}) {
    fs::remove(database().string() + suffix);
  }
  expect_loss("postrider.db is missing", 0);
}

TEST_F(TailCheckTest, AnEmptyDatabaseIsNoticed) {
  kill();
  fs::resize_file(database(), 0);
  expect_loss("postrider.db is empty", 0);
}

TEST_F(TailCheckTest, ALogWithoutDatabaseAndMarkerIsNoticed) {
  kill();
  fs::remove(database());
  fs::remove(marker_file(data()));
  expect_loss("postrider.db is missing", 0);
}

TEST_F(TailCheckTest, AnOlderDatabaseIsNoticed) {
  stop();
  fs::copy(database(), saved("old"));
  run();
  add("e");
  stop();
  fs::rename(saved("old"), database());
  expect_loss("older copy", 4);
}

TEST_F(TailCheckTest, AnOlderDatabaseUnderItsNewerLogIsNoticed) {
  stop();
  fs::copy(database(), saved("old"));
  run();
  add("e");
  stop();
  run();
  add("f");
  kill();
  fs::rename(saved("old"), database());
  fs::remove(database().string() + "-shm");
  expect_loss("older copy", 4);
  EXPECT_TRUE(fs::exists(log().string() + ".set-aside"));
}

TEST_F(TailCheckTest, AnotherDatabaseIsNoticed) {
  stop();
  const fs::path other = parent_.path() / "other";
  {
    ASSERT_TRUE(open_sqlite_store({.directory = other}).has_value());
  }
  fs::rename(database_file(other), database());
  expect_loss("another database", 0);
}

TEST_F(TailCheckTest, ADamagedMarkerIsNoticed) {
  kill();
  std::ofstream{marker_file(data()), std::ios::binary} << "postrider marker";
  expect_loss("is damaged", 4);
}

TEST_F(TailCheckTest, ARestoredBackupIsRecognised) {
  ASSERT_TRUE(back_up_sqlite({.directory = data()}, saved("copy"), {}).has_value());
  add("e");
  kill();
  fs::rename(saved("copy"), database());
  EXPECT_THAT(refusal(), HasSubstr("Delete")) << "The old log does not belong to it.";
  fs::remove(log());
  fs::remove(database().string() + "-shm");
  run();
  ASSERT_TRUE(store_->incident.has_value());
  EXPECT_EQ(store_->incident->kind, StoreIncident::Kind::restored);
  EXPECT_EQ(store_->event_types->load().value().size(), 4u);
  add("f");
  kill();
  EXPECT_EQ(refusal(), "");
  run();
  EXPECT_FALSE(store_->incident.has_value());
}

TEST_F(TailCheckTest, ABackupInANewDirectoryIsRecognised) {
  ASSERT_TRUE(back_up_sqlite({.directory = data()}, saved("copy"), {}).has_value());
  const fs::path fresh = parent_.path() / "fresh";
  fs::create_directory(fresh);
  fs::rename(saved("copy"), database_file(fresh));
  const Result<Store> opened = open_sqlite_store({.directory = fresh});
  ASSERT_TRUE(opened.has_value()) << opened.error().message;
  EXPECT_EQ(opened->incident->kind, StoreIncident::Kind::restored);
}

TEST_F(TailCheckTest, AStoppedDirectoryCanBeCopied) {
  stop();
  fs::copy(data(), saved("copy"));
  const Result<Store> opened = open_sqlite_store({.directory = saved("copy")});
  ASSERT_TRUE(opened.has_value()) << opened.error().message;
  EXPECT_FALSE(opened->incident.has_value());
}

TEST_F(TailCheckTest, ATransactionThatChangesNothingIsNotCounted) {
  const Marker before = read_marker(data()).value().value();
  ASSERT_TRUE(store_->atomically([] { return Result<void>{}; }).has_value());
  EXPECT_EQ(read_marker(data()).value(), before);
  add("e");
  EXPECT_EQ(read_marker(data()).value()->position, before.position + 1);
}

TEST_F(TailCheckTest, ACheckpointMovesTheBase) {
  stop();
  Result<Store> small = open_sqlite_store({.directory = data(), .checkpoint_pages = 1});
  store_.emplace(*std::move(small));
  add("e");
  const Marker marker = read_marker(data()).value().value();
  EXPECT_EQ(marker.base, marker.position);
  kill();
  EXPECT_EQ(refusal(), "");
}

}  // namespace
}  // namespace postrider::sqlite
