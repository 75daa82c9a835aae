import type { Load } from './load.js';

/** How often the runtime looks at the event loop, in milliseconds: no hold shorter than this is seen. */
const resolutionMs = 10;

/** The longest hold of the event loop in a page of metrics, in milliseconds. */
export function turnOf(metrics: string): number {
  const [, seconds] = /^nodejs_eventloop_lag_max_seconds(?:\{[^}]*\})? ([\d.e+-]+)/m.exec(metrics) ?? [];
  return Math.max(0, Math.round(Number(seconds) * 1000 - resolutionMs));
}

/** The longest hold of a server's event loop since the last call, in milliseconds. */
export async function longestTurn(load: Load): Promise<number> {
  const [, text] = await load.send('GET', '/metrics', 200, undefined, true);
  return turnOf(text);
}
