import { setTimeout as delay } from 'node:timers/promises';
import { parseOptions } from '../../../base/config/parse-options.js';
import { TopOptions } from '../../../base/config/top.options.js';
import { StartupError } from '../../../base/machinery/startup-error.js';
import { accessOfFile } from '../api-access.js';
import { type Command, parseRequest } from '../command.js';
import { usualKubeconfig } from '../usual-kubeconfig.js';

const groups = { top: TopOptions } as const;
/**
 * Moves the cursor home, then clears the rest of each line and what is below the page, so that the page doesn't
 * flicker.
 */
const home = '\u001b[H';
const clearLine = '\u001b[K';
const clearBelow = '\u001b[J';
const enter = '\u001b[?1049h\u001b[?25l';
const leave = '\u001b[?25h\u001b[?1049l';

export const topCommand: Command = {
  name: 'top',
  summary: 'Show what a server is doing: requests, flows, watches and the database, from its metrics.',
  groups,
  defaults: {},
  async run(context) {
    const { kubeconfig, intervalMs, once } = parseOptions(parseRequest(groups, {}, context)).top;
    const file = kubeconfig ?? usualKubeconfig(context.environment.KUBECONFIG);
    if (file === undefined) throw new StartupError('needs --kubeconfig, or KUBECONFIG');
    const { MetricsClient } = await import('../top/metrics-client.js');
    const { Span } = await import('../../../base/observability/scrape/sample.js');
    const { topPage } = await import('../top/page.js');
    const client = new MetricsClient(await accessOfFile(file));
    const { signal } = context.signals;
    const { stdout } = process;
    const isLive = stdout.isTTY && !once;
    let before = await client.sample(signal);
    const wait = () => delay(intervalMs, undefined, { signal }).catch(() => undefined);
    if (!isLive) {
      await wait();
      if (signal.aborted) return;
      const size = { columns: stdout.columns, rows: undefined };
      for (const line of topPage(new Span(await client.sample(signal), before), client.server, size, new Date())) {
        context.print(line);
      }
      return;
    }
    stdout.write(enter);
    try {
      let page = topPage(new Span(before, undefined), client.server, sizeOf(stdout), new Date());
      for (;;) {
        stdout.write(`${home}${page.map((line) => `${line}${clearLine}`).join('\n')}${clearBelow}`);
        await wait();
        if (signal.aborted) return;
        try {
          const now = await client.sample(signal);
          page = topPage(new Span(now, before), client.server, sizeOf(stdout), new Date());
          before = now;
        } catch (error) {
          if (signal.aborted) return;
          // The server may only be restarting, so the page is requested again.
          page = [`plinth top - ${(error as Error).message}`.slice(0, sizeOf(stdout).columns)];
        }
      }
    } finally {
      stdout.write(leave);
    }
  },
};

function sizeOf({ columns, rows }: NodeJS.WriteStream): { readonly columns: number; readonly rows: number } {
  return { columns, rows: rows - 1 };
}
