import { derPrefix, lines, type Plan, quote } from "./plan.ts";

const key = (plan: Plan) =>
  plan.isPublic
    ? [
        `const publicKey = createPublicKey({`,
        `  key: Buffer.concat([`,
        `    Buffer.from("${derPrefix}", "hex"), // An Ed25519 key follows.`,
        `    Buffer.from((process.env.WEBHOOK_PUBLIC_KEY ?? "").replace("whpk_", ""), "base64"),`,
        `  ]),`,
        `  format: "der",`,
        `  type: "spki",`,
        `});`,
      ]
    : [
        `const secret = process.env.WEBHOOK_SECRET;`,
        `if (!secret) throw new Error("Set WEBHOOK_SECRET.");`,
        plan.isStandard &&
          `const key = secret.startsWith("whsec_") ? Buffer.from(secret.slice(6), "base64") : secret;`,
      ];

function candidates(plan: Plan): (string | false)[] {
  const header = (name: string) => `headers[${quote(name)}] ?? ""`;
  if (plan.nextHeader) {
    return [
      `  // During a rotation, the second one is made with the new secret.`,
      `  const candidates = [${header(plan.signatureHeader)}, ${header(plan.nextHeader)}];`,
      plan.timestampHeader !== null && `  const timestamp = ${header(plan.timestampHeader)};`,
    ];
  }
  if (plan.isStandard) {
    return [
      `  const id = headers["webhook-id"] ?? "";`,
      `  const timestamp = headers["webhook-timestamp"] ?? "";`,
      `  const candidates = (headers["webhook-signature"] ?? "").split(" ");`,
    ];
  }
  return [
    `  const candidates = (${header(plan.signatureHeader)}).split(",");`,
    `  const timestamp = candidates.find((part) => part.startsWith("t="))?.slice(2) ?? "";`,
  ];
}

function decision(plan: Plan): string[] {
  if (plan.isPublic) {
    return [
      `  const text = Buffer.concat([Buffer.from(\`\${id}.\${timestamp}.\`), body]);`,
      `  return candidates.some(`,
      `    (part) =>`,
      `      part.startsWith("v1a,") &&`,
      `      isSigned(null, text, publicKey, Buffer.from(part.slice(4), "base64")),`,
      `  );`,
    ];
  }
  const before = plan.isStandard
    ? `.update(\`\${id}.\${timestamp}.\`)`
    : plan.hasTimestamp
      ? `.update(\`\${timestamp}.\`)`
      : "";
  const [mark, encoding] = plan.isStandard
    ? ["v1,", "base64"]
    : [plan.nextHeader ? "sha256=" : "v1=", "hex"];
  return [
    `  const mac = createHmac("sha256", ${plan.isStandard ? "key" : "secret"})${before}.update(body);`,
    `  const expected = Buffer.from(${quote(mark)} + mac.digest("${encoding}"));`,
    `  return candidates.some((part) => {`,
    `    const given = Buffer.from(part);`,
    `    return given.length === expected.length && timingSafeEqual(given, expected);`,
    `  });`,
  ];
}

export const node = (plan: Plan) =>
  lines(
    plan.isPublic
      ? `import { createPublicKey, verify as isSigned } from "node:crypto";`
      : `import { createHmac, timingSafeEqual } from "node:crypto";`,
    ``,
    ...key(plan),
    plan.hasTimestamp && `const toleranceSeconds = 5 * 60;`,
    ``,
    `/**`,
    ` * headers: as in node:http, with names in lower case.`,
    ` * body: a Buffer, as received. With Express: express.raw({ type: "application/json" }).`,
    ` */`,
    `export function verify(headers, body) {`,
    ...candidates(plan),
    plan.hasTimestamp && `  const age = Math.abs(Date.now() / 1000 - Number(timestamp || NaN));`,
    plan.hasTimestamp && `  if (!(age <= toleranceSeconds)) return false;`,
    ...decision(plan),
    `}`,
  );
