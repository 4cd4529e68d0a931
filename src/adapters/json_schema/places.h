// Where a schema is in the text of the whole schema, for messages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace postrider::json_schema {

/// At most `bytes_max` bytes of valid UTF-8, and an ellipsis if that is not all of it.
[[nodiscard]] std::string clip(std::string_view text, std::size_t bytes_max);

/// Places are numbers. The whole schema has the place 0. Pointers are put together only when a
/// message needs one.
class Places {
 public:
  /// `name` is a property, or an index as text. `keyword` must outlive this object.
  std::uint32_t add(std::uint32_t parent, std::string_view keyword,
                    std::optional<std::string> name = std::nullopt);

  /// A JSON pointer such as `/properties/price`. Empty for the whole schema.
  [[nodiscard]] std::string pointer(std::uint32_t place) const;

 private:
  struct Place {
    std::uint32_t parent = 0;
    std::string_view keyword;
    std::optional<std::string> name;
  };

  std::vector<Place> places_ = {Place{}};
};

}  // namespace postrider::json_schema
