// Bundles the library for tests into dist/testing/, as a module and as CommonJS (for Jest), with its types.
import { spawnSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The file of the program's bundle that runs the server of a test (bundle.js). */
const host = '../program/tools.test-clusters.host.host-main.js';

/**
 * @param {string} root folder of the project, compiled
 * @param {string} compiler
 * @throws {Error} when its types can't be written
 */
export async function buildTestLibrary(root, compiler) {
  const folder = join(root, 'dist', 'testing');
  rmSync(folder, { recursive: true, force: true });
  const source = join(root, 'src', 'tools', 'test-clusters', 'library');
  const { status } = spawnSync(process.execPath, [compiler, '-p', source], { cwd: root, stdio: 'inherit' });
  if (status !== 0) throw new Error('the types of the library for tests were not written');
  // All declarations go into one file.
  const declarations = (name) => readFileSync(join(folder, name), 'utf8').trimEnd();
  const ofTypes = /^(?:import|export) type .* from '\.\/types\.js';\n/gm;
  const own = declarations('index.d.ts').replaceAll(ofTypes, '').trimStart();
  writeFileSync(join(folder, 'index.d.ts'), `${declarations('types.d.ts')}\n${own}\n`);
  for (const name of readdirSync(folder)) if (name !== 'index.d.ts') rmSync(join(folder, name));
  copyFileSync(join(folder, 'index.d.ts'), join(folder, 'index.d.cts'));
  const { build } = await import('esbuild');
  const settings = {
    absWorkingDir: root,
    entryPoints: [join(root, 'dist', 'src', 'tools', 'test-clusters', 'library', 'index.js')],
    bundle: true,
    platform: 'node',
    target: 'node24',
    logLevel: 'warning',
    plugins: [hostFile],
  };
  await build({ ...settings, format: 'esm', outfile: join(folder, 'index.js') });
  await build({
    ...settings,
    format: 'cjs',
    outfile: join(folder, 'index.cjs'),
    define: { 'import.meta.url': 'moduleUrl' },
    banner: { js: "const moduleUrl = require('node:url').pathToFileURL(__filename).href;" },
  });
}

const hostFile = {
  name: 'host-file',
  setup(build) {
    build.onLoad({ filter: /host-process\.js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      const named = "'../host/host-main.js'";
      if (!text.includes(named)) throw new Error(`${path} does not name the process of the server`);
      return { contents: text.replace(named, `'${host}'`), loader: 'js' };
    });
  },
};
