import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LinkRewriter } from './link-rewriter.js';
import { rewriteLocation } from './proxied-path.js';

const prefix = '/api/v1/namespaces/n/pods/p:80/proxy';

function rewrite(pieces: readonly string[]): string {
  const rewriter = new LinkRewriter((url) => rewriteLocation(url, prefix, ['p:80']));
  return pieces.map((piece) => rewriter.write(piece)).join('') + rewriter.end();
}

const cases: readonly (readonly [string, string])[] = [
  ['<a href="/x">t</a>', `<a href="${prefix}/x">t</a>`],
  ["<A HREF='/x?a=1&amp;b=2#c'>", `<A HREF='${prefix}/x?a=1&amp;b=2#c'>`],
  ['<img src=/x.png alt=/y>', `<img src=${prefix}/x.png alt=/y>`],
  ['<form method=post action="http://p:80/go">', `<form method=post action="${prefix}/go">`],
  ['<link rel=stylesheet href="//p:80/s.css">', `<link rel=stylesheet href="${prefix}/s.css">`],
  ['<a href="http://elsewhere/x"><a href="//elsewhere/x">', '<a href="http://elsewhere/x"><a href="//elsewhere/x">'],
  ['<a href="x"><a href="#f"><a href=""><a href><a>', '<a href="x"><a href="#f"><a href=""><a href><a>'],
  [`<a href="${prefix}/x">`, `<a href="${prefix}/x">`],
  ['<p title="/x" data-href="/x">/x</p>', '<p title="/x" data-href="/x">/x</p>'],
  ['<script>let a = "<a href=\'/x\'>";</script>', '<script>let a = "<a href=\'/x\'>";</script>'],
  ['<!-- <a href="/x"> --><a href="/y">', `<!-- <a href="/x"> --><a href="${prefix}/y">`],
  [
    'caf\xc3\xa9 \r\n <b>&nbsp;</b\n><a\r\nhref = "/\xc3\xa0">',
    `caf\xc3\xa9 \r\n <b>&nbsp;</b\n><a\r\nhref = "${prefix}/\xc3\xa0">`,
  ],
  ['<a href="/unfinished', '<a href="/unfinished'],
];

describe('LinkRewriter', () => {
  for (const [page, expected] of cases) {
    it(`changes ${JSON.stringify(page)}, however it is cut`, () => {
      assert.equal(rewrite([page]), expected);
      for (let at = 1; at < page.length; at++) {
        assert.equal(rewrite([page.slice(0, at), page.slice(at)]), expected, `cut at ${at}`);
      }
      assert.equal(rewrite([...page]), expected, 'a character at a time');
    });
  }

  it('holds back little: text at once, and a URL without an end only up to a limit', () => {
    const rewriter = new LinkRewriter((url) => `${prefix}${url}`);
    assert.equal(rewriter.write('<p>text'), '<p>text');
    for (const page of ['<form action="#">text', "<img src='#' alt=x>text", '<form action="">text', '<a href>text']) {
      const unchanged = new LinkRewriter((url) => url);
      assert.equal(unchanged.write(page), page);
    }
    assert.equal(rewriter.write(' <a href="/'), ' <a href');
    let sent = 0;
    for (let i = 0; i < 100; i++) sent += rewriter.write('x'.repeat(1000)).length;
    assert.ok(sent > 90_000, String(sent));
    assert.match(rewriter.write('"><a href="/y">'), /"><a href="\/api\/.*\/y">$/);
  });
});
