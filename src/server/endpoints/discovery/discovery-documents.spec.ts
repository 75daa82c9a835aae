import assert from 'node:assert/strict';
import { it } from 'node:test';
import { decodeEnvelope, decodeProtobuf } from '../../../base/machinery/schema/protobuf/index.js';
import {
  apiGroupDiscovery,
  apiGroupDiscoveryList,
} from '../../../objects/apis/apidiscovery/v2/api-group-discovery.types.js';
import { aggregatedBytes, aggregatedText } from './discovery-documents.js';

const items = ['apps', undefined].map((name) => ({
  metadata: { name },
  versions: [
    {
      version: 'v1',
      freshness: 'Current',
      resources: [
        {
          resource: 'things',
          responseKind: { group: '', version: '', kind: 'Thing' },
          scope: 'Namespaced',
          singularResource: 'thing',
          verbs: ['get'],
          subresources: [
            { subresource: 'status', responseKind: { group: '', version: '', kind: 'Thing' }, verbs: ['get'] },
          ],
        },
      ],
    },
  ],
}));

it('the protobuf form of aggregated discovery says what the text says', () => {
  const apiVersion = 'apidiscovery.example.dev/v2';
  const text = JSON.parse([...aggregatedText(items, apiVersion)].join(''));
  const envelope = decodeEnvelope(Buffer.concat([...aggregatedBytes(items, apiVersion, apiGroupDiscovery)]));
  assert.deepEqual([envelope.kind, envelope.apiVersion], [text.kind, apiVersion]);
  const list = decodeProtobuf(apiGroupDiscoveryList, envelope.raw);
  assert.deepEqual(JSON.parse(JSON.stringify(list.items)), text.items);
});
