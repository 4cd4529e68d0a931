#include "core/notify/kind_text.h"

namespace postrider {
namespace {

KindText text_of_webhook_alert(AlertKind kind) {
  switch (kind) {
    case AlertKind::webhook_disabled:
      return {"Webhook disabled: {webhook}", "Webhook enabled again: {webhook}",
              "Fix the receiver, then enable the webhook again and replay what it has missed.", ""};
    case AlertKind::dead_letters:
      return {"Webhook {webhook} has {count} failures in the last {period}",
              "Webhook {webhook} has fewer failures again",
              "Look at the errors of its dead letters, fix the receiver and retry them.",
              "/dead-letters"};
    case AlertKind::permanent_failure:
      return {"Webhook delivery failed: {webhook}", "",
              "Look at the errors of its dead letters, fix the receiver and retry them.",
              "/dead-letters"};
    case AlertKind::dns_failing:
      return {"Host name does not resolve: {webhook}", "Host name resolves again: {webhook}",
              "Check the URL of the webhook and the DNS records of its host.", ""};
    case AlertKind::secret_old:
      return {"Secret should be rotated: {webhook}", "Secret was rotated: {webhook}",
              "Rotate the secret. The old one can stay valid for some time.", ""};
    case AlertKind::webhook_failing:
      return {"Webhook is failing: {webhook}", "Webhook works again: {webhook}",
              "Look at the errors of its deliveries and check the receiver.", ""};
    case AlertKind::circuit_stays_open:
      return {"Circuit stays open: {webhook}", "Circuit is closed again: {webhook}",
              "The receiver has been failing for a long time. Tell its owner; its deliveries wait.",
              ""};
    default:
      return {"Circuit opened: {webhook}", "Circuit recovered: {webhook}",
              "Check the receiver. Its deliveries wait and are sent when it answers again.", ""};
  }
}

KindText text_of_store_alert(AlertKind kind) {
  switch (kind) {
    case AlertKind::store_corrupt:
      return {"The store is damaged", "The store is no longer damaged",
              "Stop the server, run `postrider doctor --deep` and restore a backup.", ""};
    case AlertKind::store_data_lost:
      return {"The store has lost data", "The loss of data was acknowledged",
              "Compare with the systems that publish, and publish again what is missing.", ""};
    default:
      return {"The store is failing", "The store works again",
              "Check the free space and the disk of the data directory. Nothing is accepted until "
              "the store can write.",
              ""};
  }
}

KindText text_of_server_alert(AlertKind kind) {
  switch (kind) {
    case AlertKind::dead_letters_waiting:
      return {"Tenant {tenant} has too many dead letters",
              "Tenant {tenant} has fewer dead letters again",
              "Retry or discard the dead letters of the tenant.", "/dead-letters"};
    case AlertKind::success_low:
      return {"Too few attempts succeed", "Enough attempts succeed again",
              "If many webhooks fail, check the network and the DNS of this server.", "/"};
    case AlertKind::queue_deep:
      return {"Too many deliveries are waiting", "Fewer deliveries are waiting again",
              "Look for webhooks with an open circuit or a low limit, and for slow receivers.",
              "/deliveries"};
    case AlertKind::pool_busy:
      return {"Too many requests are in flight", "Fewer requests are in flight again",
              "Look for slow receivers, or raise the limit of requests in flight.", "/"};
    case AlertKind::total_dead_letters:
      return {"There are too many new dead letters", "There are fewer new dead letters again",
              "Look at the dead letters, grouped by webhook and error.", "/dead-letters"};
    case AlertKind::dead_letter_share:
      return {"Too many deliveries become dead letters", "Fewer deliveries become dead letters",
              "Look at the dead letters, grouped by webhook and error.", "/dead-letters"};
    case AlertKind::total_failures:
      return {"Too many attempts fail", "Fewer attempts fail again",
              "If many webhooks fail, check the network and the DNS of this server.", "/"};
    case AlertKind::p99_high:
      return {"Attempts take too long", "Attempts are fast enough again",
              "Look for slow receivers, and check the network of this server.", "/"};
    case AlertKind::server_resources_short:
      return {"The server lacks resources", "The server has enough resources again",
              "Raise the limit of open files, or lower the number of requests in flight.", ""};
    case AlertKind::source_failing:
      return {"Source {source} cannot be connected", "Source {source} is connected again",
              "Check that the source's server runs and accepts the credentials of this server.",
              ""};
    case AlertKind::messages_rejected:
      return {"Messages of source {source} are rejected", "",
              "Look at the rejected messages and fix what writes them.", ""};
    default:
      return {"Notifications cannot be sent", "Notifications are sent again",
              "Look at the last error of the channel, fix it and send a test.", ""};
  }
}

KindText text_of_alert(AlertKind kind) {
  switch (kind) {
    case AlertKind::circuit_opened:
    case AlertKind::circuit_recovered:
    case AlertKind::webhook_disabled:
    case AlertKind::dead_letters:
    case AlertKind::dns_failing:
    case AlertKind::secret_old:
    case AlertKind::webhook_failing:
    case AlertKind::circuit_stays_open:
    case AlertKind::permanent_failure:
      return text_of_webhook_alert(kind);
    case AlertKind::store_failing:
    case AlertKind::store_corrupt:
    case AlertKind::store_data_lost:
      return text_of_store_alert(kind);
    case AlertKind::dead_letters_waiting:
    case AlertKind::success_low:
    case AlertKind::queue_deep:
    case AlertKind::pool_busy:
    case AlertKind::total_dead_letters:
    case AlertKind::dead_letter_share:
    case AlertKind::total_failures:
    case AlertKind::p99_high:
    case AlertKind::server_resources_short:
    case AlertKind::source_failing:
    case AlertKind::messages_rejected:
    case AlertKind::notifications_failing:
      break;
  }
  return text_of_server_alert(kind);
}

}  // namespace

KindText text_of(NotificationKind kind) {
  switch (kind.what) {
    case NotificationKind::What::operation_finished:
      return {"Operation finished", "", "", "/operations"};
    case NotificationKind::What::test:
      return {"Test of the notification channel {channel}", "",
              "Nothing needs to be done: the channel works.", ""};
    case NotificationKind::What::alert:
      break;
  }
  return text_of_alert(kind.alert);
}

}  // namespace postrider
