import { lines, type Plan, singleQuote } from "./plan.ts";

const key = (plan: Plan) =>
  plan.isPublic
    ? [
        `    $text = str_replace('whpk_', '', (string) getenv('WEBHOOK_PUBLIC_KEY'));`,
        `    $key = (string) base64_decode($text, true);`,
        `    if (strlen($key) !== SODIUM_CRYPTO_SIGN_PUBLICKEYBYTES) {`,
        `        throw new RuntimeException('Set WEBHOOK_PUBLIC_KEY.');`,
        `    }`,
      ]
    : [
        `    $key = (string) getenv('WEBHOOK_SECRET');`,
        plan.isStandard && `    if (str_starts_with($key, 'whsec_')) {`,
        plan.isStandard && `        $key = (string) base64_decode(substr($key, 6), true);`,
        plan.isStandard && `    }`,
        `    if ($key === '') {`,
        `        throw new RuntimeException('Set WEBHOOK_SECRET.');`,
        `    }`,
      ];

function candidates(plan: Plan): (string | false)[] {
  const header = (name: string) => `$headers[${singleQuote(name)}] ?? ''`;
  if (plan.nextHeader) {
    return [
      `    // During a rotation, the second one is made with the new secret.`,
      `    $candidates = [`,
      `        ${header(plan.signatureHeader)},`,
      `        ${header(plan.nextHeader)},`,
      `    ];`,
      plan.timestampHeader !== null && `    $timestamp = ${header(plan.timestampHeader)};`,
    ];
  }
  if (plan.isStandard) {
    return [
      `    $id = $headers['webhook-id'] ?? '';`,
      `    $timestamp = $headers['webhook-timestamp'] ?? '';`,
      `    $candidates = explode(' ', $headers['webhook-signature'] ?? '');`,
    ];
  }
  return [
    `    $candidates = explode(',', ${header(plan.signatureHeader)});`,
    `    $timestamp = '';`,
    `    foreach ($candidates as $part) {`,
    `        if (str_starts_with($part, 't=')) {`,
    `            $timestamp = substr($part, 2);`,
    `            break;`,
    `        }`,
    `    }`,
  ];
}

function decision(plan: Plan): string[] {
  if (plan.isPublic) {
    return [
      `    foreach ($candidates as $part) {`,
      `        $signature = (string) base64_decode(str_replace('v1a,', '', $part), true);`,
      `        if (strlen($signature) === SODIUM_CRYPTO_SIGN_BYTES`,
      `            && sodium_crypto_sign_verify_detached($signature, "$id.$timestamp.$body", $key)) {`,
      `            return true;`,
      `        }`,
      `    }`,
      `    return false;`,
    ];
  }
  const text = plan.isStandard
    ? `"$id.$timestamp.$body"`
    : plan.hasTimestamp
      ? `"$timestamp.$body"`
      : `$body`;
  const expected = plan.isStandard
    ? `'v1,' . base64_encode(hash_hmac('sha256', ${text}, $key, true))`
    : `'${plan.nextHeader ? "sha256=" : "v1="}' . hash_hmac('sha256', ${text}, $key)`;
  return [
    `    $expected = ${expected};`,
    `    foreach ($candidates as $part) {`,
    `        if (hash_equals($expected, $part)) {`,
    `            return true;`,
    `        }`,
    `    }`,
    `    return false;`,
  ];
}

export const php = (plan: Plan) =>
  lines(
    `<?php`,
    ``,
    plan.hasTimestamp && `const TOLERANCE_SECONDS = 5 * 60;`,
    plan.hasTimestamp && ``,
    `/**`,
    ` * $headers: array_change_key_case(getallheaders()), with names in lower case.`,
    ` * $body: file_get_contents('php://input'), the bytes as received.`,
    ` */`,
    `function verify(array $headers, string $body): bool`,
    `{`,
    ...key(plan),
    ...candidates(plan),
    plan.hasTimestamp && `    if (!preg_match('/^[0-9]{1,12}$/D', $timestamp)`,
    plan.hasTimestamp && `        || abs(time() - (int) $timestamp) > TOLERANCE_SECONDS) {`,
    plan.hasTimestamp && `        return false;`,
    plan.hasTimestamp && `    }`,
    ...decision(plan),
    `}`,
  );
