import type { IncomingMessage } from 'node:http';
import { BytePieces } from '../../base/machinery/byte-pieces.js';

/** The body of a response as a string. @throws Error for a body longer than `mostBytes`, and closes the response */
export async function readAnswer(answer: IncomingMessage, mostBytes: number): Promise<string> {
  const pieces = new BytePieces();
  for await (const chunk of answer) {
    if (pieces.length + (chunk as Buffer).length > mostBytes) {
      answer.destroy();
      throw new Error(`the node agent answered with more than ${mostBytes} bytes`);
    }
    pieces.add(chunk as Buffer);
  }
  return pieces.join().toString('utf8');
}
