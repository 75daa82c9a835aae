import type { ApiObject } from '../../machinery/api-object.js';
import { formatTime } from '../../machinery/clock.js';
import type { FieldSet } from '../../machinery/field-set/index.js';
import { updateManagedFields, type VersionView } from '../../machinery/managed-fields/index.js';
import type { AdmissionFunctions, AdmissionSubject, RequestContext } from '../../machinery/request-context.js';
import { decode } from '../../machinery/schema/index.js';
import { isolatesStatus } from '../../registry/metadata/before-create.js';
import { isStoredKind } from '../../registry/resource-definition.js';
import type { ServedResource } from '../../registry/resource-registry.js';
import { toServed, toStored } from '../../registry/store/object-codec.js';
import type { ValidateAdmission } from '../../registry/store/store.js';
import type { WriteOptions } from '../negotiation/write-options.js';
import type { EndpointServices } from '../services.js';

/** Applies the defaults of the kind and of the version to a decoded body, before it is converted. */
export function applyDefaults(resource: ServedResource, object: ApiObject): void {
  resource.served.applyDefaults?.(object);
  const { definition, served } = resource;
  if (isStoredKind(definition) && served === definition.versions[0]) definition.strategy.applyDefaults?.(object);
}

/** Admission of the request; writing handlers always run behind the interceptor that sets it. */
export function admissionOf(context: RequestContext): AdmissionFunctions {
  if (context.admission === undefined) throw new Error('the admission interceptor did not run for a writing request');
  return context.admission;
}

/** Validating admission in the form the store calls. */
export function validateWith(
  context: RequestContext,
  options: { readonly dryRun: boolean; readonly raw: Readonly<Record<string, unknown>> },
): ValidateAdmission {
  const admission = admissionOf(context);
  return (object, old) => {
    const operation: AdmissionSubject['operation'] =
      object === undefined ? 'DELETE' : old === undefined ? 'CREATE' : 'UPDATE';
    const name = (object ?? old)?.metadata.name ?? '';
    return admission.validate({
      operation,
      name,
      object,
      oldObject: old,
      options: options.raw,
      dryRun: options.dryRun,
    });
  };
}

/** Records in `metadata.managedFields` who owns what after an ordinary write; changes `next`. */
export function trackFields(
  services: EndpointServices,
  resource: ServedResource,
  live: ApiObject | undefined,
  next: ApiObject,
  options: WriteOptions,
  subresource?: string,
): void {
  const entries = updateManagedFields(resource.served.type, live, next, {
    manager: options.fieldManager,
    apiVersion: resource.apiVersion,
    time: formatTime(services.clock.now()),
    versions: versionViews(services, resource),
    ...(subresource === undefined ? {} : { subresource }),
    ...(live === undefined ? {} : resetOptions(resource, subresource)),
  });
  if (entries === undefined || entries.length === 0) delete next.metadata.managedFields;
  else next.metadata.managedFields = entries;
}

/**
 * How objects of the written version look in another one, for owners whose entries speak of that: fields have other
 * names and places there. Versions that are switched off count, unknown ones don't.
 */
export function versionViews(
  services: EndpointServices,
  resource: ServedResource,
): (apiVersion: string) => VersionView | undefined {
  return (apiVersion) => {
    const view = services.registry.findView(resource, apiVersion);
    if (view === undefined) return undefined;
    const convert = (object: ApiObject) => {
      // What an apply made is not canonical yet, which conversions need; decoding also copies, as they change objects.
      const canonical = decode(resource.served.type, object).value as ApiObject;
      return toServed(view, toStored(resource, canonical));
    };
    return { type: view.served.type, convert };
  };
}

/** Fields that the path can't change: sending them gives nobody ownership. */
export function resetOptions(resource: ServedResource, subresource: string | undefined): { resetFields?: FieldSet } {
  if (subresource === 'status') return { resetFields: allButStatus };
  return subresource === undefined && isolatesStatus(resource.definition) ? { resetFields: onlyStatus } : {};
}

const onlyStatus: FieldSet = { 'f:status': {} };
const allButStatus: FieldSet = { 'f:metadata': {}, 'f:spec': {} };
