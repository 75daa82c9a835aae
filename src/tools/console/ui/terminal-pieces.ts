/** A part of what a terminal shows. */
export interface TerminalPiece {
  readonly kind: 'output' | 'errors' | 'input' | 'note';
  readonly text: string;
}

/** Letters that are kept of what a program writes. */
const mostLetters = 200_000;
/** Pieces that are shorter than this together are shown as one. */
const joinedLetters = 4096;

/**
 * Adds a piece, and drops the oldest ones when there is too much text. Programs may write a letter at a time, and each
 * piece costs the browser far more than a letter.
 */
export function withPiece(pieces: readonly TerminalPiece[], added: TerminalPiece): readonly TerminalPiece[] {
  const last = pieces.at(-1);
  const text = added.text.slice(-mostLetters);
  const isJoined =
    last !== undefined &&
    last.kind === added.kind &&
    added.kind !== 'note' &&
    last.text.length + text.length <= joinedLetters;
  const all = isJoined
    ? [...pieces.slice(0, -1), { kind: last.kind, text: last.text + text }]
    : [...pieces, { kind: added.kind, text }];
  let letters = 0;
  let first = all.length;
  while (first > 0 && letters < mostLetters) {
    first--;
    letters += all[first]?.text.length ?? 0;
  }
  return all.slice(first);
}
