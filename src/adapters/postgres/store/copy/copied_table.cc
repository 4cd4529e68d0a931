#include "adapters/postgres/store/copy/copied_table.h"

#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/assert.h"

namespace postrider::postgres {
namespace {

constexpr std::string_view columns_sql = R"sql(
  SELECT attname::text, atttypid::bigint FROM pg_attribute
   WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
   ORDER BY attnum
)sql";

/// Which deliveries are in the order index is not copied: it is built when it is needed.
bool is_left_out(std::string_view table, std::string_view column) {
  return table == "waiting" && column == "ordered";
}

std::optional<ElementType> element_of(std::int64_t type) {
  switch (type) {
    case oid::int2:
      return ElementType::int2;
    case oid::int4:
      return ElementType::int4;
    case oid::int8:
      return ElementType::int8;
    case oid::float8:
      return ElementType::real;
    case oid::boolean:
      return ElementType::boolean;
    case oid::uuid:
      return ElementType::uuid;
    case oid::text:
      return ElementType::text;
    case oid::bytea:
      return ElementType::bytea;
    default:
      return std::nullopt;
  }
}

bool fits(std::int64_t value, ElementType type) {
  switch (type) {
    case ElementType::int2:
      return std::in_range<std::int16_t>(value);
    case ElementType::int4:
      return std::in_range<std::int32_t>(value);
    case ElementType::boolean:
      return value == 0 || value == 1;
    default:
      return true;
  }
}

std::string insert_sql(std::string_view table, const std::vector<TableColumn>& columns) {
  std::string values;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    values += fmt::format("{}unnest(${})", i == 0 ? "" : ", ", i + 1);
  }
  const bool adds_ordered = is_left_out(table, "ordered");
  return fmt::format("INSERT INTO {} ({}{}) SELECT {}{}", table, column_list(columns),
                     adds_ordered ? ", ordered" : "", values, adds_ordered ? ", false" : "");
}

}  // namespace

Result<std::vector<TableColumn>> read_table_columns(Session& session, std::string_view table) {
  POSTRIDER_TRY(const Rows rows, session.run(columns_sql, Parameters::of(table)));
  std::vector<TableColumn> columns;
  for (int row = 0; row < rows.count(); ++row) {
    const std::string name = rows.text(row, 0);
    if (is_left_out(table, name)) {
      continue;
    }
    const std::optional<ElementType> type = element_of(rows.integer(row, 1));
    if (!type) {
      return fail(Errc::corrupt,
                  fmt::format("The column {} of the table {} has an unknown type.", name, table));
    }
    columns.push_back({.name = name, .type = *type});
  }
  if (columns.empty()) {
    return fail(Errc::corrupt, fmt::format("The table {} is missing.", table));
  }
  return columns;
}

CopyKind kind_of(ElementType type) {
  switch (type) {
    case ElementType::int2:
    case ElementType::int4:
    case ElementType::int8:
    case ElementType::boolean:
      return CopyKind::integer;
    case ElementType::real:
      return CopyKind::real;
    case ElementType::uuid:
    case ElementType::text:
    case ElementType::bytea:
      break;
  }
  return CopyKind::bytes;
}

std::string column_list(const std::vector<TableColumn>& columns) {
  std::string list;
  for (const TableColumn& column : columns) {
    list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", column.name);
  }
  return list;
}

RowBatch::RowBatch(std::string_view table, std::vector<TableColumn> columns)
    : table_(table), columns_(std::move(columns)), sql_(insert_sql(table_, columns_)) {
  clear();
}

void RowBatch::clear() {
  values_.clear();
  for (const TableColumn& column : columns_) {
    values_.emplace_back(column.type);
  }
  rows_ = 0;
  bytes_ = 0;
}

Result<void> RowBatch::add(const CopyRow& row) {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    POSTRIDER_CHECK(add_value(row, i));
  }
  ++rows_;
  return {};
}

Result<void> RowBatch::add_value(const CopyRow& row, std::size_t column) {
  const int index = static_cast<int>(column);
  const ElementType type = columns_[column].type;
  Array& values = values_[column];
  bytes_ += sizeof(std::int64_t);
  if (row.is_null(index)) {
    values.add_null();
    return {};
  }
  switch (kind_of(type)) {
    case CopyKind::integer:
      if (!fits(row.integer(index), type)) {
        return misfit(column);
      }
      values.add(row.integer(index));
      return {};
    case CopyKind::real:
      values.add(row.real(index));
      return {};
    case CopyKind::bytes:
      break;
  }
  const std::string_view bytes = row.bytes(index);
  bytes_ += bytes.size();
  if (type == ElementType::uuid) {
    Uuid uuid{};
    if (bytes.size() != uuid.size()) {
      return misfit(column);
    }
    std::memcpy(uuid.data(), bytes.data(), uuid.size());
    values.add(uuid);
  } else if (type == ElementType::bytea) {
    values.add(Blob{bytes});
  } else {
    values.add(bytes);
  }
  return {};
}

tl::unexpected<Error> RowBatch::misfit(std::size_t column) const {
  return fail(Errc::corrupt, fmt::format("A value of the column {} of the table {} is damaged.",
                                         columns_[column].name, table_));
}

void RowBatch::queue(Session& session) {
  if (rows_ == 0) {
    return;
  }
  Parameters parameters;
  for (Array& values : values_) {
    parameters.add(std::move(values));
  }
  session.queue(sql_, std::move(parameters));
  clear();
}

std::string_view StoredRow::bytes(int column) const {
  if (columns_[static_cast<std::size_t>(column)].type != ElementType::text) {
    return rows_.bytes(row_, column);
  }
  text_ = rows_.text(row_, column);
  return text_;
}

}  // namespace postrider::postgres
