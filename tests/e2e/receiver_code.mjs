// The receiver of the `tenant` profile's design. Reads a JSON list of {secret, headers, body in
// base64} from stdin. Writes the JSON list of the statuses that it answers.
import crypto from 'crypto';
import { readFileSync } from 'node:fs';

export function verifyWebhookSignature(payload, signature, secret) {
  const expectedSignature = crypto
    .createHmac('sha256', secret)
    .update(JSON.stringify(payload))
    .digest('hex');

  const expected = `sha256=${expectedSignature}`;

  // Constant-time comparison to prevent timing attacks
  return crypto.timingSafeEqual(
    Buffer.from(signature),
    Buffer.from(expected)
  );
}

function receive(req, secret) {
  const signature = req.headers['x-webhook-signature'];
  return verifyWebhookSignature(req.body, signature, secret) ? 200 : 401;
}

const cases = JSON.parse(readFileSync(0, 'utf8'));
const statuses = cases.map(({ secret, headers, body }) => {
  // As express.json() parses it.
  const parsed = JSON.parse(Buffer.from(body, 'base64').toString('utf8'));
  return receive({ headers, body: parsed }, secret);
});
process.stdout.write(JSON.stringify(statuses));
