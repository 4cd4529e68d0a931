// Maps names to numbers, so that rows and indexes refer to tenants and event types by small
// integers. Store thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/base/result.h"

#include "adapters/sqlite/database/database.h"

namespace postrider::sqlite {

struct InternerSql {
  std::string_view find;    // ?1 name -> number
  std::string_view insert;  // ?1 name -> number
  std::string_view name;    // ?1 number -> name
};

/// One table of names, with a cache of recent ones.
class StringInterner {
 public:
  [[nodiscard]] static Result<StringInterner> open(Database& database, const InternerSql& sql);

  /// Assigns a number to a new name, in the current transaction.
  [[nodiscard]] Result<std::int64_t> number_of(std::string_view name);
  /// Returns nullopt if the name has no number.
  [[nodiscard]] Result<std::optional<std::int64_t>> find(std::string_view name);

  /// Empty if no name has this number. Valid until the next call of a member.
  [[nodiscard]] Result<const std::string*> name_of(std::int64_t number);

  /// Call after a rollback, because numbers assigned in that transaction are invalid.
  void clear_cache() {
    numbers_.clear();
    names_.clear();
  }

 private:
  struct Hash {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard's name.
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };

  void remember(std::string_view name, std::int64_t number);

  Statement find_;
  Statement insert_;
  Statement name_;
  std::unordered_map<std::string, std::int64_t, Hash, std::equal_to<>> numbers_;
  std::unordered_map<std::int64_t, std::string> names_;
};

}  // namespace postrider::sqlite
