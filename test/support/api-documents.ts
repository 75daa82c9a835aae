import { gunzipSync } from 'node:zlib';
import { metaKinds } from '../../src/objects/apis/meta/v1/meta-kinds.js';
import { AcceptNegotiator } from '../../src/server/endpoints/negotiation/accept.js';
import { OpenApiDocuments } from '../../src/server/endpoints/openapi/openapi-documents.js';
import { testNames } from './definition-tester.js';
import { registeredGroups } from './registered-groups.js';

/**
 * The OpenAPI 3.0 document of every group version that the program serves, as text, by its path such as `apis/apps/v1`.
 * Groups have the spelling of `--compat kubernetes`.
 */
export async function apiDocuments(): Promise<Map<string, string>> {
  const { registry } = await registeredGroups();
  const services = { registry, kinds: metaKinds, names: testNames, accept: new AcceptNegotiator(testNames) };
  const documents = new OpenApiDocuments(services, { title: '', version: '' });
  const texts = new Map<string, string>();
  for (const path of (await documents.index()).keys()) {
    if (!/^(?:api|apis\/[^/]+)\/v/.test(path)) continue;
    const document = await documents.openApi3(path, 'json');
    if (document !== undefined) texts.set(path, gunzipSync(document.compressed).toString());
  }
  return texts;
}
