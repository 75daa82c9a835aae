// Fails when an import in src breaks the rules of layers.js or makes an import cycle, or when docs/flow.md does not
// show these rules; `--write` writes them there.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { layerProblems, layersTable } from './layer-rules.js';
import { layers } from './layers.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const page = join(root, 'docs/flow.md');
const marks = ['<!-- layers: npm run lint checks that this is scripts/layers.js -->', '<!-- end of layers -->'];

/** The files of src and what each file imports, as paths below src. */
function importsOf() {
  const sources = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.[cm]?tsx?$/.test(entry.name))
    .map((entry) => posix.relative(join(root, 'src'), posix.join(entry.parentPath, entry.name)));
  return sources.map((file) => {
    const text = readFileSync(join(root, 'src', file), 'utf8');
    const found = text.matchAll(/\b(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]/g);
    return { file, imports: [...found].map(([, path]) => posix.join(dirname(file), path)) };
  });
}

const problems = layerProblems(layers, importsOf());
const text = readFileSync(page, 'utf8');
const [from, to] = marks.map((mark) => text.indexOf(mark));
if (from < 0 || to < from) problems.push('docs/flow.md: the marks around the table of layers are missing');
else {
  const shown = `${text.slice(0, from)}${marks[0]}\n\n${layersTable(layers)}\n${text.slice(to)}`;
  if (process.argv.includes('--write')) writeFileSync(page, shown);
  else if (shown !== text)
    problems.push('docs/flow.md: the table of layers is out of date, run node scripts/check-layers.js --write');
}
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
