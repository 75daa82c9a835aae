import type { IncomingMessage } from 'node:http';

/** The body of a response as a string. @throws Error for a body longer than `mostBytes`, and closes the response */
export async function readAnswer(answer: IncomingMessage, mostBytes: number): Promise<string> {
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
