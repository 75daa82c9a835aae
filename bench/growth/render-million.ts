import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { docs, writeSection } from '../write-section.js';
import { plot } from './plot.js';

type Line = Readonly<Record<string, unknown>> & { readonly part: string; readonly size: number };

/** Requests per second, p50 and p99 in ms, and processor time per request of server and PostgreSQL in us. */
type Cost = readonly [number, number, number, number, number];

/** Works by the names of their figures, with the names that the table has for them. */
const works = [
  ['get', 'get, 16 clients'],
  ['create', 'create, 16 clients'],
  ['patch', 'patch, 16 clients'],
  ['page', 'page of 500 of all, continued'],
  ['list of a namespace', 'list of a namespace, 1 in 1,000'],
  ['list by label', 'list by label, 1 in 1,000'],
  ['watch begins', 'begin of a watch'],
] as const;

/** Writes what a run of `bench/million.ts` printed as a table and a plot. */
export function renderMillion(text: string): void {
  const lines = text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line);
  // Measured lines have a figure for gets.
  const columns = lines.filter(({ get }) => get !== undefined);
  const found = (column: Line, key: string, isSuffix = '') =>
    lines.find(
      (line) => line.part === `${column.part}${isSuffix}` && line.size === column.size && line[key] !== undefined,
    )?.[key];
  // A difference of two sums is below zero where a process has ended in between.
  const number = (value: unknown) => {
    const figure = Number(value ?? -1);
    if (figure < 0) return '';
    return (figure < 10 ? Math.round(figure * 100) / 100 : Math.round(figure)).toLocaleString('en');
  };
  const plain = (name: string, key: string, suffix = '') =>
    `| ${name} | ${columns.map((column) => number(found(column, key, suffix))).join(' | ')} |`;
  const titles = columns.map(
    ({ part, size }) => `${size.toLocaleString('en')}${part === 'small cache' ? ', small cache' : ''}`,
  );
  const rows = [
    `| Work | ${titles.join(' | ')} |`,
    `| --- | ${titles.map(() => '---:').join(' | ')} |`,
    ...works.map(([key, name]) => {
      const cells = columns.map((column) => {
        const [, p50, , server, postgres] = column[key] as Cost;
        return `${number(p50)} ms; ${number(server)}, ${number(postgres)}`;
      });
      return `| ${name} | ${cells.join(' | ')} |`;
    }),
    plain('first list by label, ms', 'first list by label'),
    plain('ready after a kill, s', 'ready, s'),
    plain('its processor time, s', 'ready, processor s'),
    plain('first page after that, ms', 'first page, ms'),
    plain('longest turn of the event loop until then, ms', 'longest turn, ms'),
    plain('list of all ConfigMaps, s', 'list of all ConfigMaps, s'),
    plain('the same again, s', 'list of all ConfigMaps, s', ', again'),
    plain('longest turn meanwhile, ms', 'longest turn, ms', ', again'),
    plain('memory of the server, MiB', 'server MiB'),
    plain('of its text, what was added', 'of its text'),
    plain('database, MiB', 'database MiB'),
  ];
  writeSection('million', rows.join('\n'));
  const grown = columns.filter(({ part }) => part !== 'small cache');
  const median = (key: string, name: string) => ({ name, values: grown.map((line) => (line[key] as Cost)[1]) });
  const times = works
    .filter(([key]) => key !== 'list by label')
    .map(([key, name]) => median(key, name.split(',')[0] as string));
  writeFileSync(
    join(docs, 'million-latency.svg'),
    plot(
      'Median time of a request by objects stored',
      'ms',
      grown.map(({ size }) => size),
      times,
    ),
  );
}
