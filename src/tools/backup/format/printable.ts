/** Control characters, and those that change the direction or the end of a line. */
const hidden =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not get to the terminal
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Text of unknown origin, made safe to show in a terminal: in one line, and without controlling the terminal. */
export function printable(text: string): string {
  return text.replaceAll(hidden, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
