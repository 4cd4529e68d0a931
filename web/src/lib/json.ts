// Reads JSON as text. Publishers' data is shown and sent as it was written: parsing and writing it
// again would change large numbers, `1.0` and repeated keys. Pure.

/** What is wrong with a JSON text and where, or null if it is valid. */
export interface JsonError {
  line: number;
  column: number;
  message: string;
}

const whitespace = /[ \t\r\n]*/y;
const literal = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// eslint-disable-next-line no-control-regex -- JSON forbids control characters in strings.
const string = /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*"/y;

interface Token {
  text: string;
  at: number;
}

class Failure extends Error {
  constructor(
    readonly at: number,
    message: string,
  ) {
    super(message);
  }
}

/** Reads a text from left to right and reports the tokens of its values. */
class Reader {
  private at = 0;
  constructor(
    private readonly text: string,
    private readonly onToken: (token: Token, depth: number) => void,
  ) {}

  read(): void {
    this.value(0);
    this.skip();
    if (this.at < this.text.length) this.fail("There is text after the end of the value.");
  }

  private fail(message: string): never {
    throw new Failure(this.at, message);
  }

  private take(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0] ?? null;
    if (found !== null) this.at += found.length;
    return found;
  }

  private skip(): void {
    this.take(whitespace);
  }

  private emit(text: string, depth: number): void {
    this.onToken({ text, at: this.at - text.length }, depth);
  }

  private mark(wanted: string, depth: number): boolean {
    this.skip();
    if (this.text[this.at] !== wanted) return false;
    this.at += 1;
    this.emit(wanted, depth);
    return true;
  }

  private value(depth: number): void {
    if (depth > 500) this.fail("The value is nested too deeply.");
    this.skip();
    if (this.at >= this.text.length) this.fail("A value is missing.");
    if (this.mark("{", depth)) {
      this.items("}", depth, () => this.member(depth + 1));
      return;
    }
    if (this.mark("[", depth)) {
      this.items("]", depth, () => this.value(depth + 1));
      return;
    }
    const simple = this.text[this.at] === '"' ? this.take(string) : this.take(literal);
    if (simple === null) {
      const isText = this.text[this.at] === '"';
      this.fail(isText ? "This text does not end or has a wrong escape." : "This is not a value.");
    }
    this.emit(simple, depth);
  }

  private items(end: string, depth: number, item: () => void): void {
    if (this.mark(end, depth)) return;
    do item();
    while (this.mark(",", depth));
    if (!this.mark(end, depth)) this.fail(`A comma or ${end} is missing.`);
  }

  private member(depth: number): void {
    this.skip();
    const name = this.take(string);
    if (name === null) this.fail("A name in double quotes is missing.");
    this.emit(name, depth);
    if (!this.mark(":", depth)) this.fail("A colon is missing.");
    this.value(depth);
  }
}

function scan(text: string, onToken: (token: Token, depth: number) => void): JsonError | null {
  try {
    new Reader(text, onToken).read();
    return null;
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    const before = text.slice(0, failure.at).split("\n");
    const column = (before.at(-1)?.length ?? 0) + 1;
    return { line: before.length, column, message: failure.message };
  }
}

export const jsonError = (text: string): JsonError | null => scan(text, () => undefined);
export const isJson = (text: string): boolean => jsonError(text) === null;

/** `Line 2, column 8: This is not a value.`; empty if the text is valid. */
export function jsonErrorWords(text: string): string {
  const error = jsonError(text);
  return error ? `Line ${error.line}, column ${error.column}: ${error.message}` : "";
}

/** The same value with one member per line, or null if the text is not JSON. */
export function indentJson(text: string): string | null {
  let out = "";
  let previous = "";
  const broken = scan(text, (token, depth) => {
    const closes = token.text === "}" || token.text === "]";
    const isMark = closes || token.text === "," || token.text === ":";
    if (previous === ":") out += " ";
    else if (closes ? !/^[{[]$/.test(previous) : !isMark && previous !== "") {
      out += "\n" + "  ".repeat(depth);
    }
    out += token.text;
    previous = token.text;
  });
  return broken ? null : out;
}

/** The text of a member of an object, exactly as it was written, or null if there is none. */
export function memberText(text: string, name: string): string | null {
  let depthOne: Token[] = [];
  let start = -1;
  let found: string | null = null;
  const wanted = JSON.stringify(name);
  scan(text, (token, depth) => {
    const endsMember = depth === 0 && (token.text === "," || token.text === "}");
    if (start >= 0 && endsMember) {
      found = text.slice(start, token.at).trim();
      start = -1;
    }
    if (endsMember) depthOne = [];
    if (depth !== 1) return;
    depthOne.push(token);
    const isColon = depthOne.length === 2 && token.text === ":";
    if (isColon && depthOne[0]?.text === wanted) start = token.at + 1;
  });
  return found;
}

/** The texts of the elements of an array, exactly as they were written. Empty for other values. */
export function elementTexts(text: string): string[] {
  const found: string[] = [];
  let start = -1;
  let isEmpty = true;
  const broken = scan(text, (token, depth) => {
    if (depth > 0) isEmpty = false;
    if (depth !== 0) return;
    if (start >= 0 && !isEmpty && (token.text === "," || token.text === "]")) {
      found.push(text.slice(start, token.at).trim());
    }
    if (token.text === "[" || (start >= 0 && token.text === ",")) start = token.at + 1;
  });
  return broken ? [] : found;
}
