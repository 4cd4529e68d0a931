// The tabs of one browser share the session's cookie. A tab that signs in or out tells the others.

const name = "postrider-session";

/** Calls `onChange` when another tab has signed in or out. Returns how to tell them and to end. */
export function openTabs(onChange: () => void): { tell: () => void; close: () => void } {
  if (typeof BroadcastChannel === "undefined") {
    return { tell: () => undefined, close: () => undefined };
  }
  const channel = new BroadcastChannel(name);
  channel.onmessage = onChange; // What it says does not matter: the server is asked.
  return { tell: () => channel.postMessage("changed"), close: () => channel.close() };
}
