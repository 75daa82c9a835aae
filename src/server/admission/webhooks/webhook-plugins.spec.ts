import assert from 'node:assert/strict';
import { before, beforeEach, describe, it } from 'node:test';
import { Registry } from 'prom-client';
import { registeredGroups } from '../../../../test/support/registered-groups.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { RequestContext } from '../../../base/machinery/request-context.js';
import { WebhookFault } from '../../../base/outgoing/webhook-fault.js';
import type { AdmissionAttributes } from '../attributes.js';
import { ResourceVersions } from '../matching/resource-versions.js';
import { MutatingAdmissionWebhook } from '../plugins/mutating-admission-webhook/mutating-admission-webhook.js';
import { ValidatingAdmissionWebhook } from '../plugins/validating-admission-webhook/validating-admission-webhook.js';
import { Reinvocation } from '../reinvocation.js';
import type { AdmissionWebhook } from './admission-webhook.js';
import { WebhookCaller } from './webhook-caller.js';
import type { WebhookList } from './webhook-list.js';
import { WebhookMetrics } from './webhook-metrics.js';

const group = 'admission.example.dev';
const kind = { group: '', version: 'v1', kind: 'ConfigMap' };
const resource = { group: '', version: 'v1', resource: 'configmaps' };

/** The response to a review, or the reason why there is none. */
type Answer = (request: { readonly object: ApiObject }) => object | WebhookFault;

function hook(name: string, answer: Answer, more: Partial<AdmissionWebhook> = {}): AdmissionWebhook {
  const own = {
    kind: 'mutating',
    name,
    configuration: 'c',
    id: `c/${name}`,
    isIgnored: false,
    allowsDryRun: true,
    isReinvocable: false,
    version: 'v1',
    match: () => ({ kind, resource }),
    fulfils: () => undefined,
    ask: async (write: () => Buffer) => {
      const { request, ...review } = JSON.parse(write().toString('utf8'));
      const given = answer(request);
      if (given instanceof WebhookFault) throw given;
      return JSON.stringify({ ...review, response: { uid: request.uid, allowed: true, ...given } });
    },
    ...more,
  };
  return own as unknown as AdmissionWebhook;
}

const patch = (operations: readonly object[]) => ({
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
});
const add = { op: 'add', path: '/data', value: { added: 'yes' } };

