import { once } from 'node:events';
import { isIP, Socket } from 'node:net';
import { connect as secure, type TLSSocket } from 'node:tls';
import { secureOptions } from './secure-options.js';
import type { TlsSettings } from './tls-settings.js';

/** The server has no TLS, and the settings require it. Waiting does not fix that. */
export const noTls = 'The server does not support SSL connections';

/** Where a server listens; a host that begins with `/` is the folder of its unix socket. */
export interface DatabaseAddress {
  readonly host: string;
  readonly port: number;
}

/** The code of the message that requests TLS; a server without TLS replies `N`. */
const tlsRequestCode = 80_877_103;

/**
 * Connects, and encrypts as the settings require; unix sockets are never encrypted. On the returned stream, only the
 * TLS negotiation has been sent and read. Rejects with the error of the system or of the handshake, and never falls
 * back to plain text: a server that offers TLS and fails at it needs attention. Aborting `signal` destroys the stream.
 */
export async function openStream(
  { host, port }: DatabaseAddress,
  settings: TlsSettings,
  signal: AbortSignal,
): Promise<Socket | TLSSocket> {
  signal.throwIfAborted();
  const isLocal = host.startsWith('/');
  const isDirect = settings.negotiation === 'direct';
  const encrypt = isLocal ? 'never' : settings.encrypt;
  // A file that can't be read is reported before anything is connected.
  const options = encrypt === 'never' ? undefined : await secureOptions(settings);
  const socket = new Socket();
  // An error between two steps also makes the next step fail.
  socket.on('error', () => undefined);
  const giveUp = (): void => void socket.destroy();
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    socket.setNoDelay(true);
    if (isLocal) socket.connect(`${host}/.s.PGSQL.${port}`);
    else socket.connect(port, host);
    await once(socket, 'connect', { signal });
    if (options === undefined) return socket;
    if (!isDirect && !(await offersTls(socket, signal))) {
      if (encrypt === 'prefer') return socket;
      throw new Error(noTls);
    }
    const stream = secure({
      ...options,
      socket,
      host,
      ...(settings.sendsName && isIP(host) === 0 ? { servername: host } : {}),
    });
    stream.on('error', () => undefined);
    await once(stream, 'secureConnect', { signal });
    if (isDirect && stream.alpnProtocol !== 'postgresql') {
      throw new Error('the server did not agree to speak the PostgreSQL protocol over TLS (sslnegotiation=direct)');
    }
    return stream;
  } catch (error) {
    socket.destroy();
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

/**
 * Requests TLS. The reply is one byte, and nothing more may arrive before the handshake: bytes that an attacker adds
 * would be read as if the server had sent them over TLS.
 */
async function offersTls(socket: Socket, signal: AbortSignal): Promise<boolean> {
  const request = Buffer.alloc(8);
  request.writeInt32BE(request.length, 0);
  request.writeInt32BE(tlsRequestCode, 4);
  socket.write(request);
  const answer = await firstBytes(socket, signal);
  if (answer.length > 1 && (answer[0] === 0x53 || answer[0] === 0x4e)) {
    throw new Error('the server sent data before TLS began: somebody on the way may have added them');
  }
  if (answer[0] === 0x53) return true;
  if (answer[0] === 0x4e) return false;
  // An error in plain text may come from anybody.
  throw new Error('There was an error establishing an SSL connection');
}

function firstBytes(socket: Socket, signal: AbortSignal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const done = (): void => {
      socket.off('readable', look).off('close', ended).off('error', failed);
      signal.removeEventListener('abort', ended);
    };
    const ended = (): void => {
      done();
      reject(signal.aborted ? signal.reason : new Error('Connection terminated unexpectedly'));
    };
    const failed = (error: Error): void => {
      done();
      reject(error);
    };
    // `data` events are not used, since they would leave the stream either flowing or paused for good.
    const look = (): void => {
      const bytes: Buffer | null = socket.read();
      if (bytes === null) {
        if (socket.readableEnded || socket.destroyed) ended();
        return;
      }
      done();
      resolve(bytes);
    };
    socket.on('readable', look).on('close', ended).on('error', failed);
    signal.addEventListener('abort', ended);
  });
}
