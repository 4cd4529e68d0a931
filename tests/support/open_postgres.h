// A PostgreSQL store for tests, in a schema of the server of this test program.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "adapters/postgres/store/postgres_store.h"

#include "tests/support/postgres_schema.h"
#include "tests/support/store_factory.h"
#include "tests/support/test_digest.h"

namespace postrider::test {

/// Schemas that a test has left. Their tables take longer to make than to empty.
inline std::vector<PostgresSchema>& free_postgres_schemas() {
  static std::vector<PostgresSchema> schemas;
  return schemas;
}

/// Deletes all rows, except for the identities of the store, and starts all sequences again.
inline void empty_postgres_schema(const PostgresSchema& schema) {
  run_as_admin("SET search_path = " + schema.name() + R"sql(;
    DO $$ DECLARE name text; BEGIN
      FOR name IN SELECT relname FROM pg_class
       WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
       AND NOT relispartition
       AND relname NOT IN ('postrider_schema', 'source_reader', 'catalog_version') LOOP
        EXECUTE 'DELETE FROM ' || quote_ident(name);
      END LOOP;
      FOR name IN SELECT relname FROM pg_class
       WHERE relnamespace = current_schema()::regnamespace AND relkind = 'S' LOOP
        PERFORM setval(name::regclass, 1, false);
      END LOOP;
    END $$)sql");
}

class OpenPostgres final : public OpenStore {
 public:
  explicit OpenPostgres(std::shared_ptr<const Vault> vault = nullptr)
      : schema_(take_schema()), vault_(std::move(vault)) {
    open();
  }
  ~OpenPostgres() override {
    close();
    free_postgres_schemas().push_back(std::move(schema_));
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

  [[nodiscard]] PostgresOptions options() const {
    return {.connect = {.address = schema_.address(), .statement_max = Millis{60'000}},
            .digest = test_digest,
            .vault = vault_};
  }
  [[nodiscard]] const PostgresSchema& schema() const { return schema_; }

 private:
  static PostgresSchema take_schema() {
    std::vector<PostgresSchema>& schemas = free_postgres_schemas();
    if (schemas.empty()) {
      return {};
    }
    PostgresSchema schema = std::move(schemas.back());
    schemas.pop_back();
    empty_postgres_schema(schema);
    return schema;
  }

  void open() {
    Result<Store> store = open_postgres_store(options());
    ASSERT_TRUE(store.has_value()) << store.error().message;
    store_ = *std::move(store);
    Result<Reader> reader = open_postgres_reader(options());
    ASSERT_TRUE(reader.has_value()) << reader.error().message;
    reader_ = *std::move(reader);
  }

  PostgresSchema schema_;
  std::shared_ptr<const Vault> vault_;
  Store store_;
  Reader reader_;
};

}  // namespace postrider::test
