import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';

const source = join(import.meta.dirname, '../../../../../src');

/** The files that parse JSON, and what they parse. Only the codec parses stored JSON. */
const parsers: Readonly<Record<string, string>> = {
  'base/machinery/json/recent-texts.ts': 'a string, to get a copy of it',
  'server/admission/plugins/pod-toleration-restriction/toleration-configuration.ts': 'annotations',
  'server/admission/webhooks/review-answer.ts': 'answers of webhooks',
  'server/aggregation/remote-text.ts': 'answers of extension servers',
  'server/audit/request-audit.ts': 'bodies and answers',
  'server/authentication/oidc/oidc-provider.ts': 'answers of a provider',
  'server/authentication/request-header/authority-data.ts': 'entries of a ConfigMap',
  'server/authentication/request-header/published-names.ts': 'a ConfigMap of our own, whose form has never changed',
  'server/authentication/service-account/service-account-token.authenticator.ts': 'payloads of tokens',
  'server/authorization/abac/policy-file.ts': 'lines of a file',
  'tools/backup/cluster/cluster-client.ts': 'answers of a server, as its client',
  'tools/backup/cluster/item-splitter.ts': 'answers of a server, as its client',
  'tools/backup/cluster/kinds.ts': 'answers of a server, as its client',
  'tools/backup/format/read-lines.ts': 'lines of a file',
  'tools/backup/importing/target-cluster.ts': 'answers of a server, as its client',
  'tools/console/ui/api.ts': 'answers of a server, as its client',
  'tools/console/upstream.ts': 'answers of a server, as its client',
  'loops/controllers/garbage-collector/many-owners.ts': 'owner references that it packed itself',
  'loops/controllers/horizontal-pod-autoscaler/remote-metrics.ts': 'answers of extension servers',
  'server/endpoints/handlers/list-writer.ts': 'rows of tables, which are made of up-to-date texts only',
  'server/endpoints/negotiation/body-text.ts': 'bodies',
  'server/endpoints/negotiation/continue-tokens.ts': 'tokens of our own',
  'server/endpoints/negotiation/decode-body.ts': 'bodies',
  'server/endpoints/negotiation/parse-yaml.ts': 'bodies',
  'server/endpoints/streams/agent-answer.ts': 'answers of node agents',
  'server/advertise/serving-leases.ts': 'leases that are no objects of the API',
  'base/machinery/field-set/path-element.ts': 'values in names of fields',
  'base/machinery/json/exact-numbers.ts': 'the parser itself',
  'base/machinery/json/merged-json.ts': 'bodies in which a key stands twice',
  'base/machinery/json/parse-in-turns.ts': 'parts of what the codec parses',
  'base/machinery/json/stored-text.ts': 'texts whose numbers it repairs, for the codec',
  'base/machinery/packed/packed-parts.ts': 'parts of objects that it packed itself',
  'base/machinery/json/skim.ts': 'keys and short texts of what is only looked at',
  'base/machinery/managed-fields/last-applied.ts': 'an annotation',
  'base/machinery/schema/duplicate-keys.ts': 'keys of a body',
  'base/machinery/schema/protobuf/decode-protobuf.ts': 'JSON inside of protobuf',
  'modules/autoscaling/horizontal-pod-autoscaler/hpa-annotations.ts': 'annotations',
  'modules/core/secret/secret.validation.ts': 'values of a Secret',
  'base/outgoing/webhook-client.ts': 'answers of webhooks',
  'tools/cli/own-files.ts': 'files',
  'tools/cli/cluster/made-here.ts': 'files',
  'tools/cli/cluster/join/read-cluster-info.ts': 'answers of a server, as its client',
  'tools/cli/cluster/join/verify-signature.ts': 'the header of a signature',
  'tools/local-postgres/embedded/binaries.ts': 'files',
  'tools/local-postgres/embedded/note.ts': 'files',
  'tools/local-postgres/embedded/orphans.ts': 'files',
  'tools/cli/version.ts': 'files',
  'tools/cli/assets/store-client.ts': 'answers of the store of test suites',
  'tools/local-postgres/shared/folder-databases.ts': 'files',
  'tools/local-postgres/shared/keeper-protocol.ts': 'messages between processes',
  'tools/cli/commands/sql.command.ts': 'answers of the database',
  'tools/backup/restore/past.ts': 'answers of a server, as its client',
  'loops/controllers/pod-gc/missing-nodes.ts': 'notes that are no objects of the API',
  'objects/custom-resources/definition/packed-json.ts': 'schemas of definitions, which it packed itself',
  'objects/custom-resources/conversion/read-conversion-answer.ts': 'answers of webhooks',
  'objects/registry/store/selection.ts': 'labels cut out of texts in the present form',
  'objects/registry/store/object-codec.ts': 'text of the store: the one place',
  'objects/registry/store/read-managed-text.ts':
    'texts of the store in the present form, which the codec has told apart',
  'nodes/agent/containers/container-killer.ts': 'annotations of containers',
  'nodes/agent/images/pull-secrets.ts': 'credentials within secrets',
  'nodes/agent/csi/csi-folders.ts': 'files',
  'nodes/agent/csi/csi-node.ts': 'annotations of its node',
  'nodes/agent/network/machine-networks.ts': 'answers of ip',
  'nodes/agent/network/sender-rules.ts': 'records of network plugins',
  'nodes/agent/node/pending-request.ts': 'files',
  'nodes/agent/pods/pod-allocation.ts': 'files',
  'nodes/agent/cpus/cpu-state-file.ts': 'files',
  'nodes/agent/shutdown/shutdown-record.ts': 'files',
  'nodes/agent/devices/device-store.ts': 'files',
  'server/aggregation/read-remote-list.ts': 'answers of extension servers',
  'objects/custom-resources/conversion/webhook-converter.ts': 'answers of webhooks',
  'nodes/proxy/nftables/kernel-table.ts': 'answers of nft',
  'nodes/proxy/routes/kernel-routes.ts': 'answers of ip',
  'nodes/connection/bodies.ts': 'answers of a server, as its client',
  'tools/console/ui/restore-client.ts': 'answers of a server, as its client',
  'tools/console/ui/helm-release.ts': 'records of releases in Secrets, in the form of their program',
  'tools/console/ui/pod-channel.ts': 'the outcome of a program in a container',
  'tools/console/ui/stored.ts': 'choices that a browser keeps',
  'tools/test-clusters/library/user-access.ts': 'answers of a server, as its client',
  'storage/encryption/encryption.ts': 'texts to be written, whose form it checks',
  'storage/encryption/providers/kms-provider.ts': 'keys of its own, with what the service said about them',
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
