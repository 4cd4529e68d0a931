// Short names for the types of the API. They are generated from its OpenAPI document.
import type { components, operations } from "#contract";

type Schemas = components["schemas"];

export type Alert = Schemas["Alert"];
export type ApiKey = Schemas["ApiKey"];
export type Attempt = Schemas["Attempt"];
export type AuditRecord = Schemas["AuditRecord"];
export type Blocked = Schemas["Blocked"];
export type ChannelKind = Schemas["ChannelKind"];
export type CircuitDetail = Schemas["CircuitDetail"];
export type CountedChannel = Schemas["CountedNotificationChannel"];
export type Delivery = Schemas["Delivery"];
export type DeliveryDetail = Schemas["DeliveryDetail"];
export type DeliveryStatus = Delivery["status"];
export type EventDetail = Schemas["EventDetail"];
export type EventSummary = Schemas["EventSummary"];
export type EventTypeEntry = Schemas["EventTypeEntry"];
export type Notification = Schemas["Notification"];
export type NotificationChannel = Schemas["NotificationChannel"];
export type NotificationChannelChange = Schemas["NotificationChannelChange"];
export type NotificationChannelInput = Schemas["NotificationChannelInput"];
export type Operation = Schemas["Operation"];
export type OperationCount =
  components["responses"]["OperationCount"]["content"]["application/json"];
export type ProblemBody = Schemas["Problem"];
export type SentRequest = Schemas["SentRequest"];
export type Tally = Schemas["Tally"];
export type Tenant = Schemas["Tenant"];
export type TenantLimits = Schemas["TenantLimits"];
export type Webhook = Schemas["Webhook"];
export type WebhookHealth = Schemas["WebhookHealth"];
export type WebhookInput = Schemas["WebhookInput"];

export type Stats = operations["getStats"]["responses"][200]["content"]["application/json"];
export type StatsQuery = NonNullable<operations["getStats"]["parameters"]["query"]>;
export type DeliveryQuery = NonNullable<operations["listDeliveries"]["parameters"]["query"]>;

/** A page of a list. `next_cursor` is null on the last one. */
export interface Page<Item> {
  data: Item[];
  next_cursor: string | null;
}
