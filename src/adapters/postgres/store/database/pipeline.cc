#include "adapters/postgres/store/database/pipeline.h"

#include <utility>

#include <libpq-fe.h>

namespace postrider::postgres {
namespace {

constexpr int binary = 1;

bool is_failure(ExecStatusType status) {
  return status == PGRES_FATAL_ERROR || status == PGRES_BAD_RESPONSE;
}

bool is_copy(ExecStatusType status) {
  return status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH;
}

std::vector<Oid> parameter_types(const pg_result* result) {
  std::vector<Oid> types;
  for (int i = 0; i < PQnparams(result); ++i) {
    types.push_back(PQparamtype(result, i));
  }
  return types;
}

}  // namespace

Pipeline::Pipeline(Connection& connection, std::span<const Step> steps, Millis max)
    : connection_(connection), steps_(steps), deadline_(max) {}

Result<void> Pipeline::enter(Connection& connection) {
  if (!connection.is_open() || PQenterPipelineMode(connection.connection_.get()) == 0) {
    return connection.lost("The connection to the database is closed.");
  }
  return {};
}

Result<void> Pipeline::leave(Connection& connection) {
  if (!connection.is_open() || PQexitPipelineMode(connection.connection_.get()) == 0) {
    return connection.lost("The connection to the database is closed.");
  }
  return {};
}

bool Pipeline::in_transaction(const Connection& connection) {
  return connection.is_open() && PQtransactionStatus(connection.connection_.get()) != PQTRANS_IDLE;
}

bool Pipeline::transaction_failed(const Connection& connection) {
  return connection.is_open() &&
         PQtransactionStatus(connection.connection_.get()) == PQTRANS_INERROR;
}

Pipeline::Outcome Pipeline::run(Connection& connection, std::span<const Step> steps, Millis max) {
  Pipeline pipeline{connection, steps, max};
  pipeline.run();
  return std::move(pipeline.outcome_);
}

void Pipeline::run() {
  connection_.sqlstate_.clear();
  outcome_.answers.reserve(steps_.size());
  const Result<void> done = send().and_then([this] { return collect(); });
  // The error that the server reported before it closed the connection is more useful.
  if (!done && !outcome_.error) {
    outcome_.error = done.error();
  }
}

Result<void> Pipeline::send() {
  if (!connection_.is_open()) {
    return connection_.lost("The connection to the database is closed.");
  }
  for (const Step& step : steps_) {
    POSTRIDER_CHECK(send(step));
  }
  if (PQpipelineSync(connection_.connection_.get()) == 0) {
    return connection_.lost(PQerrorMessage(connection_.connection_.get()));
  }
  return connection_.flush(deadline_);
}

Result<void> Pipeline::send(const Step& step) {
  pg_conn* const connection = connection_.connection_.get();
  values_.clear();
  lengths_.clear();
  types_.clear();
  if (step.values != nullptr) {
    for (const Parameters::Value& value : *step.values) {
      values_.push_back(value.is_null ? nullptr : value.bytes.data());
      lengths_.push_back(static_cast<int>(value.bytes.size()));
      types_.push_back(value.oid);
    }
  }
  formats_.assign(values_.size(), binary);
  const int count = static_cast<int>(values_.size());
  int sent = 0;
  switch (step.kind) {
    case Step::Kind::prepare:
      sent = PQsendPrepare(connection, step.name, step.sql, count, types_.data());
      break;
    case Step::Kind::describe:
      sent = PQsendDescribePrepared(connection, step.name);
      break;
    case Step::Kind::execute:
      sent = *step.name != '\0'
                 ? PQsendQueryPrepared(connection, step.name, count, values_.data(),
                                       lengths_.data(), formats_.data(), binary)
                 : PQsendQueryParams(connection, step.sql, count, types_.data(), values_.data(),
                                     lengths_.data(), formats_.data(), binary);
      break;
  }
  if (sent == 0) {
    return connection_.lost(PQerrorMessage(connection));
  }
  return {};
}

Result<void> Pipeline::collect() {
  for (const Step& step : steps_) {
    POSTRIDER_CHECK(collect_step(step));
  }
  POSTRIDER_TRY(pg_result* const end, next_result());
  const Rows owner{end};
  if (end == nullptr || PQresultStatus(end) != PGRES_PIPELINE_SYNC) {
    return connection_.lost("The database server sent an unexpected answer.");
  }
  return {};
}

Result<void> Pipeline::collect_step(const Step& step) {
  POSTRIDER_TRY(pg_result* const result, next_result());
  Rows rows{result};
  const ExecStatusType status = PQresultStatus(result);
  if (result == nullptr || status == PGRES_PIPELINE_SYNC || is_copy(status)) {
    return connection_.lost("The database server sent an unexpected answer.");
  }
  if (is_failure(status)) {
    if (!outcome_.error) {
      outcome_.error = connection_.refused(result).value();
      outcome_.was_refused = !connection_.sqlstate_.empty();
    }
  } else if (status != PGRES_PIPELINE_ABORTED) {
    Answer& answer = outcome_.answers.emplace_back();
    if (step.kind == Step::Kind::describe) {
      answer.parameter_types = parameter_types(result);
    }
    answer.rows = std::move(rows);
  }
  // The results of a step end with a null.
  POSTRIDER_TRY(pg_result* const more, next_result());
  const Rows owner{more};
  if (more != nullptr) {
    return connection_.lost("The database server sent an unexpected answer.");
  }
  return {};
}

Result<pg_result*> Pipeline::next_result() {
  pg_conn* const connection = connection_.connection_.get();
  while (PQisBusy(connection) != 0) {
    POSTRIDER_CHECK(connection_.wait_until(Direction::read, deadline_));
    if (PQconsumeInput(connection) == 0) {
      return connection_.lost(PQerrorMessage(connection));
    }
  }
  pg_result* const result = PQgetResult(connection);
  if (!connection_.is_open()) {
    const Rows owner{result};
    if (result != nullptr && !outcome_.error) {
      outcome_.error = connection_.refused(result).value();
      outcome_.was_refused = !connection_.sqlstate_.empty();
    }
    return connection_.lost(PQerrorMessage(connection));
  }
  return result;
}

}  // namespace postrider::postgres
