// A receiver of webhooks that answers as told.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
  path: string;
  headers: NodeJS.Dict<string | string[]>;
  body: string;
}

export interface Reply {
  status?: number;
  body?: string | ((received: Received) => string);
  headers?: Record<string, string>;
  delayMs?: number;
}

export class Receiver {
  readonly received: Received[] = [];
  private readonly replies = new Map<string, Reply>();
  private readonly server: Server;

  constructor() {
    this.server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => {
        const path = request.url ?? "/";
        const body = Buffer.concat(parts).toString();
        const received = { path, headers: request.headers, body };
        this.received.push(received);
        const reply = this.replies.get(path) ?? {};
        setTimeout(() => {
          response.writeHead(reply.status ?? 200, reply.headers);
          response.end(typeof reply.body === "function" ? reply.body(received) : reply.body);
        }, reply.delayMs ?? 0);
      });
    });
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  /** The URL of a path, which from now on answers with `reply`. */
  on(path: string, reply: Reply = {}): string {
    this.replies.set(path, reply);
    const { port } = this.server.address() as AddressInfo;
    return `http://127.0.0.1:${port}${path}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
