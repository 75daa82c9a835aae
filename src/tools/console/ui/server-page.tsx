import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { Sample, Span } from '../../../base/observability/scrape/sample.js';
import { readScrape } from '../../../base/observability/scrape/scrape.js';
import { ApiFault } from './api.js';
import { waitInBrowser } from './follow.js';
import { bytesText, rateText, type ServerNumbers, serverNumbers, timeText } from './server-numbers.js';
import { api, session } from './session.js';
import { useWhileShown } from './use-follow.js';

const everyMs = 3000;
const keptPoints = 100;

/** What the server does, by its metrics: rates, latencies, watches, lag. */
export function ServerPage() {
  const span = useSignal<Span | undefined>(undefined);
  const problem = useSignal('');
  const history = useRef<ServerNumbers[]>([]);
  useWhileShown(async (signal) => {
    let before: Sample | undefined;
    while (!signal.aborted) {
      try {
        const now = new Sample(
          readScrape(await api.text('/metrics', { accept: 'text/plain', signal })),
          performance.now(),
        );
        const next = new Span(now, before);
        if (before !== undefined) history.current = [...history.current, serverNumbers(next)].slice(-keptPoints);
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
      {shown === undefined ? (
        <p class="quiet">Reading the metrics…</p>
      ) : (
        <Numbers span={shown} points={history.current} />
      )}
    </section>
  );
}

function Numbers({ span, points }: { readonly span: Span; readonly points: readonly ServerNumbers[] }) {
  const now = serverNumbers(span);
  const line = (of: (numbers: ServerNumbers) => number | undefined) => points.map((each) => of(each) ?? 0);
  return (
    <>
      <ul class="cards">
        <Card title="Requests" value={`${rateText(now.requests)}/s`} points={line((each) => each.requests)} />
        <Card title="Errors" value={`${rateText(now.errors)}/s`} points={line((each) => each.errors)} />
        <Card title="p50" value={timeText(now.p50)} points={line((each) => each.p50)} />
        <Card title="p99" value={timeText(now.p99)} points={line((each) => each.p99)} />
        <Card title="Watches" value={String(now.watches)} points={line((each) => each.watches)} />
        <Card title="Log read" value={`${timeText(now.feedAge)} ago`} points={line((each) => each.feedAge)} />
        <Card title="Event loop p99" value={timeText(now.loopLag)} points={line((each) => each.loopLag)} />
        <Card title="Processor" value={`${Math.round(now.cpu * 100)} %`} points={line((each) => each.cpu)} />
        <Card title="Memory" value={bytesText(now.memory)} points={line((each) => each.memory)} />
        <Card title="Database" value={bytesText(now.database)} points={line((each) => each.database)} />
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

const [width, height] = [120, 28];

function Card({ title, value, points }: { title: string; value: string; points: readonly number[] }) {
  const most = Math.max(...points, Number.MIN_VALUE);
  const step = width / (keptPoints - 1);
  const path = points.map(
    (point, index) => `${(index * step).toFixed(1)},${(height - (point / most) * height).toFixed(1)}`,
  );
  return (
    <li>
      <span class="quiet">{title}</span>
      <strong>{value}</strong>
      <svg viewBox={`0 -1 ${width} ${height + 2}`} aria-hidden="true">
        <title>{title}</title>
        <polyline points={path.join(' ')} />
      </svg>
    </li>
  );
}

function Rows({ titles, rows }: { readonly titles: readonly string[]; readonly rows: readonly (readonly string[])[] }) {
  if (rows.length === 0) return <p class="quiet">none</p>;
  return (
    <table class="plain">
      <thead>
        <tr>
          {titles.map((title) => (
            <th key={title} scope="col">
              {title}
            </th>
          ))}
        </tr>
      </thead>
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
  );
}
