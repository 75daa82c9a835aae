import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { parseRequestInfo } from './request-info.js';

/** method, url -> verb group/version namespace resource/subresource name */
const cases: [string, string, string][] = [
  ['GET', '/api/v1/namespaces', 'list /v1  namespaces/ '],
  ['GET', '/api/v1/namespaces/x', 'get /v1 x namespaces/ x'],
  ['PUT', '/api/v1/namespaces/x/finalize', 'update /v1 x namespaces/finalize x'],
  ['GET', '/api/v1/namespaces/x/status', 'get /v1 x namespaces/status x'],
  ['GET', '/api/v1/namespaces/x/pods', 'list /v1 x pods/ '],
  ['constructor', '/api/v1/namespaces/x/pods', ' /v1 x pods/ '],
  ['POST', '/api/v1/namespaces/x/pods', 'create /v1 x pods/ '],
  ['HEAD', '/api/v1/namespaces/x/pods/p', 'get /v1 x pods/ p'],
  ['HEAD', '/api/v1/namespaces/x/pods', 'list /v1 x pods/ '],
  ['PUT', '/api/v1/namespaces/x/pods/p', 'update /v1 x pods/ p'],
  ['PATCH', '/api/v1/namespaces/x/pods/p/status', 'patch /v1 x pods/status p'],
  ['DELETE', '/api/v1/namespaces/x/pods/p', 'delete /v1 x pods/ p'],
  ['DELETE', '/api/v1/namespaces/x/pods', 'deletecollection /v1 x pods/ '],
  ['GET', '/api/v1/pods?watch=true', 'watch /v1  pods/ '],
  ['GET', '/api/v1/pods?watch=1', 'watch /v1  pods/ '],
  ['GET', '/api/v1/pods?watch', 'watch /v1  pods/ '],
  ['GET', '/api/v1/pods?watch=maybe', 'watch /v1  pods/ '],
  ['GET', '/api/v1/pods?watch=false', 'list /v1  pods/ '],
  ['GET', '/api/v1/pods?watch=False', 'list /v1  pods/ '],
  ['GET', '/api/v1/pods?watch=0', 'list /v1  pods/ '],
  ['GET', '/api/v1/watch/namespaces/x/pods', 'watch /v1 x pods/ '],
  ['GET', '/api/v1/namespaces/x/pods/p?watch=true', 'get /v1 x pods/ p'],
  ['GET', '/api/v1/watch/namespaces/x/pods/p', 'watch /v1 x pods/ p'],
  ['GET', '/api/v1/namespaces/x/pods?fieldSelector=metadata.name%3Dp', 'list /v1 x pods/ p'],
  ['GET', '/api/v1/namespaces/x/pods?watch=1&fieldSelector=metadata.name%3Dp,a%3Db', 'watch /v1 x pods/ p'],
  ['GET', '/api/v1/namespaces/x/pods?fieldSelector=metadata.name!%3Dp', 'list /v1 x pods/ '],
  ['GET', '/api/v1/namespaces/x/pods?fieldSelector=metadata.name%3Da%2Fb', 'list /v1 x pods/ '],
  ['GET', '/api/v1/namespaces/x/pods?fieldSelector=bad', 'list /v1 x pods/ '],
  ['DELETE', '/api/v1/namespaces/x/pods?fieldSelector=metadata.name%3Dp', 'deletecollection /v1 x pods/ '],
  ['POST', '/api/v1/namespaces/x/pods?fieldSelector=metadata.name%3Dp', 'create /v1 x pods/ '],
  ['GET', '/api/v1/watch/namespaces/x/pods?fieldSelector=metadata.name%3Dp', 'watch /v1 x pods/ '],
  ['GET', '/api/v1/proxy/namespaces/x/pods/p', 'proxy /v1 x pods/ p'],
  ['GET', '/apis/apps/v1/deployments', 'list apps/v1  deployments/ '],
  ['GET', '/apis/apps/v1/namespaces/x/deployments/d/scale', 'get apps/v1 x deployments/scale d'],
  ['POST', '/api/v1/namespaces/x/pods/p/binding', 'create /v1 x pods/binding p'],
  ['GET', '/api/v1/nodes/n/', 'get /v1  nodes/ n'],
];

const plain = [
  '/',
  '/api',
  '/api/v1',
  '/apis',
  '/apis/apps',
  '/apis/apps/v1',
  '/healthz',
  '/api/v1//secrets',
  '/api/v1/../secrets',
  '/api/v1/%2e%2e/secrets',
  '/apis/apps/v1/./deployments',
];

function parse(method: string, url: string) {
  const [path, query] = url.split('?');
  return parseRequestInfo(method, path as string, new URLSearchParams(query ?? ''));
}

describe('parseRequestInfo', () => {
  for (const [method, url, expected] of cases) {
    it(`${method} ${url}`, () => {
      const i = parse(method, url);
      const text = `${i.verb} ${i.apiGroup}/${i.apiVersion} ${i.namespace} ${i.resource}/${i.subresource} ${i.name}`;
      assert.equal(text, expected);
      assert.equal(i.isResourceRequest, true);
    });
  }

  for (const path of plain) {
    it(`${path} is no resource request`, () => {
      const info = parse('GET', path);
      assert.equal(info.isResourceRequest, false);
      assert.equal(info.verb, 'get');
      assert.equal(info.path, path);
    });
  }

  it('does not parse a selector that names no object, as nobody is accountable for the work yet', () => {
    const terms = Array.from({ length: 900 }, (_, i) => `metadata.name!=n${i}`).join();
    const query = new URLSearchParams({ watch: 'true', fieldSelector: terms });
    const slice = mock.method(String.prototype, 'slice');
    try {
      assert.equal(parseRequestInfo('GET', '/api/v1/namespaces/x/pods', query).name, '');
      assert.ok(slice.mock.callCount() < 10, `${slice.mock.callCount()} parts of texts`);
    } finally {
      slice.mock.restore();
    }
  });

  it('keeps an encoded slash inside its segment', () => {
    const info = parse('GET', '/api/v1/namespaces/x/secrets/a%2Fstatus');
    assert.equal(info.name, 'a/status');
    assert.equal(info.subresource, '');
  });

  it('refuses broken percent-encoding with a 400', () => {
    assert.throws(() => parse('GET', '/api/v1/pods/%zz'), { code: 400 });
  });
});
