/** Where the thing with this id is shown. Ids say by their prefix what they name. Pure. */
export function idTarget(text: string): { path: string; label: string } | null {
  const found = /^(whk|evt|dlv|ntc)_[0-9a-z]{26}$/.exec(text);
  switch (found?.[1]) {
    case "whk":
      return { path: `/webhooks/${text}`, label: `Webhook ${text}` };
    case "evt":
      return { path: `/events/${text}`, label: `Event ${text}` };
    case "dlv":
      return { path: `/deliveries/${text}`, label: `Delivery ${text}` };
    case "ntc":
      return { path: `/notifications/${text}`, label: `Notification channel ${text}` };
    default:
      return null;
  }
}
