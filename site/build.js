// Builds the site into dist/ from the pages of docs/ and from the compiled program, and checks every link. Fails for a
// link that leads nowhere, a picture that differs from its text, or a page that is not valid.
// `prepare` does the part that needs the compiled program, `render` the rest; without an argument it does both.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));

async function prepareContent() {
  const { prepare } = await import('./prepare.js');
  writeFileSync(join(here, '.vitepress', 'menu.json'), JSON.stringify(await prepare()));
}

/** Resolves with the number of problems. */
async function render() {
  const { build } = await import('vitepress');
  const { checkLinks } = await import('./check-links.js');
  const { stalePictures } = await import('./pictures.js');
  const stale = await stalePictures();
  for (const path of stale) console.error(`${path} differs from its text: npm run pictures --prefix site`);
  const out = join(here, 'dist');
  await build(here, { outDir: out });
  const { problems, followed } = checkLinks(out);
  for (const problem of problems) console.error(problem);
  console.log(`${followed} links of the site followed, ${problems.length} lead nowhere`);
  return stale.length + problems.length;
}

const part = process.argv[2] ?? 'all';
if (!['all', 'prepare', 'render'].includes(part)) {
  console.error('usage: node build.js [prepare | render]');
  process.exit(2);
}
if (part !== 'render') await prepareContent();
const problems = part === 'prepare' ? 0 : await render();
// What the program has open while nobody uses it must not keep this one.
process.exit(problems === 0 ? 0 : 1);
