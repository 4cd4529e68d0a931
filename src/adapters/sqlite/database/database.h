// A C++ wrapper of the SQLite C API: connection, prepared statements, errors as Result. Independent
// of the schema. A connection and its statements are used by one thread at a time.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/base/time.h"

struct sqlite3;
struct sqlite3_stmt;

namespace postrider::sqlite {

/// Bytes that are not text.
struct Blob {
  std::string_view bytes;
};

/// One run of a statement, row by row. The destructor resets the statement for its next run.
class Query {
 public:
  explicit Query(sqlite3_stmt* statement) : statement_(statement) {}
  ~Query();
  Query(Query&& other) noexcept : statement_(std::exchange(other.statement_, nullptr)) {}
  Query& operator=(Query&&) = delete;

  /// Moves to the next row. False at the end.
  [[nodiscard]] Result<bool> next();

  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] bool is_integer(int column) const;
  [[nodiscard]] bool is_text(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;
  /// Text or blob. Valid until the next call of `next`.
  [[nodiscard]] std::string_view bytes(int column) const;
  [[nodiscard]] std::string text(int column) const { return std::string{bytes(column)}; }
  [[nodiscard]] WallTime time(int column) const { return wall_from_unix_ms(integer(column)); }

  template <class Number>
    requires std::integral<Number> || std::is_enum_v<Number>
  [[nodiscard]] Number as(int column) const {
    return static_cast<Number>(integer(column));
  }

  /// All zero bytes if the column does not hold 16 bytes. Nothing has that id.
  template <class SomeId>
  [[nodiscard]] SomeId id(int column) const {
    SomeId id;
    const std::string_view raw = bytes(column);
    if (raw.size() == id.bytes.size()) {
      std::memcpy(id.bytes.data(), raw.data(), raw.size());
    }
    return id;
  }

  [[nodiscard]] std::optional<std::string> text_or_null(int column) const {
    return is_null(column) ? std::nullopt : std::optional{text(column)};
  }
  [[nodiscard]] std::optional<WallTime> time_or_null(int column) const {
    return is_null(column) ? std::nullopt : std::optional{time(column)};
  }
  template <class Number>
  [[nodiscard]] std::optional<Number> as_or_null(int column) const {
    return is_null(column) ? std::nullopt : std::optional{as<Number>(column)};
  }

 private:
  sqlite3_stmt* statement_;
};

class Statement {
 public:
  Statement() = default;
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}

  /// Binds the values to ?1, ?2, … and runs to the end. Ignores rows.
  template <class... Values>
  [[nodiscard]] Result<void> run(const Values&... values) {
    bind_all(false, values...);
    return run_bound();
  }

  /// Binds the values to ?1, ?2, … and starts.
  template <class... Values>
  [[nodiscard]] Query query(const Values&... values) {
    bind_all(true, values...);
    return Query{statement_.get()};
  }

  /// Binds one value, for SQL that is built at run time. Then call `query()` without values.
  template <class Value>
  void bind_at(int index, const Value& value) {
    bind(index, value, true);
  }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };

  void bind_all(bool /*copy*/) {}

  template <class... Values>
  void bind_all(bool copy, const Values&... values) {
    int index = 0;
    (bind(++index, values, copy), ...);
  }

  /// With `copy` SQLite keeps its own copy. Without, the bytes must outlive the run.
  void bind_integer(int index, std::int64_t value);
  void bind_real(int index, double value);
  void bind_text(int index, std::string_view text, bool copy);
  void bind_blob(int index, std::string_view bytes, bool copy);
  void bind_null(int index);
  [[nodiscard]] Result<void> run_bound();

  template <class Value>
  void bind(int index, const Value& value, bool copy) {
    if constexpr (std::is_same_v<Value, std::nullopt_t>) {
      bind_null(index);
    } else if constexpr (std::is_enum_v<Value> || std::integral<Value>) {
      bind_integer(index, static_cast<std::int64_t>(value));
    } else if constexpr (std::floating_point<Value>) {
      bind_real(index, value);
    } else if constexpr (std::is_same_v<Value, WallTime>) {
      bind_integer(index, to_unix_ms(value));
    } else if constexpr (std::is_same_v<Value, Millis> || std::is_same_v<Value, Micros>) {
      bind_integer(index, value.count());
    } else if constexpr (std::is_same_v<Value, Blob>) {
      bind_blob(index, value.bytes, copy);
    } else {
      bind_text(index, std::string_view{value}, copy);
    }
  }

  template <class Kind>
  void bind(int index, const Id<Kind>& id, bool copy) {
    bind_blob(index, {reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()}, copy);
  }

  template <class Value>
  void bind(int index, const std::optional<Value>& value, bool copy) {
    if (value) {
      bind(index, *value, copy);
    } else {
      bind_null(index);
    }
  }

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

enum class Access : std::uint8_t { write, read };

struct OpenOptions {
  std::filesystem::path file;
  Access access = Access::write;
  std::string vfs;  // Empty: the default.
  /// Reads the file as it is, without its log and without locks. With Access::read only.
  bool ignores_log = false;
};

class Database {
 public:
  [[nodiscard]] static Result<Database> open(const OpenOptions& options);

  /// One or more statements without parameters.
  [[nodiscard]] Result<void> execute(const std::string& sql);
  [[nodiscard]] Result<Statement> prepare(std::string_view sql);

  struct StatementToPrepare {
    Statement* statement;
    std::string_view sql;
  };
  [[nodiscard]] Result<void> prepare_all(std::initializer_list<StatementToPrepare> statements);

  /// Replaces the contents of this database with those of `source`. Calls `progress(copied, total)`
  /// in pages, unless it is empty.
  [[nodiscard]] Result<void> copy_from(
      Database& source, const std::function<void(std::uint64_t, std::uint64_t)>& progress);

  /// The number of rows that the last statement changed.
  [[nodiscard]] std::int64_t changes() const;
  /// The number of rows that all statements of this connection have changed.
  [[nodiscard]] std::int64_t total_changes() const;

  /// Pages in the write-ahead log after the last commit.
  [[nodiscard]] int wal_pages() const { return *wal_pages_; }
  /// Copies the log into the database file as far as possible without waiting for readers.
  [[nodiscard]] Result<void> checkpoint();
  /// Copies all of the log into the database file and empties it, unless a reader prevents that.
  [[nodiscard]] Result<void> truncate_wal();
  /// True if the last checkpoint copied all of the log.
  [[nodiscard]] bool log_copied() const { return log_copied_; }

 private:
  struct Close {
    void operator()(sqlite3* connection) const;
  };

  explicit Database(sqlite3* connection) : connection_(connection) {}
  [[nodiscard]] Result<void> checkpoint(int mode);

  // On the heap, because SQLite keeps its address and this object can be moved. Must outlive the
  // connection.
  std::unique_ptr<int> wal_pages_ = std::make_unique<int>(0);
  std::unique_ptr<sqlite3, Close> connection_;
  bool log_copied_ = false;
};

}  // namespace postrider::sqlite
