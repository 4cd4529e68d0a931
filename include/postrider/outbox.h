// Writes an event into an outbox table, inside the application's own PostgreSQL transaction. A
// Postrider server that reads the table (a source of the kind `outbox`) publishes it if, and only
// if, the transaction commits.
//
// A single header for C++17 and later. It needs no library: it builds the statement, and the
// application executes it, for example with libpq:
//
//     postrider::NewEvent event;
//     event.type = "order.paid";
//     event.data = R"({"order": 7})";
//     const postrider::outbox::Statement insert = postrider::outbox::insert(event);
//     const std::vector<const char*> parameters = insert.parameters();
//     PGresult* result = PQexecParams(connection, insert.sql.c_str(), int(parameters.size()),
//                                     nullptr, parameters.data(), nullptr, nullptr, 0);
//
// The statement returns the row's id, which becomes the idempotency key of the event.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <postrider/new_event.h>

namespace postrider::outbox {

struct Statement {
  std::string sql;                  // With the parameters $1, $2, … Empty if there is a problem.
  std::vector<std::string> values;  // Of the parameters.
  std::string problem;              // Why the event cannot be written, as a sentence.

  /// The values as PQexecParams takes them. Valid as long as this object exists unchanged.
  [[nodiscard]] std::vector<const char*> parameters() const {
    std::vector<const char*> pointers;
    for (const std::string& value : values) {
      pointers.push_back(value.c_str());
    }
    return pointers;
  }
};

namespace detail {

/// `schema.table` as quoted identifiers, so that any name is safe.
inline std::string quoted(std::string_view name) {
  std::string quoted = "\"";
  for (const char character : name) {
    if (character == '.') {
      quoted += "\".\"";
    } else if (character == '"') {
      quoted += "\"\"";
    } else {
      quoted += character;
    }
  }
  return quoted + "\"";
}

/// Empty for the default of the table.
inline const char* to_text(NewEvent::Priority priority) {
  switch (priority) {
    case NewEvent::Priority::low:
      return "low";
    case NewEvent::Priority::normal:
      break;
    case NewEvent::Priority::high:
      return "high";
  }
  return "";
}

/// Milliseconds since 1970.
inline std::string to_text(const std::optional<std::chrono::system_clock::time_point>& time) {
  if (!time) {
    return "";
  }
  const auto since = std::chrono::floor<std::chrono::milliseconds>(time->time_since_epoch());
  return std::to_string(since.count());
}

}  // namespace detail

/// Sets only the columns of members that are set; the others get the defaults of the table. The
/// idempotency key is the row's id, which `postrider outbox init` declares as a UUID: an event
/// without a key gets one from the database.
[[nodiscard]] inline Statement insert(const NewEvent& event,
                                      std::string_view table = "webhook_outbox") {
  Statement statement;
  if (event.type.empty() || event.data.empty()) {
    statement.problem = "An event needs a `type` and `data`.";
    return statement;
  }
  std::string names;
  std::string places;
  const auto add = [&](const std::string& name, std::string value) {
    if (value.empty()) {
      return;
    }
    if (value.find('\0') != std::string::npos) {  // libpq would cut the text there.
      statement.problem = "`" + name + "` contains a NUL character.";
    }
    statement.values.push_back(std::move(value));
    const char* const separator = names.empty() ? "" : ", ";
    names += separator + name;
    const std::string place = "$" + std::to_string(statement.values.size());
    places += separator + (name == "created_at" ? "to_timestamp(" + place + " / 1000.0)" : place);
  };
  add("id", event.idempotency_key);
  add("type", event.type);
  add("data", event.data);
  add("tenant_id", event.tenant_id);
  add("resource_id", event.resource_id);
  add("ordering_key", event.ordering_key);
  add("priority", detail::to_text(event.priority));
  add("source", event.source);
  add("metadata", event.metadata);
  add("created_at", detail::to_text(event.timestamp));
  if (!statement.problem.empty()) {
    statement.values.clear();
    return statement;
  }
  statement.sql = "INSERT INTO " + detail::quoted(table) + " (" + names + ") VALUES (" + places +
                  ") RETURNING id";
  return statement;
}

}  // namespace postrider::outbox
