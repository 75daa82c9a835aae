import { createSocket } from 'node:dgram';
import { connect } from 'node:net';

/** Connections to one address and port. */
export interface Attempt {
  readonly protocol: 'tcp' | 'udp';
  readonly address: string;
  readonly port: number;
  readonly tries: number;
}

/** Much longer than a response takes, even on a busy machine. */
const patienceMs = 3_000;

/** The result of each connection: the text of the server, `refused` or `silence`. */
export function ask({ protocol, tries, ...place }: Attempt): Promise<readonly string[]> {
  const once = protocol === 'tcp' ? askTcp : askUdp;
  return Promise.all(Array.from({ length: tries }, () => once(place)));
}

function askTcp({ address, port }: { readonly address: string; readonly port: number }): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port });
    let said = '';
    const end = (answer: string) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    const timer = setTimeout(() => end('silence'), patienceMs);
    socket.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    socket.on('end', () => end(said));
    socket.on('error', (error: NodeJS.ErrnoException) =>
      end(error.code === 'ECONNREFUSED' ? 'refused' : `${error.code}`),
    );
  });
}

function askUdp({ address, port }: { readonly address: string; readonly port: number }): Promise<string> {
  return new Promise((resolve) => {
    const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
    const end = (answer: string) => {
      clearTimeout(timer);
      socket.close();
      resolve(answer);
    };
    const timer = setTimeout(() => end('silence'), patienceMs);
    socket.on('message', (message) => end(message.toString()));
    socket.on('error', (error: NodeJS.ErrnoException) =>
      end(error.code === 'ECONNREFUSED' ? 'refused' : `${error.code}`),
    );
    // Only connected sockets receive the error of a closed port.
    socket.connect(port, address, () => socket.send('?'));
  });
}
