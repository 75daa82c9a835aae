import { connect as connectHttp2 } from 'node:http2';
import { setTimeout as delay } from 'node:timers/promises';
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
      /** Media type to ask for; default: what the server prefers. */
      readonly accept?: string | undefined;
    }
  | {
      readonly kind: 'report';
      /** Answered when this many events have come since the last report, or after 20 seconds. */
      readonly of?: number;
    };

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

/** The time that the writer leaves in each object, a key with its value, in JSON and in protobuf; and bookmarks. */
const marks = /sent\W{2,3}(\d+\.\d{6})|BOOKMARK/g;
/** The longest beginning of a mark that may stand at the end of a chunk. */
const longestMark = 40;

/** Reads the events of one watch. */
function reader(): (chunk: Buffer) => void {
  let rest = '';
  return (chunk) => {
    const text = rest + chunk.toString('latin1');
    const now = performance.timeOrigin + performance.now();
    let end = 0;
    for (const mark of text.matchAll(marks)) {
      end = mark.index + mark[0].length;
      if (mark[1] === undefined) bookmarks++;
      else ages.push(now - Number(mark[1]));
    }
    rest = text.slice(Math.max(end, text.length - longestMark));
  };
}

function openHttp1({ hostname, port }: URL, token: string, path: string, accept: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({ host: hostname, port: Number(port), rejectUnauthorized: false }, () =>
      socket.write(
        `GET ${path} HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${token}\r\naccept: ${accept}\r\n\r\n`,
      ),
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

async function openHttp2(url: URL, token: string, paths: readonly string[], accept: string): Promise<void> {
  const session = connectHttp2(url, { rejectUnauthorized: false });
  const streams = paths.map(
    (path) =>
      new Promise<void>((resolve, reject) => {
        const stream = session.request({ ':path': path, authorization: `Bearer ${token}`, accept });
        stream.on('response', ({ ':status': status }) => (status === 200 ? resolve() : reject(new Error(`${status}`))));
        stream.on('data', reader());
        stream.on('error', reject);
      }),
  );
  await Promise.all(streams);
}

async function openAll({ url, token, paths, http2, accept = '*/*' }: Extract<Order, { kind: 'open' }>): Promise<void> {
  const server = new URL(url);
  const step = http2 ? streamsOfConnection : openedAtOnce;
  for (let i = 0; i < paths.length; i += step) {
    const some = paths.slice(i, i + step);
    if (http2) await openHttp2(server, token, some, accept);
    else await Promise.all(some.map((path) => openHttp1(server, token, path, accept)));
    open += some.length;
  }
}

async function come(events: number): Promise<void> {
  const until = performance.now() + 20_000;
  while (ages.length < events && performance.now() < until) await delay(20);
}

process.on('message', async (order: Order) => {
  if (order.kind === 'open') await openAll(order);
  else await come(order.of ?? 0);
  ages.sort((a, b) => a - b);
  const at = (part: number) => ages[Math.min(ages.length - 1, Math.floor(ages.length * part))] ?? 0;
  const report: Report = { open, events: ages.length, bookmarks, p50: at(0.5), p99: at(0.99), most: at(1) };
  ages = [];
  bookmarks = 0;
  process.send?.(report);
});
process.on('disconnect', () => process.exit());
