import type { ServerResponse } from 'node:http';
import type { BackendAnswer } from '../../aggregation/backend.js';
import { answerHeaders } from '../../aggregation/forwarded-headers.js';
import { releaseSocket } from '../web-sockets.js';

type Upgraded = Extract<BackendAnswer, { readonly kind: 'upgrade' }>;

/**
 * Answers 101 and joins both connections: bytes go through unread, each side at the pace of the other. Resolves when
 * both are closed. The response can't be used after this.
 */
export async function openTunnel(response: ServerResponse, answer: Upgraded, signal: AbortSignal): Promise<void> {
  const { socket: client, head: early } = releaseSocket(response);
  const { socket: backend, head } = answer;
  const headers = Object.entries(answerHeaders(answer.response.rawHeaders)).flatMap(([name, values]) =>
    [values].flat().map((value) => `${name}: ${value}\r\n`),
  );
  const lines = ['connection: Upgrade\r\n', `upgrade: ${answer.response.headers.upgrade ?? ''}\r\n`, ...headers];
  client.write(Buffer.from(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`, 'latin1'));
  if (head.length > 0) client.write(head);
  if (early.length > 0) backend.write(early);
  const close = () => {
    client.destroy();
    backend.destroy();
  };
  signal.addEventListener('abort', close, { once: true });
  const closed = [client, backend].map(
    (socket) =>
      new Promise<void>((resolve) => {
        if (socket.destroyed) resolve();
        socket.once('close', () => {
          close();
          resolve();
        });
        socket.once('error', close);
      }),
  );
  backend.pipe(client);
  client.pipe(backend);
  if (signal.aborted || client.destroyed || backend.destroyed) close();
  await Promise.all(closed);
  signal.removeEventListener('abort', close);
}
