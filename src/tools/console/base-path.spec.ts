import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { loadAssets } from './assets.js';
import { pageBelow, withoutBase } from './base-path.js';
import { ConsoleScene } from './testing/console-scene.js';

const basePath = '/tools/plinth';

it('is taken away from requests, and only as whole segments', () => {
  for (const [url, expected] of [
    ['/tools/plinth', '/'],
    ['/tools/plinth?a=/tools/plinth', '/?a=/tools/plinth'],
    ['/tools/plinth/', '/'],
    ['/tools/plinth/api/v1/pods?limit=1', '/api/v1/pods?limit=1'],
    ['/tools/plinth/tools/plinth/x', '/tools/plinth/x'],
    ['/tools/plinths/api', '/tools/plinths/api'],
    ['/api/v1/pods', '/api/v1/pods'],
    ['/x/tools/plinth/api', '/x/tools/plinth/api'],
  ] as const) {
    assert.equal(withoutBase(url, basePath), expected, url);
    assert.equal(withoutBase(url, ''), url);
  }
});

it('is in all places of the page that name its files, however it is compressed', () => {
  const page = loadAssets().get('/');
  assert.ok(page);
  assert.equal(pageBelow(page, ''), page);
  const below = pageBelow(page, basePath);
  const text = below.plain.toString('utf8');
  assert.ok(text.includes(`<script type="module" src="${basePath}/app.js">`));
  for (const [, place = ''] of text.matchAll(/(?:href|src)="([^"]*)"/g)) assert.ok(place.startsWith(basePath), place);
  assert.deepEqual([gunzipSync(below.gzip), brotliDecompressSync(below.brotli)], [below.plain, below.plain]);
  assert.notEqual(below.etag, page.etag);
});

describe('a console below a path', () => {
  let scene: ConsoleScene;
  before(async () => {
    scene = await ConsoleScene.start({ basePath });
  });
  after(() => scene?.stop());

  it('answers requests whose path a proxy passes on, and those whose path it takes away', async () => {
    const own = await scene.login('token-of-alice');
    assert.match(own.cookie ?? '', /^plinth-console-\d+\.tools\.plinth=/);
    for (const below of [basePath, '']) {
      for (const path of [`${below}/`, `${below}/app.js`, `${below}/console/logins`]) {
        assert.equal((await scene.send('GET', path)).status, 200, path);
      }
      scene.api.forget();
      assert.equal((await scene.send('GET', `${below}/api/v1/pods?limit=1`, own)).status, 200);
      assert.deepEqual(
        scene.api.arrived.map(({ url }) => url),
        ['/api/v1/pods?limit=1'],
      );
    }
    for (const path of ['/tools', `${basePath}s/`, `${basePath}/missing`]) {
      assert.equal((await scene.send('GET', path, own)).status, 404, path);
    }
  });

  it('connects terminals', async () => {
    const { cookie = '', 'x-plinth-console': key } = await scene.login('token-of-alice');
    const headers = { cookie, origin: scene.origin, 'sec-websocket-protocol': `v5.channel.k8s.io, plinth-key.${key}` };
    scene.api.forget();
    const { status, socket } = await scene.upgrade(`${basePath}/api/v1/namespaces/a/pods/b/exec?command=sh`, headers);
    socket?.destroy();
    assert.equal(status, 101);
    assert.deepEqual(
      scene.api.arrived.map(({ url }) => url),
      ['/api/v1/namespaces/a/pods/b/exec?command=sh'],
    );
  });
});
