#include "adapters/sql/admin/request_keys.h"

#include <utility>

namespace postrider::sql {
namespace {

// Replaces an expired key. Changes no row if the key is still live.
constexpr std::string_view take_sql = R"sql(
  INSERT INTO request_key (caller, key, digest, subject, expires_at)
  VALUES (?1, ?2, ?3, ?4, ?5)
  ON CONFLICT (caller, key) DO UPDATE
     SET digest = excluded.digest, subject = excluded.subject, expires_at = excluded.expires_at
   WHERE request_key.expires_at <= ?6
)sql";

constexpr std::string_view forget_sql = "DELETE FROM request_key WHERE caller = ?1 AND key = ?2";

constexpr std::string_view remove_sql = R"sql(
  DELETE FROM request_key WHERE (caller, key) IN
    (SELECT caller, key FROM request_key WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)
)sql";

constexpr std::string_view find_sql = R"sql(
  SELECT digest, subject FROM request_key WHERE caller = ?1 AND key = ?2 AND expires_at > ?3
)sql";

class SqlRequestKeyWriter final : public RequestKeyWriter {
 public:
  explicit SqlRequestKeyWriter(std::shared_ptr<Writer> writer) : writer_(std::move(writer)) {}

  Result<void> take(const RequestKey& key, const std::string& subject, WallTime now) override {
    return writer_->transact_repeatedly([&]() -> Result<void> {
      POSTRIDER_TRY(Statement statement, writer_->database().prepare(take_sql));
      POSTRIDER_CHECK(
          statement.run(key.caller, key.key, Blob{key.digest}, subject, key.expires_at, now));
      if (writer_->database().changes() == 0) {
        return fail(Errc::conflict, "The idempotency key has been used.");
      }
      return {};
    });
  }

  Result<void> forget(const RequestKey& key) override {
    return writer_->transact_repeatedly([&]() -> Result<void> {
      POSTRIDER_TRY(Statement statement, writer_->database().prepare(forget_sql));
      return statement.run(key.caller, key.key);
    });
  }

  Result<std::uint32_t> remove_expired(WallTime now, std::uint32_t limit) override {
    return writer_->transact_repeatedly([&]() -> Result<std::uint32_t> {
      POSTRIDER_TRY(Statement statement, writer_->database().prepare(remove_sql));
      POSTRIDER_CHECK(statement.run(now, limit));
      return static_cast<std::uint32_t>(writer_->database().changes());
    });
  }

 private:
  std::shared_ptr<Writer> writer_;
};

class SqlRequestKeyReader final : public RequestKeyReader {
 public:
  explicit SqlRequestKeyReader(std::shared_ptr<Database> database)
      : database_(std::move(database)) {}

  Result<std::optional<KeyUse>> find(const std::string& caller, const std::string& key,
                                     WallTime now) override {
    POSTRIDER_TRY(Statement statement, database_->prepare(find_sql));
    Query query = statement.query(caller, key, now);
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return std::optional<KeyUse>{};
    }
    return std::optional{KeyUse{.digest = std::string{query.bytes(0)}, .subject = query.text(1)}};
  }

 private:
  std::shared_ptr<Database> database_;
};

}  // namespace

std::unique_ptr<RequestKeyWriter> make_request_key_writer(std::shared_ptr<Writer> writer) {
  return std::make_unique<SqlRequestKeyWriter>(std::move(writer));
}

std::unique_ptr<RequestKeyReader> make_request_key_reader(std::shared_ptr<Database> database) {
  return std::make_unique<SqlRequestKeyReader>(std::move(database));
}

}  // namespace postrider::sql
