#include "adapters/postgres/store/database/session.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "core/base/assert.h"

#include "adapters/postgres/store/database/pipeline.h"

namespace postrider::postgres {
namespace {

/// More than the store has. Further statements are not prepared.
constexpr std::size_t prepared_max = 1'000;

/// The longest wait for an exchange, in multiples of the statement timeout. The server thus ends a
/// slow statement first, and the connection survives.
constexpr int exchange_statements = 2;

/// A transaction that waits longer for a lock fails, and the caller repeats it.
constexpr Millis lock_max{5'000};

constexpr std::string_view begin_write = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";
constexpr std::string_view begin_read = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

// jit is off, because compiling takes longer than any of the store's statements.
constexpr std::string_view set_for_session =
    "SELECT set_config('statement_timeout', $1, false), set_config('lock_timeout', $2, false),"
    " set_config('idle_in_transaction_session_timeout', $3, false), set_config('jit', 'off', "
    "false)";
constexpr std::string_view set_for_transaction =
    "SELECT set_config('statement_timeout', $1, true), set_config('lock_timeout', $2, true),"
    " set_config('idle_in_transaction_session_timeout', $3, true), set_config('jit', 'off', true)";

Parameters settings(Millis statement_max, Millis idle_in_transaction_max) {
  return Parameters::of(std::to_string(statement_max.count()),
                        std::to_string(std::min(lock_max, statement_max).count()),
                        std::to_string(idle_in_transaction_max.count()));
}

/// The oldest version of PostgreSQL that has everything the store uses, as the server numbers it.
constexpr std::int64_t server_version_min = 140'000;

constexpr std::string_view facts =
    "SELECT pg_backend_pid(), current_setting('server_version_num')::bigint,"
    " current_setting('server_encoding') = 'UTF8', current_schema() IS NOT NULL";

/// Removes the addresses that libpq writes in front of each cause. The API shows store errors, but
/// not every client may see the address of the database (P11).
std::string without_addresses(std::string message) {
  constexpr std::string_view begin = "connection to server ";
  constexpr std::string_view end = " failed: ";
  for (std::size_t at = message.find(begin); at != std::string::npos;
       at = message.find(begin, at)) {
    const std::size_t stop = message.find(end, at);
    if (stop == std::string::npos) {
      break;
    }
    message.replace(at, stop + end.size() - at, "The database cannot be reached: ");
  }
  return message;
}

/// Whether the store can use the database that `found`, the answer to `facts`, describes.
Result<void> check_facts(const Rows& found) {
  if (found.integer(0, 1) < server_version_min) {
    return fail(Errc::invalid, "The database server is too old. Use PostgreSQL 14 or newer.");
  }
  if (!found.boolean(0, 2)) {
    return fail(Errc::invalid,
                "The database does not have the encoding UTF8. Create it with ENCODING 'UTF8'.");
  }
  if (!found.boolean(0, 3)) {
    return fail(Errc::invalid, "No schema of the database's search_path exists.");
  }
  return {};
}

/// All other states mean that the server is down, read-only or full, or that an operator has
/// changed the schema or a privilege.
Errc code_of(std::string_view sqlstate) {
  const std::string_view group = sqlstate.substr(0, 2);
  if (sqlstate == "XX001" || sqlstate == "XX002") {  // Damaged data, a damaged index.
    return Errc::corrupt;
  }
  if (sqlstate == "55P03" || group == "40" || group == "23") {
    return Errc::conflict;
  }
  return Errc::unavailable;
}

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};

/// A statement that the server has prepared for parameters of these types.
struct Prepared {
  std::vector<Oid> types;
  std::string name;
  bool is_ready = false;
};

/// Everything known of one SQL text. Its address does not change.
struct Text {
  std::string sql;
  std::vector<std::unique_ptr<Prepared>> prepared;
  std::optional<std::vector<Oid>> inferred_types;
};

struct Queued {
  std::string sql;               // Of a statement that is not prepared.
  Prepared* prepared = nullptr;  // Null: it is not.
  const Text* text = nullptr;    // Of a prepared one.
  Parameters parameters;

