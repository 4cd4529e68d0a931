#include "adapters/sql/admin/event_types.h"

#include <utility>

#include "adapters/sql/upsert.h"

namespace postrider::sql {
namespace {

#define POSTRIDER_EVENT_TYPE_COLUMNS \
  "name, description, schema, example, validate, archived, created_at, updated_at"

class SqlEventTypes final : public EventTypes {
 public:
  explicit SqlEventTypes(std::shared_ptr<Writer> writer) : writer_(std::move(writer)) {}

  Result<std::vector<EventType>> load() override {
    POSTRIDER_CHECK(writer_->usable());
    POSTRIDER_TRY(Statement statement,
                  writer_->database().prepare("SELECT " POSTRIDER_EVENT_TYPE_COLUMNS
                                              " FROM event_type_entry ORDER BY name"));
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
    return writer_->transact_repeatedly([this, &type]() -> Result<void> {
      POSTRIDER_TRY(Statement statement,
                    writer_->database().prepare(upsert_sql(
                        "event_type_entry", {.all = POSTRIDER_EVENT_TYPE_COLUMNS, .key = "name"})));
      return statement.run(type.name, type.description, type.schema, type.example, type.validate,
                           type.archived, type.created_at, type.updated_at);
    });
  }

  Result<void> remove(const std::string& name) override {
    return writer_->transact_repeatedly([this, &name]() -> Result<void> {
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
  return std::make_unique<SqlEventTypes>(std::move(writer));
}

}  // namespace postrider::sql
