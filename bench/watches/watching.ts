import { connect as connectHttp2 } from 'node:http2';
import { connect as connectTls } from 'node:tls';

/*
 * The watching side of bench/watches.ts in a process of its own: opens watches on request, and reports how many events
 * they got and how old these were.
 */

/** Requests to this process. */
export type Order =
  | {
      readonly kind: 'open';
      readonly url: string;
      readonly token: string;
      readonly paths: readonly string[];
      readonly http2: boolean;
    }
  | { readonly kind: 'report' };

/** What it answers: the number of open watches, or what came since the last report. */
export interface Report {
  readonly open: number;
  readonly events: number;
  readonly bookmarks: number;
  /** Milliseconds from before the write to the event, at some quantiles. */
  readonly p50: number;
  readonly p99: number;
  readonly most: number;
}

/** Streams of one HTTP/2 connection; clients open another one for more. */
const streamsOfConnection = 250;
const openedAtOnce = 50;

let open = 0;
let bookmarks = 0;
let ages: number[] = [];

/** Reads the events of one watch. The writer leaves the time of its write in each object. */
function reader(): (chunk: Buffer) => void {
  let rest = '';
  return (chunk) => {
    const lines = (rest + chunk.toString('latin1')).split('\n');
    rest = lines.pop() as string;
    const now = performance.timeOrigin + performance.now();
    for (const line of lines) {
      if (line.includes('"type":"BOOKMARK"')) bookmarks++;
      const sent = /"sent":"([\d.]+)"/.exec(line)?.[1];
      if (sent !== undefined) ages.push(now - Number(sent));
    }
  };
}

function openHttp1({ hostname, port }: URL, token: string, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({ host: hostname, port: Number(port), rejectUnauthorized: false }, () =>
      socket.write(`GET ${path} HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${token}\r\n\r\n`),
    );
    socket.setNoDelay(true);
    socket.once('data', (head: Buffer) => {
      if (head.toString('latin1', 9, 12) !== '200') reject(new Error(head.toString('latin1')));
      const read = reader();
      read(head);
      socket.on('data', read);
      resolve();
    });
    socket.on('error', reject);
  });
}

async function openHttp2(url: URL, token: string, paths: readonly string[]): Promise<void> {
  const session = connectHttp2(url, { rejectUnauthorized: false });
  const streams = paths.map(
    (path) =>
      new Promise<void>((resolve, reject) => {
        const stream = session.request({ ':path': path, authorization: `Bearer ${token}` });
        stream.on('response', ({ ':status': status }) => (status === 200 ? resolve() : reject(new Error(`${status}`))));
        stream.on('data', reader());
        stream.on('error', reject);
      }),
  );
  await Promise.all(streams);
}

async function openAll({ url, token, paths, http2 }: Extract<Order, { kind: 'open' }>): Promise<void> {
  const server = new URL(url);
  const step = http2 ? streamsOfConnection : openedAtOnce;
  for (let i = 0; i < paths.length; i += step) {
    const some = paths.slice(i, i + step);
    if (http2) await openHttp2(server, token, some);
    else await Promise.all(some.map((path) => openHttp1(server, token, path)));
    open += some.length;
  }
}

process.on('message', async (order: Order) => {
  if (order.kind === 'open') await openAll(order);
  ages.sort((a, b) => a - b);
  const at = (part: number) => ages[Math.min(ages.length - 1, Math.floor(ages.length * part))] ?? 0;
  const report: Report = { open, events: ages.length, bookmarks, p50: at(0.5), p99: at(0.99), most: at(1) };
  ages = [];
  bookmarks = 0;
  process.send?.(report);
});
process.on('disconnect', () => process.exit());
