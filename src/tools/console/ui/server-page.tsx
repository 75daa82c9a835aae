import { useSignal } from '@preact/signals';
import { Sample, Span } from '../../../base/observability/scrape/sample.js';
import { readScrape } from '../../../base/observability/scrape/scrape.js';
import { ApiFault } from './api-fault.js';
import { Chart } from './chart.js';
import { waitInBrowser } from './follow.js';
import { bytesText, rateText, type ServerNumbers, serverNumbers, timeText } from './server-numbers.js';
import { api, session } from './session.js';
import { TableHead } from './table-head.js';
import { useWhileShown } from './use-follow.js';
import { Wide } from './wide.js';

const everyMs = 3000;
/** An hour, while the page is shown. */
const keptPoints = 1200;

interface TimedNumbers extends ServerNumbers {
  readonly time: number;
}

/** What was measured while this page was shown; other pages do not end it. */
let measured: readonly TimedNumbers[] = [];
session.subscribe((login) => {
  if (login === null) measured = [];
});

/** What the server does, by its metrics: rates, latencies, watches, lag. */
export function ServerPage() {
  const span = useSignal<Span | undefined>(undefined);
  const problem = useSignal('');
  useWhileShown(async (signal) => {
    let before: Sample | undefined;
    while (!signal.aborted) {
      try {
        const now = new Sample(
          readScrape(await api.text('/metrics', { accept: 'text/plain', signal })),
          performance.now(),
        );
        const next = new Span(now, before);
        if (before !== undefined) {
          measured = [...measured, { ...serverNumbers(next), time: Date.now() }].slice(-keptPoints);
        }
        before = now;
        span.value = next;
        problem.value = '';
      } catch (error) {
        if (signal.aborted) return;
        const isForbidden = error instanceof ApiFault && error.code === 403;
        problem.value = `${(error as Error).message}${isForbidden ? ' (members of system:monitoring may read metrics)' : ''}`;
      }
      await waitInBrowser(everyMs, signal);
    }
  }, []);
  const shown = span.value;
  return (
    <section class="page">
      <h1>{session.value?.server}</h1>
      <p role="status" class="problem">
        {problem.value}
      </p>
      {shown === undefined ? <p class="quiet">Reading the metrics…</p> : <Numbers span={shown} points={measured} />}
    </section>
  );
}

function Numbers({ span, points }: { readonly span: Span; readonly points: readonly TimedNumbers[] }) {
  const now = serverNumbers(span);
  return (
    <>
      <Charts points={points} />
      <ul class="cards">
        <Card title="Processor" value={`${Math.round(now.cpu * 100)} %`} />
        <Card title="Memory" value={bytesText(now.memory)} />
        <Card title="Database" value={bytesText(now.database)} />
      </ul>
      <h2>Requests over the last {span.seconds.toFixed(0)} s</h2>
      <Rows
        titles={['Verb', 'Resource', 'per s', 'errors per s', 'p50', 'p99']}
        rows={span
          .requests()
          .slice(0, 30)
          .map(({ verb, resource, perSecond, errorsPerSecond, p50, p99 }) => [
            verb,
            resource,
            rateText(perSecond),
            rateText(errorsPerSecond),
            timeText(p50),
            timeText(p99),
          ])}
      />
      <h2>Watches</h2>
      <Rows titles={['Kind', 'Open']} rows={now.watchesByKind.map(([kind, count]) => [kind, String(count)])} />
      <h2>Priority levels</h2>
      <Rows
        titles={['Level', 'Seats', 'in use', 'waiting', 'refused per s']}
        rows={span
          .flows()
          .map(({ level, seats, running, waiting, refusedPerSecond }) => [
            level,
            String(seats),
            String(running),
            String(waiting),
            rateText(refusedPerSecond),
          ])}
      />
    </>
  );
}

function Charts({ points }: { readonly points: readonly TimedNumbers[] }) {
  const line = (of: (numbers: ServerNumbers) => number | undefined) =>
    points.map((each) => [each.time, of(each)] as const);
  const chart = { gapMs: 4 * everyMs };
  const perSecond = (value: number) => `${rateText(value)}/s`;
  return (
    <section class="charts">
      <Chart
        {...chart}
        title="Requests"
        text={perSecond}
        lines={[
          { name: 'all', points: line(({ requests }) => requests) },
          { name: 'errors', look: 'second', points: line(({ errors }) => errors) },
        ]}
      />
      <Chart
        {...chart}
        title="Latency"
        text={timeText}
        lines={[
          { name: 'p50', points: line(({ p50 }) => p50) },
          { name: 'p99', look: 'second', points: line(({ p99 }) => p99) },
        ]}
      />
      <Chart
        {...chart}
        title="Watches"
        text={(value) => String(Math.round(value))}
        lines={[{ name: 'open', points: line(({ watches }) => watches) }]}
      />
      <Chart
        {...chart}
        title="Delay"
        text={timeText}
        lines={[
          { name: 'log of the database', points: line(({ feedAge }) => feedAge) },
          { name: 'event loop p99', look: 'second', points: line(({ loopLag }) => loopLag) },
        ]}
      />
    </section>
  );
}

function Card({ title, value }: { readonly title: string; readonly value: string }) {
  return (
    <li>
      <span class="quiet">{title}</span>
      <strong>{value}</strong>
    </li>
  );
}

function Rows({ titles, rows }: { readonly titles: readonly string[]; readonly rows: readonly (readonly string[])[] }) {
  if (rows.length === 0) return <p class="quiet">none</p>;
  return (
    <Wide>
      <table class="plain">
        <TableHead titles={titles} />
        <tbody>
          {rows.map((cells) => (
            <tr key={cells.slice(0, 2).join()}>
              {cells.map((cell, index) => (
                <td key={titles[index]} class={/^[\d.—-]/.test(cell) ? 'number' : ''}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}
