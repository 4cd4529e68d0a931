#include "adapters/postgres/store/database/sql_database.h"

#include <bit>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "core/base/assert.h"

#include "adapters/postgres/store/database/binary.h"
#include "adapters/postgres/store/database/escaped_text.h"
#include "adapters/postgres/store/database/types.h"

namespace postrider::postgres {
namespace {

struct Text {
  std::string_view text;
};

/// What is bound to a parameter. Views are into the copies of the cursor or the caller's values.
using Bound = std::variant<std::monostate, std::int64_t, double, Text, Blob>;

template <std::integral Number>
std::string encode_as(std::int64_t value) {
  POSTRIDER_ASSERT(std::in_range<Number>(value));
  std::string bytes;
  append_binary(static_cast<Number>(value), bytes);
  return bytes;
}

std::string encode(double value) {
  return encode_as<std::int64_t>(std::bit_cast<std::int64_t>(value));
}

/// Nullopt if the type is another one.
std::optional<std::string> encode(std::int64_t value, Oid type) {
  switch (type) {
    case oid::int8:
      return encode_as<std::int64_t>(value);
    case oid::int4:
      return encode_as<std::int32_t>(value);
    case oid::int2:
      return encode_as<std::int16_t>(value);
    case oid::boolean:
      return std::string(1, value != 0 ? '\1' : '\0');
    case oid::float8:
      return encode(static_cast<double>(value));
    default:
      return std::nullopt;
  }
}

std::optional<std::string> encode(const Bound& bound, Oid type) {
  if (const auto* integer = std::get_if<std::int64_t>(&bound)) {
    return encode(*integer, type);
  }
  if (const auto* real = std::get_if<double>(&bound)) {
    return type == oid::float8 ? std::optional{encode(*real)} : std::nullopt;
  }
  if (const auto* text = std::get_if<Text>(&bound)) {
    return type == oid::text ? std::optional{escape_text(text->text)} : std::nullopt;
  }
  const std::string_view bytes = std::get<Blob>(bound).bytes;
  if (type == oid::bytea || (type == oid::uuid && bytes.size() == sizeof(Uuid))) {
    return std::string{bytes};
  }
  return std::nullopt;
}

Result<Parameters> encode_all(std::span<const Bound> bound, std::span<const Oid> types) {
  Parameters parameters;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (i >= bound.size() || std::holds_alternative<std::monostate>(bound[i])) {
      parameters.add_encoded({.oid = types[i], .is_null = true});
      continue;
    }
    std::optional<std::string> bytes = encode(bound[i], types[i]);
    if (!bytes) {
      return fail(Errc::corrupt,
                  fmt::format("The parameter {} of a statement has the type {} in the database.",
                              i + 1, types[i]));
    }
    parameters.add_encoded({.oid = types[i], .bytes = *std::move(bytes)});
  }
  return parameters;
}

}  // namespace

class SqlCursor final : public sql::Cursor {
 public:
  /// `is_kept`: the session remembers what it knows of the statement.
  SqlCursor(SqlDatabase& database, std::string sql, bool is_kept)
      : database_(database), sql_(std::move(sql)), is_kept_(is_kept) {}

  void bind_null(int index) override { at(index) = std::monostate{}; }
  void bind_integer(int index, std::int64_t value) override { at(index) = value; }
  void bind_real(int index, double value) override { at(index) = value; }
  void bind_text(int index, std::string_view text, bool copy) override {
    at(index) = Text{kept(index, text, copy)};
  }
  void bind_blob(int index, std::string_view bytes, bool copy) override {
    at(index) = Blob{kept(index, bytes, copy)};
  }

  Result<bool> next() override {
    if (!rows_) {
      POSTRIDER_CHECK(start());
    }
    texts_.clear();
    return ++row_ < rows_->count();
  }

  Result<void> run() override {
    Result<void> started = start();
    reset();
    return started;
  }

  void reset() override {
    rows_.reset();
    texts_.clear();
  }

  bool is_null(int column) const override { return rows_->is_null(row_, column); }
  std::int64_t integer(int column) const override { return rows_->integer(row_, column); }
  double real(int column) const override { return rows_->real(row_, column); }
  std::string_view bytes(int column) const override {
    const std::string_view raw = rows_->bytes(row_, column);
    const Oid type = rows_->type(column);
    if (type == oid::bytea || type == oid::uuid || !is_escaped(raw)) {
      return raw;
    }
    return texts_.emplace_back(unescape_text(raw));
  }

 private:
  Result<void> start() {
    const auto body = [this](Session& session) -> Result<Rows> {
      POSTRIDER_TRY(const std::vector<Oid> types,
                    is_kept_ ? session.parameter_types(sql_) : session.parameter_types_once(sql_));
      POSTRIDER_TRY(Parameters parameters, encode_all(bound_, types));
      return is_kept_ ? session.run(sql_, std::move(parameters))
                      : session.run_once(sql_, std::move(parameters));
    };
    POSTRIDER_TRY(rows_, database_.use_(body));
    row_ = -1;
    database_.changes_ = rows_->affected();
    return {};
  }

  Bound& at(int index) {
    const auto place = static_cast<std::size_t>(index - 1);
    if (bound_.size() <= place) {
      bound_.resize(place + 1);
      copies_.resize(place + 1);
    }
    return bound_[place];
  }

  std::string_view kept(int index, std::string_view bytes, bool copy) {
    if (!copy) {
      return bytes;
    }
    at(index);
    return copies_[static_cast<std::size_t>(index - 1)] = bytes;
  }

  SqlDatabase& database_;
  std::string sql_;
  bool is_kept_;
  std::vector<Bound> bound_;
  std::deque<std::string> copies_;  // Their addresses do not change.
  std::optional<Rows> rows_;
  int row_ = -1;
  mutable std::deque<std::string> texts_;  // Of this row, without escapes.
};

std::string translate_parameters(std::string_view sql) {
  std::string translated{sql};
  char quote = '\0';
  for (char& c : translated) {
    if (quote != '\0') {
      quote = c == quote ? '\0' : quote;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '?') {
      c = '$';
    }
  }
  return translated;
}

Result<sql::Statement> SqlDatabase::prepare(std::string_view sql) {
  return sql::Statement{std::make_unique<SqlCursor>(*this, translate_parameters(sql), true)};
}

Result<sql::Statement> SqlDatabase::prepare_once(std::string_view sql) {
  return sql::Statement{std::make_unique<SqlCursor>(*this, translate_parameters(sql), false)};
}

}  // namespace postrider::postgres
