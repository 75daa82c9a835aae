import type { IncomingMessage } from 'node:http';

/** The text of an answer. @throws Error for a text longer than `mostBytes`, and closes the answer */
export async function readBody(answer: IncomingMessage, mostBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer) {
    bytes += (chunk as Buffer).length;
    if (bytes > mostBytes) {
      answer.destroy();
      throw new Error(`the node agent answered with more than ${mostBytes} bytes`);
    }
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}
