// Turns the form of a channel into what the API takes: everything of a new channel, and of an
// existing one only what was changed. Pure.
import type {
  ChannelKind,
  NotificationChannel,
  NotificationChannelChange,
  NotificationChannelInput,
} from "~/api/types.ts";
import { parseDuration, writeDuration } from "~/lib/duration.ts";

export interface ChannelValues {
  kind: ChannelKind;
  name: string;
  tenant_id: string; // Empty: the server, or the tenant of the visitor.
  to: string[];
  to_owner: boolean;
  to_contacts: boolean;
  url: string;
  secret: string; // Empty: generated, or unchanged.
  kinds: string[]; // Empty: all.
  severity_min: NotificationChannel["severity_min"];
  webhook_ids: string[]; // Empty: all.
  send_resolved: boolean;
  group_window: string; // A duration.
  per_hour: string;
  active: boolean;
}

export type Messages = Record<string, string>;

export interface ChannelReading {
  input: NotificationChannelChange;
  errors: Messages; // By the API's names of the fields.
}

const windowMsMax = 3_600_000;
const perHourMax = 1_000;

export function emptyChannel(): ChannelValues {
  return {
    kind: "email",
    name: "",
    tenant_id: "",
    to: [],
    to_owner: false,
    to_contacts: false,
    url: "",
    secret: "",
    kinds: [],
    severity_min: "info",
    webhook_ids: [],
    send_resolved: true,
    group_window: "1 min",
    per_hour: "30",
    active: true,
  };
}

export function channelValues(channel: NotificationChannel): ChannelValues {
  const { target } = channel;
  return {
    ...emptyChannel(),
    kind: channel.kind,
    name: channel.name,
    tenant_id: channel.tenant_id ?? "",
    ...("url" in target ? { url: target.url ?? "" } : { ...target, to: [...target.to] }),
    kinds: [...channel.kinds],
    severity_min: channel.severity_min,
    webhook_ids: [...channel.webhook_ids],
    send_resolved: channel.send_resolved,
    group_window: writeDuration(channel.group_window_ms),
    per_hour: String(channel.per_hour_max),
    active: channel.active,
  };
}

type Target = NonNullable<NotificationChannelChange["target"]>;

function readTarget(values: ChannelValues, errors: Messages): Target {
  if (values.kind === "email") {
    const { to, to_owner, to_contacts } = values;
    if (to.length === 0 && !to_owner && !to_contacts) {
      errors["target.to"] = "Enter an address, or choose owners or contacts.";
    }
    return { to, to_owner, to_contacts };
  }
  const url = values.url.trim();
  if (url === "") errors["target.url"] = "Enter the URL.";
  const secret = values.kind === "webhook" ? values.secret.trim() : "";
  return secret === "" ? { url } : { url, secret };
}

function readAll(values: ChannelValues, errors: Messages): NotificationChannelInput {
  const window = parseDuration(values.group_window);
  if (window === null || window > windowMsMax) {
    errors["group_window_ms"] = "Enter a duration of at most an hour, for example 5 min.";
  }
  const perHour = /^\d+$/.test(values.per_hour.trim()) ? Number(values.per_hour) : 0;
  if (perHour < 1 || perHour > perHourMax) {
    errors["per_hour_max"] = `Enter a number from 1 to ${perHourMax}.`;
  }
  if (values.name.trim() === "") errors["name"] = "Enter a name.";
  return {
    name: values.name.trim(),
    kind: values.kind,
    target: readTarget(values, errors),
    kinds: values.kinds as NonNullable<NotificationChannelInput["kinds"]>,
    severity_min: values.severity_min,
    webhook_ids: values.webhook_ids,
    send_resolved: values.send_resolved,
    group_window_ms: window ?? 0,
    per_hour_max: perHour,
    active: values.active,
  };
}

/** Of a new channel. */
export function readNewChannel(values: ChannelValues) {
  const errors: Messages = {};
  const input = readAll(values, errors);
  const tenant = values.tenant_id.trim();
  return { input: tenant === "" ? input : { ...input, tenant_id: tenant }, errors };
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** `start`: the form as it was opened. */
export function readChangedChannel(values: ChannelValues, start: ChannelValues): ChannelReading {
  const errors: Messages = {};
  const [now, before] = [readAll(values, errors), readAll(start, {})];
  const changed = Object.entries(now).filter(
    ([name, value]) => !same(value, before[name as keyof NotificationChannelInput]),
  );
  return { input: Object.fromEntries(changed), errors };
}
