import type { ApiObject } from '../../../../base/machinery/api-object.js';
import { formatGroupResource, type GroupResource } from '../../../../base/machinery/group-version.js';
import type { PodTemplateSpec } from '../../../../objects/apis/core/v1/pod-spec.types.js';

type Template = PodTemplateSpec | undefined;

interface Templated {
  readonly template?: PodTemplateSpec;
}

const inSpec = (object: ApiObject): Template => (object.spec as Templated | undefined)?.template;

/** The pod template of each kind that creates pods, in the kind's stored version. */
const templates: Readonly<Record<string, (object: ApiObject) => Template>> = {
  podtemplates: (object) => (object as Templated).template,
  replicationcontrollers: inSpec,
  'replicasets.apps': inSpec,
  'deployments.apps': inSpec,
  'statefulsets.apps': inSpec,
  'daemonsets.apps': inSpec,
  'jobs.batch': inSpec,
  'cronjobs.batch': ({ spec }) =>
    (spec as { readonly jobTemplate?: { readonly spec?: Templated } }).jobTemplate?.spec?.template,
};

/** Whether objects of a resource hold a pod template. */
export function hasPodTemplate(resource: GroupResource): boolean {
  return Object.hasOwn(templates, formatGroupResource(resource));
}

/** The pod template of an object in its stored version; undefined when it has none. */
export function podTemplateOf(resource: GroupResource, object: ApiObject): Template {
  return templates[formatGroupResource(resource)]?.(object);
}