  [[nodiscard]] const char* sql_text() const {
    return text != nullptr ? text->sql.c_str() : sql.c_str();
  }
};

bool has_types(const Prepared& prepared, const Parameters& parameters) {
  return std::ranges::equal(prepared.types, parameters.values(), {}, {}, &Parameters::Value::oid);
}

std::vector<Oid> types_of(const Parameters& parameters) {
  std::vector<Oid> types;
  for (const Parameters::Value& value : parameters.values()) {
    types.push_back(value.oid);
  }
  return types;
}

}  // namespace

struct Session::State {
  Connection connection;
  Millis idle_in_transaction_max;
  bool is_pooled = false;
  std::unordered_map<std::string, std::unique_ptr<Text>, TextHash, std::equal_to<>> texts;
  std::size_t names = 0;
  std::vector<Queued> queue;

  State(Connection opened, const ConnectOptions& options)
      : connection(std::move(opened)), idle_in_transaction_max(options.idle_in_transaction_max) {}

  std::string next_name() { return fmt::format("s{}", ++names); }
  Text& text_of(std::string_view sql);
  Prepared& prepared_of(Text& text, const Parameters& parameters);
  Result<std::vector<Rows>> exchange(std::vector<Queued> statements);
  Result<std::vector<Oid>> infer_types(const std::string& sql, const std::string& name);
  Error error_of(const Pipeline::Outcome& outcome) const;
};

Text& Session::State::text_of(std::string_view sql) {
  const auto found = texts.find(sql);
  if (found != texts.end()) {
    return *found->second;
  }
  auto text = std::make_unique<Text>();
  text->sql = sql;
  return *texts.emplace(text->sql, std::move(text)).first->second;
}

Prepared& Session::State::prepared_of(Text& text, const Parameters& parameters) {
  for (const std::unique_ptr<Prepared>& prepared : text.prepared) {
    if (has_types(*prepared, parameters)) {
      return *prepared;
    }
  }
  return *text.prepared.emplace_back(
      std::make_unique<Prepared>(Prepared{.types = types_of(parameters), .name = next_name()}));
}

Error Session::State::error_of(const Pipeline::Outcome& outcome) const {
  Error error = *outcome.error;
  error.code = outcome.was_refused ? code_of(connection.sqlstate()) : Errc::unavailable;
  return error;
}

Result<std::vector<Rows>> Session::State::exchange(std::vector<Queued> statements) {
  std::vector<Pipeline::Step> steps;
  std::vector<Prepared*> prepares;  // One for each step; null: it is a statement.
  steps.reserve(statements.size() * 2);
  for (const Queued& queued : statements) {
    const char* const name = queued.prepared == nullptr ? "" : queued.prepared->name.c_str();
    const auto* const values = &queued.parameters.values();
    if (queued.prepared != nullptr && !queued.prepared->is_ready &&
        std::ranges::find(prepares, queued.prepared) == prepares.end()) {
      steps.push_back({Pipeline::Step::Kind::prepare, name, queued.sql_text(), values});
      prepares.push_back(queued.prepared);
    }
    steps.push_back({Pipeline::Step::Kind::execute, name, queued.sql_text(), values});
    prepares.push_back(nullptr);
  }
  Pipeline::Outcome outcome =
      Pipeline::run(connection, steps, exchange_statements * connection.statement_max());
  std::vector<Rows> rows;
  rows.reserve(statements.size());
  for (std::size_t i = 0; i < outcome.answers.size(); ++i) {
    if (prepares[i] != nullptr) {
      prepares[i]->is_ready = true;  // Stays prepared when its transaction is rolled back.
    } else {
      rows.push_back(std::move(outcome.answers[i].rows));
    }
  }
  if (outcome.error) {
    return tl::make_unexpected(error_of(outcome));
  }
  return rows;
}

/// Prepares `sql` under the name. An empty one is that of the unnamed statement.
Result<std::vector<Oid>> Session::State::infer_types(const std::string& sql,
                                                     const std::string& name) {
  const Pipeline::Step steps[] = {{Pipeline::Step::Kind::prepare, name.c_str(), sql.c_str()},
                                  {Pipeline::Step::Kind::describe, name.c_str()}};
  Pipeline::Outcome outcome =
      Pipeline::run(connection, steps, exchange_statements * connection.statement_max());
  if (outcome.error) {
    return tl::make_unexpected(error_of(outcome));
  }
  return std::move(outcome.answers[1].parameter_types);
}

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<Session> Session::open(const ConnectOptions& options, const Interruption& interruption) {
  Result<Connection> opened = Connection::open(options, interruption);
  if (!opened) {
    return fail(opened.error().code, without_addresses(std::move(opened.error().message)));
  }
  Connection connection = *std::move(opened);
  const int named_pid = connection.server_pid();
  POSTRIDER_CHECK(Pipeline::enter(connection));
  Session session{std::make_unique<State>(std::move(connection), options)};
  POSTRIDER_TRY(const Rows found, session.run_once(std::string{facts}));
  POSTRIDER_CHECK(check_facts(found));
  // A pool gives its clients numbers of its own.
  session.state_->is_pooled = found.integer(0, 0) != named_pid;
  if (!session.is_pooled()) {
    POSTRIDER_CHECK(
        session.run_once(std::string{set_for_session},
                         settings(options.statement_max, options.idle_in_transaction_max)));
  }
  return session;
}

Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

std::size_t Session::queue(std::string_view sql, Parameters parameters) {
  if (state_->texts.size() >= prepared_max && !state_->texts.contains(sql)) {
    return queue_once(std::string{sql}, std::move(parameters));
  }
  Text& text = state_->text_of(sql);
  Queued queued{.text = &text};
  if (!state_->is_pooled) {
    queued.prepared = &state_->prepared_of(text, parameters);
  }
  queued.parameters = std::move(parameters);
  state_->queue.push_back(std::move(queued));
  return state_->queue.size() - 1;
}

std::size_t Session::queue_once(std::string sql, Parameters parameters) {
  state_->queue.push_back({.sql = std::move(sql), .parameters = std::move(parameters)});
  return state_->queue.size() - 1;
}

std::size_t Session::queued() const { return state_->queue.size(); }

void Session::clear_queue() { state_->queue.clear(); }

Result<std::vector<Rows>> Session::exchange() {
  std::vector<Queued> statements = std::exchange(state_->queue, {});
  if (statements.empty()) {
    return std::vector<Rows>{};
  }
  return state_->exchange(std::move(statements));
}

Result<Rows> Session::run(std::string_view sql, Parameters parameters) {
  const std::size_t index = queue(sql, std::move(parameters));
  POSTRIDER_TRY(std::vector<Rows> rows, exchange());
  return std::move(rows[index]);
}

Result<Rows> Session::run_once(std::string sql, Parameters parameters) {
  const std::size_t index = queue_once(std::move(sql), std::move(parameters));
  POSTRIDER_TRY(std::vector<Rows> rows, exchange());
  return std::move(rows[index]);
}

Result<void> Session::run_script(const std::string& sql, Millis max) {
  POSTRIDER_ASSERT(state_->queue.empty());
  POSTRIDER_CHECK(Pipeline::leave(state_->connection));
  const Result<TextRows> done = state_->connection.script(sql, max);
  const std::string sqlstate = state_->connection.sqlstate();
  if (is_open()) {
    POSTRIDER_CHECK(Pipeline::enter(state_->connection));
  }
  if (!done) {
    return fail(code_of(sqlstate), done.error().message);
  }
  return {};
}

Result<std::vector<Oid>> Session::parameter_types(std::string_view sql) {
  Text& text = state_->text_of(sql);
  if (!text.inferred_types) {
    const std::string name = is_pooled() ? "" : state_->next_name();
    POSTRIDER_TRY(text.inferred_types, state_->infer_types(text.sql, name));
    if (!name.empty()) {
      // It is kept for parameters of these types.
      text.prepared.push_back(std::make_unique<Prepared>(
          Prepared{.types = *text.inferred_types, .name = name, .is_ready = true}));
    }
  }
  return *text.inferred_types;
}

Result<std::vector<Oid>> Session::parameter_types_once(const std::string& sql) {
  return state_->infer_types(sql, "");
}

void Session::queue_begin(Isolation isolation) {
  queue(isolation == Isolation::write ? begin_write : begin_read);
  if (state_->is_pooled) {
    queue(set_for_transaction,
          settings(state_->connection.statement_max(), state_->idle_in_transaction_max));
  }
}

bool Session::is_open() const { return state_->connection.is_open(); }
const std::string& Session::sqlstate() const { return state_->connection.sqlstate(); }
bool Session::is_pooled() const { return state_->is_pooled; }
bool Session::in_transaction() const { return Pipeline::in_transaction(state_->connection); }
bool Session::transaction_failed() const {
  return Pipeline::transaction_failed(state_->connection);
}

}  // namespace postrider::postgres
