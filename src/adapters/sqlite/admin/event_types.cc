#include "adapters/sqlite/admin/event_types.h"

#include <utility>

namespace postrider::sqlite {
namespace {

class SqliteEventTypes final : public EventTypes {
 public:
  explicit SqliteEventTypes(std::shared_ptr<Writer> writer) : writer_(std::move(writer)) {}

  Result<std::vector<EventType>> load() override {
    POSTRIDER_CHECK(writer_->usable());
    POSTRIDER_TRY(Statement statement,
                  writer_->database().prepare(
                      "SELECT name, description, schema, example, validate, archived, created_at,"
                      " updated_at FROM event_type_entry ORDER BY name"));
    std::vector<EventType> types;
    Query query = statement.query();
    for (;;) {
      POSTRIDER_TRY(const bool found, query.next());
      if (!found) {
        return types;
      }
      types.push_back({.name = query.text(0),
                       .description = query.text_or_null(1),
                       .schema = query.text_or_null(2),
                       .example = query.text_or_null(3),
                       .validate = query.integer(4) != 0,
                       .archived = query.integer(5) != 0,
                       .created_at = query.time(6),
                       .updated_at = query.time(7)});
    }
  }

  Result<void> put(const EventType& type) override {
    return writer_->transact([this, &type]() -> Result<void> {
      POSTRIDER_TRY(Statement statement,
                    writer_->database().prepare(
                        "INSERT OR REPLACE INTO event_type_entry (name, description, schema,"
                        " example, validate, archived, created_at, updated_at)"
                        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"));
      return statement.run(type.name, type.description, type.schema, type.example, type.validate,
                           type.archived, type.created_at, type.updated_at);
    });
  }

  Result<void> remove(const std::string& name) override {
    return writer_->transact([this, &name]() -> Result<void> {
      POSTRIDER_TRY(Statement statement,
                    writer_->database().prepare("DELETE FROM event_type_entry WHERE name = ?1"));
      POSTRIDER_CHECK(statement.run(name));
      if (writer_->database().changes() == 0) {
        return fail(Errc::not_found, "There is no such event type.");
      }
      return {};
    });
  }

 private:
  std::shared_ptr<Writer> writer_;
};

}  // namespace

std::unique_ptr<EventTypes> make_event_types(std::shared_ptr<Writer> writer) {
  return std::make_unique<SqliteEventTypes>(std::move(writer));
}

}  // namespace postrider::sqlite
