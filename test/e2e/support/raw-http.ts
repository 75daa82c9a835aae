import { once } from 'node:events';
import { connect } from 'node:tls';

/** The answer on one connection. */
export interface RawAnswer {
  /** Code of the first response; 0 when the connection was closed without a response. */
  readonly status: number;
  /** Everything after the first head, unchanged, including further responses. */
  readonly body: string;
  /** Codes of all responses, in order. */
  readonly statuses: readonly number[];
}

/** How long the beginning of an answer may take, since the server may be busy. */
const patienceMs = 60_000;

/**
 * Sends bytes unchanged over one TLS connection with HTTP/1.1, and reads until the server closes it or, once it has
 * begun to answer, has been silent for `idleMs`. Each character is sent as one byte.
 */
export async function send(url: string, ca: string, parts: readonly string[], idleMs = 500): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), ca, ALPNProtocols: ['http/1.1'] });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    socket.setTimeout(idleMs);
  });
  // A server that refuses may reset the connection during the write.
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  await once(socket, 'secureConnect');
  socket.setTimeout(patienceMs, () => socket.destroy());
  for (const part of parts) socket.write(Buffer.from(part, 'latin1'));
  await closed;
  const text = Buffer.concat(chunks).toString('utf8');
  const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, code]) => Number(code));
  return { status: statuses[0] ?? 0, body: text.slice(text.indexOf('\r\n\r\n') + 4), statuses };
}
