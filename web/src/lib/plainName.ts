// Names inside of sentences. Pure.

/**
 * A name without the characters that change the direction of text: they would also reorder the
 * words that follow the name.
 */
export const plainName = (name: string): string =>
  name.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "");
