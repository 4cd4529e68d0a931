// A real server in a directory of its own, on a free loopback port.
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const binary = path.resolve(process.env["POSTRIDER_BINARY"] ?? "../build/release/postrider");
const slowness = Number(process.env["POSTRIDER_TEST_SLOWNESS"] ?? "1");

type Answer<T> = T | null | undefined | false;

/** Polls until `read` gives something. Fails with `what` after the deadline. */
export async function until<T>(
  what: string,
  read: () => Answer<T> | Promise<Answer<T>>,
  seconds = 20,
): Promise<T> {
  const deadline = Date.now() + seconds * 1_000 * slowness;
  for (;;) {
    const value = await read();
    if (value !== null && value !== undefined && value !== false) return value;
    if (Date.now() > deadline) throw new Error(`Waited in vain for ${what}.`);
    await sleep(50);
  }
}

export class Server {
  readonly key = "pk_test_0123456789abcdefghijklmnopqrstuvwxyz";
  origin = "";
  private readonly directory = mkdtempSync(path.join(tmpdir(), "postrider-web-"));
  private process: ChildProcess | null = null;
  private listen = "127.0.0.1:0";

  constructor(private readonly flags: string[] = []) {}

  get log(): string {
    return readFileSync(path.join(this.directory, "log"), "utf8");
  }

  /** Also after `stop`: the port stays the same. */
  async start(): Promise<this> {
    const log = openSync(path.join(this.directory, "log"), "w");
    const child = spawn(
      binary,
      [
        "serve",
        ...["--data", path.join(this.directory, "data")],
        ...["--listen", this.listen],
        ...["--allow-private-targets", "--allow-http"],
        ...this.flags,
      ],
      { env: { ...process.env, POSTRIDER_ADMIN_KEY: this.key }, stdio: ["ignore", log, log] },
    );
    this.process = child;
    closeSync(log);
    this.origin = await until("the server's address", () => {
      if (child.exitCode !== null) throw new Error(`The server has ended:\n${this.log}`);
      return /http:\/\/127\.0\.0\.1:\d+/.exec(this.log)?.[0];
    });
    this.listen = this.origin.replace("http://", "");
    await until("the server to be ready", async () => {
      const answer = await fetch(`${this.origin}/readyz`).catch(() => null);
      return answer?.ok;
    });
    return this;
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    const child = this.process;
    this.process = null;
    if (!child || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await ended;
  }

  async remove(): Promise<void> {
    await this.stop("SIGKILL");
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** Calls the API as an operator, or with another key. Fails on an error answer. */
  async call<Answer = Record<string, never>>(
    method: string,
    target: string,
    content?: unknown,
    key = this.key,
  ): Promise<Answer> {
    const response = await fetch(this.origin + target, {
      method,
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
      body: content === undefined ? undefined : JSON.stringify(content),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${target} gave ${response.status}: ${text}`);
    return (text ? JSON.parse(text) : {}) as Answer;
  }
}
