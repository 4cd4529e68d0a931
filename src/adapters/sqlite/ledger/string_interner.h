// Numbers for names: tenants, event types and webhooks appear in every row and index as small
// integers.
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
};

/// One table of names, with the recent ones in memory. Belongs to the writer.
class StringInterner {
 public:
  [[nodiscard]] static Result<StringInterner> open(Database& database, const InternerSql& sql);

  /// Gives the name a number when it has none, in the current transaction.
  [[nodiscard]] Result<std::int64_t> number_of(std::string_view name);
  /// The number, when it has one.
  [[nodiscard]] Result<std::optional<std::int64_t>> find(std::string_view name);

  /// After a rollback: numbers given in that transaction were never given.
  void forget() { numbers_.clear(); }

 private:
  struct Hash {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard's word.
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };

  void remember(std::string_view name, std::int64_t number);

  Statement find_;
  Statement insert_;
  std::unordered_map<std::string, std::int64_t, Hash, std::equal_to<>> numbers_;
};

}  // namespace postrider::sqlite
