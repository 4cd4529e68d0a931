// Stores an order and the event that says so in one PostgreSQL transaction. C++17 with libpq.
//
//   DATABASE_URL=postgres://... ./shop ORDER TOTAL [fail]
//
// Needs the outbox table (`postrider outbox init`) and
//   CREATE TABLE orders (id text PRIMARY KEY, total numeric NOT NULL);
// With `fail` the transaction is rolled back: neither the order nor the event exists then.
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <libpq-fe.h>
#include <postrider/outbox.h>

namespace {

using Connection = std::unique_ptr<PGconn, decltype(&PQfinish)>;
using Rows = std::unique_ptr<PGresult, decltype(&PQclear)>;

Rows execute(const Connection& connection, const std::string& sql,
             const std::vector<const char*>& parameters = {}) {
  Rows rows(PQexecParams(connection.get(), sql.c_str(), static_cast<int>(parameters.size()),
                         nullptr, parameters.data(), nullptr, nullptr, 0),
            &PQclear);
  const ExecStatusType status = PQresultStatus(rows.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
    throw std::runtime_error(PQerrorMessage(connection.get()));
  }
  return rows;
}

/// Writes the event inside the open transaction. Returns its id.
std::string emit(const Connection& connection, const postrider::NewEvent& event) {
  const postrider::outbox::Statement insert = postrider::outbox::insert(event);
  if (!insert.problem.empty()) {
    throw std::runtime_error(insert.problem);
  }
  const Rows rows = execute(connection, insert.sql, insert.parameters());
  return PQgetvalue(rows.get(), 0, 0);
}

void place_order(const Connection& connection, const char* order, const char* total, bool fail) {
  execute(connection, "BEGIN");
  execute(connection, "INSERT INTO orders (id, total) VALUES ($1, $2)", {order, total});

  postrider::NewEvent event;
  event.type = "order.placed";
  event.resource_id = order;
  event.ordering_key = order;
  event.source = "shop";
  event.timestamp = std::chrono::system_clock::now();
  // PostgreSQL writes the JSON, so that any text is escaped correctly.
  const Rows json =
      execute(connection, "SELECT json_build_object('order', $1::text, 'total', $2::numeric)",
              {order, total});
  event.data = PQgetvalue(json.get(), 0, 0);
  const std::string id = emit(connection, event);

  execute(connection, fail ? "ROLLBACK" : "COMMIT");
  std::cout << (fail ? "rolled back " : "committed ") << id << std::endl;
}

}  // namespace

int main(int count, char** arguments) {
  const char* address = std::getenv("DATABASE_URL");
  if (address == nullptr || count < 3) {
    std::cerr << "usage: DATABASE_URL=postgres://... shop ORDER TOTAL [fail]" << std::endl;
    return 2;
  }
  const Connection connection(PQconnectdb(address), &PQfinish);
  if (PQstatus(connection.get()) != CONNECTION_OK) {
    std::cerr << PQerrorMessage(connection.get());
    return 1;
  }
  try {
    place_order(connection, arguments[1], arguments[2], count > 3);
  } catch (const std::exception& error) {  // Closing the connection rolls back.
    std::cerr << error.what() << std::endl;
    return 1;
  }
  return 0;
}
