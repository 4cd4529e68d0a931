// A database for tests: every statement returns one row, the values that were bound.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "adapters/sql/database.h"

namespace postrider::test {

class EchoCursor final : public sql::Cursor {
 public:
  void bind_null(int index) override { at(index) = std::monostate{}; }
  void bind_integer(int index, std::int64_t value) override { at(index) = value; }
  void bind_real(int index, double value) override { at(index) = value; }
  void bind_text(int index, std::string_view text, bool /*copy*/) override {
    at(index) = std::string{text};
  }
  void bind_blob(int index, std::string_view bytes, bool /*copy*/) override {
    at(index) = std::string{bytes};
  }

  Result<bool> next() override { return !std::exchange(at_end_, true); }
  Result<void> run() override { return {}; }
  void reset() override { at_end_ = false; }

  [[nodiscard]] bool is_null(int column) const override {
    return std::holds_alternative<std::monostate>(values_.at(static_cast<std::size_t>(column)));
  }
  [[nodiscard]] std::int64_t integer(int column) const override {
    return std::get<std::int64_t>(values_.at(static_cast<std::size_t>(column)));
  }
  [[nodiscard]] double real(int column) const override {
    return std::get<double>(values_.at(static_cast<std::size_t>(column)));
  }
  [[nodiscard]] std::string_view bytes(int column) const override {
    return std::get<std::string>(values_.at(static_cast<std::size_t>(column)));
  }

 private:
  using Value = std::variant<std::monostate, std::int64_t, double, std::string>;

  Value& at(int index) {
    const auto position = static_cast<std::size_t>(index);
    values_.resize(std::max(values_.size(), position));
    return values_[position - 1];
  }

  std::vector<Value> values_;
  bool at_end_ = false;
};

class EchoDatabase final : public sql::Database {
 public:
  Result<sql::Statement> prepare(std::string_view /*sql*/) override {
    return sql::Statement{std::make_unique<EchoCursor>()};
  }
  [[nodiscard]] std::int64_t changes() const override { return 0; }
  [[nodiscard]] std::string_view row_lock() const override { return {}; }
};

}  // namespace postrider::test