describe('the plugins for webhooks', () => {
  let versions: ResourceVersions;
  let logged: Record<string, unknown>[];
  let caller: WebhookCaller;

  before(async () => {
    versions = new ResourceVersions((await registeredGroups()).registry);
  });
  beforeEach(() => {
    logged = [];
    const logger = { warn: (_text: string, fields?: object) => logged.push({ ...fields }) };
    caller = new WebhookCaller({ metrics: new WebhookMetrics(new Registry()), logger, group });
  });

  const runtime = (hooks: readonly AdmissionWebhook[]) => ({
    hooks: { present: hooks } as unknown as WebhookList,
    caller,
    versions,
    reviewGroup: group,
    configurationGroup: 'admissionregistration.example.dev',
  });
  function write(): AdmissionAttributes & { readonly context: RequestContext } {
    const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'm', namespace: 'n' } } as ApiObject;
    const context = { warnings: [], auditAnnotations: new Map(), signal: new AbortController().signal };
    return {
      context,
      operation: 'CREATE',
      resource,
      subresource: '',
      kind,
      namespace: 'n',
      name: 'm',
      object,
      oldObject: undefined,
      options: {},
      dryRun: false,
      userInfo: { name: 'u', uid: '', groups: [], extra: {} },
      reinvocation: new Reinvocation(),
    } as unknown as AdmissionAttributes;
  }
  const annotations = ({ context }: AdmissionAttributes) => Object.fromEntries(context.auditAnnotations);

  it('do nothing at once when there is no hook', () => {
    assert.equal(new MutatingAdmissionWebhook(runtime([])).admit(write()), undefined);
    assert.equal(new ValidatingAdmissionWebhook(runtime([])).validate(write()), undefined);
    const own = { ...write(), resource: { ...resource, group: 'admissionregistration.example.dev' } };
    const configuration = { ...own, resource: { ...own.resource, resource: 'mutatingwebhookconfigurations' } };
    const never = hook('never.x.y', () => assert.fail('asked'));
    assert.equal(new MutatingAdmissionWebhook(runtime([never])).admit(configuration), undefined);
  });

  it('note each call, its patch and each failure for the audit trail', async () => {
    const hooks = [
      hook('quiet.x.y', () => ({})),
      hook('patch.x.y', () => patch([add])),
      hook('same.x.y', () => patch([add])),
      hook('down.x.y', () => new WebhookFault('no answer'), { isIgnored: true }),
    ];
    const attributes = write();
    await new MutatingAdmissionWebhook(runtime(hooks)).admit(attributes);
    const said = (webhook: string, more: object) => JSON.stringify({ configuration: 'c', webhook, ...more });
    const patched = { patch: [add], patchType: 'JSONPatch' };
    assert.deepEqual(annotations(attributes), {
      [`mutation.webhook.${group}/round_0_index_0`]: said('quiet.x.y', { mutated: false }),
      [`mutation.webhook.${group}/round_0_index_1`]: said('patch.x.y', { mutated: true }),
      [`patch.webhook.${group}/round_0_index_1`]: said('patch.x.y', patched),
      [`mutation.webhook.${group}/round_0_index_2`]: said('same.x.y', { mutated: false }),
      [`patch.webhook.${group}/round_0_index_2`]: said('same.x.y', patched),
      [`mutation.webhook.${group}/round_0_index_3`]: said('down.x.y', { mutated: false }),
      [`failed-open.mutating.webhook.${group}/round_0_index_3`]: 'down.x.y',
    });
    assert.deepEqual(attributes.object?.data, { added: 'yes' });
    assert.deepEqual(logged, [{ hook: 'down.x.y', configuration: 'c', problem: 'no answer' }]);
  });

  it('note what a hook adds, under its name, and refuse other keys', async () => {
    const auditAnnotations = { good: '1', 'a/b': '2', 'not good': '3', '': '4' };
    const attributes = write();
    const own = hook('h.x.y', () => ({ auditAnnotations }), { kind: 'validating' });
    await new ValidatingAdmissionWebhook(runtime([own])).validate(attributes);
    assert.deepEqual(annotations(attributes), { 'h.x.y/good': '1' });
    assert.deepEqual(
      logged.map(({ hook, count, key }) => [hook, count, key]),
      [['h.x.y', 3, 'h.x.y/']],
    );
  });

  it('ask again in a second round those hooks that missed a change', async () => {
    const order: string[] = [];
    const append = (name: string, isReinvocable: boolean) =>
      hook(
        name,
        ({ object }) => {
          order.push(name);
          const data = (object.data ?? {}) as Record<string, string>;
          return data[name] === undefined ? patch([{ ...add, value: { ...data, [name]: 'seen' } }]) : {};
        },
        { isReinvocable },
      );
    const attributes = write();
    const plugin = new MutatingAdmissionWebhook(runtime([append('a', true), append('b', false), append('c', true)]));
    await plugin.admit(attributes);
    assert.equal(attributes.reinvocation.begin(), true);
    await plugin.admit(attributes);
    // `c` has seen everything.
    assert.deepEqual(order, ['a', 'b', 'c', 'a']);
    assert.ok(annotations(attributes)[`mutation.webhook.${group}/round_1_index_0`]);
    // Another plugin changes the object between the rounds.
    const other = write();
    order.length = 0;
    await plugin.admit(other);
    other.reinvocation.begin();
    (other.object as ApiObject).metadata.labels = { by: 'another plugin' };
    await plugin.admit(other);
    assert.deepEqual(order, ['a', 'b', 'c', 'a', 'c']);
  });
});
