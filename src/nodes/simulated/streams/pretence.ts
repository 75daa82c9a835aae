import type { CommandStreams } from './command-streams.js';
import type { PortConnection } from './port-streams.js';

/** Longer requests to a pretended port are cut off. */
const maxRequestBytes = 64 * 1024;
/** The exit code of shells for a command that they do not find. */
const notFound = 127;

/**
 * Pretends to run a command: `echo`, `cat`, `true`, `false` and `hostname` do what their names promise. Every other
 * command fails as one that does not exist, so that no script takes it for done.
 */
export async function pretendCommand(
  streams: CommandStreams,
  container: string,
  [program = '', ...args]: readonly string[],
): Promise<void> {
  const { stdin, stdout, stderr, gone, finish } = streams;
  for (const stream of [stdin, stdout, stderr]) stream?.on('error', () => undefined);
  let code = 0;
  switch (program) {
    case 'cat':
      if (stdin !== undefined) await copy(streams);
      break;
    case 'echo':
      stdout?.write(`${args.join(' ')}\n`);
      break;
    case 'hostname':
      stdout?.write(`${container}\n`);
      break;
    case 'true':
      break;
    case 'false':
      code = 1;
      break;
    default:
      (stderr ?? stdout)?.write(`This is the simulated container ${container}; it cannot run ${program}.\n`);
      code = notFound;
  }
  if (!gone.aborted) await finish(code);
}

/** Echoes its input, until the input ends. */
function copy({ stdin, stdout, gone }: CommandStreams): Promise<void> {
  return new Promise((resolve) => {
    gone.addEventListener('abort', () => resolve(), { once: true });
    stdin?.once('end', () => resolve());
    stdin?.once('close', () => resolve());
    if (stdout === undefined) stdin?.resume();
    else stdin?.pipe(stdout, { end: false });
  });
}

/** Answers any data on a port as an HTTP server would: with a page that explains what this is. */
export function pretendPort(pod: string, { port, data, error }: PortConnection): void {
  data.on('error', () => data.destroy());
  error.on('error', () => undefined);
  let size = 0;
  let last = '';
  data.on('data', (chunk: Buffer) => {
    size += chunk.length;
    last = (last + chunk.toString('latin1')).slice(-maxRequestBytes);
    if (!last.includes('\r\n\r\n') && size < maxRequestBytes) return;
    const text = `This is port ${port} of the simulated pod ${pod}.\n`;
    data.removeAllListeners('data');
    data.resume();
    data.end(
      `HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: ${text.length}\r\nconnection: close\r\n\r\n${text}`,
    );
    error.end();
  });
  data.once('end', () => {
    data.end();
    error.end();
  });
}
