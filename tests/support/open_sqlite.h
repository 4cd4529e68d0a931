// For tests: a SQLite store in a directory of its own that goes away with it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "adapters/sqlite/sqlite_store.h"

#include "tests/support/store_maker.h"

namespace postrider::test {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    // In memory when there is such a place: what these tests look at does not depend on a disk.
    const std::filesystem::path memory = "/dev/shm";
    const bool usable = std::filesystem::is_directory(memory);
    std::string name =
        (usable ? memory : std::filesystem::temp_directory_path()) / "postrider-store-XXXXXX";
    const char* made = ::mkdtemp(name.data());
    EXPECT_NE(made, nullptr);
    path_ = name;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

class OpenSqlite final : public OpenStore {
 public:
  OpenSqlite() { open(); }

  Ledger& ledger() override { return *store_.ledger; }
  Catalog& catalog() override { return *store_.catalog; }
  History& history() override { return *history_; }

  void reopen() override {
    close();
    open();
  }

  void close() {
    history_.reset();
    store_ = {};
  }

  [[nodiscard]] SqliteOptions options() const { return {.directory = directory_.path() / "data"}; }

 private:
  void open() {
    Result<SqliteStore> store = open_sqlite_store(options());
    ASSERT_TRUE(store.has_value()) << store.error().message;
    store_ = *std::move(store);
    Result<std::unique_ptr<History>> history = open_sqlite_history(options());
    ASSERT_TRUE(history.has_value()) << history.error().message;
    history_ = *std::move(history);
  }

  TemporaryDirectory directory_;
  SqliteStore store_;
  std::unique_ptr<History> history_;
};

}  // namespace postrider::test
