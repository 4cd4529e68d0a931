// SQL on tracked rows of sources that several writers run.
#pragma once

#include <string_view>

namespace postrider::sqlite {

/// The delivery with sequence ?1 has left a final state: see ports/source_rows.h.
constexpr std::string_view unsettle_rows_sql = R"sql(
  UPDATE source_row SET settled = 0, revision = revision + 1
   WHERE event = (SELECT d.event FROM delivery d WHERE d.sequence = ?1)
)sql";

}  // namespace postrider::sqlite
