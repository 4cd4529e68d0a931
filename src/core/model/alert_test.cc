#include "core/model/alert.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace postrider {
namespace {

struct Known {
  AlertKind kind;
  std::string_view name;
  Severity severity;
};

constexpr Known kinds[] = {
    {AlertKind::circuit_opened, "circuit_opened", Severity::warning},
    {AlertKind::circuit_recovered, "circuit_recovered", Severity::info},
    {AlertKind::webhook_disabled, "webhook_disabled", Severity::critical},
    {AlertKind::dead_letters, "dead_letters", Severity::warning},
    {AlertKind::dns_failing, "dns_failing", Severity::warning},
    {AlertKind::secret_old, "secret_old", Severity::info},
    {AlertKind::store_failing, "store_failing", Severity::critical},
    {AlertKind::webhook_failing, "webhook_failing", Severity::warning},
    {AlertKind::circuit_stays_open, "circuit_stays_open", Severity::critical},
    {AlertKind::dead_letters_waiting, "dead_letters_waiting", Severity::warning},
    {AlertKind::success_low, "success_low", Severity::warning},
    {AlertKind::queue_deep, "queue_deep", Severity::critical},
    {AlertKind::pool_busy, "pool_busy", Severity::warning},
    {AlertKind::permanent_failure, "permanent_failure", Severity::warning},
    {AlertKind::total_dead_letters, "total_dead_letters", Severity::warning},
    {AlertKind::dead_letter_share, "dead_letter_share", Severity::warning},
    {AlertKind::total_failures, "total_failures", Severity::warning},
    {AlertKind::p99_high, "p99_high", Severity::warning},
    {AlertKind::server_resources_short, "server_resources_short", Severity::warning},
    {AlertKind::store_corrupt, "store_corrupt", Severity::critical},
    {AlertKind::store_data_lost, "store_data_lost", Severity::critical},
    {AlertKind::source_failing, "source_failing", Severity::critical},
    {AlertKind::messages_rejected, "messages_rejected", Severity::warning},
    {AlertKind::notifications_failing, "notifications_failing", Severity::warning},
};

TEST(AlertKind, HasItsApiNameAndSeverity) {
  EXPECT_EQ(std::size(kinds), alert_kind_count);
  for (const Known& known : kinds) {
    EXPECT_EQ(to_string(known.kind), known.name);
    EXPECT_EQ(parse_alert_kind(known.name), known.kind) << known.name;
    EXPECT_EQ(severity_of(known.kind), known.severity) << known.name;
  }
}

TEST(AlertKind, RejectsUnknownNames) {
  for (const std::string_view text :
       {"", "circuit", "Circuit_opened", "circuit_opened ", "circuit-opened", "warning"}) {
    EXPECT_EQ(parse_alert_kind(text), std::nullopt) << text;
  }
  EXPECT_DEATH((void)to_string(static_cast<AlertKind>(alert_kind_count)), "assertion failed");
}

TEST(Severity, HasItsApiName) {
  EXPECT_EQ(to_string(Severity::info), "info");
  EXPECT_EQ(to_string(Severity::warning), "warning");
  EXPECT_EQ(to_string(Severity::critical), "critical");
  EXPECT_DEATH((void)to_string(static_cast<Severity>(3)), "assertion failed");
}

TEST(AlertUnit, HasItsApiName) {
  EXPECT_EQ(to_string(AlertUnit::count), "count");
  EXPECT_EQ(to_string(AlertUnit::percent), "percent");
  EXPECT_EQ(to_string(AlertUnit::ms), "ms");
  EXPECT_EQ(to_string(AlertUnit::days), "days");
}

TEST(AlertSubject, IsIdentifiedByKindWebhookAndTenant) {
  const WebhookId webhook{Uuid{1}};
  const WebhookId other{Uuid{2}};
  const std::set<AlertSubject> subjects = {
      {AlertKind::circuit_opened, webhook},
      {AlertKind::circuit_opened, other},
      {AlertKind::dead_letters, webhook},
      {AlertKind::store_failing, std::nullopt},
      {AlertKind::circuit_opened, webhook},
      {AlertKind::store_failing, std::nullopt},
      {AlertKind::dead_letters_waiting, std::nullopt, "acme"},
      {AlertKind::dead_letters_waiting, std::nullopt, "other"},
      {AlertKind::dead_letters_waiting, std::nullopt, "acme"},
  };
  EXPECT_EQ(subjects.size(), 6u) << "equal subjects must be stored once";
}

}  // namespace
}  // namespace postrider
