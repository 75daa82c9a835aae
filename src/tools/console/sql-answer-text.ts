import { Turn } from '../../base/machinery/turns.js';
import type { SqlAnswer } from './sql-reader.js';

/** The length of a piece, in characters. One character of a value can become six. */
const pieceLength = 32 * 1024;

/**
 * The JSON of an answer, in pieces and in turns with other work: the values have 8 MiB together, of which the largest may be one
 * text of characters that have to be escaped.
 */
export async function* sqlAnswerText({ rows, ...rest }: SqlAnswer): AsyncGenerator<string> {
  const turn = new Turn();
  let text = `${JSON.stringify(rest).slice(0, -1)},"rows":[`;
  for (const [index, row] of rows.entries()) {
    text += index === 0 ? '[' : ',[';
    for (const [place, cell] of row.entries()) {
      if (place > 0) text += ',';
      for (const piece of cellText(cell)) {
        text += piece;
        if (text.length >= pieceLength) {
          yield text;
          text = '';
        }
        if (turn.isOver) await turn.next();
      }
    }
    text += ']';
  }
  yield `${text}]}`;
}

function* cellText(cell: string | null): Generator<string> {
  if (cell === null || cell.length <= pieceLength) {
    yield JSON.stringify(cell);
    return;
  }
  yield '"';
  // A pair of surrogates that is cut becomes two escapes, which mean the same.
  for (let at = 0; at < cell.length; at += pieceLength) {
    yield JSON.stringify(cell.slice(at, at + pieceLength)).slice(1, -1);
  }
  yield '"';
}
