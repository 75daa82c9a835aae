import type { ApiObject } from '../../src/base/machinery/api-object.js';
import { internalContext } from '../../src/base/machinery/internal-context.js';
import type { AdmissionAttributes } from '../../src/server/admission/attributes.js';
import { Reinvocation } from '../../src/server/admission/reinvocation.js';

/** The request that a test of an admission plugin uses. Missing fields are those of alice creating a pod. */
export interface TestRequest
  extends Partial<Omit<AdmissionAttributes, 'object' | 'oldObject' | 'storedObject' | 'storedOldObject' | 'resource'>> {
  /** `pods`, `deployments.apps` */
  readonly resource?: string;
  readonly object?: object | undefined;
  readonly oldObject?: object | undefined;
}

/** Attributes of a request whose requested version is the stored one. */
export function admissionAttributes(request: TestRequest): AdmissionAttributes {
  const { resource: text = 'pods', object, oldObject, ...over } = request;
  const [resource = '', ...group] = text.split('.');
  const userInfo = { name: 'alice', uid: '', groups: ['devs'], extra: {} };
  return {
    context: internalContext(userInfo, 0),
    operation: oldObject === undefined ? 'CREATE' : object === undefined ? 'DELETE' : 'UPDATE',
    resource: { group: group.join('.'), version: 'v1', resource },
    subresource: '',
    kind: { group: group.join('.'), version: 'v1', kind: 'Any' },
    namespace: 'n',
    name: 'x',
    options: {},
    dryRun: false,
    userInfo,
    reinvocation: new Reinvocation(),
    writeThrough: () => undefined,
    ...over,
    object: object as ApiObject | undefined,
    oldObject: oldObject as ApiObject | undefined,
    get storedObject() {
      return this.object;
    },
    storedOldObject: oldObject as ApiObject | undefined,
  };
}
