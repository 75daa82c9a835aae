import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, it } from 'node:test';

const root = join(import.meta.dirname, '../..');

/** Files below a folder, as paths from the root of the project. */
function filesOf(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort();
}

const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const code = ['src', 'test', 'bench', 'scripts', 'migrations'].flatMap(filesOf);
const pages = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...filesOf('docs').filter((path) => path.endsWith('.md')),
];
/** Pages about the present; decision 7 compares the files of two designs, of which one is gone. */
const currentPages = pages.filter((path) => !path.startsWith('docs/decisions/0007-'));

/** Files that exist only in the example of `docs/adding-a-kind.md`. */
function isOfExample(name: string): boolean {
  return /shelf|example/.test(name);
}

/**
 * Files of the project that a text names, by a path or the end of one; `*` stands for any part of a name. SQL files
 * need their folder: without it they are files of the reader.
 */
function namedFiles(text: string): string[] {
  const found = text.match(/(?<![\w.*<>/-])[\w.*<>-]+(?:\/[\w.*<>-]+)*\.ts(?![\w-])|migrations\/[\w/-]+\.sql\b/g) ?? [];
  return [...new Set(found)].filter((name) => !name.includes('<') && !isOfExample(name));
}

/** The files that a name in a page can mean. */
function meantBy(name: string): string[] {
  const pattern = name.replaceAll('.', '\\.').replaceAll('*', '[^/]*');
  const tail = new RegExp(`(?:^|/)${pattern}$`);
  return code.filter((path) => tail.test(path));
}

interface Row {
  readonly section: string;
  readonly files: string;
  readonly test: string;
}

/** The rows of all tables of the map. */
function mapRows(): Row[] {
  const rows: Row[] = [];
  for (const line of read('docs/specification.md').split('\n')) {
    const cells = line.split('|').map((cell) => cell.trim());
    if (cells.length !== 6) continue;
    const [, section = '', , files = '', test = ''] = cells;
    if (/^(?:\d[\d.]*|Notation)$/.test(section)) rows.push({ section, files, test });
  }
  return rows;
}

/** Sections of the specification that a text cites: `specification 5.4`, `specification 4.3 and 4.4`. */
function citedSections(text: string): string[] {
  // A citation may continue in the next line of a comment.
  const flat = text.replace(/\s*\n\s*(?:\*|\/\/|--)?\s*/g, ' ');
  const number = '\\d+(?:\\.\\d+)*';
  const citation = new RegExp(`\\bspecification,?(?: sections?)? (${number}(?:(?:,| and| or) ${number})*)`, 'gi');
  return [...flat.matchAll(citation)].flatMap(([, list = '']) => list.match(new RegExp(number, 'g')) ?? []);
}

