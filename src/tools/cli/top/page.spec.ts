import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Sample, Span } from '../../../base/observability/scrape/sample.js';
import { readScrape } from '../../../base/observability/scrape/scrape.js';
import { topPage } from './page.js';

/** Gets of pods: `count` in all, of which `slow` took up to a second. */
const scrape = (count: number, slow: number, resource = 'pods') =>
  readScrape(
    [
      '# HELP apiserver_request_total Requests.',
      `apiserver_request_total{verb="GET",resource="${resource}",subresource="",code="200"} ${count - 1}`,
      `apiserver_request_total{verb="GET",resource="${resource}",subresource="",code="503"} 1`,
      `apiserver_request_duration_seconds_bucket{verb="GET",resource="${resource}",subresource="",le="0.005"} ${count - slow}`,
      `apiserver_request_duration_seconds_bucket{verb="GET",resource="${resource}",subresource="",le="1"} ${count}`,
      `apiserver_request_duration_seconds_bucket{verb="GET",resource="${resource}",subresource="",le="+Inf"} ${count}`,
      'apiserver_flowcontrol_current_limit_seats{priority_level="workload-low"} 245',
      'apiserver_flowcontrol_current_executing_seats{priority_level="workload-low",flow_schema="a"} 3',
      'apiserver_flowcontrol_current_inqueue_requests{priority_level="workload-low",flow_schema="a"} 7',
      'plinth_registered_watchers{group="",version="v1",kind="Pod"} 12',
      'apiserver_storage_objects{resource="pods",worker="1"} 40',
      'apiserver_storage_objects{resource="pods",worker="2"} 41',
      'process_resident_memory_bytes 104857600',
      '',
    ].join('\n'),
  );

describe('the page of top', () => {
  const span = new Span(new Sample(scrape(300, 10), 12_000), new Sample(scrape(100, 0), 2000));

  it('shows rates and latencies between two samples', () => {
    const [row] = span.requests();
    assert.equal(row?.resource, 'pods');
    assert.equal(row?.perSecond, 20);
    assert.equal(row?.errorsPerSecond, 0);
    assert.ok((row?.p50 ?? 1) < 0.005 && (row?.p99 ?? 0) > 0.5);
  });

  it('shows flows, watches and each object once', () => {
    const text = topPage(span, 'https://here', { columns: 80, rows: undefined }, new Date(0)).join('\n');
    assert.match(text, /workload-low +245 +3 +7 +0\n/);
    assert.match(text, /WATCHES +12 open: Pod 12/);
    assert.match(text, /objects 41 /);
    assert.match(text, /memory 100 MiB/);
  });

  it('counts from anew when the server was started again', () => {
    const restarted = new Span(new Sample(scrape(50, 0), 12_000), new Sample(scrape(100, 0), 2000));
    assert.equal(restarted.requests()[0]?.perSecond, 5);
  });

  it('fits into its columns and rows', () => {
    for (const [columns, rows] of [
      [60, 24],
      [80, 24],
      [200, 50],
      [40, 8],
      [10, 2],
    ] as const) {
      const page = topPage(span, `https://${'long.'.repeat(40)}`, { columns, rows }, new Date(0));
      assert.ok(page.length <= rows);
      for (const line of page) assert.ok(line.length <= columns, line);
    }
  });

  it('cuts nothing where there is no terminal', () => {
    const page = topPage(span, `https://${'long.'.repeat(40)}`, { columns: undefined, rows: undefined }, new Date(0));
    assert.ok(page[0]?.includes('long.'.repeat(40)));
    const long = 'pods/with-a-name-that-is-longer-than-any-column-of-a-terminal';
    const wide = new Span(new Sample(scrape(200, 3, long), 12_000), new Sample(scrape(100, 3, long), 2000));
    const text = topPage(wide, 'https://here', { columns: undefined, rows: undefined }, new Date(0)).join('\n');
    assert.ok(text.includes(`${long} `), text);
    assert.ok(!text.includes('…'), text);
  });

  it('shows an idle server that has told nothing yet', () => {
    const empty = new Span(new Sample([], 0), undefined);
    const page = topPage(empty, 'https://here', { columns: 80, rows: 24 }, new Date(0));
    assert.ok(page.includes('none'));
    assert.ok(!page.join('').includes('NaN'));
  });

  it('gives a server no control of the terminal', () => {
    const evil = '\u001b]0;owned\u0007\u001b[2J\u202e';
    const series = (count: number) =>
      readScrape(
        [
          `apiserver_request_total{verb="GET${evil}",resource="${evil}",code="200"} ${count}`,
          `apiserver_flowcontrol_current_limit_seats{priority_level="${evil}"} 1`,
          `plinth_registered_watchers{kind="${evil}"} 1`,
          `plinth_watch_cache_bytes{resource="${evil}"} 1`,
          `storage_request_duration_seconds_count{operation="${evil}"} ${count}`,
        ].join('\n'),
      );
    const span = new Span(new Sample(series(9), 2000), new Sample(series(1), 1000));
    const page = topPage(span, `https://${evil}`, { columns: 200, rows: undefined }, new Date(0));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they must not be there
    for (const line of page) assert.doesNotMatch(line, /[\u0000-\u001f\u007f-\u009f\u202e]/);
    assert.match(page.join('\n'), /owned/);
  });

  it('refuses what is no page of metrics', () => {
    assert.throws(() => readScrape('<html>'), /not a line of metrics/);
  });
});
