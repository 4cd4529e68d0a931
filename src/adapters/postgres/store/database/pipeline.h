// Sends several statements in one exchange with the server, in libpq's pipeline mode. Used by the
// thread of the connection.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/time.h"

#include "adapters/postgres/connection.h"
#include "adapters/postgres/store/database/parameters.h"
#include "adapters/postgres/store/database/rows.h"

namespace postrider::postgres {

class Pipeline {
 public:
  /// One message to the server. `name`, `sql` and `values` must outlive the exchange.
  struct Step {
    enum class Kind : std::uint8_t {
      prepare,   ///< Gives `sql` the name `name`. Only the types of `values` are used.
      describe,  ///< Asks for the parameters of the statement `name`.
      execute,   ///< Runs the statement `name`, or `sql` if the name is empty.
    };
    Kind kind = Kind::execute;
    const char* name = "";
    const char* sql = "";
    const std::vector<Parameters::Value>* values = nullptr;
  };

  /// The answer to a step.
  struct Answer {
    Rows rows;                         // Set by execute.
    std::vector<Oid> parameter_types;  // Set by describe.
  };

  struct Outcome {
    std::vector<Answer> answers;  // Of the steps before the first error; without one, of all.
    std::optional<Error> error;
    bool was_refused = false;  // The server reported the error. The connection's SQLSTATE is set.
  };

  /// Sends the steps and waits for all answers, for at most `max`. The connection is closed if an
  /// answer does not come. The steps after an error are not run.
  [[nodiscard]] static Outcome run(Connection& connection, std::span<const Step> steps, Millis max);

  /// Switch the connection to pipeline mode and back. Fail only if the connection is lost.
  [[nodiscard]] static Result<void> enter(Connection& connection);
  [[nodiscard]] static Result<void> leave(Connection& connection);

  /// The state of the transaction after the last answer.
  [[nodiscard]] static bool in_transaction(const Connection& connection);
  [[nodiscard]] static bool transaction_failed(const Connection& connection);

 private:
  Pipeline(Connection& connection, std::span<const Step> steps, Millis max);

  void run();
  [[nodiscard]] Result<void> send();
  [[nodiscard]] Result<void> send(const Step& step);
  [[nodiscard]] Result<void> collect();
  [[nodiscard]] Result<void> collect_step(const Step& step);
  /// Returns null after the last result of the step.
  [[nodiscard]] Result<pg_result*> next_result();

  Connection& connection_;
  std::span<const Step> steps_;
  Deadline deadline_;
  Outcome outcome_;
  std::vector<const char*> values_;  // Of the step that is being sent.
  std::vector<int> lengths_;
  std::vector<int> formats_;
  std::vector<Oid> types_;
};

}  // namespace postrider::postgres
