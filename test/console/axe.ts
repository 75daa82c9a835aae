import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults, RunOptions } from 'axe-core';
import type { ConsoleTab } from './console-tab.js';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * What axe finds in the page as it is shown: a line for each element with a serious or critical fault.
 *
 * @param rules the only rules to check; missing: all
 */
export async function barriers(tab: ConsoleTab, rules?: readonly string[]): Promise<readonly string[]> {
  await settled(tab);
  if (!(await tab.run<boolean>('globalThis.axe !== undefined'))) await tab.run(`${source}; undefined`);
  const options: RunOptions = {
    resultTypes: ['violations'],
    ...(rules && { runOnly: { type: 'rule', values: [...rules] } }),
  };
  const { violations } = await tab.run<AxeResults>(`axe.run(document, ${JSON.stringify(options)})`);
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, impact, nodes }) =>
      nodes.map(({ target, failureSummary = '' }) => `${impact} ${id} at ${target.join(' ')}: ${failureSummary}`),
    );
}

/** Waits until nothing moves: colours of what fades in are not those that stay. */
async function settled(tab: ConsoleTab): Promise<void> {
  await tab.until(`document.getAnimations().every((each) => each.effect?.getTiming().iterations === Infinity)`);
}
