#include "adapters/postgres/connection.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <libpq-fe.h>

namespace postrider::postgres {
namespace {

/// While an interruption is set. Long enough for a busy server, short enough for a shutdown.
constexpr Millis interrupted_wait_max{2'000};

struct FreeOptions {
  void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};
using ParsedAddress = std::unique_ptr<PQconninfoOption, FreeOptions>;

/// libpq's own message may quote a part of the address, so it is not shown.
Result<ParsedAddress> parse(const std::string& address) {
  char* message = nullptr;
  ParsedAddress parsed{PQconninfoParse(address.c_str(), &message)};
  PQfreemem(message);
  if (parsed == nullptr) {
    return fail(Errc::invalid,
                "The address is not a PostgreSQL connection string. Use "
                "postgres://user:password@host:5432/database.");
  }
  return parsed;
}

std::string value_of(const PQconninfoOption* options, std::string_view keyword) {
  for (; options->keyword != nullptr; ++options) {
    if (keyword == options->keyword && options->val != nullptr) {
      return options->val;
    }
  }
  return {};
}

/// One of the servers that an address names. Empty members are those of the address.
struct Host {
  std::string name;
  std::string address;
  std::string port;
};

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    parts.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// The part of a list that belongs to a host. A list of one belongs to all.
std::string part(const std::vector<std::string>& parts, std::size_t host) {
  return parts.size() == 1 ? parts.front() : host < parts.size() ? parts[host] : "";
}

std::vector<Host> hosts_of(const PQconninfoOption* address) {
  const std::vector<std::string> names = split(value_of(address, "host"));
  const std::vector<std::string> addresses = split(value_of(address, "hostaddr"));
  const std::vector<std::string> ports = split(value_of(address, "port"));
  std::vector<Host> hosts(std::max(names.size(), addresses.size()));
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    hosts[i] = {.name = part(names, i), .address = part(addresses, i), .port = part(ports, i)};
  }
  return hosts;
}

const char* or_null(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

/// The class of an SQLSTATE says what the caller can do (appendix A of PostgreSQL's manual).
Errc code_of(std::string_view sqlstate) {
  const std::string_view group = sqlstate.substr(0, 2);
  if (sqlstate.empty() || group == "08" || group == "53" || group == "57" || group == "58" ||
      group == "XX") {
    return Errc::unavailable;
  }
  // A lock that is not available, a serialization failure or deadlock, a violated constraint.
  if (sqlstate == "55P03" || group == "40" || group == "23") {
    return Errc::conflict;
  }
  return Errc::invalid;
}

}  // namespace

TextRows::TextRows(pg_result* result) : result_(result) {}

void TextRows::Clear::operator()(pg_result* result) const { PQclear(result); }

int TextRows::count() const { return PQntuples(result_.get()); }

bool TextRows::is_null(int row, int column) const {
  return PQgetisnull(result_.get(), row, column) != 0;
}

std::string_view TextRows::text(int row, int column) const {
  return {PQgetvalue(result_.get(), row, column),
          static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
}

std::optional<std::string> TextRows::text_or_null(int row, int column) const {
  return is_null(row, column) ? std::nullopt : std::optional{std::string{text(row, column)}};
}

std::int64_t TextRows::integer(int row, int column) const {
  const std::string_view digits = text(row, column);
  std::int64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

std::int64_t TextRows::affected() const {
  const std::string_view digits{PQcmdTuples(result_.get())};
  std::int64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

void Connection::Close::operator()(pg_conn* connection) const { PQfinish(connection); }

Connection::Connection(pg_conn* connection, const ConnectOptions& options,
                       const Interruption& interruption)
    : connection_(connection),
      interruption_(&interruption),
      statement_max_(options.statement_max) {}

Result<Connection> Connection::open(const ConnectOptions& options,
                                    const Interruption& interruption) {
  POSTRIDER_TRY(const ParsedAddress address, parse(options.address.reveal()));
  const bool verifies = !options.ca_file.empty();
  const bool has_mode = !value_of(address.get(), "sslmode").empty();
  // libpq would try the next server only after one that does not answer has used up all the time.
  const std::vector<Host> hosts = hosts_of(address.get());
  std::optional<Error> error;
  for (const Host& host : hosts) {
    // Later entries override those in the address. Null values are ignored.
    const char* const keywords[] = {"dbname",
                                    "client_encoding",
                                    "fallback_application_name",
                                    "sslrootcert",
                                    "sslmode",
                                    "host",
                                    "hostaddr",
                                    "port",
                                    nullptr};
    const char* const values[] = {options.address.reveal().c_str(),
                                  "UTF8",
                                  "postrider",
                                  verifies ? options.ca_file.c_str() : nullptr,
                                  verifies && !has_mode ? "verify-full" : nullptr,
                                  or_null(host.name),
                                  or_null(host.address),
                                  or_null(host.port),
                                  nullptr};
    Connection connection{PQconnectStartParams(keywords, values, 1), options, interruption};
    if (connection.connection_ == nullptr) {
      return fail(Errc::unavailable, "There is not enough memory for a database connection.");
    }
    connection.password_ = Secret<std::string>{value_of(address.get(), "password")};
    const Result<void> connected =
        connection.finish_connecting(options.connect_max / static_cast<int>(hosts.size()));
    if (connected) {
      return connection;
    }
    error = connected.error();
  }
  return tl::make_unexpected(*std::move(error));
}

Result<void> Connection::finish_connecting(Millis connect_max) {
  pg_conn* connection = connection_.get();
  Deadline deadline{connect_max};
  // Initially as if PQconnectPoll had returned PGRES_POLLING_WRITING.
  PostgresPollingStatusType state = PGRES_POLLING_WRITING;
  if (PQstatus(connection) == CONNECTION_BAD) {
    state = PGRES_POLLING_FAILED;
  }
  while (state != PGRES_POLLING_OK) {
    if (state == PGRES_POLLING_FAILED) {
      return fail(Errc::unavailable, readable(PQerrorMessage(connection)));
    }
    POSTRIDER_CHECK(
        wait_until(state == PGRES_POLLING_READING ? Direction::read : Direction::write, deadline));
    state = PQconnectPoll(connection);
  }
  if (PQsetnonblocking(connection, 1) != 0) {
    return lost(PQerrorMessage(connection));
  }
  // Notices go to stderr otherwise.
  PQsetNoticeProcessor(connection, [](void*, const char*) {}, nullptr);
  return {};
}

Result<void> Connection::wait_until(Direction direction, Deadline& deadline) {
  const int socket = PQsocket(connection_.get());
  Woken woken = wait(socket, direction, interruption_, deadline);
  if (woken == Woken::interrupted) {
    deadline.shorten(interrupted_wait_max);
    woken = wait(socket, direction, nullptr, deadline);
  }
  if (woken == Woken::expired) {
    return lost("The database server did not answer in time.");
  }
  return {};
}

Result<TextRows> Connection::execute(const std::string& sql, const TextParameters& parameters) {
  sqlstate_.clear();
  if (!is_open()) {
    return lost("The connection to the database is closed.");
  }
  std::vector<const char*> values;
  values.reserve(parameters.size());
  for (const std::optional<std::string>& parameter : parameters) {
    values.push_back(parameter ? parameter->c_str() : nullptr);
  }
  if (PQsendQueryParams(connection_.get(), sql.c_str(), static_cast<int>(values.size()), nullptr,
                        values.data(), nullptr, nullptr, 0) == 0) {
    return lost(PQerrorMessage(connection_.get()));
  }
  return results(statement_max_);
}

Result<TextRows> Connection::script(const std::string& sql) { return script(sql, statement_max_); }

Result<TextRows> Connection::script(const std::string& sql, Millis max) {
  sqlstate_.clear();
  if (!is_open()) {
    return lost("The connection to the database is closed.");
  }
  if (PQsendQuery(connection_.get(), sql.c_str()) == 0) {
    return lost(PQerrorMessage(connection_.get()));
  }
  Result<TextRows> rows = results(max);
  if (!rows && is_open() && PQtransactionStatus(connection_.get()) != PQTRANS_IDLE) {
    std::string sqlstate = sqlstate_;
    if (PQsendQuery(connection_.get(), "ROLLBACK") == 0 || !results(statement_max_)) {
      return lost(rows.error().message);
    }
    sqlstate_ = std::move(sqlstate);
  }
  return rows;
}

Result<TextRows> Connection::results(Millis max) {
  Deadline deadline{max};
  POSTRIDER_CHECK(flush(deadline));
  return collect(deadline);
}

Result<void> Connection::flush(Deadline& deadline) {
  while (true) {
    const int left = PQflush(connection_.get());
    if (left == 0) {
      return {};
    }
    if (left < 0) {
      return lost(PQerrorMessage(connection_.get()));
    }
    // The server may be waiting for us to read.
    POSTRIDER_CHECK(wait_until(Direction::either, deadline));
    if (PQconsumeInput(connection_.get()) == 0) {
      return lost(PQerrorMessage(connection_.get()));
    }
  }
}

Result<TextRows> Connection::collect(Deadline& deadline) {
  TextRows last;
  std::optional<Error> error;
  while (true) {
    while (PQisBusy(connection_.get()) != 0) {
      POSTRIDER_CHECK(wait_until(Direction::read, deadline));
      if (PQconsumeInput(connection_.get()) == 0) {
        return lost(PQerrorMessage(connection_.get()));
      }
    }
    PGresult* const result = PQgetResult(connection_.get());
    if (result == nullptr) {
      break;
    }
    TextRows rows{result};
    const ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH) {
      return lost("COPY is not supported.");
    }
    if (status == PGRES_FATAL_ERROR || status == PGRES_BAD_RESPONSE) {
      error = refused(result).value();
    } else {
      last = std::move(rows);
    }
  }
  if (error) {
    return tl::make_unexpected(*std::move(error));
  }
  return last;
}

Result<bool> Connection::wait_for_notification(Millis wait_max) {
  return wait_for_notification({.max = wait_max, .interruption = interruption_});
}

Result<bool> Connection::wait_for_notification(const NotificationWait& wanted) {
  if (!is_open()) {
    return lost("The connection to the database is closed.");
  }
  const Deadline deadline{wanted.max};
  bool notified = false;
  while (true) {
    while (PGnotify* const notification = PQnotifies(connection_.get())) {
      notified = notified || wanted.ignored_payload.empty() ||
                 notification->extra != wanted.ignored_payload;
      PQfreemem(notification);
    }
    if (notified || wait(PQsocket(connection_.get()), Direction::read, wanted.interruption,
                         deadline) != Woken::ready) {
      return notified;
    }
    if (PQconsumeInput(connection_.get()) == 0) {
      return lost(PQerrorMessage(connection_.get()));
    }
  }
}

bool Connection::is_open() const {
  return connection_ != nullptr && PQstatus(connection_.get()) == CONNECTION_OK;
}

int Connection::server_pid() const { return PQbackendPID(connection_.get()); }

std::string Connection::literal(std::string_view text) {
  // Backslashes are ordinary characters, because standard_conforming_strings is on by default and
  // an E'' string is not used.
  std::string quoted = "'";
  for (const char c : text) {
    quoted += c;
    if (c == '\'') {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string Connection::identifier(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) {
    quoted += c;
    if (c == '"') {
      quoted += c;
    }
  }
  return quoted + "\"";
}

tl::unexpected<Error> Connection::lost(std::string_view what) {
  std::string message = readable(what);
  connection_.reset();
  return fail(Errc::unavailable, std::move(message));
}

tl::unexpected<Error> Connection::refused(pg_result* result) {
  const char* const state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char* const primary = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  sqlstate_ = state == nullptr ? "" : state;
  return fail(code_of(sqlstate_),
              readable(primary == nullptr ? PQresultErrorMessage(result) : primary));
}

std::string Connection::readable(std::string_view message) const {
  std::string text;
  for (const char c : message) {
    const bool is_space = c == '\n' || c == '\t' || c == ' ';
    if (!is_space) {
      text += c;
    } else if (!text.empty() && text.back() != ' ') {
      text += ' ';
    }
  }
  while (text.ends_with(' ')) {
    text.pop_back();
  }
  const std::string& password = password_.reveal();
  for (std::size_t at = 0; !password.empty() && (at = text.find(password, at)) != text.npos;) {
    text.replace(at, password.size(), "***");
    at += 3;
  }
  if (!text.empty() && !text.ends_with('.')) {
    text += '.';
  }
  return text;
}

}  // namespace postrider::postgres
