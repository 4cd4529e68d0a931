#include "adapters/postgres/store/database/rows.h"

#include <bit>
#include <charconv>

#include <libpq-fe.h>

#include "core/base/assert.h"

#include "adapters/postgres/store/database/binary.h"
#include "adapters/postgres/store/database/escaped_text.h"
#include "adapters/postgres/store/database/types.h"

namespace postrider::postgres {

Rows::Rows(pg_result* result) : result_(result) {}

void Rows::Clear::operator()(pg_result* result) const { PQclear(result); }

int Rows::count() const { return PQntuples(result_.get()); }

int Rows::columns() const { return PQnfields(result_.get()); }

bool Rows::is_null(int row, int column) const {
  return PQgetisnull(result_.get(), row, column) != 0;
}

std::uint32_t Rows::type(int column) const { return PQftype(result_.get(), column); }

std::string_view Rows::bytes(int row, int column) const {
  return {PQgetvalue(result_.get(), row, column),
          static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
}

std::int64_t Rows::integer(int row, int column) const {
  const std::string_view raw = bytes(row, column);
  switch (type(column)) {
    case oid::int8:
      return raw.empty() ? 0 : read_binary<std::int64_t>(raw.data());
    case oid::int4:
      return raw.empty() ? 0 : read_binary<std::int32_t>(raw.data());
    case oid::int2:
      return raw.empty() ? 0 : read_binary<std::int16_t>(raw.data());
    default:
      // Another type would be an error in our own SQL.
      POSTRIDER_ASSERT(type(column) == oid::boolean);
      return raw.empty() ? 0 : raw.front();
  }
}

double Rows::real(int row, int column) const {
  if (type(column) != oid::float8) {
    return static_cast<double>(integer(row, column));
  }
  const std::string_view raw = bytes(row, column);
  return raw.empty() ? 0.0 : std::bit_cast<double>(read_binary<std::int64_t>(raw.data()));
}

std::string Rows::text(int row, int column) const {
  const std::string_view stored = bytes(row, column);
  return is_escaped(stored) ? unescape_text(stored) : std::string{stored};
}

std::int64_t Rows::affected() const {
  const std::string_view digits{PQcmdTuples(result_.get())};
  std::int64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

}  // namespace postrider::postgres
