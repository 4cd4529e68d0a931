// Several statements that change rows, sent to the database as one. The parts are the queries of a
// WITH clause: all of them see the rows as they were before the statement, and none sees what
// another one changes, except by reading the rows that an earlier part returns.
//
//   JoinedStatement joined;
//   joined.add("moved", "DELETE FROM waiting WHERE id = ANY ($1) RETURNING id", ids);
//   joined.add("final", "INSERT INTO delivery (id, state) SELECT id, $1 FROM moved", state);
//   std::move(joined).queue(session);
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "adapters/postgres/store/database/session.h"

namespace postrider::postgres {

class JoinedStatement {
 public:
  /// `name` is unique in the statement. The parameters of a part are $1, $2, … in its own `sql`.
  /// Parts come from a bounded number of texts, because each combination of them is prepared.
  void add(std::string_view name, std::string_view sql, Parameters parameters);

  [[nodiscard]] bool empty() const { return last_.empty(); }
  /// Adds the statement to the session's next exchange, if it has a part.
  void queue(Session& session) &&;

 private:
  std::string with_;  // All parts but the last one.
  std::string last_name_;
  std::string last_;
  Parameters parameters_;
};

}  // namespace postrider::postgres
