import { isDeepStrictEqual } from 'node:util';
import { type Authorizer, privilegedGroup } from '../../../base/machinery/authorizer.js';
import { FieldPath, forbidden } from '../../../base/machinery/field-error.js';
import { parseApiVersion } from '../../../base/machinery/group-version.js';
import type { RequestContext, UserInfo } from '../../../base/machinery/request-context.js';
import { invalidError } from '../../../base/machinery/status-error.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import type {
  ParamKind,
  ParamRef,
} from '../../../objects/apis/admissionregistration/v1/admission-policy-param.types.js';
import type { ResourceRegistry } from '../../../objects/registry/resource-registry.js';
import type { ObjectReader } from '../../../objects/registry/store/storage-reader.js';

/** The dependencies of the definitions of policies and bindings. */
export interface PolicyContext {
  readonly names: VendorNames;
  readonly authorizer: Authorizer;
  readonly registry: Pick<ResourceRegistry, 'resourcesOf'>;
  readonly objects: ObjectReader;
}

interface Written {
  readonly kind: string;
  readonly name: string;
}

/**
 * Refuses a policy if its author may not read all objects of the kind of its parameters: an expression can reveal their
 * content. Throws a 422.
 */
export async function authorizeParamKind(
  context: PolicyContext,
  request: RequestContext,
  written: Written,
  paramKind: ParamKind | undefined,
  old: ParamKind | undefined,
): Promise<void> {
  if (paramKind === undefined || isDeepStrictEqual(paramKind, old)) return;
  if (await mayGet(context, request, paramKind, '*', '*')) return;
  const { kind, apiVersion } = paramKind;
  const detail = `user ${userName(request)} must have "get" permission on all objects of the referenced paramKind (kind=${kind}, apiVersion=${apiVersion})`;
  throw refusal(context, written, FieldPath.of('spec', 'paramKind'), detail);
}

/** Refuses a binding if its author may not read the parameters that it names. Throws a 422. */
export async function authorizeParamRef(
  context: PolicyContext,
  request: RequestContext,
  written: Written,
  policies: string,
  spec: { readonly policyName?: string | undefined; readonly paramRef?: ParamRef | undefined },
  old: unknown,
): Promise<void> {
  const { policyName = '', paramRef } = spec;
  if (paramRef === undefined || policyName === '' || isDeepStrictEqual(spec, old)) return;
  if (request.user?.groups.includes(privilegedGroup)) return;
  const group = groupName('admissionregistration', context.names);
  const policy = await context.objects.read({ group, resource: policies }, '', policyName);
  // The policy may be created later; until then the kind of its parameters is unknown.
  const paramKind = (policy?.spec as { readonly paramKind?: ParamKind } | undefined)?.paramKind;
  const name = paramRef.name === undefined || paramRef.name === '' ? '*' : paramRef.name;
  const namespace = paramRef.namespace === undefined || paramRef.namespace === '' ? '*' : paramRef.namespace;
  if (await mayGet(context, request, paramKind, namespace, name)) return;
  const detail = `user ${userName(request)} does not have "get" permission on the object specified in paramRef`;
  throw refusal(context, written, FieldPath.of('spec', 'paramRef'), detail);
}

/** Whether the author may read objects of a kind, or of all kinds if the kind isn't known. */
async function mayGet(
  { authorizer, registry }: PolicyContext,
  request: RequestContext,
  paramKind: ParamKind | undefined,
  namespace: string,
  name: string,
): Promise<boolean> {
  if (request.user === undefined || request.user.groups.includes(privilegedGroup)) return true;
  const version = parseApiVersion(paramKind?.apiVersion ?? '');
  const resource =
    version === undefined
      ? undefined
      : registry
          .resourcesOf(version.group, version.version)
          .find(({ definition }) => definition.kind === paramKind?.kind);
  const { decision } = await authorizer.authorize({
    user: request.user as UserInfo,
    verb: 'get',
    isResourceRequest: true,
    namespace,
    apiGroup: version?.group ?? '*',
    apiVersion: version?.version ?? '*',
    resource: resource?.definition.resource ?? '*',
    subresource: '',
    name,
    path: '',
  });
  return decision === 'allow';
}

function userName({ user }: RequestContext): string {
  return JSON.stringify(user?.name ?? '');
}

function refusal({ names }: PolicyContext, { kind, name }: Written, path: FieldPath, detail: string): Error {
  return invalidError({ group: groupName('admissionregistration', names), kind }, name, [forbidden(path, detail)]);
}
