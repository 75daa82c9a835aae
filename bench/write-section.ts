import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the documentation. */
export const docs = fileURLToPath(new URL('../../docs/', import.meta.url));

/**
 * Replaces what stands between `<!-- name -->` and `<!-- /name -->` in docs/benchmarks.md.
 *
 * @throws Error if the page has no such place.
 */
export function writeSection(name: string, content: string): void {
  const file = join(docs, 'benchmarks.md');
  const text = readFileSync(file, 'utf8');
  const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`docs/benchmarks.md has no place for the section: ${begin} ... ${end}`);
  writeFileSync(file, `${text.slice(0, from + begin.length)}\n\n${content}\n\n${text.slice(to)}`);
}
