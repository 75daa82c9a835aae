// Checks the types of the console's page and bundles it into dist/console/, each file also compressed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** The most bytes of all files together, as sent to a browser. */
const mostBytes = 400_000;

/**
 * @param {string} root folder of the project
 * @param {string} compiler
 * @returns {Promise<string[]>} paths of everything in it, from the root
 * @throws {Error} when a type is wrong or the page is too large
 */
export async function buildConsole(root, compiler) {
  const source = join(root, 'src', 'tools', 'console', 'ui');
  const { status } = spawnSync(process.execPath, [compiler, '-p', source], { cwd: root, stdio: 'inherit' });
  if (status !== 0) throw new Error('the page of the console does not compile');
  const { build } = await import('esbuild');
  const folder = join(root, 'dist', 'console');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { metafile } = await build({
    absWorkingDir: root,
    metafile: true,
    entryPoints: { app: join(source, 'main.tsx'), style: join(source, 'page', 'style.css') },
    outdir: folder,
    bundle: true,
    splitting: true,
    chunkNames: '[name]-[hash]',
    format: 'esm',
    target: ['chrome120', 'firefox121', 'safari17'],
    platform: 'browser',
    mainFields: ['browser', 'module', 'main'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: true,
    legalComments: 'none',
    logLevel: 'warning',
    plugins: [stylesOfTerminal],
  });
  for (const name of ['index.html', 'icon.svg', 'theme.js']) {
    copyFileSync(join(source, 'page', name), join(folder, name));
  }
  let total = 0;
  for (const name of readdirSync(folder)) total += compress(join(folder, name));
  if (total > mostBytes) {
    throw new Error(`the page of the console has ${total} bytes when compressed; ${mostBytes} is the limit`);
  }
  return Object.keys(metafile.inputs);
}

/**
 * The content security policy of the page forbids style elements, and styles of elements as text. The terminal gets an
 * element of ours (`sheet-element.tsx`) for the one, and sets values for the other.
 */
const stylesOfTerminal = {
  name: 'styles-of-terminal',
  setup({ onLoad }) {
    onLoad({ filter: /@xterm[\\/]xterm[\\/]lib[\\/]xterm\.mjs$/ }, ({ path }) => {
      const asText = /(\w+)\.setAttribute\("style",`\$\{\1\.getAttribute\("style"\)\|\|""\}\$\{(\w+)\};`\)/g;
      const contents = readFileSync(path, 'utf8')
        .replaceAll('createElement("style")', 'createElement("plinth-sheet")')
        .replace(asText, (_match, element, style) => `${element}.style.cssText+=${style}+";"`);
      if (!/plinth-sheet.*cssText\+=/s.test(contents) || /setAttribute\("style"/.test(contents)) {
        throw new Error('the terminal sets styles in another way than known: the page would forbid it');
      }
      return { contents, loader: 'js' };
    });
  },
};

function compress(path) {
  const plain = readFileSync(path);
  const gzip = gzipSync(plain, { level: 9 });
  const parameters = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length };
  writeFileSync(`${path}.gz`, gzip);
  writeFileSync(`${path}.br`, brotliCompressSync(plain, { params: parameters }));
  writeFileSync(`${path}.etag`, `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`);
  return gzip.length;
}
