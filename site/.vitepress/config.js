import { readFileSync } from 'node:fs';
import { headingId } from '../heading-id.js';

/** Text of pages that looks like a template must stay text. */
function keepBraces(md) {
  for (const name of ['text', 'code_inline']) {
    const render = md.renderer.rules[name];
    md.renderer.rules[name] = (...args) => render(...args).replaceAll('{{', '&#123;&#123;');
  }
}

export default {
  title: 'Plinth',
  description: 'A cluster API server on PostgreSQL',
  lang: 'en',
  srcDir: 'content',
  rewrites: { 'decisions/README.md': 'decisions/index.md' },
  cleanUrls: false,
  lastUpdated: false,
  // build.js checks links with their anchors.
  ignoreDeadLinks: false,
  markdown: { html: false, anchor: { slugify: headingId }, config: keepBraces },
  themeConfig: {
    nav: [
      { text: 'Get started', link: '/getting-started' },
      { text: 'How to', link: '/how-to' },
      { text: 'Flags', link: '/flags' },
      { text: 'Metrics', link: '/metrics' },
      { text: 'API', link: '/api/' },
    ],
    sidebar: JSON.parse(readFileSync(new URL('menu.json', import.meta.url), 'utf8')),
    outline: [2, 3],
    // The index is part of the site: nothing is asked of another server.
    search: { provider: 'local' },
  },
};
