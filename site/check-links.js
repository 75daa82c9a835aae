// Every link of the built site leads to a file of it, and every anchor to an element of that page.
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const entities = { amp: '&', quot: '"', lt: '<', gt: '>', '#39': "'" };
const decode = (text) => text.replaceAll(/&(amp|quot|lt|gt|#39);/g, (_, name) => entities[name]);

/** The file that a path of the site means: `/a/` and `/a` are pages as well. */
function fileOf(folder, path) {
  const full = join(folder, path);
  const candidates = path.endsWith('/') || path === '' ? [join(full, 'index.html')] : [full, `${full}.html`];
  return candidates.find((file) => existsSync(file) && statSync(file).isFile());
}

/**
 * @param folder the built site
 * @returns what is wrong, a line each, and how many links were followed
 */
export function checkLinks(folder) {
  const texts = new Map();
  const idsOf = (file) => {
    let ids = texts.get(file);
    if (ids === undefined) {
      ids = new Set([...readFileSync(file, 'utf8').matchAll(/\sid="([^"]*)"/g)].map(([, id]) => decode(id)));
      texts.set(file, ids);
    }
    return ids;
  };
  const problems = [];
  let followed = 0;
  for (const page of globSync('**/*.html', { cwd: folder })) {
    const html = readFileSync(join(folder, page), 'utf8');
    for (const [, attribute, raw] of html.matchAll(/\s(href|src)="([^"]*)"/g)) {
      const link = decode(raw);
      if (/^(?:[a-z]+:|\/\/)/i.test(link)) continue;
      followed += 1;
      const [target, anchor = ''] = link.split('#');
      const path = decodeURI((target ?? '').split('?')[0] ?? '');
      const file =
        path === ''
          ? join(folder, page)
          : fileOf(folder, path.startsWith('/') ? path : normalize(join('/', dirname(page), path)));
      if (file === undefined) problems.push(`${page}: ${link} leads nowhere`);
      else if (attribute === 'href' && anchor !== '' && !idsOf(file).has(decodeURIComponent(anchor))) {
        problems.push(`${page}: ${link}: there is no such anchor`);
      }
    }
  }
  return { problems: [...new Set(problems)], followed };
}