describe('the pages of the documentation', () => {
  it('name files that exist', () => {
    const missing = currentPages.flatMap((page) =>
      namedFiles(read(page))
        .filter((name) => meantBy(name).length === 0)
        .map((name) => `${page}: ${name}`),
    );
    assert.deepEqual(missing, [], 'correct the names in the pages');
  });

  it('and comments in code name files that exist', () => {
    const missing = code
      .filter((path) => path.endsWith('.ts'))
      .flatMap((path) => {
        const comments = read(path).match(/^\s*(?:\/\/|\/?\*).*$/gm) ?? [];
        const named = namedFiles(comments.join('\n')).filter((name) => meantBy(name).length === 0);
        return named.map((name) => `${path}: ${name}`);
      });
    assert.deepEqual(missing, [], 'correct the names in the comments');
  });

  it('link to files that exist', () => {
    const broken = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)]
        .map(([, target = '']) => target)
        .filter((target) => !existsSync(join(root, dirname(page), target)))
        .map((target) => `${page}: ${target}`),
    );
    assert.deepEqual(broken, []);
  });

  it('link to headings that exist', async () => {
    const { headingId } = (await import(join(root, 'site/heading-id.js'))) as { headingId(heading: string): string };
    const headings = new Map(
      pages.map((page) => {
        const lines = read(page)
          .replaceAll(/^```[\s\S]*?^```/gm, '')
          .split('\n');
        const titles = lines.flatMap((line) => /^#+ (.*)$/.exec(line)?.[1] ?? []);
        return [page, new Set(titles.map((title) => headingId(title.replaceAll(/\]\([^)]*\)/g, ''))))];
      }),
    );
    const broken = [...headings.keys()].flatMap((page) =>
      [...read(page).matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)]
        .filter(([, path = '', anchor = '']) => {
          const target = path === '' ? page : join(dirname(page), path);
          return headings.get(target)?.has(anchor) !== true;
        })
        .map(([link]) => `${page}: ${link}`),
    );
    assert.deepEqual(broken, []);
  });

  it('import modules that exist, in the example of a new kind', () => {
    const folders = ['src/objects/apis/example/v1', 'src/modules/example/shelf', 'src/modules/example'];
    const imports = [...read('docs/adding-a-kind.md').matchAll(/ from '(\.[^']+)\.js'/g)].map(([, path = '']) => path);
    assert.ok(imports.length >= 10, String(imports.length));
    const missing = imports
      .filter((path) => !isOfExample(path))
      .filter((path) => !folders.some((folder) => existsSync(join(root, folder, `${path}.ts`))));
    assert.deepEqual(missing, [], 'correct the imports in docs/adding-a-kind.md');
  });

  it('describe each script for developers', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const page = read('docs/development.md');
    const isOfPage = (name: string) => /^(?:bench|check|docs|deploy):|^test:|^(?:site|generate|format)$/.test(name);
    const missing = Object.keys(scripts).filter((name) => isOfPage(name) && !page.includes(name));
    assert.deepEqual(missing, [], 'describe them in docs/development.md');
    const named = [...page.matchAll(/`npm run ([\w:-]+)/g)].map(([, name = '']) => name);
    assert.deepEqual(
      named.filter((name) => scripts[name] === undefined),
      [],
    );
  });

  it('number each decision once, in its name and in its title', () => {
    const decisions = filesOf('docs/decisions').filter((path) => /\/\d{4}-[^/]*\.md$/.test(path));
    const numbers = decisions.map((path) => Number(/\/(\d{4})-/.exec(path)?.[1]));
    assert.deepEqual(
      numbers,
      [...numbers.keys()].map((i) => i + 1),
    );
    const titles = decisions.map((path) => Number(/^# (\d+)\. /.exec(read(path))?.[1]));
    assert.deepEqual(titles, numbers);
  });
});

describe('the map of the specification', () => {
  it('has a row for every section that code and pages cite', () => {
    const known = new Set(mapRows().flatMap(({ section }) => [section, sectionAround(section)]));
    const sources = [...code, ...pages].filter((path) => /\.(?:ts|js|sql|md)$/.test(path));
    const unknown = sources.flatMap((path) =>
      citedSections(read(path))
        .filter((section) => !known.has(section))
        .map((section) => `${path}: ${section}`),
    );
    assert.deepEqual(unknown, [], 'there is no such section, or docs/specification.md lacks its row');
  });

  it('names exactly one file at a time', () => {
    const ambiguous = namedFiles(read('docs/specification.md'))
      .map((name) => ({ name, files: meantBy(name) }))
      .filter(({ files }) => files.length > 1);
    assert.deepEqual(ambiguous, [], 'name more of the path');
  });

  it('says of every row what shows it, or why nothing does', () => {
    const open = mapRows().filter(({ files, test }) => {
      const isMarked = /\*\*(?:not yet|out of scope)\*\*/i.test(files);
      return !isMarked && (namedFiles(files).length === 0 || namedFiles(test).length === 0);
    });
    assert.deepEqual(open, []);
  });
});

/** `5.4` for `5.4.6`: a citation of the section covers all of its rows. */
function sectionAround(section: string): string {
  return section.split('.').slice(0, 2).join('.');
}
