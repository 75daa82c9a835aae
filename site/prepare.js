// Lays out what the site is made of in content/: the pages of docs/, and the API reference from the compiled program.
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { apiPages } from './api-reference.js';
import { menu } from './pages.js';

const here = fileURLToPath(new URL('.', import.meta.url));
const root = join(here, '..');
const content = join(here, 'content');

/** Files outside docs/ are not part of the site: their names stay, without the link. */
function withoutOutsideLinks(text, page) {
  return text.replaceAll(/\[([^\]]*)\]\(([^)#\s]+)(#[^)]*)?\)/g, (link, words, target, anchor = '') => {
    if (/^[a-z]+:/i.test(target)) return link;
    const path = normalize(join('docs', dirname(page), target));
    if (path.startsWith('docs/'))
      return page.startsWith('../')
        ? `[${words}](/${path.slice('docs/'.length).replace(/README\.md$/, '')}${anchor})`
        : link;
    return outside[path] === undefined ? words : `[${words}](/${outside[path]}${anchor})`;
  });
}

/** Pages from outside docs/ that the site has as well. */
const outside = { 'CHANGELOG.md': 'changelog', 'SECURITY.md': 'reporting', 'CONTRIBUTING.md': 'contributing' };

const titleOf = (text) => /^# (.+)$/m.exec(text)?.[1] ?? '';

function put(path, text) {
  mkdirSync(dirname(join(content, path)), { recursive: true });
  writeFileSync(join(content, path), text);
}

/** Makes content/ anew and resolves with the menu of the site. */
export async function prepare() {
  rmSync(content, { recursive: true, force: true });
  cpSync(join(root, 'docs'), content, { recursive: true });
  for (const path of globSync('**/*.md', { cwd: join(root, 'docs') })) {
    // A language that the site cannot colour.
    const text = readFileSync(join(root, 'docs', path), 'utf8').replaceAll('```promql', '```text');
    put(path, withoutOutsideLinks(text, path));
  }
  for (const [path, name] of Object.entries(outside)) {
    if (existsSync(join(root, path)))
      put(`${name}.md`, withoutOutsideLinks(readFileSync(join(root, path), 'utf8'), `../${path}`));
  }
  cpSync(join(here, 'home.md'), join(content, 'index.md'));
  const { apiDocuments } = await import('../dist/test/support/api-documents.js');
  const reference = apiPages(await apiDocuments());
  for (const [path, text] of reference) put(`api/${path}`, text);
  return sidebar(reference);
}

function sidebar(reference) {
  const entry = (page) => ({
    text: titleOf(readFileSync(join(content, `${page}.md`), 'utf8')),
    link: `/${page.replace(/(^|\/)(index|README)$/, '$1')}`,
  });
  const present = (page) => existsSync(join(content, `${page}.md`));
  const groups = menu.map(({ text, pages }) => ({ text, collapsed: false, items: pages.filter(present).map(entry) }));
  const named = new Set([...menu.flatMap(({ pages }) => pages), 'index']);
  const others = globSync('*.md', { cwd: content })
    .map((path) => path.slice(0, -'.md'.length))
    .filter((page) => !named.has(page))
    .sort();
  if (others.length > 0) groups.push({ text: 'More', collapsed: false, items: others.map(entry) });
  const kinds = Map.groupBy(
    [...reference.keys()].filter((path) => path.includes('/')),
    (path) => path.slice(0, path.lastIndexOf('/')),
  );
  const api = [...kinds]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([group, paths]) => ({
      text: group.replace(/-(?=v\d)/, '/'),
      collapsed: true,
      items: paths.map((path) => entry(`api/${path.slice(0, -'.md'.length)}`)),
    }));
  return {
    '/': groups,
    '/api/': [
      { text: 'Documentation', link: '/' },
      { text: 'The API', link: '/api/', items: api },
    ],
  };
}
