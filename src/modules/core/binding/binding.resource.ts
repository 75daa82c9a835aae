import type { ApiObject } from '../../../base/machinery/api-object.js';
import { cloneJson } from '../../../base/machinery/json/exact-numbers.js';
import type { RequestContext } from '../../../base/machinery/request-context.js';
import { badRequestError, notFoundError } from '../../../base/machinery/status-error.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import { type Binding, binding } from '../../../objects/apis/core/v1/pod.types.js';
import {
  type AnswerOptions,
  defineVirtualResource,
  type ResourceDefinition,
} from '../../../objects/registry/resource-definition.js';
import { isOtherVersion } from '../../../objects/registry/store/object-codec.js';
import { preconditionError, uidMismatch, versionMismatch } from '../../../objects/registry/store/precondition-error.js';
import type { ResourceStores } from '../../../objects/registry/store/resource-stores.js';
import { bindingPath } from '../pod/pod.binding.js';

/** The binding itself already passed mutating and validating admission. */
const admitted = async () => {};

/** `bindings`: the older way to assign a pod to a node, with the pod's name in the body. */
export function bindingResource(names: VendorNames, stores: ResourceStores): ResourceDefinition {
  const path = bindingPath(stores.clock, { names });

  async function bindPod(request: RequestContext, body: Binding & ApiObject, { dryRun }: AnswerOptions) {
    const { name = '', namespace = '' } = body.metadata;
    if (name === '') throw badRequestError('Name parameter required.');
    const pods = stores.named('', 'pods');
    const { groupResource } = pods;
    await pods.update(request, namespace, name, {
      dryRun,
      validate: admitted,
      subresource: path,
      transform: (live) => {
        if (live === undefined) throw notFoundError(groupResource, name);
        const { uid, resourceVersion } = body.metadata;
        const refuse = (detail: string) => preconditionError(pods.resource.definition, namespace, name, detail);
        const { metadata } = live;
        if (uid && uid !== metadata.uid) throw refuse(uidMismatch(uid, metadata.uid ?? ''));
        if (isOtherVersion(resourceVersion, metadata.resourceVersion)) {
          throw refuse(versionMismatch(resourceVersion ?? '', metadata.resourceVersion ?? ''));
        }
        return path.write(request, cloneJson(live), body);
      },
    });
    return path.createAnswer(request, body);
  }

  return defineVirtualResource<Binding & ApiObject>({
    group: '',
    resource: 'bindings',
    singular: 'binding',
    kind: 'Binding',
    namespaced: true,
    versions: [{ version: 'v1', type: binding }],
    answer: bindPod,
  });
}
