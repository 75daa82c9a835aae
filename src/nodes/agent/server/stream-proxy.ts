import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';

/** The time limit for connecting to the runtime. */
const connectMs = 10_000;
/** Request headers that the runtime must not get: they are for this server only. */
const ownHeaders = new Set(['host', 'authorization', 'content-length', 'x-forwarded-for', 'cookie']);

/**
 * Passes an upgrade request on to the server of the runtime, and joins the two connections. They end together, and
 * after this long without a byte.
 *
 * @param url an address of the runtime, valid for one use
 */
export function joinWithRuntime(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  url: URL,
  idleMs: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const runtime = connect({ host: url.hostname, port: Number(url.port || 80), timeout: connectMs });
    runtime.once('error', reject);
    runtime.once('timeout', () => runtime.destroy(new Error('the runtime does not take the connection')));
    runtime.once('connect', () => {
      runtime.removeListener('error', reject);
      const lines = [`${request.method} ${url.pathname}${url.search} HTTP/1.1`, `Host: ${url.host}`];
      const { rawHeaders } = request;
      for (let i = 0; i < rawHeaders.length; i += 2) {
        const name = rawHeaders[i] as string;
        if (!ownHeaders.has(name.toLowerCase())) lines.push(`${name}: ${rawHeaders[i + 1]}`);
      }
      runtime.write(`${lines.join('\r\n')}\r\n\r\n`);
      if (head.length > 0) runtime.write(head);
      const end = () => {
        runtime.destroy();
        socket.destroy();
        resolve();
      };
      runtime.removeAllListeners('timeout');
      runtime.setTimeout(idleMs, end);
      for (const side of [runtime, socket]) {
        side.on('error', end);
        side.once('close', end);
      }
      runtime.pipe(socket);
      socket.pipe(runtime);
    });
  });
}
