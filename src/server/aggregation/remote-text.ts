import type { IncomingMessage } from 'node:http';
import { BytePieces } from '../../base/machinery/byte-pieces.js';
import { checkNesting } from '../../base/machinery/json/nesting.js';
import { parseInTurns } from '../../base/machinery/json/parse-in-turns.js';
import { BackendFault } from './backend-fault.js';

/** Parsing this many characters takes a few milliseconds. */
const parsedAtOnce = 256 * 1024;

/**
 * The body of a response of an extension server. @throws BackendFault for a body longer than `maxBytes`, and stops
 * reading it.
 */
export async function readText(response: IncomingMessage, maxBytes: number): Promise<string> {
  const pieces = new BytePieces();
  for await (const chunk of response) {
    if (pieces.length + (chunk as Buffer).length > maxBytes)
      throw new BackendFault(`the extension server answered with more than ${maxBytes} bytes`);
    pieces.add(chunk as Buffer);
  }
  return pieces.join().toString('utf8');
}

/** Parses JSON; a long document in steps that yield to other work. @throws SyntaxError */
export async function parseRemoteText(text: string): Promise<unknown> {
  if (text.length <= parsedAtOnce) return JSON.parse(text);
  checkNesting(text);
  return parseInTurns(text);
}
