#include "adapters/sqlite/database/writer.h"

#include <utility>

#include <fmt/format.h>

#include "adapters/sqlite/database/migrations.h"
#include "adapters/sqlite/database/secure_delete.h"

namespace postrider::sqlite {
namespace {

// If a reader prevents a checkpoint, the next try waits until the log has grown by this much.
constexpr int checkpoint_retry_pages = 1'024;

// Takes effect in a new file only, before the first write.
constexpr std::string_view incremental_vacuum = "PRAGMA auto_vacuum = INCREMENTAL";

constexpr std::string_view settings = R"sql(
  PRAGMA page_size = 4096;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = OFF;
  PRAGMA mmap_size = 0;
  PRAGMA cache_size = -32768;
  PRAGMA temp_store = MEMORY;
  PRAGMA journal_size_limit = 67108864;
  PRAGMA secure_delete = OFF;
  PRAGMA trusted_schema = OFF;
)sql";

constexpr InternerSql tenant_names{"SELECT tenant FROM tenant WHERE name = ?1",
                                   "INSERT INTO tenant (name) VALUES (?1) RETURNING tenant",
                                   "SELECT name FROM tenant WHERE tenant = ?1"};
constexpr InternerSql type_names{"SELECT type FROM event_type WHERE name = ?1",
                                 "INSERT INTO event_type (name) VALUES (?1) RETURNING type",
                                 "SELECT name FROM event_type WHERE type = ?1"};

Result<std::int64_t> read_next_sequence(Database& database) {
  POSTRIDER_TRY(Statement statement,
                database.prepare("SELECT max(ifnull((SELECT max(sequence) FROM event), 0),"
                                 " ifnull((SELECT max(sequence) FROM delivery), 0),"
                                 " (SELECT sequence FROM removed)) + 1"));
  Query query = statement.query();
  POSTRIDER_TRY(const bool found, query.next());
  return found ? query.integer(0) : 1;
}

Result<std::int64_t> read_position(Database& database) {
  POSTRIDER_TRY(const std::optional<StoreState> state, read_store_state(database));
  return state ? state->position : 0;
}

Result<std::unique_ptr<Writer::Session>> open_session(const SqliteOptions& options) {
  const std::filesystem::path file = database_file(options.directory);
  POSTRIDER_CHECK(create_private_file(file));
  POSTRIDER_CHECK(rewrite_durably(file.string() + "-wal"));
  POSTRIDER_TRY(Database database,
                Database::open({.file = file, .access = Access::write, .vfs = options.vfs}));
  if (options.shrinks) {
    POSTRIDER_CHECK(database.execute(std::string{incremental_vacuum}));
  }
  POSTRIDER_CHECK(database.execute(std::string{settings}));
  POSTRIDER_CHECK(migrate(database));
  POSTRIDER_CHECK(database.truncate_wal());

  Statement begin;
  Statement begin_read;
  Statement commit;
  Statement advance;
  POSTRIDER_CHECK(database.prepare_all({{&begin, "BEGIN IMMEDIATE"},
                                        {&begin_read, "BEGIN"},
                                        {&commit, "COMMIT"},
                                        {&advance, "UPDATE store_state SET position = ?1"}}));
  POSTRIDER_TRY(StringInterner tenants, StringInterner::open(database, tenant_names));
  POSTRIDER_TRY(StringInterner types, StringInterner::open(database, type_names));
  POSTRIDER_TRY(LaneCache lanes, LaneCache::open(database));
  POSTRIDER_TRY(StatsAccumulator stats, StatsAccumulator::open(database));
  POSTRIDER_TRY(const std::int64_t next_sequence, read_next_sequence(database));
  POSTRIDER_TRY(const std::int64_t position, read_position(database));
  return std::make_unique<Writer::Session>(
      Writer::Session{.database = std::move(database),
                      .begin = std::move(begin),
                      .begin_read = std::move(begin_read),
                      .commit = std::move(commit),
                      .advance = std::move(advance),
                      .tenants = std::move(tenants),
                      .types = std::move(types),
                      .lanes = std::move(lanes),
                      .stats = std::move(stats),
                      .vault = options.vault,
                      .next_sequence = next_sequence,
                      .position = position,
                      .checkpoint_at_pages = options.checkpoint_pages});
}

}  // namespace

Writer::Writer(SqliteOptions options, DirectoryLock lock)
    : options_(std::move(options)), lock_(std::move(lock)) {}

Writer::~Writer() {
  if (session_ && !broken_) {
    // Optional: the log is as durable as the database file.
    [[maybe_unused]] const Result<void> emptied = session_->database.truncate_wal();
    if (marker_) {
      base_ = session_->database.log_copied() ? session_->position : base_;
      marker_->note_end(session_->position, base_);
    }
  }
}

