// The rows that a statement returned, in PostgreSQL's binary format.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/base/ids.h"
#include "core/base/time.h"

struct pg_result;

namespace postrider::postgres {

/// Rows and columns from 0. Only `is_null` and the `…_or_null` functions accept a null value; the
/// others return zero or an empty value for it.
class Rows {
 public:
  Rows() = default;
  explicit Rows(pg_result* result);

  [[nodiscard]] int count() const;
  [[nodiscard]] int columns() const;
  [[nodiscard]] bool is_null(int row, int column) const;

  /// Reads smallint, integer, bigint, or boolean as 0 or 1. A sum is numeric: cast it to bigint.
  [[nodiscard]] std::int64_t integer(int row, int column) const;
  [[nodiscard]] bool boolean(int row, int column) const { return integer(row, column) != 0; }
  [[nodiscard]] double real(int row, int column) const;
  /// bytea or uuid. Valid as long as this object.
  [[nodiscard]] std::string_view bytes(int row, int column) const;
  [[nodiscard]] std::string blob(int row, int column) const {
    return std::string{bytes(row, column)};
  }
  /// The unescaped text (escaped_text.h).
  [[nodiscard]] std::string text(int row, int column) const;
  [[nodiscard]] WallTime time(int row, int column) const {
    return wall_from_unix_ms(integer(row, column));
  }

  template <class Number>
    requires std::integral<Number> || std::is_enum_v<Number>
  [[nodiscard]] Number as(int row, int column) const {
    return static_cast<Number>(integer(row, column));
  }

  /// Returns all zero bytes, which is the id of nothing, if the value is not a uuid.
  [[nodiscard]] Uuid uuid(int row, int column) const {
    Uuid uuid{};
    const std::string_view raw = bytes(row, column);
    if (raw.size() == uuid.size()) {
      std::memcpy(uuid.data(), raw.data(), raw.size());
    }
    return uuid;
  }
  template <class SomeId>
  [[nodiscard]] SomeId id(int row, int column) const {
    return SomeId{uuid(row, column)};
  }

  [[nodiscard]] std::optional<std::string> text_or_null(int row, int column) const {
    return is_null(row, column) ? std::nullopt : std::optional{text(row, column)};
  }
  [[nodiscard]] std::optional<std::string> blob_or_null(int row, int column) const {
    return is_null(row, column) ? std::nullopt : std::optional{blob(row, column)};
  }
  [[nodiscard]] std::optional<WallTime> time_or_null(int row, int column) const {
    return is_null(row, column) ? std::nullopt : std::optional{time(row, column)};
  }
  [[nodiscard]] std::optional<double> real_or_null(int row, int column) const {
    return is_null(row, column) ? std::nullopt : std::optional{real(row, column)};
  }
  template <class Number>
  [[nodiscard]] std::optional<Number> as_or_null(int row, int column) const {
    return is_null(row, column) ? std::nullopt : std::optional{as<Number>(row, column)};
  }
  template <class SomeId>
  [[nodiscard]] std::optional<SomeId> id_or_null(int row, int column) const {
    return is_null(row, column) ? std::nullopt : std::optional{id<SomeId>(row, column)};
  }

  /// PostgreSQL's number of the column's type (types.h).
  [[nodiscard]] std::uint32_t type(int column) const;
  /// The number of rows that the statement inserted, changed or removed.
  [[nodiscard]] std::int64_t affected() const;

 private:
  struct Clear {
    void operator()(pg_result* result) const;
  };
  std::unique_ptr<pg_result, Clear> result_;
};

}  // namespace postrider::postgres
