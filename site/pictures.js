// Draws docs/pictures/*.dot as SVG beside them. The drawings are kept with their texts, so that pages show them everywhere.
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { instance } from '@viz-js/viz';

const folder = fileURLToPath(new URL('../docs/pictures/', import.meta.url));

async function drawn() {
  const viz = await instance();
  return globSync('*.dot', { cwd: folder }).map((name) => {
    const path = join(folder, name.replace(/\.dot$/, '.svg'));
    // The size of letters differs between viewers: a picture takes the width that there is.
    const svg = viz.renderString(readFileSync(join(folder, name), 'utf8'), { format: 'svg' });
    return { path, svg };
  });
}

/** The pictures that are not drawn from their present text. */
export async function stalePictures() {
  const read = (path) => {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      return undefined;
    }
  };
  return (await drawn()).filter(({ path, svg }) => read(path) !== svg).map(({ path }) => path);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { path, svg } of await drawn()) writeFileSync(path, svg);
}
