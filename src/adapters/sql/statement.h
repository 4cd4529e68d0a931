// Prepared statements of any SQL database: values are bound to ?1, ?2, …, rows are read column by
// column. A statement is used by one thread at a time, and not after its connection was closed.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/base/time.h"

namespace postrider::sql {

/// Bytes that are not text.
struct Blob {
  std::string_view bytes;
};

/// NULL if `bytes` is empty.
[[nodiscard]] inline std::optional<Blob> blob_or_null(std::string_view bytes) {
  return bytes.empty() ? std::nullopt : std::optional{Blob{bytes}};
}

/// A prepared statement of one database. Each adapter implements it; everything else uses Statement
/// and Query. Parameters are counted from 1, columns from 0.
class Cursor {
 public:
  virtual ~Cursor() = default;

  /// With `copy` the cursor keeps its own copy. Without, the bytes must outlive the run. Ids are
  /// blobs of 16 bytes.
  virtual void bind_null(int index) = 0;
  virtual void bind_integer(int index, std::int64_t value) = 0;
  virtual void bind_real(int index, double value) = 0;
  virtual void bind_text(int index, std::string_view text, bool copy) = 0;
  virtual void bind_blob(int index, std::string_view bytes, bool copy) = 0;

  /// Moves to the next row. The first call starts the statement. False at the end.
  [[nodiscard]] virtual Result<bool> next() = 0;
  /// Runs to the end, ignores rows and resets.
  [[nodiscard]] virtual Result<void> run() = 0;
  /// Makes the statement ready for its next run. Bound values are kept.
  virtual void reset() = 0;

  [[nodiscard]] virtual bool is_null(int column) const = 0;
  [[nodiscard]] virtual std::int64_t integer(int column) const = 0;
  [[nodiscard]] virtual double real(int column) const = 0;
  /// Text, blob or id. Valid until the next call of `next`.
  [[nodiscard]] virtual std::string_view bytes(int column) const = 0;

 protected:
  Cursor() = default;
  Cursor(const Cursor&) = default;
  Cursor& operator=(const Cursor&) = default;
};

/// One run of a statement, row by row. The destructor resets the statement for its next run.
class Query {
 public:
  explicit Query(Cursor& cursor) : cursor_(&cursor) {}
  ~Query() {
    if (cursor_ != nullptr) {
      cursor_->reset();
    }
  }
  Query(Query&& other) noexcept : cursor_(std::exchange(other.cursor_, nullptr)) {}
  Query& operator=(Query&&) = delete;

  /// Moves to the next row. False at the end.
  [[nodiscard]] Result<bool> next() { return cursor_->next(); }

  [[nodiscard]] bool is_null(int column) const { return cursor_->is_null(column); }
  [[nodiscard]] std::int64_t integer(int column) const { return cursor_->integer(column); }
  [[nodiscard]] double real(int column) const { return cursor_->real(column); }
  /// Text, blob or id. Valid until the next call of `next`.
  [[nodiscard]] std::string_view bytes(int column) const { return cursor_->bytes(column); }
  [[nodiscard]] std::string text(int column) const { return std::string{bytes(column)}; }
  [[nodiscard]] WallTime time(int column) const { return wall_from_unix_ms(integer(column)); }

  template <class Number>
    requires std::integral<Number> || std::is_enum_v<Number>
  [[nodiscard]] Number as(int column) const {
    return static_cast<Number>(integer(column));
  }

  /// Returns all zero bytes, which is the id of nothing, if the column does not hold 16 bytes.
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
  template <class SomeId>
  [[nodiscard]] std::optional<SomeId> id_or_null(int column) const {
    return is_null(column) ? std::nullopt : std::optional{id<SomeId>(column)};
  }

 private:
  Cursor* cursor_;
};

class Statement {
 public:
  Statement() = default;
  explicit Statement(std::unique_ptr<Cursor> cursor) : cursor_(std::move(cursor)) {}

  /// Binds the values to ?1, ?2, … and runs to the end. Ignores rows.
  template <class... Values>
  [[nodiscard]] Result<void> run(const Values&... values) {
    bind_all(false, values...);
    return cursor_->run();
  }

  /// Binds the values to ?1, ?2, … and starts.
  template <class... Values>
  [[nodiscard]] Query query(const Values&... values) {
    bind_all(true, values...);
    return Query{*cursor_};
  }

  /// Binds one value, for SQL that is built at run time. Then call `query()` without values.
  template <class Value>
  void bind_at(int index, const Value& value) {
    bind(index, value, true);
  }

 private:
  void bind_all(bool /*copy*/) {}

  template <class... Values>
  void bind_all(bool copy, const Values&... values) {
    int index = 0;
    (bind(++index, values, copy), ...);
  }

  template <class Value>
  void bind(int index, const Value& value, bool copy) {
    if constexpr (std::is_same_v<Value, std::nullopt_t>) {
      cursor_->bind_null(index);
    } else if constexpr (std::is_enum_v<Value> || std::integral<Value>) {
      cursor_->bind_integer(index, static_cast<std::int64_t>(value));
    } else if constexpr (std::floating_point<Value>) {
      cursor_->bind_real(index, value);
    } else if constexpr (std::is_same_v<Value, WallTime>) {
      cursor_->bind_integer(index, to_unix_ms(value));
    } else if constexpr (std::is_same_v<Value, Millis> || std::is_same_v<Value, Micros>) {
      cursor_->bind_integer(index, value.count());
    } else if constexpr (std::is_same_v<Value, Blob>) {
      cursor_->bind_blob(index, value.bytes, copy);
    } else {
      cursor_->bind_text(index, std::string_view{value}, copy);
    }
  }

  template <class Kind>
  void bind(int index, const Id<Kind>& id, bool copy) {
    cursor_->bind_blob(index, {reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()},
                       copy);
  }

  template <class Value>
  void bind(int index, const std::optional<Value>& value, bool copy) {
    if (value) {
      bind(index, *value, copy);
    } else {
      cursor_->bind_null(index);
    }
  }

  std::unique_ptr<Cursor> cursor_;
};

}  // namespace postrider::sql
