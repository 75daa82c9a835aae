import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';

const source = join(import.meta.dirname, '../../../../src');

/** The files that parse JSON, and the text they parse. Only the codec parses text of the store. */
const parsers: Readonly<Record<string, string>> = {
  'admission/plugins/pod-toleration-restriction/toleration-configuration.ts': 'annotations',
  'admission/webhooks/review-answer.ts': 'answers of webhooks',
  'aggregation/remote-text.ts': 'answers of extension servers',
  'audit/request-audit.ts': 'bodies and answers',
  'authentication/oidc/provider.ts': 'answers of a provider',
  'authentication/request-header/authority-data.ts': 'entries of a ConfigMap',
  'authentication/request-header/published-names.ts': 'a ConfigMap of our own, whose form has never changed',
  'authentication/service-account/service-account-token.authenticator.ts': 'payloads of tokens',
  'authorization/abac/policy-file.ts': 'lines of a file',
  'backup/cluster/cluster-client.ts': 'answers of a server, as its client',
  'backup/cluster/item-splitter.ts': 'answers of a server, as its client',
  'backup/cluster/kinds.ts': 'answers of a server, as its client',
  'backup/format/read-lines.ts': 'lines of a file',
  'backup/importing/target.ts': 'answers of a server, as its client',
  'console/ui/api.ts': 'answers of a server, as its client',
  'console/upstream.ts': 'answers of a server, as its client',
  'controllers/garbage-collector/many-owners.ts': 'owner references that it packed itself',
  'controllers/horizontal-pod-autoscaler/metrics-api.ts': 'answers of extension servers',
  'endpoints/handlers/list-writer.ts': 'rows of tables, which are made of up-to-date texts only',
  'endpoints/negotiation/body-text.ts': 'bodies',
  'endpoints/negotiation/continue-token.ts': 'tokens of our own',
  'endpoints/negotiation/decode-body.ts': 'bodies',
  'endpoints/negotiation/parse-yaml.ts': 'bodies',
  'endpoints/streams/agent-answer.ts': 'answers of node agents',
  'advertise/serving-leases.ts': 'leases that are no objects of the API',
  'machinery/field-set/path-element.ts': 'values in names of fields',
  'machinery/json/exact-numbers.ts': 'the parser itself',
  'machinery/json/parse-in-turns.ts': 'parts of what the codec parses',
  'machinery/json/stored-text.ts': 'texts whose numbers it repairs, for the codec',
  'machinery/packed/packed-parts.ts': 'parts of objects that it packed itself',
  'machinery/json/skim.ts': 'keys and short texts of what is only looked at',
  'machinery/managed-fields/last-applied.ts': 'an annotation',
  'machinery/schema/duplicate-keys.ts': 'keys of a body',
  'machinery/schema/protobuf/decode-protobuf.ts': 'JSON inside of protobuf',
  'modules/autoscaling/horizontal-pod-autoscaler/hpa-annotations.ts': 'annotations',
  'modules/core/secret/secret.validation.ts': 'values of a Secret',
  'outgoing/webhook-client.ts': 'answers of webhooks',
  'program/own-files.ts': 'files',
  'local-postgres/embedded/binaries.ts': 'files',
  'local-postgres/embedded/note.ts': 'files',
  'local-postgres/embedded/orphans.ts': 'files',
  'program/version.ts': 'files',
  'program/assets/store-client.ts': 'answers of the store of test suites',
  'local-postgres/shared/folder-databases.ts': 'files',
  'local-postgres/shared/keeper-protocol.ts': 'messages between processes',
  'program/commands/sql.command.ts': 'answers of the database',
  'restore/past.ts': 'answers of a server, as its client',
  'controllers/pod-gc/missing-nodes.ts': 'notes that are no objects of the API',
  'custom-resources/definition/packed-json.ts': 'schemas of definitions, which it packed itself',
  'custom-resources/conversion/read-conversion-answer.ts': 'answers of webhooks',
  'registry/store/selection.ts': 'labels cut out of texts in the present form',
  'registry/store/object-codec.ts': 'text of the store: the one place',
  'simulated-nodes/api-connection.ts': 'answers of a server, as its client',
  'simulated-nodes/object-watch.ts': 'events of a server, as its client',
  'test-library/access.ts': 'answers of a server, as its client',
  'storage/encryption/encryption.ts': 'texts to be written, whose form it checks',
  'storage/encryption/providers/kms.ts': 'keys of its own, with what the service said about them',
  'storage/postgres/schema-texts.ts': 'schemas that the database knows',
};

const parsing = /\b(?:JSON\.parse|parseJson|parseExactJson)\(/;

it('only the codec parses stored text, because it knows its older forms', () => {
  const found = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.spec.ts') && !path.includes('testing/'))
    .filter((path) => parsing.test(readFileSync(join(source, path), 'utf8')))
    .map((path) => path.replaceAll('\\', '/'));
  assert.deepEqual(
    found.filter((path) => parsers[path] === undefined),
    [],
    'use parseStored or decodeStored for text of the store; list here what parses any other text',
  );
  const gone = Object.keys(parsers).filter((path) => !found.includes(path));
  assert.deepEqual(gone, [], 'listed here, but parses nothing');
});
