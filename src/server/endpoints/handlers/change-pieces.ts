import type { Change } from '../../../storage/storage.interface.js';

/** Length of a piece in UTF-16 units: small enough to be encoded at once in any form. */
const pieceCharacters = 128 * 1024;

const onePiece: readonly (readonly Change[])[] = [];
const knownPieces = new WeakMap<readonly Change[], readonly (readonly Change[])[]>();

/**
 * Splits the changes of a batch into pieces that can be encoded without blocking other work, in order; undefined if one
 * piece is enough. A watch that resumes may receive thousands of changes at once. Watches that share a batch share its
 * pieces.
 */
export function piecesOf(changes: readonly Change[]): readonly (readonly Change[])[] | undefined {
  if (changes.length < 2) return undefined;
  let pieces = knownPieces.get(changes);
  if (pieces === undefined) {
    pieces = split(changes);
    knownPieces.set(changes, pieces);
  }
  return pieces === onePiece ? undefined : pieces;
}

function split(changes: readonly Change[]): readonly (readonly Change[])[] {
  const pieces: Change[][] = [];
  let piece: Change[] = [];
  let characters = 0;
  for (const change of changes) {
    const own = change.json.length + (change.previousJson?.length ?? 0);
    if (piece.length > 0 && characters + own > pieceCharacters) {
      pieces.push(piece);
      piece = [];
      characters = 0;
    }
    piece.push(change);
    characters += own;
  }
  if (pieces.length === 0) return onePiece;
  return [...pieces, piece];
}
