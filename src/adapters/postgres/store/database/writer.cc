#include "adapters/postgres/store/database/writer.h"

#include <string_view>
#include <utility>

#include "core/base/assert.h"

#include "adapters/postgres/store/database/advisory_lock.h"
#include "adapters/postgres/store/database/migrations.h"
#include "adapters/postgres/store/database/partitions.h"

namespace postrider::postgres {
namespace {

/// Two nodes that lock the same rows rarely do so again at once.
constexpr int tries_max = 5;

constexpr std::string_view write_mark =
    "INSERT INTO commit_mark (writer, number) VALUES ($1, $2)"
    " ON CONFLICT (writer) DO UPDATE SET number = excluded.number, written_at = now()";

/// Waits for a transaction that is still being committed.
constexpr std::string_view read_mark =
    "SELECT number FROM commit_mark WHERE writer = $1 FOR UPDATE";

/// A node that has not reached its database for a week no longer needs its mark.
constexpr std::string_view remove_old_marks =
    "DELETE FROM commit_mark WHERE written_at < now() - interval '7 days'";

constexpr std::string_view own_backend =
    "SELECT pid::bigint, (extract(epoch FROM backend_start) * 1000000)::bigint"
    " FROM pg_stat_activity WHERE pid = pg_backend_pid()";

/// Ends a lost backend and waits up to five seconds until it has ended.
constexpr std::string_view end_backend =
    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
    " WHERE pid = $1 AND (extract(epoch FROM backend_start) * 1000000)::bigint = $2";

/// Every statement of a writer reads few rows of large tables through an index, in the order of its
/// parameters or of the index. The planner must not prefer to read and sort a lane because lanes
/// are short on average, nor plan again for other parameters.
constexpr std::string_view plan_settings =
    "SELECT set_config('plan_cache_mode', 'force_generic_plan', $1),"
    " set_config('enable_seqscan', 'off', $1), set_config('enable_bitmapscan', 'off', $1),"
    " set_config('enable_hashjoin', 'off', $1), set_config('enable_mergejoin', 'off', $1),"
    " set_config('enable_sort', 'off', $1), set_config('random_page_cost', '0', $1),"
    " set_config('seq_page_cost', '0', $1),"
    " set_config('max_parallel_workers_per_gather', '0', $1)";

/// Class 40: the database chose this transaction to end a deadlock, or could not serialize it.
/// 23505: another transaction has added the same key.
bool is_rollback_by_database(std::string_view sqlstate) {
  return sqlstate.starts_with("40") || sqlstate == "23505";
}

bool is_lock_timeout(std::string_view sqlstate) { return sqlstate == "55P03"; }

// A connection that has just been closed keeps its lock for a moment, longer on a busy server.
constexpr int lock_tries_max = 20;
constexpr std::string_view short_pause = "SELECT pg_sleep(0.1)";

constexpr std::string_view database_time =
    "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint";

// Those that write. One that has just begun may write next.
constexpr std::string_view count_older_transactions =
    "SELECT count(*) FROM pg_stat_activity"
    " WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()"
    " AND xact_start < to_timestamp($1::bigint / 1000000.0)"
    " AND (backend_xid IS NOT NULL OR xact_start > now() - interval '1 minute')";

// Longer than a statement may take.
constexpr int older_tries_max = 300;

/// Behind a pool, a transaction whose connection was lost may still run, and no session can end it.
/// Waits until every transaction has ended that began before this call.
Result<void> await_older_transactions(Session& session) {
  POSTRIDER_TRY(const Rows time, session.run(database_time));
  for (int tries = 1;; ++tries) {
    POSTRIDER_TRY(const Rows older,
                  session.run(count_older_transactions, Parameters::of(time.integer(0, 0))));
    if (older.integer(0, 0) == 0) {
      return {};
    }
    if (tries == older_tries_max) {
      return fail(Errc::unavailable,
                  "A transaction is still running that began before the connection was lost.");
    }
    POSTRIDER_CHECK(session.run(short_pause));
  }
}

/// `sql` returns whether it got the lock.
Result<void> take_lock(Session& session, std::string_view sql, std::string refusal) {
  for (int tries = 1;; ++tries) {
    POSTRIDER_TRY(const Rows locked, session.run(sql, lock_parameters(AdvisoryLock::server)));
    if (locked.count() > 0 && locked.boolean(0, 0)) {
      return {};
    }
    if (tries == lock_tries_max) {
      return fail(Errc::conflict, std::move(refusal));
    }
    POSTRIDER_CHECK(session.run(short_pause));
  }
}

}  // namespace

Writer::Writer(PostgresOptions options)
    : options_(std::move(options)),
      interruption_(options_.interruption ? options_.interruption
                                          : std::make_shared<const Interruption>()),
      sql_([this](const SqlDatabase::Body& body) { return body(*session_); },
           SqlDatabase::Access::write) {}

Writer::~Writer() = default;

Result<std::unique_ptr<Writer>> Writer::open(const PostgresOptions& options) {
  std::unique_ptr<Writer> writer{new Writer{options}};
  POSTRIDER_CHECK(writer->start());
  return writer;
}

Result<void> Writer::start() {
  POSTRIDER_TRY(Session session, Session::open(options_.connect, *interruption_));
  POSTRIDER_CHECK(lock_database(session));
  POSTRIDER_TRY(database_, migrate(session));
  if (options_.now) {
    POSTRIDER_CHECK(ensure_partitions(session, *options_.now));
  }
  POSTRIDER_TRY(const Rows id, session.run("SELECT gen_random_uuid()"));
  id_ = id.uuid(0, 0);
  POSTRIDER_CHECK(session.run(remove_old_marks));
  POSTRIDER_CHECK(session.run(write_mark, Parameters::of(id_, commit_number_)));
  POSTRIDER_CHECK(note_backend(session));
  POSTRIDER_CHECK(set_plans(session));
  session_ = std::move(session);
  return {};
}

/// Every statement of this writer goes through the session that holds the lock, so a server that
/// has lost it cannot write any more. A session of a pool cannot keep a lock: `begin` takes it for
/// each transaction.
Result<void> Writer::lock_database(Session& session) const {
  switch (options_.use) {
    case DatabaseUse::unlocked:
      return {};
    case DatabaseUse::shared:
      return take_lock(session,
                       session.is_pooled() ? try_lock_shared_sql : try_lock_session_shared_sql,
                       "The database is used by a postrider process that does not share it.");
    case DatabaseUse::alone:
      if (session.is_pooled()) {
        return fail(Errc::invalid,
                    "The database is reached through a connection pool. Use the address of the "
                    "database server, because the connection keeps a lock.");
      }
      return take_lock(session, try_lock_session_sql,
                       "The database is already used by another postrider process.");
  }
  return {};
}

Result<void> Writer::set_plans(Session& session) {
  if (!session.is_pooled()) {
    POSTRIDER_CHECK(session.run(plan_settings, Parameters::of(false)));
  }
  return {};
}

Result<void> Writer::usable() const {
  if (broken_ || !session_->is_open()) {
    // The cause was returned before. It may name the database and its user (P11).
    return fail(Errc::unavailable, "The connection to the database was lost.");
  }
  return {};
}

Result<void> Writer::reopen() {
  session_.reset();
  Result<Session> session = connect();
  if (!session) {
    broken_ = session.error();
    // Not invalid: an operator may restore a database that was emptied or migrated.
    broken_->code = broken_->code == Errc::corrupt ? Errc::corrupt : Errc::unavailable;
    return tl::make_unexpected(*broken_);
  }
  session_ = *std::move(session);
  broken_.reset();
  return {};
}

Result<Session> Writer::connect() {
  POSTRIDER_TRY(Session session, Session::open(options_.connect, *interruption_));
  POSTRIDER_TRY(const Uuid database, check_schema(session));
  if (database != database_) {
    return fail(Errc::corrupt, "The database has been replaced by another one.");
  }
  POSTRIDER_CHECK(end_lost_backend(session));
  POSTRIDER_CHECK(lock_database(session));
  POSTRIDER_CHECK(resolve_unknown_commit(session));
  POSTRIDER_CHECK(note_backend(session));
  POSTRIDER_CHECK(set_plans(session));
  return session;
}

Result<void> Writer::note_backend(Session& session) {
  backend_.reset();
  if (session.is_pooled()) {
    return {};  // The pool ends it when it loses us.
  }
  POSTRIDER_TRY(const Rows own, session.run(own_backend));
  if (own.count() > 0) {
    backend_ = Backend{.pid = own.integer(0, 0), .started = own.integer(0, 1)};
  }
  return {};
}

/// The lost backend may still hold locks, or commit.
Result<void> Writer::end_lost_backend(Session& session) {
  if (backend_) {
    POSTRIDER_CHECK(session.run(end_backend, Parameters::of(backend_->pid, backend_->started)));
  }
  return {};
}

Result<void> Writer::resolve_unknown_commit(Session& session) {
  lost_commit_stored_.reset();
  if (unknown_commit_) {
    if (session.is_pooled()) {
      POSTRIDER_CHECK(await_older_transactions(session));
    }
    POSTRIDER_TRY(const Rows mark, session.run(read_mark, Parameters::of(id_)));
    lost_commit_stored_ = mark.count() > 0 && mark.integer(0, 0) >= *unknown_commit_;
    unknown_commit_.reset();
  }
  return {};
}

Result<void> Writer::begin() {
  committed_ = false;
  marked_ = false;
  failed_with_.clear();
  session_->queue_begin(Isolation::write);
  if (session_->is_pooled()) {
    session_->queue(plan_settings, Parameters::of(true));
    if (options_.use == DatabaseUse::shared) {
      session_->queue(lock_shared_sql, lock_parameters(AdvisoryLock::server));
    }
  }
  begin_statements_ = session_->queued();
  return {};
}

Result<void> Writer::commit() {
  if (committed_) {
    POSTRIDER_ASSERT(session_->queued() == 0);
    return {};
  }
  const bool has_begun = session_->queued() != begin_statements_ || session_->in_transaction();
  if (!has_begun && session_->is_open()) {
    session_->clear_queue();
    return {};
  }
  Result<std::vector<Rows>> rows = exchange_commit();
  if (!rows) {
    return tl::make_unexpected(roll_back(std::move(rows).error()));
  }
  return {};
}

Result<std::vector<Rows>> Writer::exchange_and_commit() {
  if (depth() > 1) {
    return session_->exchange();
  }
  POSTRIDER_ASSERT(depth() == 1 && !committed_);
  return exchange_commit();
}

void Writer::add_mark(JoinedStatement& joined) {
  POSTRIDER_ASSERT(depth() > 0);
  if (!marked_) {
    marked_ = true;
    joined.add("mark", write_mark, Parameters::of(id_, ++commit_number_));
  }
}

/// The caller rolls back after an error. Nothing of the transaction is stored then, or it is not
/// known because the session is closed.
Result<std::vector<Rows>> Writer::exchange_commit() {
  if (session_->transaction_failed()) {
    return fail(Errc::unavailable, "A statement of the transaction failed.");
  }
  if (!marked_) {
    session_->queue(write_mark, Parameters::of(id_, ++commit_number_));
  }
  session_->queue("COMMIT");
  Result<std::vector<Rows>> rows = session_->exchange();
  committed_ = rows.has_value();
  if (!rows && !session_->is_open()) {
    unknown_commit_ = commit_number_;
  }
  return rows;
}

/// Reports a conflict with another transaction as unavailable, because no port declares it.
Error Writer::roll_back(Error cause) {
  if (committed_) {
    return cause;
  }
  ++failures_;
  session_->clear_queue();
  failed_with_ = session_->sqlstate();
  if (session_->in_transaction()) {
    [[maybe_unused]] const Result<Rows> undone = session_->run("ROLLBACK");
  }
  if (!session_->is_open()) {
    broken_ = Error{.code = Errc::unavailable, .message = cause.message};
  }
  if (is_rollback_by_database(failed_with_) || is_lock_timeout(failed_with_)) {
    cause.code = Errc::unavailable;
  }
  return cause;
}

bool Writer::may_repeat(int tries) const {
  return !broken_ && tries < tries_max && is_rollback_by_database(failed_with_);
}

Result<void> Writer::lock_audit_chain() {
  POSTRIDER_CHECK(session_->run(lock_sql, lock_parameters(AdvisoryLock::audit_chain)));
  return {};
}

}  // namespace postrider::postgres
