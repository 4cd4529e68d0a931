// The snippets of the Verify tab accept real deliveries and nothing else, in every language.
import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { languages, variableOf } from "../src/pages/webhook/snippets/snippets.ts";
import { Receiver } from "./harness/receiver.ts";
import { Server, until } from "./harness/server.ts";
import { prepare, type RecordedRequest, verdicts, writeRequest } from "./harness/snippets.ts";

const schemes = [
  "standard",
  "standard-ed25519",
  "t-v1",
  "sha256-timestamp",
  "sha256-body",
] as const;
type Scheme = (typeof schemes)[number];

const signatureOf = (scheme: Scheme) => ({ scheme, header_prefix: "X-Acme-" });
const secret = "whsec_MDEyMzQ1Njc4OWFiY2RlZmdoaWprbG1ub3BxcnN0dXY=";
const data = { text: "Grüße ✓ <script>", amount: "12.50" };

interface Hook {
  id: string;
  public_key: string | null;
}
interface Rotated {
  secret: string;
  public_key: string | null;
}

/** One recorded delivery, and the key that its receiver has. */
interface Case {
  name: string;
  key: string;
  genuine: RecordedRequest;
}

const server = new Server();
const receiver = new Receiver();
const directory = mkdtempSync(path.join(tmpdir(), "postrider-snippets-"));
const cases: Record<Scheme, Case[]> = {
  standard: [],
  "standard-ed25519": [],
  "t-v1": [],
  "sha256-timestamp": [],
  "sha256-body": [],
};

/** Publishes an event and returns what the webhook of this scheme has received. */
async function deliver(scheme: Scheme): Promise<RecordedRequest> {
  const mine = () => receiver.received.filter((each) => each.path === `/${scheme}`);
  const before = mine().length;
  await server.call("POST", "/v1/events", { type: `order.${scheme}`, data });
  const received = await until("the delivery", () => mine()[before]);
  const headers = Object.entries(received.headers).map(([name, value]) => [name, String(value)]);
  return {
    headers: Object.fromEntries(headers) as Record<string, string>,
    body: Buffer.from(received.body),
  };
}

async function record(scheme: Scheme): Promise<void> {
  const hook = await server.call<Hook>("POST", "/v1/webhooks", {
    url: receiver.on(`/${scheme}`),
    events: [`order.${scheme}`],
    signature: signatureOf(scheme),
    ...(scheme === "standard-ed25519" ? {} : { secret }),
  });
  const first = hook.public_key ?? secret;
  cases[scheme].push({ name: "before", key: first, genuine: await deliver(scheme) });
  const rotated = await server.call<Rotated>("POST", `/v1/webhooks/${hook.id}/secret/rotate`, {});
  const second = rotated.public_key ?? rotated.secret;
  const genuine = await deliver(scheme);
  // One header has a signature of each secret, except where there is a second header for it.
  if (scheme === "sha256-body") cases[scheme].push({ name: "old key", key: first, genuine });
  cases[scheme].push({ name: "new key", key: second, genuine });
}

beforeAll(async () => {
  await server.start();
  await receiver.start();
  for (const scheme of schemes) await record(scheme);
});
afterAll(async () => {
  await receiver.stop();
  await server.remove();
  rmSync(directory, { recursive: true, force: true });
});

/** The same request signed with the same secret, but at another time. */
function signedAt(genuine: RecordedRequest, seconds: number): RecordedRequest {
  const id = genuine.headers["webhook-id"] ?? "";
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const mac = createHmac("sha256", key).update(`${id}.${seconds}.`).update(genuine.body);
  return {
    body: genuine.body,
    headers: {
      ...genuine.headers,
      "webhook-timestamp": String(seconds),
      "webhook-signature": `v1,${mac.digest("base64")}`,
    },
  };
}

/** Requests with what must be said about them. */
function requestsOf(scheme: Scheme, { name, genuine }: Case): [RecordedRequest, boolean][] {
  const unsigned = Object.entries(genuine.headers).filter(([key]) => !key.includes("signature"));
  const requests: [RecordedRequest, boolean][] = [
    [genuine, true],
    [{ ...genuine, body: Buffer.concat([genuine.body, Buffer.from(" ")]) }, false],
    [{ ...genuine, headers: Object.fromEntries(unsigned) }, false],
  ];
  if (scheme === "standard" && name === "before") {
    const now = Math.floor(Date.now() / 1_000);
    requests.push([signedAt(genuine, now), true]);
    requests.push([signedAt(genuine, now - 600), false], [signedAt(genuine, now + 600), false]);
  }
  return requests;
}

test.each(languages)("$label", async ({ value: language }) => {
  for (const scheme of schemes) {
    const program = path.join(directory, language, scheme);
    await prepare(language, signatureOf(scheme), program);
    for (const [index, each] of cases[scheme].entries()) {
      const requests = requestsOf(scheme, each).map(([request, valid], at) => {
        const target = path.join(directory, "requests", `${scheme}-${index}-${at}`);
        writeRequest(target, request);
        return { target, valid };
      });
      const environment = { [variableOf(signatureOf(scheme))]: each.key };
      const said = await verdicts(
        language,
        program,
        environment,
        requests.map(({ target }) => target),
      );
      expect(said, `${scheme}, ${each.name}`).toEqual(requests.map(({ valid }) => valid));
    }
  }
});
