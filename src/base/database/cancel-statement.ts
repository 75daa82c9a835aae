import type { DatabaseConnection } from './connect-database.js';
import { openStream } from './open-stream.js';

/**
 * From the protocol: the first message of a connection that requests the cancellation of another connection's
 * statement.
 */
const cancelCode = 80_877_102;
const patienceMs = 10_000;

/**
 * Asks the server to cancel the statement of a connection. The request uses a connection of its own that is protected
 * in the same way, because the number that it carries lets anybody cancel statements of that session. Resolves when the
 * server has read the request, or can't be reached.
 */
export async function cancelStatement({ client, protection, tls }: DatabaseConnection): Promise<void> {
  const { host, port, processID, secretKey } = client as unknown as {
    readonly host: string;
    readonly port: number;
    readonly processID: number | null;
    readonly secretKey: number | null;
  };
  if (processID === null || secretKey === null) return;
  const request = Buffer.alloc(16);
  request.writeInt32BE(request.length, 0);
  request.writeInt32BE(cancelCode, 4);
  request.writeInt32BE(processID, 8);
  request.writeInt32BE(secretKey, 12);
  const encrypt = host.startsWith('/') || protection.protocol === undefined ? 'never' : 'always';
  try {
    const signal = AbortSignal.timeout(patienceMs);
    const stream = await openStream({ host, port }, { ...tls, encrypt }, signal);
    signal.addEventListener('abort', () => stream.destroy());
    stream.resume();
    stream.end(request);
    await new Promise<void>((resolve) => stream.once('close', () => resolve()));
  } catch {
    // The server then cancels the statement when its time limit is reached.
  }
}