Result<std::unique_ptr<Writer>> Writer::open(const SqliteOptions& options) {
  POSTRIDER_TRY(DirectoryLock lock, DirectoryLock::acquire(options.directory));
  POSTRIDER_TRY(const TailCheck found, check_tail(options));
  if (found.loss && !options.accept_data_loss) {
    return fail(Errc::corrupt, refusal_of(*found.loss));
  }
  if (found.foreign_log) {
    POSTRIDER_CHECK(set_log_aside(options.directory));
  }
  std::unique_ptr<Writer> writer{new Writer{options, std::move(lock)}};
  POSTRIDER_CHECK(writer->reopen());
  POSTRIDER_CHECK(writer->start_marker(found));
  return writer;
}

Result<void> Writer::start_marker(const TailCheck& found) {
  if (found.loss || found.restored) {
    // A new identity: the files that are missing must not be taken for newer ones of this store.
    POSTRIDER_CHECK(
        database().execute("UPDATE store_state SET identity = randomblob(16), copied = 0"));
    POSTRIDER_CHECK(database().truncate_wal());
    incident_ = StoreIncident{
        .kind = found.loss ? StoreIncident::Kind::data_loss : StoreIncident::Kind::restored,
        .detail = found.loss.value_or("The database is a restored backup.")};
  }
  POSTRIDER_TRY(const std::optional<StoreState> state, read_store_state(database()));
  if (!state) {
    return fail(Errc::corrupt, "The table store_state is missing.");
  }
  if (database().log_copied()) {
    base_ = state->position;
  } else if (found.marker && found.marker->identity == state->identity) {
    base_ = found.marker->base;
  }
  POSTRIDER_TRY(
      MarkerFile marker,
      MarkerFile::open(options_.directory,
                       {.identity = state->identity, .position = state->position, .base = base_}));
  marker_.emplace(std::move(marker));
  return {};
}

Result<void> Writer::usable() const {
  if (broken_) {
    return fail(Errc::unavailable, broken_->message);
  }
  return {};
}

Result<void> Writer::reopen() {
  session_.reset();
  Result<std::unique_ptr<Session>> session = open_session(options_);
  if (!session) {
    broken_ = session.error();
    return tl::make_unexpected(session.error());
  }
  if (marker_ && (*session)->position < marker_->marker().position) {
    broken_ = Error{Errc::corrupt,
                    fmt::format("The store lost its newest transactions while it was open: {} of "
                                "{} are there.",
                                (*session)->position, marker_->marker().position)};
    return tl::make_unexpected(*broken_);
  }
  session_ = *std::move(session);
  broken_.reset();
  return {};
}

Result<void> Writer::set_secure_delete(bool on) {
  return sqlite::set_secure_delete(database(), on);
}

Result<void> Writer::purge_log() { return database().truncate_wal(); }

Result<void> Writer::begin() {
  sequence_before_ = session_->next_sequence;
  changes_before_ = session_->database.total_changes();
  Result<void> begun = session_->begin.run();
  if (!begun) {
    broken_ = begun.error();
  }
  return begun;
}

Result<void> Writer::commit() {
  Result<void> committed = session_->lanes.write()
                               .and_then([this] { return session_->stats.write(); })
                               .and_then([this] { return advance_position(); })
                               .and_then([this] { return session_->commit.run(); });
  if (!committed) {
    return tl::make_unexpected(roll_back(std::move(committed).error()));
  }
  note_position();
  checkpoint_when_due();
  return {};
}

/// A transaction that changed nothing stays one that writes nothing.
Result<void> Writer::advance_position() {
  if (session_->database.total_changes() == changes_before_) {
    return {};
  }
  return session_->advance.run(session_->position + 1);
}

void Writer::note_position() {
  if (session_->database.total_changes() != changes_before_) {
    session_->position += 1;
    marker_->note(session_->position, base_);
  }
}

Error Writer::roll_back(Error cause) {
  // Fails if SQLite has already rolled back, which is fine.
  [[maybe_unused]] const Result<void> undone = session_->database.execute("ROLLBACK");
  session_->next_sequence = sequence_before_;
  session_->tenants.clear_cache();
  session_->types.clear_cache();
  session_->lanes.clear_cache();
  session_->stats.clear_cache();
  if (cause.code == Errc::unavailable || cause.code == Errc::corrupt) {
    broken_ = cause;
  }
  return cause;
}

void Writer::checkpoint_when_due() {
  const int pages = session_->database.wal_pages();
  if (pages < options_.checkpoint_pages) {
    session_->checkpoint_at_pages = options_.checkpoint_pages;
    return;
  }
  if (pages < session_->checkpoint_at_pages) {
    return;
  }
  session_->checkpoint_at_pages = pages + checkpoint_retry_pages;
  const Result<void> done = session_->database.checkpoint();
  if (done && session_->database.log_copied()) {
    base_ = session_->position;
    marker_->note(session_->position, base_);
  }
  if (!done) {
    // The transaction is safe in the log, but the disk is failing: report it at the next call.
    broken_ = done.error();
  }
}

}  // namespace postrider::sqlite
