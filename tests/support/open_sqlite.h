// A SQLite store in a temporary directory, for tests. The directory is removed with the object.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "adapters/sqlite/database/sqlite_store.h"

#include "tests/support/store_factory.h"
#include "tests/support/test_digest.h"

namespace postrider::test {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    // In memory if possible, for speed. These tests do not depend on a real disk.
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
  explicit OpenSqlite(std::shared_ptr<const Vault> vault = nullptr) : vault_(std::move(vault)) {
    open();
  }

  Store& store() override { return store_; }
  Reader& reader() override { return reader_; }

  void reopen() override {
    close();
    open();
  }

  void close() {
    reader_ = {};
    store_ = {};
  }

  void reopen_with(std::shared_ptr<const Vault> vault) {
    vault_ = std::move(vault);
    reopen();
  }

  [[nodiscard]] SqliteOptions options() const {
    return {.directory = directory_.path() / "data", .digest = test_digest, .vault = vault_};
  }

 private:
  void open() {
    Result<Store> store = open_sqlite_store(options());
    ASSERT_TRUE(store.has_value()) << store.error().message;
    store_ = *std::move(store);
    Result<Reader> reader = open_sqlite_reader(options());
    ASSERT_TRUE(reader.has_value()) << reader.error().message;
    reader_ = *std::move(reader);
  }

  TemporaryDirectory directory_;
  std::shared_ptr<const Vault> vault_;
  Store store_;
  Reader reader_;
};

}  // namespace postrider::test
