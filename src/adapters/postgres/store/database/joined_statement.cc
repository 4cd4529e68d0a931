#include "adapters/postgres/store/database/joined_statement.h"

#include <algorithm>
#include <utility>

namespace postrider::postgres {
namespace {

/// `sql` with $1 as the parameter after the first `shift` ones, and so on. A statement of the store
/// has no other use for the sign.
std::string renumbered(std::string_view sql, std::size_t shift) {
  std::string text;
  text.reserve(sql.size() + 64);
  for (std::size_t at = 0; at < sql.size();) {
    const std::size_t sign = std::min(sql.find('$', at), sql.size());
    text.append(sql, at, sign - at);
    at = sign;
    if (at == sql.size()) {
      break;
    }
    std::size_t number = 0;
    for (++at; at < sql.size() && sql[at] >= '0' && sql[at] <= '9'; ++at) {
      number = number * 10 + static_cast<std::size_t>(sql[at] - '0');
    }
    text += '$';
    text += std::to_string(number + shift);
  }
  return text;
}

}  // namespace

void JoinedStatement::add(std::string_view name, std::string_view sql, Parameters parameters) {
  if (!last_.empty()) {
    with_ += with_.empty() ? "WITH " : ", ";
    with_.append(last_name_).append(" AS (").append(last_).append(")");
  }
  last_name_ = name;
  last_ = renumbered(sql, parameters_.values().size());
  parameters_.append(std::move(parameters));
}

void JoinedStatement::queue(Session& session) && {
  if (!empty()) {
    with_.append(with_.empty() ? "" : " ").append(last_);
    session.queue(with_, std::move(parameters_));
  }
}

}  // namespace postrider::postgres
